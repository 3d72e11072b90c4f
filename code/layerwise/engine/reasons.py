"""Why a central claim fares as it does: sentences made of its parts, the deciding one first.

One function tells every claim: what is shown, what is refuted and what is open are three branches,
each with its numbers, the intervals that decide and their units. What a claim adds of its own are
notes, `papers/*/central.py`.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from layerwise.engine.answer_words import (
    NEEDS_WEIGHTS,
    NO,
    NO_CATEGORIES,
    NO_SPREAD,
    TOO_FEW,
    UNDECIDED,
    YES,
)
from layerwise.engine.answers import Answer, ByModel, number_text
from layerwise.engine.marks import DEPENDS, Ask, QuestionPart, Weighed
from layerwise.engine.published import DECIDES, OVER_MODELS, PUBLISHED
from layerwise.engine.seen import capital, equal_p, listed
from layerwise.engine.verdicts import Statistics

if TYPE_CHECKING:  # at run time it would bring NumPy to who only reads a record
    from layerwise.engine.question import Question, Range

MOST_TOLD = 4  # models with their numbers in one sentence; more of them are counted
POSSESSIVE = re.compile(r"[A-Z]\w+'s ")  # of a name, which takes no article


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
        texts = AnswerTexts.of(question, results.answers.get(question.name, {}), name, decimals)
        told = [
            *_tell_ask(ask, parts, question, texts),
            *_undefined(question, parts, results.undefined, name),
        ]
        sentences += [(word, sentence) for sentence in told]
    if weighed.why == DEPENDS:
        against = [reading_in_words(name) for name, word in weighed.readings.items() if word == NO]
        sentences.insert(0, (NO, f"The claim is refuted by another reading: {listed(against)}."))
    first = NO if NO in weighed.words else weighed.why
    # what decides stands first: a refuted part, then what is open, then what is shown
    return [text for _, text in sorted(sentences, key=lambda told: told[0] not in (first, DEPENDS))]


@dataclass(frozen=True)
class AnswerTexts:
    """The answers to one question as sentences list them.

    Attributes:
        name: how texts call a model.
        sign: whether a plus stands before what is positive.
    """

    by_model: ByModel
    name: Callable[[str], str]
    decimals: int
    sign: bool

    @classmethod
    def of(
        cls, question: "Question", by_model: ByModel, name: Callable[[str], str], decimals: int
    ) -> "AnswerTexts":
        """Return them with signs where zero is the border, or where some are negative."""
        answers = [answer for readings in by_model.values() for answer in readings.values()]
        values = [answer.value for answer in answers]
        values += [answer.ends.low for answer in answers if answer.ends is not None]
        sign = 0 in (question.above, question.below) or min(values, default=0) < 0
        return cls(by_model, name, decimals, sign)

    def listed(self, models: Iterable[str], reading: str = DECIDES) -> str:
        """Return "Llama -0.30 (-0.42 to -0.18) and ..."; empty where none has an answer."""
        known = [model for model in models if reading in self.by_model.get(model, {})]
        told = [self._tell(model, self.by_model[model][reading]) for model in known[:MOST_TOLD]]
        if len(known) > MOST_TOLD:
            return f"{', '.join(told)} and {len(known) - MOST_TOLD} more"
        return listed(told) if told else ""

    def after(self, models: Iterable[str], reading: str = DECIDES) -> str:
        """Return the same after a colon, as a sentence ends with it."""
        numbers = self.listed(models, reading)
        return f": {numbers}" if numbers else ""

    def published_word(self, model: str) -> str:
        """Return what the paper's own number and interval answer; empty where there are none."""
        published = self.by_model.get(model, {}).get(PUBLISHED)
        return "" if published is None else published.word

    def _tell(self, model: str, answer: Answer) -> str:
        ends = answer.deciding
        numbers = [answer.value] if ends is None else [answer.value, ends.low, ends.high]
        is_count = all(map(float.is_integer, numbers))
        decimals, sign = (0, False) if is_count else (self.decimals, self.sign)
        value, *rest = (number_text(number, decimals, sign=sign) for number in numbers)
        if ends is not None:
            beside = " to ".join(rest)
        else:
            beside = "" if answer.p is None else f"p {equal_p(answer.p)}"
        separator = "; " if ends is not None else ", "
        beside = separator.join(part for part in (beside, answer.where) if part)
        of_model = "" if model == OVER_MODELS else f"{self.name(model)} "
        return f"{of_model}{value}" + (f" ({beside})" if beside else "")


