"""Folders in the place where a reader's model is analysed."""

STATES = "hidden_states"
AGAIN = "hidden_states_again"  # of replicates with rounding noise, and of random weights
