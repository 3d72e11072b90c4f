"""How many points a correlation takes; apart from `correlation`, which loads SciPy."""

MIN_POINTS = 3  # two points always correlate perfectly
FEWEST_PAIRS = 4  # of a category: fewer give Fisher's z no error
