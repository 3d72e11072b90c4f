"""Numbers with their origin, rules, claims, verdicts, questions and grades; knows no paper.

published, measured   the numbers of a source: printed, or measured in the printed ones' places
evidence, derivation  what rules read; documents made by tables of rules
experiment            which text and measure fill which place of the published files
claims, words         the ledger in claims/; what texts call models, categories and measures
verdicts, origins     one rule between printed and recomputed; which run measured a cell
sentences, conditions templates in claims/, filled from records; when one of them is printed
headlines, findings   the central claims, graded; what does not stand, one fact each
strip                 each central claim in ten words, with the estimates that decide it
story, tally          what readers are left with; how many claims have each verdict
judging, records      all of these over one source, as results/SOURCE/claims.json; that file read
questions             claims as questions: where a number must lie, and the word that answers
"""
