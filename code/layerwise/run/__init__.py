"""What is run: the stages of the pipeline, the reader's verbs, the rehearsal, the doctor.

steps                 the stages: each reads files, calls one noun, writes files
cli                   the reader's verbs
rehearsal             the measured pipeline on random weights, in a scratch copy
doctor                what can run on this machine
so_far                what the measured models give while others are measured
"""

import sys

from layerwise.errors import say_uncaught

sys.excepthook = say_uncaught  # before anything is imported that another module may hide
