"""Categories of the statement pairs, and what is compared over them."""

NUMERIC = "ground_truth_numeric"
FACTS = "scientific_facts"
# What a message calls the two series of a correlation over the categories.
SERIES = ("the asymmetry of the categories", "the preference of the categories")
