"""Readers' models: documents -> `sections`, `cautions`, `figures`; a `page`, or one `across`."""
