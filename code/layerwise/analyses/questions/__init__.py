"""The papers' central claims as questions: one rule for print, weights and a reader's model.

question   Question and its words: yes, no, undecided, too few
choices    the other ways to ask, which the papers did not take; and what was measured under them
of_pairs   the questions of Papers 1 and 2: categories, and curves over layers
of_gains   those of Paper 3 on gains: of a model, and over models, whose undecided count either way
of_weights those of Paper 3 on profiles, matrices, traces and the critical layer
table      all of them, their documents, and the answers of a reader's model

A question is asked of every model that the numbers are about, as the papers asked it and under
every other choice; each cell (question, model, choice) is an estimate with an interval, and a word.
What a source has no number for is no cell: over print it needs the weights.
"""

from layerwise.analyses.questions.table import DOCUMENTS, QUESTIONS

__all__ = ["DOCUMENTS", "QUESTIONS"]
