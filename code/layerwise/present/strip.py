"""The strip as people read it: mark, claim, deciding number, and the estimates drawn in the row.

It is read from the central claims, `engine.central.Central`, and serves README, the page, the first
sheet of the PDF and the terminal alike.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from layerwise.engine.central import Central, Point
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, OPEN, mark_text
from layerwise.engine.questions.words import WORDS
from layerwise.present.values import NOTHING, with_signs

NOTEBOOKS = "From the notebooks"
SYMBOLS = {HOLDS: "●", IN_PART: "◐", FAILS: "✕", OPEN: "○"}
MOST_INTERVALS = 3  # estimates whose intervals a text gives; of more the picture alone
BESIDE = 0.06  # of the width of a picture, left and right of what it shows


@dataclass(frozen=True)
class Bar:
    """An estimate as drawn: places between 0, the left edge, and 1, the right one.

    start, end: the range that the claim names.
    """

    label: str
    number: str
    word: str
    at: float
    low: float | None
    high: float | None
    start: float
    end: float


def symbol(claim: Central) -> str:
    """Return the mark of a claim as one character."""
    return SYMBOLS[claim.mark]


def mark_of(claim: Central) -> str:
    """Return the mark of a claim in words, with its reason where it is open."""
    return mark_text(claim.mark, claim.why)


def block(claim: Central) -> str:
    """Return the heading under which a claim stands: its paper's, or that of the notebooks."""
    return f"Paper {claim.paper}" if claim.source == "paper" else NOTEBOOKS


def row_text(claim: Central) -> str:
    """Return what the row says beside its estimates; may be empty."""
    return with_signs(" ".join(claim.row))


def deciding_text(claim: Central) -> str:
    """Return the estimates in one line, those that agree with the claim first."""
    points, decimals = claim.points, claim.decimals
    if not points:
        return f"{claim.number}: {NOTHING}"
    sign = is_signed(points)
    groups = []
    for word in WORDS:
        texts = []
        for point in points:
            if point.word == word:
                parts = [point.model, estimate_text(point.value, decimals, sign=sign)]
                if len(points) <= MOST_INTERVALS:
                    parts.append(_interval(point, decimals, sign=sign))
                texts.append(" ".join(filter(None, parts)))
        if texts:
            groups.append(f"{', '.join(texts)}: {word}")
    return f"{claim.number}: {'; '.join(groups)}"


def methods_text(claim: Central) -> str:
    """Say what gives the intervals of the estimates, and over which units; may be empty."""
    told = dict.fromkeys(
        f"{point.method} over {point.n} {point.unit}" for point in claim.points if point.method
    )
    return f"Intervals by {'; '.join(told)}." if told else ""


def estimate_text(value: float, decimals: int, *, sign: bool) -> str:
    """Return a number at so many decimals, or at more where these would show zero."""
    if value and float(f"{value:.{decimals}f}") == 0:
        decimals = -math.floor(math.log10(abs(value)))
    return with_signs(f"{value:{'+' if sign else ''}.{decimals}f}")


def is_signed(points: Sequence[Point]) -> bool:
    """Return whether numbers stand with a plus: some are negative, or zero is the border."""
    return any(point.value < 0 or 0 in (point.above, point.below) for point in points)


def _interval(point: Point, decimals: int, *, sign: bool) -> str:
    if point.low is None or point.high is None:
        return ""
    low, high = (estimate_text(end, decimals, sign=sign) for end in (point.low, point.high))
    return f"({low} to {high})"


def bars(claim: Central) -> list[Bar]:
    """Return the estimates of a claim on one scale, which holds every end that is finite."""
    points = claim.points
    ends = [
        end
        for point in points
        for end in (point.value, point.low, point.high, point.above, point.below)
        if end is not None
    ]
    if not ends:
        return []
    width = max(ends) - min(ends) or 1.0
    first, last = min(ends) - BESIDE * width, max(ends) + BESIDE * width

    def place(value: float) -> float:
        return (value - first) / (last - first)

    sign = is_signed(points)
    return [
        Bar(
            label=point.model,
            number=estimate_text(point.value, claim.decimals, sign=sign),
            word=point.word.replace(" ", "-"),
            at=place(point.value),
            low=None if point.low is None else place(point.low),
            high=None if point.high is None else place(point.high),
            start=0.0 if point.above is None else place(point.above),
            end=1.0 if point.below is None else place(point.below),
        )
        for point in points
    ]
