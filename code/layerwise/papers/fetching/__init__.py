"""The papers' repository at its pinned commit.

upstream, mirrors   fetched from its address, a mirror or a folder, checked by sha256
notebooks           prompts out of the papers' notebooks
transcription       result files -> the tidy tables of published/
"""
