"""States, traces and matrices -> numbers. Pure functions, float64 inside; a module per quantity.

uniformity, pairwise, random_bins, anisotropy   of pooled hidden states; `values` holds one model's
residual_gain, stream_norms, module_gain, heads of the residual stream and its parts
attention, entropy, sheaf                       of attention maps
spectral, unembedding                           of weight matrices
traces, precision                               what a traced text is; rounding as the papers did
"""
