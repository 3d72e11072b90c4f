"""The one rule that marks a central claim, by the answers to its questions.

A central claim is a quantifier over questions. No printed word, sign or bound decides a mark: what
it says is asked as a question, and the interval of the number answers. So a sign that lies inside
its own interval concludes nothing, and no mark hangs on one value. A question that is open holds
`holds` back, and never makes a claim fail.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Required

from layerwise.engine.answer_words import NO, NO_SPREAD, OPPOSITE, TOO_FEW, UNDECIDED, YES
from layerwise.engine.answers import Answers
from layerwise.engine.published import PUBLISHED
from layerwise.shapes import Strict

HOLDS, IN_PART, FAILS, OPEN = "holds", "in part", "fails", "open"
MARKS = {
    HOLDS: "its questions are answered yes, as the papers asked them and under every other choice "
    "of method that could be computed",
    IN_PART: "its questions are answered yes under one choice and not under another, or by some of "
    "the models that the claim names",
    FAILS: "its questions are answered no, as the papers asked them; of several models that it "
    "names none answers yes, or it says something of all without exception and one answers no",
    OPEN: "its questions are answered neither yes nor no; the reason stands beside the mark",
}
OPENNESS = {
    UNDECIDED: "an interval lies across the border of what the claim says",
    NO_SPREAD: "there are single numbers, without an interval",
    TOO_FEW: "so few units could not answer, whatever they showed",
}
UNANSWERED = (NO_SPREAD, TOO_FEW)  # words that are no answer of the numbers
MOST_DRAWS = 0.5  # share of the random draws that must answer yes for a yes to say nothing


class Ask(Strict, total=False):
    """A quantifier over the answers to a question.

    of: models; all that have an answer, if left out.
    at_least: how many of them must answer as the claim says; all, if left out.
    answer: what the claim says; yes, if left out.
    universal: whether the claim says it of all of them without exception, so that it fails by one
        that answers no.
    prints: by model the claim that prints its estimate.
    """

    question: Required[str]
    of: list[str]
    at_least: int
    universal: bool
    answer: Literal["yes", "no"]
    prints: dict[str, str]


class DrawCount(Strict):
    """The number of draws of random weights, and of those that answer yes, or not at all."""

    draws: int
    yes: int
    unanswered: int


def mark(
    choices: Mapping[str, str],
    models: Mapping[str, str],
    *,
    refuted: bool = False,
    as_random: bool = False,
) -> tuple[str, str]:
    """Return the mark of a claim by the words of its questions, and why it is open; else "".

    Arguments:
        choices: {choice: word} of its questions together.
        models: {model: word}, as the papers asked, of a claim on each of several models.
        refuted: one model answers no, and the claim says that none does.
        as_random: a yes is no evidence, as random weights give it too.
    """
    published = choices.get(PUBLISHED, NO_SPREAD)
    in_part = YES in models.values() and not as_random
    if published == NO:
        return (IN_PART if in_part and not refuted else FAILS), ""
    if as_random:
        return OPEN, UNDECIDED
    answered = {word for word in choices.values() if word not in UNANSWERED}
    if YES in answered:
        return (HOLDS if answered == {YES} and published == YES else IN_PART), ""
    return (IN_PART, "") if in_part else (OPEN, published)


@dataclass(frozen=True)
class Weighed:
    """The questions of a claim together, and the mark that they give.

    Attributes:
        words: of each quantifier, {choice: word}.
        choices: {choice: word} of all together; `models`: {model: word}, see `words_by_model`.
        mark, why: see `mark`.
    """

    words: Sequence[Mapping[str, str]]
    choices: Mapping[str, str]
    models: Mapping[str, str]
    mark: str
    why: str


def weigh(asks: Sequence[Ask], given: Answers, *, as_random: bool = False) -> Weighed:
    """Weigh the questions of a claim by the answers of a source."""
    words = [answers(ask, given) for ask in asks]
    choices, models = conjunction(words), words_by_model(asks, given)
    refuted = any(
        ask.get("universal") and word.get(PUBLISHED) == NO
        for ask, word in zip(asks, words, strict=True)
    )
    return Weighed(
        words, choices, models, *mark(choices, models, refuted=refuted, as_random=as_random)
    )


def mark_text(given: str, why: str) -> str:
    """Return a mark as text, with the reason where it is open: "open (too few)"."""
    return f"{given} ({why})" if why else given


def answers(ask: Ask, given: Answers) -> dict[str, str]:
    """Return the word of a quantifier by choice; empty where the source answers nothing.

    Under a choice that bears on some models alone, the others keep the word of the papers' way.
    """
    by_model = _words_by_choice(ask, given)
    models = ask.get("of", list(by_model))
    if not models or any(PUBLISHED not in by_model.get(model, {}) for model in models):
        return {}
    need = ask.get("at_least", len(models))
    choices = dict.fromkeys(choice for model in models for choice in by_model[model])
    return {
        choice: quantified(
            [by_model[model].get(choice, by_model[model][PUBLISHED]) for model in models], need
        )
        for choice in choices
    }


def quantified(words: Sequence[str], need: int) -> str:
    """Return yes where as many models answer it as are needed, no where too few still could."""
    if words.count(YES) >= need:
        return YES
    if len(words) - words.count(NO) < need:
        return NO
    return next(word for word in OPENNESS if word in words)


def conjunction(asked: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the words of several quantifiers together, by choice.

    A quantifier that lacks a choice keeps its word of the papers' way.
    """
    if not all(asked):
        return {}
    choices = dict.fromkeys(choice for words in asked for choice in words)
    return {
        choice: _weakest(words.get(choice, words[PUBLISHED]) for words in asked)
        for choice in choices
    }


