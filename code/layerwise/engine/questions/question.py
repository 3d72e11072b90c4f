"""A question: where a number must lie if a claim is right, and the word that an interval gives."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Evidence
from layerwise.statistics.estimates import Estimate

PUBLISHED = "published"  # the choice: as the papers did
OVER_MODELS = "all models"  # of what a question is asked that is about several models at once
THE_PAIRS = "the statement pairs"  # of what a question is asked that is about the texts alone
ALPHA = 0.05
FEWEST = 5  # units: of four, a third of the resamples hold at most two different ones
OF_R, OF_MEAN = "r", "mean"  # what an effect is: see `Question`
WORDS = YES, NO, UNDECIDED, TOO_FEW = "yes", "no", "undecided", "too few"
MEANINGS = {
    YES: "the 95% interval lies where the claim says; of resampled r over few points p < 0.05 too",
    NO: "it lies wholly where the claim says that it does not",
    UNDECIDED: "neither: these data cannot tell",
    TOO_FEW: f"fewer than {FEWEST} units: no interval of so few answers anything",
}


@dataclass(frozen=True)
class Range:
    """Where a number lies if the claim is right: between two bounds, which are not in it."""

    above: float = -math.inf
    below: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.above < value < self.below


def word(estimate: Estimate, within: Range) -> str:
    """One of `WORDS`: an interval that lies in the range says yes, a value never does."""
    if estimate.n < FEWEST:
        return TOO_FEW
    if estimate.p is not None and estimate.p >= ALPHA:
        return UNDECIDED
    if within.above < estimate.low and estimate.high < within.below:
        return YES
    outside = estimate.high <= within.above or estimate.low >= within.below
    return NO if outside else UNDECIDED


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

    @property
    def above(self) -> float:
        return self.within.above

    @property
    def below(self) -> float:
        return self.within.below

    def answer(self, estimate: Estimate) -> dict[str, Any]:
        """An answer as documents hold it; what has no interval has no ends."""
        known = estimate.has_interval
        return {
            "value": float(estimate.value),
            "low": float(estimate.low) if known else None,
            "high": float(estimate.high) if known else None,
            "n": int(estimate.n),
            "unit": estimate.unit,
            "where": estimate.where,
            "in_range": estimate.value in self.within,
            "word": word(estimate, self.within),
        }

    def rules(self, entry: Any) -> dict[str, "Asked"]:
        """What answers the question of one model, by choice."""
        return {choice: Asked(self, partial(rule, entry)) for choice, rule in self.choices.items()}


@dataclass(frozen=True)
class Asked:
    """A rule of a question, bound to what it is asked of: gives an answer, or a table of further
    ones, one per part that is left out.
    """

    question: Question
    rule: Callable[[], Any]

    def __call__(self, _: Any = None) -> dict[str, Any]:
        found = self.rule()
        if isinstance(found, Estimate):
            return self.question.answer(found)
        return {part: Asked(self.question, rule) for part, rule in found.items()}
