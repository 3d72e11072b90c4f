"""What is run: the stages of the pipeline, the reader's verbs, the rehearsal, the doctor.

steps                 the stages: each reads files, calls one noun, writes files
cli                   the reader's verbs
rehearsal             the measured pipeline on random weights, in a scratch copy
doctor                what can run on this machine
so_far, look_ahead    while models are measured: what others gave; weights of the next
"""

import sys

from layerwise.errors import say_uncaught

sys.excepthook = say_uncaught  # before anything is imported that another module may hide
