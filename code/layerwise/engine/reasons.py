"""Why a central claim fares as it does: sentences made of its parts, the deciding one first.

One function tells every claim: what is shown, what is refuted and what is open are three branches,
each with its numbers, the intervals that decide and their units. What a claim adds of its own are
notes, `papers/*/central.py`.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from layerwise.engine.answers import Answer, ByModel
from layerwise.engine.marks import DEPENDS, Ask, Part, Weighed
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
        told = _tell_ask(ask, parts, question, by_model, name, decimals)
        sentences += [(word, sentence) for sentence in told]
        sentences += [
            (word, sentence) for sentence in _undefined(question, parts, results.undefined, name)
        ]
    if weighed.why == DEPENDS:
        against = [reading_in_words(name) for name, word in weighed.readings.items() if word == NO]
        sentences.insert(0, (NO, f"The claim is refuted by another reading: {listed(against)}."))
    first = NO if NO in weighed.words else weighed.why
    # what decides stands first: a refuted part, then what is open, then what is shown
    return [text for _, text in sorted(sentences, key=lambda told: told[0] not in (first, DEPENDS))]


def _tell_ask(
    ask: Ask,
    parts: Sequence[Part],
    question: "Question",
    by_model: ByModel,
    name: Callable[[str], str],
    decimals: int,
) -> Iterator[str]:
    """Yield the sentences on one ask: what is refuted, what is open, what is shown."""
    turned = ask.get("answer", YES) == NO
    inside, outside = _range_texts(question, turned=turned)

    def tell(models: Iterable[str], reading: str) -> str:
        return _list_numbers(models, by_model, reading, name, decimals)

    of_word = {
        word: [part.model for part in parts if part.word == word]
        for word in dict.fromkeys(part.word for part in parts)
    }
    number = question.number
    if models := of_word.get(NO):
        yield f"The {number} lies {outside}{tell(models, DECIDES)}."
    if models := of_word.get(UNDECIDED):
        n = by_model[models[0]][DECIDES].n if models[0] in by_model else 0
        of_units = f", over {n} {question.unit}," if n else ""
        yield (
            f"Whether the {number} lies {inside} is open: the interval{of_units} reaches beyond"
            f"{tell(models, DECIDES)}."
        )
    for word, why in (
        (TOO_FEW, "so few units could not answer, whatever they showed"),
        (NO_CATEGORIES, "its units come from no category that is told"),
        (NO_SPREAD, "it is a single number"),
    ):
        if models := of_word.get(word):
            answer = by_model[models[0]][DECIDES]
            needed = f"; it takes {answer.fewest} {answer.unit}" if word == TOO_FEW else ""
            yield (
                f"Whether the {number} lies {inside} is open: {why}{needed}{tell(models, DECIDES)}."
            )
    if models := of_word.get(NEEDS_WEIGHTS):
        yield (
            f"Whether the {number} lies {inside} is open: there is no number for each of the "
            f"{question.unit} that would decide it."
        )
        shown = [model for model in models if PUBLISHED in by_model.get(model, {})]
        yield from _tell_published(shown, by_model, question, name, decimals, turned=turned)
    if models := of_word.get(YES):
        yield f"The {number} lies {inside}{tell(models, DECIDES)}."
    if "at_least" in ask:
        counts = [f"{len(of_word.get(word, []))} {word}" for word in (YES, NO)]
        n_open = len(parts) - sum(len(of_word.get(word, [])) for word in (YES, NO))
        yield f"{ask['at_least']} of {len(parts)} are needed: {', '.join(counts)}, {n_open} open."


def _tell_published(
    models: Sequence[str],
    by_model: ByModel,
    question: "Question",
    name: Callable[[str], str],
    decimals: int,
    *,
    turned: bool,
) -> Iterator[str]:
    """Yield what the paper's own number and interval would answer, word by word."""
    inside, outside = _range_texts(question, turned=turned)
    for word, place in ((YES, inside), (NO, outside), (UNDECIDED, f"not shown to lie {inside}")):
        wanted = {YES: NO, NO: YES}.get(word, word) if turned else word
        given = [model for model in models if by_model[model][PUBLISHED].word == wanted]
        if given:
            numbers = _list_numbers(given, by_model, PUBLISHED, name, decimals)
            verb = "is" if word == UNDECIDED else "lies"
            yield f"As the paper takes it, the number {verb} {place}{numbers}."


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


def _list_numbers(
    models: Iterable[str],
    by_model: ByModel,
    reading: str,
    name: Callable[[str], str],
    decimals: int,
) -> str:
    """Return ": Llama -0.30 (-0.42 to -0.18) and ...", or "; ..." where nothing is named."""
    known = [model for model in models if reading in by_model.get(model, {})]
    told = [_answer(model, by_model[model][reading], name, decimals) for model in known[:MOST_TOLD]]
    if not told:
        return ""
    more = f" and {len(known) - MOST_TOLD} more" if len(known) > MOST_TOLD else ""
    return f": {', '.join(told)}{more}" if more else f": {listed(told)}"


def _answer(model: str, answer: Answer, name: Callable[[str], str], decimals: int) -> str:
    of_model = "" if model == OVER_MODELS else f"{name(model)} "
    where = f"; {answer.where}" if answer.where else ""
    ends = answer.deciding
    if ends is not None:
        return f"{of_model}{answer.value:+.{decimals}f} ({ends:+.{decimals}f}{where})"
    p = "" if answer.p is None else f"p {equal_p(answer.p)}"
    beside = ", ".join(part for part in (p, answer.where) if part)
    return f"{of_model}{answer.value:+.{decimals}f}" + (f" ({beside})" if beside else "")


def _undefined(
    question: "Question",
    parts: Sequence[Part],
    undefined: Mapping[str, str],
    name: Callable[[str], str],
) -> Iterator[str]:
    """Yield why a part has no answer although all that it needs is there."""
    for part in parts:
        why = undefined.get(f"questions:{question.name}:/models/{part.model}/{DECIDES}")
        if why is not None:
            of_model = "" if part.model == OVER_MODELS else f" of {name(part.model)}"
            yield f"The {question.number}{of_model} has no value: {why}."
