"""The parts that several papers share.

names, result_files   what files call things, and where each number stands
published, roles      the published tables; in which roles rules ask for their numbers
rules, questions      statistics of the categories; the ways to ask a question
terms                 the bounds and words that both rules and figures use
"""
