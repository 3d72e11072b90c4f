"""Recompute the numbers of three papers on the dynamics of transformers, layer by layer.

The rooms, in the order in which numbers flow; a room knows only those above it, and what it says
of itself (its `__init__`) names the order in which to read it:

inputs       statement pairs, prompts, models, published numbers: read and validated
statistics   numbers -> estimates: bootstrap streams, tests, L*, phases
measures     states and matrices -> numbers
extraction   a checkpoint -> its states, traces and weights, batch by batch; the only torch
analyses     numbers -> statistics, by tables of rules: one rule for print, weights and readers
experiments  which text, model, dtype and measure fill which place of the published files
ledger       claims and statistics -> verdicts and findings
figures      statistics -> figures
pages        verdicts, statistics, figures -> the HTML page, the LaTeX paper, a reader's own page
doctor       what can run on this machine
rehearsal    the measured pipeline on random weights, in a scratch copy
steps        the stages of the pipeline: read, call one of the above, write
cli          the reader's verbs

Beside them: `files` (whole or not at all), `errors` (the rule, what came, the fix), `progress`.
"""

__version__ = "0.1.0"
