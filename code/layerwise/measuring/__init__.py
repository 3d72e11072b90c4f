"""One model -> numbers in the places of the published ones, by the papers' experiments.

reduction          hidden states of statement pairs -> values
given_texts        the papers' texts, and what is left of them where some overflow
reasons            why a run gave nothing
kept               finished runs, kept until all of a model is measured
registered_models  all that is measured on one of the papers' models
"""