def _tell_ask(
    ask: Ask, parts: Sequence[QuestionPart], question: "Question", texts: AnswerTexts
) -> Iterator[str]:
    """Yield the sentences on one ask: what is refuted, what is open, what is shown."""
    turned = ask.get("answer", YES) == NO
    inside, outside = _range_texts(question, turned=turned)
    of_word = {
        word: [part.model for part in parts if part.word == word]
        for word in dict.fromkeys(part.word for part in parts)
    }
    number = _subject(question)
    if models := of_word.get(NO):
        yield f"{capital(number)} lies {outside}{texts.after(models)}."
    yield from _tell_open(of_word, question, texts, f"Whether {number} lies {inside} is open")
    if models := of_word.get(NEEDS_WEIGHTS):
        yield from _tell_published(models, question, texts, turned=turned)
    if models := of_word.get(YES):
        yield f"{capital(number)} lies {inside}{texts.after(models)}."
    if "at_least" in ask:
        counts = [f"{len(of_word.get(word, []))} {word}" for word in (YES, NO)]
        n_open = len(parts) - sum(len(of_word.get(word, [])) for word in (YES, NO))
        yield f"{ask['at_least']} of {len(parts)} are needed: {', '.join(counts)}, {n_open} open."


def _tell_open(
    of_word: Mapping[str, Sequence[str]], question: "Question", texts: AnswerTexts, is_open: str
) -> Iterator[str]:
    """Yield what is open, by its reason.

    Arguments:
        of_word: the models by the word of their part.
        is_open: how each sentence begins.
    """

    def first(word: str) -> Answer:
        return texts.by_model[of_word[word][0]][DECIDES]

    if models := of_word.get(UNDECIDED):
        is_there = models[0] in texts.by_model
        of_units = f", over {first(UNDECIDED).n} {question.unit}," if is_there else ""
        yield f"{is_open}: the interval{of_units} reaches beyond{texts.after(models)}."
    if models := of_word.get(TOO_FEW):
        needed = f"{first(TOO_FEW).fewest} {first(TOO_FEW).unit}"
        yield (
            f"{is_open}: {texts.listed(models)}; so few units could not answer, whatever they "
            f"showed, and it takes at least {needed}."
        )
    if models := of_word.get(NO_CATEGORIES):
        yield (
            f"{is_open}: {texts.listed(models)}; its {first(NO_CATEGORIES).unit} come in one "
            "category or in none, so that nothing tells whether they are independent."
        )
    if models := of_word.get(NO_SPREAD):
        yield f"{is_open}: {texts.listed(models)}; it is a single number."
    if models := of_word.get(NEEDS_WEIGHTS):
        unlisted = [
            texts.name(model)
            for model in models
            if model != OVER_MODELS and texts.published_word(model) not in (YES, NO, UNDECIDED)
        ]
        of_models = f" in {listed(unlisted)}" if unlisted else ""
        yield (
            f"{is_open}{of_models}: there is no number for each of the {question.unit} that would "
            "decide it."
        )


def _subject(question: "Question") -> str:
    """Return the number that is asked for as the subject of a clause."""
    article = "" if POSSESSIVE.match(question.number) else "the "
    return f"{article}{question.number}{',' if ',' in question.number else ''}"


def _tell_published(
    models: Sequence[str], question: "Question", texts: AnswerTexts, *, turned: bool
) -> Iterator[str]:
    """Yield what the paper's own number and interval would answer, word by word."""
    inside, outside = _range_texts(question, turned=turned)
    for word, place in ((YES, inside), (NO, outside), (UNDECIDED, f"not shown to lie {inside}")):
        wanted = {YES: NO, NO: YES}.get(word, word) if turned else word
        given = [model for model in models if texts.published_word(model) == wanted]
        if given:
            verb = "is" if word == UNDECIDED else "lies"
            yield (
                f"By what is published the number {verb} {place}{texts.after(given, PUBLISHED)}."
            )


def _range_texts(question: "Question", *, turned: bool) -> tuple[str, str]:
    """Return where the number lies if the claim is right, and if it is wrong, in words."""
    inside, outside = _range_text(question.within), _complement(question.within)
    if question.against is not None:
        outside = _range_text(question.against)
    return (outside, inside) if turned else (inside, outside)


def _range_text(given: "Range") -> str:
    if math.isinf(given.below):
        return "above zero" if given.above == 0 else f"above {given.above:.4g}"
    if math.isinf(given.above):
        return "below zero" if given.below == 0 else f"below {given.below:.4g}"
    if given.above == -given.below:
        return f"within ±{given.below:.4g}"
    return f"between {given.above:.4g} and {given.below:.4g}"


def _complement(given: "Range") -> str:
    if math.isinf(given.below):
        return "below zero" if given.above == 0 else f"at or below {given.above:.4g}"
    if math.isinf(given.above):
        return "above zero" if given.below == 0 else f"at or above {given.below:.4g}"
    return f"beyond {_range_text(given).removeprefix('within ')}"


def _undefined(
    question: "Question",
    parts: Sequence[QuestionPart],
    undefined: Mapping[str, str],
    name: Callable[[str], str],
) -> Iterator[str]:
    """Yield why a part has no answer although all that it needs is there."""
    for part in parts:
        why = undefined.get(f"questions:{question.name}:/models/{part.model}/{DECIDES}")
        if why is not None:
            of_model = "" if part.model == OVER_MODELS else f" of {name(part.model)}"
            yield f"The {question.number}{of_model} has no value: {why}."
