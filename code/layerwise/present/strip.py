"""The strip as people read it: mark, claim, deciding number, and the estimates drawn in the row.

One set of rows serves README, the page, the first sheet of the PDF and the terminal.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layerwise.engine.headlines import (
    CANNOT,
    DEPENDS,
    NEEDS_WEIGHTS,
    NEVER,
    NO,
    NOT,
    SOME,
    STANDS,
    TOO_FEW,
    UNDECIDED,
    YES,
)
from layerwise.engine.words import Names, in_words, label_model
from layerwise.present.values import NOTHING, with_signs

NOTEBOOKS = "From the notebooks"
HOLDS, IN_PART, FAILS, OPEN = "holds", "in part", "does not hold", "open"
SYMBOLS = {HOLDS: "●", IN_PART: "◐", FAILS: "✕", OPEN: "○"}
MARKS = {
    STANDS: HOLDS,
    DEPENDS: IN_PART,
    SOME: IN_PART,
    NOT: FAILS,
    UNDECIDED: OPEN,
    CANNOT: OPEN,
    NEEDS_WEIGHTS: OPEN,
}
# How a text says where an estimate lies.
WORDS = {
    YES: "yes",
    NO: "no",
    UNDECIDED: "open",
    TOO_FEW: "no interval",
    NEVER: "cannot be answered",
}
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


@dataclass(frozen=True)
class Line:
    """A row of the strip.

    Attributes:
        id, paper, claim, grade, figure, front: those of the row.
        block: under which heading it stands: a paper's, or that of the notebooks.
        mark: whether the claim holds; `symbol`: as one character.
        number: what the deciding estimates are.
        decides: the same with the estimates, in one line.
        text: what else to know, in a sentence; may be empty.
        bars: the estimates as drawn.
    """

    id: str
    paper: int
    block: str
    claim: str
    grade: str
    mark: str
    symbol: str
    number: str
    decides: str
    text: str
    figure: str
    front: bool
    bars: list[Bar]


def strip_lines(rows: Iterable[Mapping[str, Any]], names: Names) -> list[Line]:
    """Return the rows of the strip in words, with the names of models that readers know.

    Arguments:
        rows: `strip` of the judged claims, `engine.strip.Row` as dictionaries.
        names: what models are called.
    """
    lines = []
    for row in rows:
        points = [{**point, "model": label_model(point["model"], names)} for point in row["points"]]
        mark = MARKS[row["grade"]]
        number = in_words(row["number"], names)
        lines.append(
            Line(
                **{name: row[name] for name in ("id", "paper", "grade", "figure", "front")},
                block=f"Paper {row['paper']}" if row["source"] == "paper" else NOTEBOOKS,
                claim=in_words(row["claim"], names),
                mark=mark,
                symbol=SYMBOLS[mark],
                number=number,
                decides=deciding_text(number, points, row["decimals"]),
                text=with_signs(in_words(row["text"], names)),
                bars=bars(points, row["decimals"]),
            )
        )
    return lines


def deciding_text(number: str, points: Sequence[Mapping[str, Any]], decimals: int) -> str:
    """Return the estimates in one line, those that agree with the claim first."""
    if not points:
        return f"{number}: {NOTHING}"
    sign = is_signed(points)
    groups = []
    for word in WORDS:
        texts = []
        for point in points:
            if point["word"] == word:
                parts = [point["model"], estimate_text(point["value"], decimals, sign=sign)]
                if len(points) <= MOST_INTERVALS:
                    parts.append(_interval(point, decimals, sign=sign))
                texts.append(" ".join(filter(None, parts)))
        if texts:
            groups.append(f"{', '.join(texts)}: {WORDS[word]}")
    return f"{number}: {'; '.join(groups)}"


def estimate_text(value: float, decimals: int, *, sign: bool) -> str:
    """Return a number at so many decimals, or at more where these would show zero."""
    if value and float(f"{value:.{decimals}f}") == 0:
        decimals = -math.floor(math.log10(abs(value)))
    return with_signs(f"{value:{'+' if sign else ''}.{decimals}f}")


def is_signed(points: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether numbers stand with a plus: some are negative, or zero is the border."""
    return any(point["value"] < 0 or 0 in (point["above"], point["below"]) for point in points)


def _interval(point: Mapping[str, Any], decimals: int, *, sign: bool) -> str:
    if point["low"] is None:
        return ""
    low, high = (estimate_text(point[end], decimals, sign=sign) for end in ("low", "high"))
    return f"({low} to {high})"


def bars(points: Sequence[Mapping[str, Any]], decimals: int) -> list[Bar]:
    """Return the estimates of a row on one scale, which holds every end that is finite."""
    ends = [
        point[name]
        for point in points
        for name in ("value", "low", "high", "above", "below")
        if point[name] is not None
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
            label=point["model"],
            number=estimate_text(point["value"], decimals, sign=sign),
            word=point["word"].replace(" ", "-"),
            at=place(point["value"]),
            low=None if point["low"] is None else place(point["low"]),
            high=None if point["high"] is None else place(point["high"]),
            start=0.0 if point["above"] is None else place(point["above"]),
            end=1.0 if point["below"] is None else place(point["below"]),
        )
        for point in points
    ]
