"""How often an answer is wrong: the recorded table of `benchmarks/calibration.py`, for pages.

A row counts the words of many made sets of data whose truth is known. Where the truth lies on the
border of what is claimed, yes and no are both wrong; where it lies beyond, one of them is, and the
share of the other is the power.
"""

import functools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerwise.engine.answer_words import NO, YES
from layerwise.files import read_json

RECORD = Path(__file__).with_name("calibration.json")
MOST, LEAST = 0.025, 0.93  # the aims: wrong on a side, and intervals that hold the truth
MOST_OF_EQUIVALENCE = 0.05  # a yes by two one-sided tests, each at 5%
EQUIVALENCES = ("calibration",)
ERRORS = 3  # Monte-Carlo errors by which a rate may miss its aim: of 400 rows one does by chance


@dataclass(frozen=True)
class Row:
    """What came out of many sets of one kind.

    Attributes:
        truth: what is right: yes, no, or `border` where neither is.
        yes, no: sets so answered; `covered`: those whose 95% interval holds the true number, None
            where there is no such number.
        why: why the aim is out of reach here; empty where it is not.
        model: the trained model whose numbers these are; empty for made ones.
    """

    question: str
    data: str
    sets: int
    truth: str
    yes: int
    no: int
    covered: int | None
    why: str = ""
    model: str = ""

    @property
    def wrong_yes(self) -> float | None:
        """The share of sets that are answered yes and should not be; None where yes is right."""
        return None if self.truth == YES else self.yes / self.sets

    @property
    def wrong_no(self) -> float | None:
        """The same of no."""
        return None if self.truth == NO else self.no / self.sets

    @property
    def coverage(self) -> float | None:
        """The share of intervals that hold the true number; None where there is none."""
        return None if self.covered is None else self.covered / self.sets

    @property
    def power(self) -> float | None:
        """The share of the right word; None on the border."""
        return {YES: self.yes / self.sets, NO: self.no / self.sets}.get(self.truth)

    @property
    def is_met(self) -> bool:
        """Whether it reaches the aim, within the Monte-Carlo error."""

        def error(aim: float) -> float:
            return ERRORS * math.sqrt(aim * (1 - aim) / self.sets)

        of_yes = MOST_OF_EQUIVALENCE if self.question in EQUIVALENCES else MOST
        is_rare = all(
            share is None or share <= aim + error(aim)
            for share, aim in ((self.wrong_yes, of_yes), (self.wrong_no, MOST))
        )
        return is_rare and (self.coverage is None or self.coverage >= LEAST - error(LEAST))


@dataclass(frozen=True)
class Worst:
    """The worst rates of some rows; None where no row has one.

    Attributes:
        power: the lowest and the highest.
    """

    wrong_yes: float | None
    wrong_no: float | None
    coverage: float | None
    power: tuple[float, float] | None


def read_record() -> dict[str, Any]:
    """Return the recorded document."""
    return dict(read_json(RECORD))


def read_error_rates() -> list[Row]:
    """Return the recorded rows."""
    return [Row(**row) for row in read_record()["rows"]]


@functools.cache
def rows_by_question() -> dict[str, list[Row]]:
    """Return the recorded rows of each question."""
    found: dict[str, list[Row]] = {}
    for row in read_error_rates():
        found.setdefault(row.question, []).append(row)
    return found


def worst_of(rows: list[Row]) -> Worst:
    """Return the worst rates of rows, those that are out of reach left out."""

    def known(name: str) -> list[float]:
        shares = [getattr(row, name) for row in rows if not row.why]
        return [share for share in shares if share is not None]

    power = known("power")
    return Worst(
        max(known("wrong_yes"), default=None),
        max(known("wrong_no"), default=None),
        min(known("coverage"), default=None),
        (min(power), max(power)) if power else None,
    )


def percent(share: float | None) -> str:
    """Return a share in percent; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f}%"


def error_rate(question: str) -> str | None:
    """Return in a sentence how often answers to a question are wrong; None where no row says it.

    The worst rates of all data but those on which the aim is out of reach; the worst of these; and
    the power in the first row that has one.
    """
    rows = rows_by_question().get(question)
    if rows is None:
        return None
    worst = worst_of(rows)
    told = [
        f"a wrong yes in at most {percent(worst.wrong_yes)}",
        f"a wrong no in at most {percent(worst.wrong_no)}",
    ]
    if worst.coverage is not None:
        told.append(f"the interval holds the truth in {percent(worst.coverage)} or more")
    for row in [row for row in rows if row.power is not None and not row.why][:1]:
        told.append(f"the right word in {percent(row.power)} of the data '{row.data}'")
    wrong = [share for row in rows if row.why for share in (row.wrong_yes, row.wrong_no) if share]
    if wrong:
        told.append(f"wrong in up to {percent(max(wrong))} of data that its method is not made for")
    return f"On made data: {', '.join(told)}."


def error_rates(questions: Iterable[str]) -> str:
    """Return the same of several questions, each sentence once; empty where none has a row."""
    told = dict.fromkeys(map(error_rate, questions))
    return " ".join(filter(None, told))


def power_by_categories(r: float) -> dict[int, float]:
    """Return how often an r is shown, by the number of categories of twenty pairs.

    Arguments:
        r: 0.3 or 0.5, which the record has.
    """
    pattern = re.compile(rf"from {r} to -{r} .*; (\d+) categories of 20")
    return {
        int(found[1]): row.power
        for row in rows_by_question()["early"]
        if row.power is not None and (found := pattern.search(row.data))
    }
