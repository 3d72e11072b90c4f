"""States, traces and matrices -> numbers. Pure functions, float64 inside; a module per quantity.

uniformity, pairwise, random_bins, anisotropy  of pooled hidden states
residual_gain                                  of the residual stream and its parts
entropy, sheaf                                 of the next token; of attention maps
spectral                                       of weight matrices
traces, values                                 what a traced text, a model's states are
"""
