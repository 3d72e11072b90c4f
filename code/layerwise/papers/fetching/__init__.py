"""The papers' repository at its pinned commit.

upstream, mirrors   fetched from its address, a mirror or a folder, checked by sha256
transcription       result files -> the tidy tables of published/; prompts out of notebooks
"""
