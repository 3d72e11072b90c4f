"""One model -> numbers in the places of the published ones, by the papers' experiments.

reduction     hidden states of statement pairs -> values
kept          finished runs, kept until all of a model is measured
of_model      all that is measured on one of the papers' models
of_own_model  the same of a reader's model
"""
