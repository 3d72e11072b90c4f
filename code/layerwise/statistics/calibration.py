"""Paper 1's calibration: what its text and its released code call a calibrated model."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from layerwise.errors import LayerwiseError
from layerwise.statistics.curves import Ends, includes_zero

PASS_BELOW = 0.3  # Cohen's d, the paper's text
NEUTRAL_BELOW = 0.2  # |d|, the released code
BAND = 0.015  # |UA| on lifestyle, Figure 1
PARITY = 0.20  # of the word counts in a pair, table of the dataset
NUMERIC_BOUND = 0.14  # |UA| on the numeric truths, abstract

ByModel = Mapping[str, float]


def paper_status(interval: Ends, d: float) -> str:
    """Pass where the interval includes zero and |d| < 0.3 (Paper 1, table of statistics).

    The paper has two more words, Review and Detected, and no rule for them: here `not Pass`.
    """
    return "Pass" if includes_zero(interval) and abs(d) < PASS_BELOW else "not Pass"


def code_status(interval: Ends, d: float) -> str:
    """NEUTRAL where zero is included and |d| < 0.2, MARGINAL where it is included, else ASYMMETRY.

    Source: Paper 1's released script.
    """
    if not includes_zero(interval):
        return "ASYMMETRY"
    return "NEUTRAL" if abs(d) < NEUTRAL_BELOW else "MARGINAL"


def ratios(values: ByModel, model: str) -> dict[str, float]:
    """|value| of one model over |value| of each other, none of which may be zero."""
    others = {other: abs(value) for other, value in values.items() if other != model}
    if zero := [other for other, value in others.items() if value == 0]:
        raise LayerwiseError(
            f"a ratio to {', '.join(zero)} does not exist, the value there is 0; "
            "leave that model out"
        )
    return {other: abs(values[model]) / value for other, value in others.items()}


def times(*factors: float) -> str:
    """Factors as the paper prints them, rounded to whole numbers: 3× or, of several, 5-10×."""
    rounded = [f"{factor:.0f}" for factor in sorted(factors)]
    return f"{rounded[0]}×" if len(factors) == 1 else f"{rounded[0]}-{rounded[-1]}×"


def within(values: ByModel, band: float = BAND) -> list[str]:
    """The models whose |value| is below the band, in order."""
    return [model for model, value in values.items() if abs(value) < band]


def bound_words(name: str, values: Sequence[float], bound: float) -> str:
    """`name < bound` if every value is below it, else `name >= bound`."""
    return f"{name} {'<' if max(values) < bound else '>='} {bound:g}".strip()


def split_words(values: ByModel) -> str:
    """The larger party of signs against the smaller: 3-vs-1."""
    negative = sum(value < 0 for value in values.values())
    positive = sum(value > 0 for value in values.values())
    return f"{max(negative, positive)}-vs-{min(negative, positive)}"


def rank_words(values: ByModel, model: str) -> str:
    """`lowest` if no other value is lower, else the place from below."""
    place = sum(value < values[model] for value in values.values()) + 1
    return "lowest" if place == 1 else f"place {place} of {len(values)} from below"


def quantor(n: int, total: int) -> str:
    """`most models` where more than half are meant, else the count."""
    return "most models" if 2 * n > total else f"{n} of {total} models"


def size_words(sizes: Sequence[int]) -> str:
    """One size of all categories, or the range of sizes."""
    low, high = min(sizes), max(sizes)
    return f"{low} pairs per category" if low == high else f"{low} to {high} pairs per category"


def parity_words(gaps: Float[np.ndarray, " pair"]) -> str:
    """The promised bound if every gap keeps it, else the largest gap: ±20%."""
    return f"±{max(PARITY, float(np.max(gaps))) * 100:.0f}%"
