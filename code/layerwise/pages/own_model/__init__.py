"""Readers' own models: `sections` (documents -> tables), `cautions`, `figures`, `page`, `across`."""

OF_WEIGHTS = ("gains", "spectral")  # what `of_weights` measures, which can be left out
