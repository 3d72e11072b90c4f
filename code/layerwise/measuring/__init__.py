"""One model -> numbers in the places of the published ones, by the papers' experiments.

reduction          hidden states of statement pairs -> values
kept               finished runs, kept until all of a model is measured
registered_models  all that is measured on one of the papers' models
own_model          the same of a reader's model
"""
