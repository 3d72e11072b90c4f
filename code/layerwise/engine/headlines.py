"""The papers' central claims, all graded by one rule from words and verdicts.

`claims/headlines.yaml` has what is said, where, the questions that it asks, the printed words that
say it, and the printed numbers it rests on; it names no rule and no grade. Two things are said of a
headline: how many of its numbers are as printed, and how the claim fares.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Required

from layerwise.engine.conditions import Sentence, said
from layerwise.engine.published import pointer
from layerwise.engine.sentences import (
    Entry,
    Record,
    Value,
    fill,
    named_and_matching,
    of_entry,
    read_entries,
    stands,
    values_of,
)
from layerwise.engine.verdicts import VERDICTS, at
from layerwise.shapes import Flag, Paper, Strict

STANDS, DEPENDS, UNDECIDED = "stands", "depends on a choice", "undecided"
NOT, NEEDS_WEIGHTS = "does not follow", "needs the weights"
# A claim has the first of these that applies.
GRADES = {
    NOT: "the published numbers contradict the words that state it, or answer its questions no, as "
    "the papers asked them",
    STANDS: "its questions are answered yes, as the papers asked them and under every other choice "
    "that could be computed",
    DEPENDS: "they are answered yes under one analysis choice, and not under another",
    NEEDS_WEIGHTS: "what is published gives no interval, or too few units, to answer yes or no",
    UNDECIDED: "under no analysis choice are they answered yes, and the papers' own numbers do "
    "not say no",
}
# The words of an answer (`engine.questions`), and the choice that the papers made.
YES, NO, OPEN, TOO_FEW = "yes", "no", "undecided", "too few"
Word: Any = Literal[YES, NO, OPEN, TOO_FEW]
PUBLISHED = "published"
ALONE = "yes_alone_under"  # what conditions may ask of a headline's questions, beside their words


class Ask(Strict, total=False):
    """A quantifier over the answers to a question."""

    question: Required[str]
    of: list[str]  # models; all that have an answer, if left out
    at_least: int  # of them; all, if left out
    answer: Literal["yes", "no"]  # what the claim says; yes, if left out


class Caveat(Strict):
    """What a paper itself says against too strong a reading, in our words, and where."""

    says: str
    where: str


class Asked(Entry, total=False):
    """An entry of headlines.yaml."""

    paper: Required[Paper]
    where: Required[str]
    short: Required[str]
    says: Required[str]
    asks: Required[list[Ask]]
    concludes: list[str]
    values: dict[str, str]
    reason: Required[list[Sentence]]
    caveats: list[Caveat]


class ClaimPart(Strict):
    """What a headline rests on: a claim with its verdict, and whether it concludes."""

    claim: str
    verdict: Literal[tuple(VERDICTS)]  # type: ignore[valid-type]
    concludes: Flag


class QuestionPart(Strict):
    """Or a question with its word."""

    question: str
    word: Word | None


Part = ClaimPart | QuestionPart


@dataclass(frozen=True)
class Headline:
    """A central claim of a paper, and how it fares.

    Attributes:
        id: p1.neutral, ...; in the papers' order.
        short: the claim in ten words; `says`: with its numbers; `where`: the places that make it.
        grade: one of GRADES; `numbers`: how many of its printed numbers are as printed.
        reason: the sentences whose conditions hold, numbers filled in.
        caveats: what the paper itself says against too strong a reading, with its place.
        power: what so few units can tell, where they do not answer as the claim says; else empty.
        parts: what it rests on.
        choices: {choice: word} of its questions together.
        without: {part: grade} without one part, where that is another grade.
        as_random: whether random weights answer yes as well, so that a yes says nothing.
        asked: its questions.
    """

    id: str
    paper: Paper
    where: str
    short: str
    says: str
    grade: Literal[tuple(GRADES)]  # type: ignore[valid-type]
    numbers: str
    reason: str
    caveats: list[str]
    power: str
    parts: list[Part]
    choices: dict[str, Word]
    without: dict[str, Literal[tuple(GRADES)]]  # type: ignore[valid-type]
    as_random: Flag
    asked: list[str]


def headlines(
    records: Sequence[Record],
    documents: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any]],
    control: Sequence[Mapping[str, Any]] = (),
    undefined: Mapping[str, str] | None = None,
) -> list[Headline]:
    """The graded headlines, in order; the same for every source.

    Arguments:
        records: judged claims.
        documents: the statistics of the same source, {analysis: {document: result}}.
        entries: `read_headlines`.
        control: the documents of each draw of random weights: a question that some of these
            answer as well says nothing.
        undefined: {statistic: reason}, of these documents: an answer that the numbers do not give
            is given with the reason.
    """
    known = {record["id"]: record for record in records}
    found = []
    for entry in entries:
        with of_entry("headline", entry):
            found.append(_headline(entry, known, documents, control, undefined or {}))
    return found


def read_headlines(folder: Path) -> list[dict[str, Any]]:
    """The entries of `headlines.yaml` of the ledger's folder."""
    return read_entries(folder / "headlines.yaml", Asked)


