"""The strip as people read it: mark, claim, deciding number, and the estimates drawn in the row.

It is read from the central claims, `engine.central.Central`, and serves README, the page, the first
sheet of the PDF and the terminal alike.
"""

import itertools
import math
from collections.abc import Sequence

from layerwise.engine.answer_words import WORDS
from layerwise.engine.central import Central, Point
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, OPEN, mark_text
from layerwise.engine.published import PUBLISHED, split_pointer
from layerwise.engine.seen import equal_p
from layerwise.engine.verdicts import FALLS, STANDING
from layerwise.present.range_picture import RangePicture, RangeRow
from layerwise.present.values import NOTHING, with_signs

NOTEBOOKS = "From the notebooks"
SYMBOLS = {HOLDS: "●", IN_PART: "◐", FAILS: "✕", OPEN: "○"}
MOST_INTERVALS = 4  # estimates whose intervals a text gives; of more the picture alone


def symbol(claim: Central) -> str:
    """Return the mark of a claim as one character."""
    return SYMBOLS[claim.mark]


def mark_of(claim: Central) -> str:
    """Return the mark of a claim in words, with its reason where it is open."""
    return mark_text(claim.mark, claim.why)


def count_text(claim: Central) -> str:
    """Return how many of its printed numbers are as printed: "1 of 4"."""
    return f"{claim.as_printed} of {claim.compared}" if claim.compared else NOTHING


def rows_text(claim: Central) -> str:
    """Return the same above a table of all of them: also how many of its rows are not counted."""
    if not claim.compared:
        return ""
    unknown = sum(part["verdict"] not in (*STANDING, *FALLS) for part in claim.printed)
    repeated = len(claim.printed) - claim.compared - unknown
    told = [f"{count_text(claim)} as printed"]
    if repeated:
        told += [f"{repeated} {'rows repeat' if repeated > 1 else 'row repeats'} a number"]
    if unknown:
        told += [f"{unknown} {'rows' if unknown > 1 else 'row'} cannot be compared"]
    return "; ".join(told)


def block(claim: Central) -> str:
    """Return the heading under which a claim stands: its paper's, or that of the notebooks."""
    return f"Paper {claim.paper}" if claim.source == "paper" else NOTEBOOKS


def row_text(claim: Central) -> str:
    """Return what the row says beside its estimates; may be empty."""
    return with_signs(" ".join(claim.row))


def is_deciding(claim: Central, point: Point) -> bool:
    """Return whether an estimate answers what the claim asks, as the papers asked it.

    The others stand beside it: of other models, or by another method.
    """
    if not point.statistic:
        return True
    key = point.statistic.split(":", 2)[-1]
    asked = {part["question"] for part in claim.questions}
    return _question(point) in asked and split_pointer(key)[-1] == PUBLISHED


def deciding_text(claim: Central) -> str:
    """Return the estimates in one line: those that decide, by their words, then the others."""
    points, decimals = claim.points, claim.decimals
    if not points:
        return f"{claim.number}: {NOTHING}"
    groups = []
    for decides, word in itertools.product((True, False), WORDS):
        texts = []
        for point in points:
            if point.word == word and is_deciding(claim, point) == decides:
                sign = is_signed(point, points)
                number = estimate_text(point.value, decimals, sign=sign)
                beside = _beside(point, decimals, sign=sign, interval=len(points) <= MOST_INTERVALS)
                texts.append(" ".join(filter(None, (point.model, number, beside))))
        if texts:
            groups.append(f"{'' if decides else 'beside it, '}{', '.join(texts)}: {word}")
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


def is_signed(point: Point, points: Sequence[Point]) -> bool:
    """Return whether numbers stand with a plus: some are negative, or zero is the border.

    Arguments:
        points: those of the claim; of these the answers to the point's own question are alike.
    """
    alike = [other for other in points if _question(other) == _question(point)]
    numbers = [
        number for other in alike for number in (other.value, other.low, other.high, other.printed)
    ]
    is_border = any(0 in (other.above, other.below) for other in alike)
    return is_border or any(number is not None and number < 0 for number in numbers)


def _question(point: Point) -> str:
    """Return the question that an estimate answers; empty where none is named."""
    return point.statistic.split(":")[1] if point.statistic else ""


def _beside(point: Point, decimals: int, *, sign: bool, interval: bool) -> str:
    """Return what stands behind an estimate: interval or p, and what else is printed for it."""
    texts = [interval_text(point, decimals, sign=sign)] if interval else []
    if point.p is not None:
        texts.append(f"p {equal_p(point.p)}")
    if point.printed is not None and point.as_printed is False:
        texts.append(f"printed {estimate_text(point.printed, decimals, sign=sign)}")
    texts = [*filter(None, texts)]
    return f"({', '.join(texts)})" if texts else ""


def interval_text(point: Point, decimals: int, *, sign: bool) -> str:
    """Return the ends of an interval; nothing where there is none."""
    if point.low is None or point.high is None:
        return ""
    ends = (estimate_text(end, decimals, sign=sign) for end in (point.low, point.high))
    return " to ".join(ends)


def picture(claim: Central) -> RangePicture:
    """Return the estimates of a claim as they are drawn, on one axis."""
    points = claim.points

    def number(point: Point) -> str:
        sign = is_signed(point, points)
        value = estimate_text(point.value, claim.decimals, sign=sign)
        beside = interval_text(point, claim.decimals, sign=sign)
        beside = beside or (f"p {equal_p(point.p)}" if point.p is not None else "")
        return f"{value} ({beside})" if beside else value

    return RangePicture(
        [
            RangeRow(
                label=point.model,
                number=number(point),
                word=point.word,
                value=point.value,
                low=point.low,
                high=point.high,
                above=-math.inf if point.above is None else point.above,
                below=math.inf if point.below is None else point.below,
                printed=point.printed,
                decides=is_deciding(claim, point),
            )
            for point in points
        ]
    )
