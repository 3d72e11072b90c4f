"""A reader's own model: what Paper 3 measures of it, its tables, warnings, page and LaTeX."""

OF_WEIGHTS = ("gains", "spectral")  # what `of_weights` measures, which can be left out