def _headline(
    entry: Mapping[str, Any],
    known: Mapping[str, Record],
    documents: Mapping[str, Any],
    control: Sequence[Mapping[str, Any]],
    undefined: Mapping[str, str],
) -> Headline:
    wanted = named_and_matching(entry, known)
    concluding = [known[claim] for claim in entry.get("concludes", [])]
    asks = [(ask, answers(ask, documents)) for ask in entry["asks"]]
    together = conjunction([words for _, words in asks])
    as_random = any(
        conjunction([answers(ask, draw) for ask in entry["asks"]]).get(PUBLISHED) == YES
        for draw in control
    )
    given = grade(concluding, together, as_random=as_random)
    words = {"grade": Value(given), ALONE: Value(yes_alone_under(together)), **_words_of(asks)}
    values = values_of(entry, known, documents, words)
    stated = {name: value for name, value in values.items() if name not in words}
    return Headline(
        **{name: entry[name] for name in ("id", "paper", "where", "short")},
        says=fill(entry["says"], stated),
        grade=given,
        numbers=count_as_printed(wanted),
        reason=" ".join([said(entry["reason"], values), *unanswered(entry, undefined)]).strip(),
        caveats=[
            f"{one['says'].removesuffix('.')} ({one['where']})." for one in entry.get("caveats", [])
        ],
        power=power_of(entry["asks"], documents),
        parts=[*_claims(wanted, concluding), *_questions(asks)],
        choices=together,
        without={
            part: other
            for part, other in _without_each(concluding, asks, as_random)
            if other != given
        },
        as_random=as_random,
        asked=[ask["question"] for ask in entry["asks"]],
    )


# --- the one rule ---------------------------------------------------------------------------------


def grade(
    concluding: Sequence[Record], words: Mapping[str, str], *, as_random: bool = False
) -> str:
    """How a claim fares.

    Arguments:
        concluding: the printed words that state it: one that falls is the papers' own no.
        words: of its questions together, by choice.
        as_random: a yes is no evidence, as random weights give it too.
    """
    published = words.get(PUBLISHED)
    if any(stands(record) is False for record in concluding) or published == NO:
        return NOT
    if as_random:
        return UNDECIDED
    answered = {word for word in words.values() if word != TOO_FEW}
    if YES in answered:
        return STANDS if answered == {YES} and published == YES else DEPENDS
    return NEEDS_WEIGHTS if published in (None, TOO_FEW) else UNDECIDED


def answers(ask: Mapping[str, Any], documents: Mapping[str, Any]) -> dict[str, str]:
    """The word of a quantifier by choice; empty where the source answers nothing.

    Under a choice that bears on some models alone, the others keep the word of the papers' way. A
    value of too few units confirms nothing; one that lies elsewhere leaves the claim open.
    """
    found = documents.get("questions", {}).get(ask["question"], {}).get("models", {})
    by_model = {model: dict(_cells(choices)) for model, choices in found.items()}
    models = ask.get("of", list(by_model))
    if not models or any(PUBLISHED not in by_model.get(model, {}) for model in models):
        return {}
    wanted = ask.get("answer", YES)
    need = ask.get("at_least", len(models))
    choices = dict.fromkeys(choice for model in models for choice in by_model[model])
    return {
        choice: quantified([_word(by_model[model], choice, wanted) for model in models], need)
        for choice in choices
    }


def quantified(words: Sequence[str], need: int) -> str:
    """Yes where as many models answer it as are needed, no where too few still could."""
    sure = sum(word == YES for word in words)
    could = sum(word != NO for word in words)
    if sure >= need:
        return YES
    if could < need:
        return NO
    return TOO_FEW if all(word in (YES, NO, TOO_FEW) for word in words) else OPEN


