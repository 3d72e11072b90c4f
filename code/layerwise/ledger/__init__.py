"""Claims and statistics -> verdicts, findings, headlines.

claims     the ledger in claims/: what is printed, where, and which statistic answers it
verdicts   one rule between printed and recomputed: `agrees`, `differs`, `reproduced`, ...
origins    which run measured a cell, and why one was not measured
sentences  templates in claims/, filled from records; `conditions`: when one of them is printed
headlines  the papers' central claims, graded: `headlines(records, documents, read_headlines(...))`
           gives [Headline(id, paper, where, says, grade, numbers, reason, caveats, power, ...)]
story      what they leave a reader with, paragraph by paragraph
findings   what does not stand: one Finding(id, paper, title, weight, headline, caveat, ...) a fact
tally      how many claims have each verdict, by kind and by place
judging    all of these over the statistics of one source, as results/SOURCE/claims.json
words      what texts call models, categories and measures, of which files have the keys
records    that file as it is read: its shape, and the statistics it was judged by
"""
