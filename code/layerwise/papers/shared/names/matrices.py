"""The attention's matrices, as the published files order them, and how fused ones are cut."""

MATRICES = ("W_V", "W_O", "W_Q", "W_K")
LEGACY, CORRECT = "legacy", "correct"
SLICINGS = (LEGACY, CORRECT)  # into thirds, as the notebooks did; head by head, where rows go so
