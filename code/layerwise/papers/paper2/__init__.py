"""Paper 2, "layer-wise dynamics": r of asymmetry and preference, layer by layer."""
