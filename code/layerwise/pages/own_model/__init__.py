"""Readers' models: documents -> `sections`, `cautions`, `figures`; a `page`, or one `across`."""

OF_WEIGHTS = ("gains", "spectral")  # what `of_weights` measures, which can be left out
