"""The name of each quantity on axes and in headings of tables, with its unit where it has one.

Claims and their rules call them the same.
"""

UA = "UA"  # uniformity asymmetry of a category: a difference of cosines, without a unit
ASYMMETRY = f"asymmetry ({UA})"
PREFERENCE = "preference (nats)"
R_OVER_CATEGORIES = f"r of {UA} and preference"
CENTROID = "centroid asymmetry"  # of a pair
R_OVER_PAIRS = f"r of {CENTROID}\nand preference"  # over two lines beside an axis
R_WITHIN = f"r of {CENTROID} and preference"
R_OF_MEASURE = "r of the measure\nand preference"
GAIN = "mean gain of the block"  # over the prompts, as the next
SECOND_LAST = "mean gain of the second-last block"
BLOCKS = "depth (blocks)"
CRITICAL_LAYER = "L* (% of depth)"
SPECTRAL_NORM = "spectral norm"
SPECTRAL_RATIO = "mean spectral norm of $W_V$ over that of $W_O$"
# Of the states of all tokens, by their keys: name and unit.
ANISOTROPY = {
    "intrinsic_dim_ratio": ("first component's share", "share of the variance"),
    "effective_rank": ("effective rank", "dimensions"),
    "avg_cos_sim": ("mean cosine to the mean", "cosine"),
    "eigenvalue_variance": ("variance of the eigenvalues", "variance"),
}
