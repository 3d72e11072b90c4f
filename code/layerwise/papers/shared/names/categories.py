"""Categories of the statement pairs, and what is compared over them."""

from layerwise.engine.words import DISPLAYS

NUMERIC = "ground_truth_numeric"
FACTS = "scientific_facts"
# What a message calls the two series of a correlation over the categories.
SERIES = ("the asymmetry of the categories", "the preference of the categories")


def category_name(category: str) -> str:
    """As texts and labels call it."""
    return DISPLAYS.get(category, category.replace("_", " "))
