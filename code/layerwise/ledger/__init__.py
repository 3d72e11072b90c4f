"""Claims and statistics -> verdicts, findings, headlines.

claims    the ledger in claims/: what is printed, where, and which statistic answers it
verdicts  one rule between printed and recomputed: `agrees`, `differs`, `reproduced`, ...
origins   which run measured a cell, and why one was not measured
sentences templates in claims/, filled from records
headlines the papers' central claims, graded: `headlines(records, documents, read_headlines(...))`
          -> [Headline(id, paper, where, says, grade, numbers, reason, caveats, power, parts, ...)];
          `judge` keeps them in results/SOURCE/claims.json as `headlines`
story     what they leave a reader with, paragraph by paragraph; kept there as `story`
findings  what does not stand, one Finding(id, paper, title, weight, headline, caveat, claims,
          places, printed, recomputed, gives, follows) per fact; kept beside them as `findings`
judging   all of these over the statistics of one source
records   that file as it is read: its shape, and the statistics it was judged by
"""
