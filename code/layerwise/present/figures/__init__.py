"""Statistics and verdicts of one source -> figures: what all of them share.

Every number that a figure states is read: rules of the papers and counts of the ledger found it.
What is computed here is where things stand on the page.

numbers    what figures read
style      the message, the footer, intervals, colours; `svg`, `picture`: as files
"""

INDEX = "figures.json"  # beside the figures: what they show, and what is left out and why
