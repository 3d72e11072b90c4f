"""Central claims as questions: the mechanism, for every paper.

question   Question and its words: yes, no, undecided, no spread, too few
table      the answers as documents, cells and counts
answers    the answers to a question about one model
beside     the same after rounding noise, and of random weights

A question is asked of every model that the numbers are about, as its paper asked it and under
every other choice; each cell (question, model, choice) is an estimate with an interval, and a word.
What a source has no number for is no cell: over print it needs the weights.
"""
