"""Numbers with their origin, rules, claims, verdicts, questions and marks; knows no paper.

published, measured   the numbers of a source: printed, or measured in the printed ones' places
evidence, derivation  what rules read; documents made by tables of rules
experiment            which text and measure fill which place of the published files
question              claims as questions: where a number must lie, and the word that answers
claims, words         the ledger in claims/; what texts call models, categories and measures
verdicts, origins     one rule between printed and recomputed; which run measured a cell
central, marks        the central claims, each one record; the rule that marks them
settling, prospects   what would settle an open one; computed from the law of its interval
seen                  what texts say: sentences of central claims, findings, the story
paper, judging        a paper as one value; its source from numbers to judged claims
records               results/SOURCE/claims.json: read, counted, its shape promised
"""