def conjunction(asked: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The words of several quantifiers together; a choice that one of them has not leaves it be."""
    if not all(asked):
        return {}
    choices = dict.fromkeys(choice for words in asked for choice in words)
    found = {}
    for choice in choices:
        every = [words.get(choice, words[PUBLISHED]) for words in asked]
        order = (NO, OPEN, TOO_FEW, YES)
        found[choice] = next(word for word in order if word in every)
    return found


def yes_alone_under(words: Mapping[str, str]) -> str:
    """The one choice under which questions are answered yes; empty where none or several are."""
    yes = [choice for choice, word in words.items() if word == YES]
    return yes[0] if len(yes) == 1 else ""


def count_as_printed(records: Sequence[Record]) -> str:
    """How many of the printed numbers are as printed, of those that could be compared.

    A number that several places print counts once.
    """
    once = {
        (one["provenance"]["statistic"] or one["id"], str(one["published"])): one for one in records
    }
    known = [found for found in map(stands, once.values()) if found is not None]
    if not records:
        return "no printed number"
    return f"{sum(known)} of {len(known)} as printed" if known else "none could be compared"


def _cells(choices: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Answers by choice, `choice/part` where parts are left out."""
    for choice, found in choices.items():
        if "word" in found:
            yield choice, found
        else:
            yield from ((f"{choice}/{part}", answer) for part, answer in found.items())


def _word(cells: Mapping[str, Mapping[str, Any]], choice: str, wanted: str) -> str:
    """Yes where the answer is the one that the claim says."""
    cell = cells.get(choice, cells[PUBLISHED])
    if cell["word"] == TOO_FEW and choice != PUBLISHED:
        elsewhere = cell["in_range"] is not (wanted == YES)
        return OPEN if elsewhere else TOO_FEW
    opposite = {YES: NO, NO: YES}
    word: str = cell["word"]
    return word if wanted == YES else opposite.get(word, word)


def unanswered(entry: Mapping[str, Any], undefined: Mapping[str, str]) -> list[str]:
    """A sentence for each answer, as the papers asked, that the numbers do not give."""
    found = []
    for ask in entry["asks"]:
        start, end = f"questions:{ask['question']}:/models/", f"/{PUBLISHED}"
        for place, why in undefined.items():
            model = place.removeprefix(start).removesuffix(end)
            named = place == f"{start}{model}{end}"
            if named and model in ask.get("of", [model]):
                question = ask["question"].replace("_", " ")
                found.append(f"{question} of {model} has no answer: {why}.")
    return found


# --- what so few units can tell -------------------------------------------------------------------


def power_of(asks: Sequence[Mapping[str, Any]], documents: Mapping[str, Any]) -> str:
    """The smallest effects that the units can tell, of every question without the claimed answer.

    Of several models with as many units it is one range.
    """
    found: dict[str, list[float]] = {}
    for ask in asks:
        if answers(ask, documents).get(PUBLISHED) == YES:
            continue
        models = documents.get("questions", {}).get(ask["question"], {}).get("models", {})
        for model in ask.get("of", models):
            cell = models.get(model, {}).get(PUBLISHED)
            power = at(documents, f"power:{ask['question']}:{pointer('models', model, PUBLISHED)}")
            if cell is None or power is None or power["smallest"] is None:
                continue
            if cell["word"] not in (ask.get("answer", YES), TOO_FEW):
                found.setdefault(power["told"], []).append(power["smallest"])
    said_of = [f"{told} {_least(sizes)}" for told, sizes in found.items()]
    return f"With 80% power in a two-sided test at 5%, {'; '.join(said_of)}." if said_of else ""


def _least(sizes: Sequence[float]) -> str:
    """The smallest effects of several models: that of the best and that of the worst."""
    low, high = (f"{size:.2g}" for size in (min(sizes), max(sizes)))
    return f"{low} or more" if low == high else f"{low} to {high} or more, depending on the model"


def _without_each(
    concluding: Sequence[Record],
    asks: Sequence[tuple[Mapping[str, Any], Mapping[str, str]]],
    as_random: bool,
) -> Iterator[tuple[str, str]]:
    """Name and grade without each printed word and each question in turn."""
    words = conjunction([of for _, of in asks])
    for record in concluding:
        others = [one for one in concluding if one is not record]
        yield record["id"], grade(others, words, as_random=as_random)
    for number, (ask, _) in enumerate(asks):
        others = [of for place, (_, of) in enumerate(asks) if place != number]
        if others:
            name = " of ".join([ask["question"], ", ".join(ask.get("of", ["all"]))])
            yield name, grade(concluding, conjunction(others), as_random=as_random)


def _words_of(
    asks: Sequence[tuple[Mapping[str, Any], Mapping[str, str]]],
) -> dict[str, Value]:
    """The questions' words as conditions name them."""
    return {ask["question"]: Value(words.get(PUBLISHED)) for ask, words in asks}


def _claims(records: Sequence[Record], concluding: Sequence[Record]) -> list[Part]:
    return [
        ClaimPart(claim=one["id"], verdict=one["verdict"], concludes=one in concluding)
        for one in records
    ]


def _questions(asks: Sequence[tuple[Mapping[str, Any], Mapping[str, str]]]) -> list[Part]:
    return [
        QuestionPart(question=ask["question"], word=words.get(PUBLISHED)) for ask, words in asks
    ]
