"""A question: where a number must lie if a claim is right, and the word that an interval gives."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Evidence
from layerwise.engine.questions.words import NO, NO_SPREAD, TOO_FEW, UNDECIDED, YES
from layerwise.statistics.estimates import Estimate

ALPHA = 0.05
OF_R, OF_MEAN = "r", "mean"  # what an effect is: see `Question`


@dataclass(frozen=True)
class Range:
    """The open range in which a number lies if the claim is right."""

    above: float = -math.inf
    below: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.above < value < self.below


def word(
    estimate: Estimate, within: Range, *, fewest: int = 0, against: Range | None = None
) -> str:
    """Return one of `WORDS`: an interval that lies in the range says yes, a value never does.

    Arguments:
        fewest: units with which some numbers could answer, where the method gives an interval to
            fewer; what needs more for any interval says so itself.
        against: where the 95% interval lies if the claim is wrong, also where it lies in the range
            too; wherever it is not in the range, if left out.
    """
    if estimate.n < 2:
        return NO_SPREAD
    if estimate.n < max(fewest, estimate.fewest):
        return TOO_FEW
    if estimate.p is not None and estimate.p >= ALPHA:
        return UNDECIDED
    if not estimate.has_interval:
        if estimate.p is None:
            return UNDECIDED
        return YES if estimate.value in within else NO
    if estimate.opposite is not None:  # a p: evidence for one side or the other, never of nothing
        if estimate.high < within.below:
            return YES
        return NO if estimate.opposite < ALPHA else UNDECIDED
    if against is not None and estimate.low in against and estimate.high in against:
        return NO
    low, high = (estimate.low, estimate.high) if estimate.narrow is None else estimate.narrow
    if within.above < low and high < within.below:
        return YES
    outside = high <= within.above or low >= within.below
    return NO if against is None and outside else UNDECIDED


@dataclass(frozen=True)
class Question:
    """A central claim in the form in which numbers answer it.

    Attributes:
        number: what the estimate is.
        unit: what varies, and what its n counts.
        models: what the rules read, by model, of those that the numbers are about; one entry,
            `OVER_MODELS`, where the question is about several at once.
        choices: {choice: rule}, as the papers did (`PUBLISHED`) first. A rule gives an `Estimate`;
            or a table of further rules, one per part that is left out.
        within: where the number lies if the claim is right.
        effect: of what kind the number is, where its power can be told: an r, or a mean with a
            standard error; nothing of what counts models.
        fewest: how many units it takes for some numbers to answer yes, where the method gives an
            interval to fewer; with fewer the word is `TOO_FEW`.
        against: where the number lies if the claim is wrong, of what is said not to be there; by
            default wherever it is not `within`.
    """

    name: str
    paper: int
    says: str
    number: str
    unit: str
    models: Callable[[Evidence], Mapping[str, Any]]
    choices: Mapping[str, Function]
    within: Range
    effect: str = ""
    fewest: int = 0
    against: Range | None = None

    @property
    def above(self) -> float:
        return self.within.above

    @property
    def below(self) -> float:
        return self.within.below

    @property
    def is_equivalence(self) -> bool:
        """True where the claim is that a number shows no effect: it lies between two bounds."""
        return math.isfinite(self.above) and math.isfinite(self.below)

    def word(self, estimate: Estimate) -> str:
        """Return the word of an estimate on this question."""
        return word(estimate, self.within, fewest=self.fewest, against=self.against)

    def answer(self, estimate: Estimate) -> dict[str, Any]:
        """Return an answer as documents hold it; what has no interval has no ends."""
        known = estimate.has_interval
        groups = {} if estimate.groups is None else {"groups": [*map(list, estimate.groups)]}
        return {
            "value": float(estimate.value),
            "low": float(estimate.low) if known else None,
            "high": float(estimate.high) if known else None,
            "n": int(estimate.n),
            "unit": estimate.unit,
            "where": estimate.where,
            "in_range": estimate.value in self.within,
            "word": self.word(estimate),
            "fewest": max(self.fewest, estimate.fewest),
            "method": estimate.method,
            "p": None if estimate.p is None else float(estimate.p),
            "narrow": None if estimate.narrow is None else [*map(float, estimate.narrow)],
            **groups,
        }

    def rules(self, entry: Any) -> dict[str, "Asked"]:
        """Return the rules that answer the question of one model, by choice."""
        return {choice: Asked(self, partial(rule, entry)) for choice, rule in self.choices.items()}


@dataclass(frozen=True)
class Asked:
    """A rule of a question, bound to what it is asked of: gives an answer, or a table of further
    ones, one per part that is left out.
    """

    question: Question
    rule: Callable[[], Any]

    @property
    def says(self) -> str:
        """Describe the estimate in words."""
        return self.question.number

    def __call__(self, _: Any = None) -> dict[str, Any]:
        value = self.rule()
        if isinstance(value, Estimate):
            return self.question.answer(value)
        return {part: Asked(self.question, rule) for part, rule in value.items()}
