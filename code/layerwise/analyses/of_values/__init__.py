"""Analyses: values of one model -> a document with the keys of the published result file.

Each module has `analyse`, and `PARAMETERS`, the names of the settings it takes.
"""

# Computed from the values themselves by the stage `infer`, whatever source they are of.
INFERRED = ("validation", "layers", "category_bootstrap", "bins", "pairs", "anisotropy", "scaling")
