"""Why a central claim fares as it does: sentences made of its parts, the deciding one first.

One function tells every claim: what is shown, what is refuted and what is open are three branches,
each with its numbers, the intervals that decide and their units. What a claim adds of its own are
notes, `papers/*/central.py`.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from layerwise.engine.answer_words import (
    NEEDS_WEIGHTS,
    NO,
    NO_CATEGORIES,
    NO_SPREAD,
    OPPOSITE,
    TOO_FEW,
    UNDECIDED,
    YES,
)
from layerwise.engine.answers import ByModel
from layerwise.engine.marks import DEPENDS, Ask, QuestionPart, Weighed
from layerwise.engine.published import DECIDES, OVER_MODELS, PUBLISHED
from layerwise.engine.seen import equal_p, listed
from layerwise.engine.verdicts import Statistics

if TYPE_CHECKING:  # at run time it would bring NumPy to who only reads a record
    from layerwise.engine.question import Question, Range

MOST_TOLD = 4  # models with their numbers in one sentence; more of them are counted


def reasons(
    asks: Sequence[Ask],
    weighed: Weighed,
    results: Statistics,
    questions: Mapping[str, "Question"],
    name: Callable[[str], str],
    reading_in_words: Callable[[str], str],
    decimals: int = 2,
) -> list[str]:
    """Return the sentences on a claim.

    Arguments:
        weighed: its questions, weighed.
        results: the statistics that answer them.
        name: how texts call a model.
        reading_in_words: how texts call a reading.
        decimals: of its estimates.
    """
    sentences: list[tuple[str, str]] = []  # each with the word of its ask
    for ask, parts, word in zip(asks, weighed.parts, weighed.words, strict=True):
        question = questions[ask["question"]]
        by_model = results.answers.get(question.name, {})
        asked = _Asked(ask, parts, question, by_model, name, decimals)
        told = [*asked.tell(), *asked.tell_undefined(results.undefined)]
        sentences += [(word, sentence) for sentence in told]
    if weighed.why == DEPENDS:
        against = [reading_in_words(name) for name, word in weighed.readings.items() if word == NO]
        sentences.insert(0, (NO, f"The claim is refuted by another reading: {listed(against)}."))
    first = NO if NO in weighed.words else weighed.why
    # what decides stands first: a refuted part, then what is open, then what is shown
    return [text for _, text in sorted(sentences, key=lambda told: told[0] not in (first, DEPENDS))]


@dataclass(frozen=True)
class _Asked:
    """An ask with its answers, as sentences tell it.

    Attributes:
        by_model: the answers to its question.
        name: how texts call a model.
        decimals: of its estimates.
    """

    ask: Ask
    parts: Sequence[QuestionPart]
    question: "Question"
    by_model: ByModel
    name: Callable[[str], str]
    decimals: int

    def tell(self) -> Iterator[str]:
        """Yield what is refuted, what is open, what is shown."""
        number, inside, outside = self.question.number, *self._ranges
        if models := self._models(NO):
            yield f"The {number} lies {outside}{self._numbers(models)}."
        yield from self._tell_open(f"Whether the {number} lies {inside} is open")
        if models := self._models(YES):
            yield f"The {number} lies {inside}{self._numbers(models)}."
        if "at_least" in self.ask:
            n_yes, n_no = len(self._models(YES)), len(self._models(NO))
            n_open = len(self.parts) - n_yes - n_no
            needed = f"{self.ask['at_least']} of {len(self.parts)} are needed"
            yield f"{needed}: {n_yes} yes, {n_no} no, {n_open} open."

    def _tell_open(self, is_open: str) -> Iterator[str]:
        """Yield why parts are open, by the word of each."""
        unit = self.question.unit
        if models := self._models(UNDECIDED):
            n = self.by_model[models[0]][DECIDES].n if models[0] in self.by_model else 0
            of_units = f", over {n} {unit}," if n else ""
            yield f"{is_open}: the interval{of_units} reaches beyond{self._numbers(models)}."
        for word, why in (
            (TOO_FEW, "so few units could not answer, whatever they showed"),
            (NO_CATEGORIES, "its units come from no category that is told"),
            (NO_SPREAD, "it is a single number"),
        ):
            if models := self._models(word):
                answer = self.by_model[models[0]][DECIDES]
                needed = f"; it takes {answer.fewest} {answer.unit}" if word == TOO_FEW else ""
                yield f"{is_open}: {why}{needed}{self._numbers(models)}."
        if models := self._models(NEEDS_WEIGHTS):
            yield f"{is_open}: there is no number for each of the {unit} that would decide it."
            yield from self._tell_published(models)

    def _tell_published(self, models: Sequence[str]) -> Iterator[str]:
        """Yield what the paper's own number and interval would answer, word by word."""
        known = [model for model in models if PUBLISHED in self.by_model.get(model, {})]
        inside, outside = self._ranges
        turned = OPPOSITE if self._is_turned else {}
        for word, place in (
            (YES, inside),
            (NO, outside),
            (UNDECIDED, f"not shown to lie {inside}"),
        ):
            wanted = turned.get(word, word)
            alike = [model for model in known if self.by_model[model][PUBLISHED].word == wanted]
            if alike:
                verb = "is" if word == UNDECIDED else "lies"
                numbers = self._numbers(alike, PUBLISHED)
                yield f"As the paper takes it, the number {verb} {place}{numbers}."

    def tell_undefined(self, undefined: Mapping[str, str]) -> Iterator[str]:
        """Yield why a part has no answer although all that it needs is there."""
        for part in self.parts:
            why = undefined.get(f"questions:{part.question}:/models/{part.model}/{DECIDES}")
            if why is not None:
                of_model = "" if part.model == OVER_MODELS else f" of {self.name(part.model)}"
                yield f"The {self.question.number}{of_model} has no value: {why}."

    def _models(self, word: str) -> list[str]:
        """Return the models whose parts have a word."""
        return [part.model for part in self.parts if part.word == word]

    @property
    def _is_turned(self) -> bool:
        """True where the claim says no."""
        return self.ask.get("answer", YES) == NO

    @property
    def _ranges(self) -> tuple[str, str]:
        """Where the number lies if the claim is right, and if it is wrong, in words."""
        within, against = self.question.within, self.question.against
        inside = _range_text(within)
        outside = _complement(within) if against is None else _range_text(against)
        return (outside, inside) if self._is_turned else (inside, outside)

    def _numbers(self, models: Iterable[str], reading: str = DECIDES) -> str:
        """Return ": Llama -0.30 (-0.42 to -0.18) and ...", or nothing where none is known."""
        known = [model for model in models if reading in self.by_model.get(model, {})]
        told = [self._estimate(model, reading) for model in known[:MOST_TOLD]]
        if not told:
            return ""
        n_more = len(known) - MOST_TOLD
        return f": {', '.join(told)} and {n_more} more" if n_more > 0 else f": {listed(told)}"

    def _estimate(self, model: str, reading: str) -> str:
        """Return a model's number with what decides it: interval, or p, and where that holds."""
        answer = self.by_model[model][reading]
        of_model = "" if model == OVER_MODELS else f"{self.name(model)} "
        number = f"{of_model}{answer.value:+.{self.decimals}f}"
        ends = answer.deciding
        if ends is not None:
            where = f"; {answer.where}" if answer.where else ""
            return f"{number} ({ends:+.{self.decimals}f}{where})"
        p = "" if answer.p is None else f"p {equal_p(answer.p)}"
        beside = ", ".join(part for part in (p, answer.where) if part)
        return number + (f" ({beside})" if beside else "")


def _range_text(within: "Range") -> str:
    if math.isinf(within.below):
        return "above zero" if within.above == 0 else f"above {within.above:.4g}"
    if math.isinf(within.above):
        return "below zero" if within.below == 0 else f"below {within.below:.4g}"
    if within.above == -within.below:
        return f"within ±{within.below:.4g}"
    return f"between {within.above:.4g} and {within.below:.4g}"


def _complement(within: "Range") -> str:
    if math.isinf(within.below):
        return "below zero" if within.above == 0 else f"at or below {within.above:.4g}"
    if math.isinf(within.above):
        return "above zero" if within.below == 0 else f"at or above {within.below:.4g}"
    return f"beyond {_range_text(within).removeprefix('within ')}"
