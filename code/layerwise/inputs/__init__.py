"""What the rest works on: read, checked, and refused with the place and the fix; no torch.

published, transcription        the published numbers as tables, and how they were transcribed
measured                        measured numbers in the published ones' places
models                          every checkpoint: commit, dtypes, shape
texts                           pairs and prompts, in each form; `rehearsal/` has some of our own
upstream, mirrors, notebooks    fetching what belongs to upstream
shapes                          YAML, parameters, and any document against a declared shape
given                           the types of what callers of the Python interface give
"""
