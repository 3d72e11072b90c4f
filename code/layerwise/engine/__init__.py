"""Numbers with their origin, rules, claims, verdicts, questions and marks; knows no paper.

published, measured    the numbers of a source: printed, or measured in the printed ones' places
evidence, derivation   what rules read; documents made by tables of rules
experiment             which text and measure fill which place of the published files
question               claims as questions: where a number must lie
answers, answer_words  the answer: one record with one reader and one writer; its words
claims, words          the ledger in claims/; what texts call models, categories and measures
verdicts, origins      one rule between printed and recomputed; which run measured a cell
central, marks         the central claims, each one record; the rule that marks them
reasons                why a claim is marked so, in sentences
deciding               what would decide an open one, from the reason of its openness
seen                   what texts say: sentences of central claims, findings, the story
paper, judging         a paper as one value; its source from numbers to judged claims
judged, records        a judged claim; results/SOURCE/claims.json: read, written, counted

A number is in one of a few states. Each word means this and nothing else:

in a source's tables (`measured.fate`)
    measured   what our runs found stands in the place of what is printed
    kept       a name or a setting of the papers, as printed: no measurement changes it
    gone       a printed number beside measured ones that nobody measured; reading it is an error
of a statistic (`derivation.Derivation`)
    derived    a rule gives it, from numbers that are there
    given      it is copied from the published file; no rule stands behind it
    undefined  all that its rule reads is there, and there is no value: a test of an empty group
    missing    its rule reads a number that is gone
of a run (`measured.Runs`)
    absent     why an experiment gave nothing
    lacking    texts whose hidden states are not sound; what rests on them is gone, the rest stands
"""
