"""Paper 1, "uniformity asymmetry": asymmetry of the categories of statement pairs."""