def _weakest(words: Iterable[str]) -> str:
    """Return the word of a conjunction."""
    given = set(words)
    return next(word for word in (NO, *OPENNESS, YES) if word in given)


def words_by_model(asks: Sequence[Ask], given: Answers) -> dict[str, str]:
    """Return the word of each model that a claim is about, as the papers asked.

    Empty for a claim that names one model or none, or counts how many of them answer.
    """
    asks_by_model = [ask for ask in asks if "of" in ask and "at_least" not in ask]
    words: dict[str, list[str]] = {}
    for ask in asks_by_model:
        by_model = _words_by_choice(ask, given)
        for model in ask["of"]:
            words.setdefault(model, []).append(by_model.get(model, {}).get(PUBLISHED, NO_SPREAD))
    if len(asks_by_model) < len(asks) or len(words) < 2:
        return {}
    return {model: _weakest(answered) for model, answered in words.items()}


def yes_alone_under(words: Mapping[str, str]) -> str:
    """Return the one choice under which questions are answered yes; empty for none or several."""
    yes = [choice for choice, word in words.items() if word == YES]
    return yes[0] if len(yes) == 1 else ""


def count_draws(asks: Sequence[Ask], control: Sequence[Answers]) -> DrawCount | None:
    """Count the draws of random weights that answer yes to all of these together."""
    if not control:
        return None
    words = Counter(
        conjunction([answers(ask, draw) for ask in asks]).get(PUBLISHED, "") for draw in control
    )
    unable = words[""] + words[NO_SPREAD] + words[TOO_FEW]
    return DrawCount(draws=len(control), yes=words[YES], unanswered=unable)


def is_as_random(drawn: DrawCount | None) -> bool:
    """Return whether at least half of the draws that answer at all answer yes."""
    if drawn is None or not drawn["yes"]:
        return False
    return drawn["yes"] >= MOST_DRAWS * (drawn["draws"] - drawn["unanswered"])


def _words_by_choice(ask: Ask, given: Answers) -> dict[str, dict[str, str]]:
    """Return {model: {choice: word}}; a word is yes where the answer is what the claim says."""
    turned = {} if ask.get("answer", YES) == YES else OPPOSITE
    return {
        model: {
            choice: turned.get(answer.word, answer.word) for choice, answer in by_choice.items()
        }
        for model, by_choice in given.get(ask["question"], {}).items()
    }
