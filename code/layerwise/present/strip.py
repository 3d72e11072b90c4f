"""The strip as people read it: mark, claim, deciding number, and the estimates drawn in the row.

It is read from the central claims, `engine.central.Central`, and serves README, the page, the first
sheet of the PDF and the terminal alike.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence

from layerwise.engine.answer_words import NO, UNDECIDED, WORDS, YES
from layerwise.engine.answers import number_text
from layerwise.engine.central import Central, Point
from layerwise.engine.judged import FALLS, STANDING
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, OPEN, OPENNESS, mark_text
from layerwise.engine.published import split_pointer
from layerwise.engine.seen import equal_p
from layerwise.present.range_picture import RangePicture, RangeRow, Taken
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
    """Return what the row says beside its estimates; may be empty.

    How its parts answer, where there are several; why it is open; what they answer as published,
    where that is another word; and how other readings answer.
    """
    of_questions = len({part.question for part in claim.parts})
    asked = {1: "models", len(claim.parts): "statements"}.get(of_questions, "parts")
    counts = parts_text(claim)
    told = [counts and f"{asked}: {counts}", claim.why and OPENNESS[claim.why]]
    told += [published_text(claim), agreement_text(claim)]
    return "; ".join(filter(None, told))


def parts_text(claim: Central) -> str:
    """Return how the parts of a claim answer: "1 yes, 2 open"; empty of a single one."""
    counts = [f"{n} {word}" for word, n in claim.counts.items() if n]
    return ", ".join(counts) if len(claim.parts) > 1 else ""


def published_text(claim: Central) -> str:
    """Return how the estimates answer as the paper takes them; empty where that is the same.

    Single numbers without an interval answer nothing.
    """
    points = [point for point in claim.points if is_deciding(claim, point)]
    taken = [point.published["word"] for point in points]
    told = [word for word in (YES, NO, UNDECIDED) if word in taken]
    if not told or taken == [point.word for point in points]:
        return ""
    counts = [f"{taken.count(word)} {word}" for word in told] if len(taken) > 1 else told
    return f"as published {', '.join(counts)}"


def agreement_text(claim: Central) -> str:
    """Return how other readings answer, counted: "1 yes, 2 open"; empty where there are none."""
    words = [reading["word"] for reading in claim.readings]
    counts = Counter(word if word in (YES, NO) else OPEN for word in words)
    told = ", ".join(f"{counts[word]} {word}" for word in (YES, NO, OPEN) if counts[word])
    return f"computed in {len(words)} other way{'s' * (len(words) > 1)}: {told}" if words else ""


def readings_text(claim: Central) -> str:
    """Say how the claim is answered by other readings, word by word; empty where there are none."""
    told = []
    for word in WORDS:
        if names := [reading["text"] for reading in claim.readings if reading["word"] == word]:
            told.append(f"{word.capitalize()}: {'; '.join(names)}.")
    return " ".join(["Other readings.", *told]) if told else ""


def is_deciding(claim: Central, point: Point) -> bool:
    """Return whether an estimate is of a part of the claim; the others stand beside it."""
    if not point.statistic:
        return True
    asked = {(part.question, part.model) for part in claim.parts}
    return (question_of(point), split_pointer(point.statistic.split(":", 2)[-1])[-1]) in asked


def deciding_text(claim: Central) -> str:
    """Return the estimates in one line: those that decide, by their words, then the others.

    Of one that the source lacks stands what its paper took, with the word that this gives.
    """
    points = claim.points
    if not points:
        return f"{claim.number}: {NOTHING}"
    groups = []
    for decides, word, published in itertools.product((True, False), WORDS, (None, *WORDS)):
        texts = [
            _estimate(claim, point)
            for point in points
            if point.word == word
            and is_deciding(claim, point) == decides
            and published == (point.published["word"] if point.value is None else None)
        ]
        if texts:
            shown = word if word in (YES, NO) else f"open ({word})"
            answer = shown if published is None else f"{published} as published, {shown}"
            groups.append(f"{'' if decides else 'beside it, '}{', '.join(texts)}: {answer}")
    return f"{claim.number}: {'; '.join(groups)}"


def _estimate(claim: Central, point: Point) -> str:
    """Return an estimate with its name, its interval and what else is printed for it."""
    sign, decimals = is_signed(point, claim.points), claim.decimals
    number = point_text(point, decimals, sign=sign)
    beside = [beside_text(point, decimals, sign=sign)]
    if len(claim.points) > MOST_INTERVALS and point.p is None:
        beside = []
    if point.printed is not None and point.as_printed is False:
        beside.append(f"printed {estimate_text(point.printed, decimals, sign=sign)}")
    told = ", ".join(filter(None, beside))
    return " ".join(filter(None, (point.model, number, told and f"({told})")))


def methods_text(claim: Central) -> str:
    """Say what gives the intervals of the estimates, and over which units; may be empty."""
    told = [dict.fromkeys(_methods(claim.points, published)) for published in (False, True)]
    decides, published = ("; ".join(filter(None, methods)) for methods in told)
    sentences = [f"Intervals by {decides}."] if decides else []
    if published:
        sentences.append(f"As published: intervals by {published}.")
    return " ".join(sentences)


def _methods(points: Iterable[Point], published: bool) -> list[str]:
    """Return what gives the intervals that decide, or of those that the papers take."""
    told = []
    for point in points:
        taken = point.published
        is_another = point.value is None or taken["method"] != point.method
        if published and taken["low"] is not None and is_another:
            told.append(f"{taken['method']} over {taken['n']} {taken['unit']}")
        if not published and (point.low is not None or point.p is not None):
            told.append(f"{point.method} over {point.n} {point.unit}")
    return told


def estimate_text(value: float, decimals: int, *, sign: bool) -> str:
    """Return a number as people read it, with true signs: see `engine.answers.number_text`."""
    return with_signs(number_text(value, decimals, sign=sign))


def is_signed(point: Point, points: Sequence[Point]) -> bool:
    """Return whether numbers stand with a plus: some are negative, or zero is the border.

    Arguments:
        points: those of the claim; of these the answers to the point's own question are alike.
    """
    alike = [other for other in points if question_of(other) == question_of(point)]
    numbers = [
        number
        for other in alike
        for number in (
            *(other.value, other.low, other.high, other.printed),
            *(other.published[name] for name in ("value", "low", "high")),
        )
    ]
    is_border = any(0 in (other.above, other.below) for other in alike)
    return is_border or any(number is not None and number < 0 for number in numbers)


def question_of(point: Point) -> str:
    """Return the question that an estimate answers; empty where none is named."""
    return point.statistic.split(":")[1] if point.statistic else ""


def point_text(point: Point, decimals: int, *, sign: bool) -> str:
    """Return the number that decides; where the source lacks it, what its paper took."""
    value = point.published["value"] if point.value is None else point.value
    return estimate_text(value, decimals, sign=sign)


def beside_text(point: Point, decimals: int, *, sign: bool) -> str:
    """Return the interval of that number, or its p; empty without either."""
    low, high = point.low, point.high
    if point.value is None:
        low, high = point.published["low"], point.published["high"]
    if low is None or high is None:
        return "" if point.p is None else f"p {equal_p(point.p)}"
    return " to ".join(estimate_text(end, decimals, sign=sign) for end in (low, high))


def picture(claim: Central) -> RangePicture:
    """Return the estimates of a claim as they are drawn, on one axis."""
    rows = []
    for point in claim.points:
        sign, taken = is_signed(point, claim.points), point.published
        number = point_text(point, claim.decimals, sign=sign)
        beside = beside_text(point, claim.decimals, sign=sign)
        thin = None
        if point.value is not None and not point.is_published:
            thin = Taken(point.value, point.word, point.low, point.high)
        rows.append(
            RangeRow(
                label=point.model,
                number=f"{number} ({beside})" if beside else number,
                word=point.word,
                thick=Taken(taken["value"], taken["word"], taken["low"], taken["high"]),
                above=-math.inf if point.above is None else point.above,
                below=math.inf if point.below is None else point.below,
                thin=thin,
                printed=point.printed,
                decides=is_deciding(claim, point),
            )
        )
    return RangePicture(rows)
