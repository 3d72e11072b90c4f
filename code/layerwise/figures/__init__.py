"""Statistics and verdicts of one source -> figures.

Every number that a figure states is read: rules of `analyses` and counts of `ledger` found it (a
document keeps it under `drawn` where no claim asks for it; of readers' models see
`analyses.drawn`). What is computed here is where things stand on the page.

numbers    what figures read
style      what all share: the message, the footer, intervals, colours; `svg`, `save`
drawing    the table of all figures: what draws each, and which analyses it reads
verdicts, questions, calibration, categories, pairs, gains, weights, anisotropy
           a function per figure: its name is the file's and the label's, its docstring the caption
own        the same for readers' own models, the papers' in grey beside them
"""

INDEX = "figures.json"  # beside the figures: what they show, and what is left out and why
