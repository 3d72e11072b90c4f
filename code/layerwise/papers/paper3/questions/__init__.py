"""The questions of Paper 3: on gains of a model, the benchmark, samples of models, and weights."""
