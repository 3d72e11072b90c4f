"""The papers' central claims, all graded by one rule from the answers to questions.

`claims/headlines.yaml` has what is said, where, the questions that it asks, and the printed numbers
it rests on; it names no rule and no grade. Two things are said of a headline: how many of its
numbers are as printed, and how the claim fares.

A printed word, sign or bound decides no grade by itself. What it says is asked as a question, and
the interval of the number answers: so a sign that lies inside its own interval concludes nothing,
and no grade hangs on one value.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Required

from layerwise.engine.conditions import Sentence, fill_sentences
from layerwise.engine.published import answers_by_model, pointer
from layerwise.engine.sentences import (
    Entry,
    Record,
    Value,
    fill,
    match_claims,
    name_entry_in_errors,
    read_entries,
    stands,
    values_of,
)
from layerwise.engine.verdicts import VERDICTS, statistic_value
from layerwise.shapes import Flag, Paper, Strict

STANDS, DEPENDS, SOME = "stands", "depends on a choice", "holds for some of its models"
UNDECIDED, NOT = "undecided", "does not follow"
NEEDS_WEIGHTS, CANNOT = "needs the weights", "cannot be answered"
# A claim has the first of these that applies.
GRADES = {
    NOT: "its questions are answered no, as the papers asked them; of several models that it "
    "names, none answers yes",
    STANDS: "its questions are answered yes, as the papers asked them and under every other choice "
    "that could be computed",
    DEPENDS: "they are answered yes under one analysis choice, and not under another",
    SOME: "of the models that the claim names, some answer yes and others do not",
    CANNOT: "so few units could not answer its questions, whatever they showed",
    NEEDS_WEIGHTS: "what is published gives single numbers without an interval",
    UNDECIDED: "under no analysis choice are they answered yes, and the papers' own numbers do "
    "not say no",
}
# The words of an answer (`engine.questions`), and the choice that the papers made.
YES, NO, OPEN, TOO_FEW, NEVER = "yes", "no", "undecided", "too few", "cannot be answered"
Word: Any = Literal[YES, NO, OPEN, TOO_FEW, NEVER]
OPPOSITE = {YES: NO, NO: YES}
PUBLISHED = "published"
ALONE = "yes_alone_under"  # what conditions may ask of a headline's questions, beside their words
WIDER = 1.05  # times an interval's width, from which it is worth a word
MOST_DRAWS = 0.5  # share of the random draws that must answer yes for a yes to say nothing


class Ask(Strict, total=False):
    """A quantifier over the answers to a question."""

    question: Required[str]
    of: list[str]  # models; all that have an answer, if left out
    at_least: int  # of them; all, if left out
    answer: Literal["yes", "no"]  # what the claim says; yes, if left out


class Caveat(Strict):
    """A paper's own warning against too strong a reading, in our words, and its place."""

    says: str
    where: str


class Asked(Entry, total=False):
    """An entry of headlines.yaml."""

    paper: Required[Paper]
    source: Required[Literal["paper", "notebooks"]]
    where: Required[str]
    says: Required[str]
    asks: Required[list[Ask]]
    values: dict[str, str]
    reason: Required[list[Sentence]]
    caveats: list[Caveat]


class ClaimPart(Strict):
    """A claim on which a headline rests, with its verdict."""

    claim: str
    verdict: Literal[tuple(VERDICTS)]  # type: ignore[valid-type]


class QuestionPart(Strict):
    """Or a question with its word."""

    question: str
    word: Word | None


Part = ClaimPart | QuestionPart


class Drawn(Strict):
    """The number of draws of random weights, and of those that answer yes, or not at all."""

    draws: int
    yes: int
    unanswered: int


@dataclass(frozen=True)
class Headline:
    """A central claim of a paper, and how it fares.

    Attributes:
        id: p1.neutral, ...; in the papers' order.
        source: whether a paper says it, or only the notebooks that it grew from.
        says: the claim with its numbers; `where`: the places that make it.
        grade: one of GRADES; `numbers`: how many of its printed numbers are as printed.
        reason: the sentences whose conditions hold, numbers filled in.
        caveats: what the paper itself says against too strong a reading, with its place.
        power: what so few units can tell, where they do not answer as the claim says; else empty.
        parts: what it rests on.
        choices: {choice: word} of its questions together.
        models: {model: word} of its questions together, as the papers asked them, where the claim
            names several models and is about each of them; else empty.
        as_random: whether random weights answer yes as well, so that a yes says nothing; `drawn`:
            how many draws do, None without draws.
    """

    id: str
    paper: Paper
    source: Literal["paper", "notebooks"]
    where: str
    says: str
    grade: Literal[tuple(GRADES)]  # type: ignore[valid-type]
    numbers: str
    reason: str
    caveats: list[str]
    power: str
    parts: list[Part]
    choices: dict[str, Word]
    models: dict[str, Word]
    as_random: Flag
    drawn: Drawn | None


def headlines(
    records: Sequence[Record],
    documents: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any]],
    control: Sequence[Mapping[str, Any]] = (),
    undefined: Mapping[str, str] | None = None,
) -> list[Headline]:
    """Return the graded headlines, in order; the same for every source.

    Arguments:
        records: judged claims.
        documents: the statistics of the same source, {analysis: {document: result}}.
        entries: `read_headlines`.
        control: the documents of each draw of random weights: a yes that most of them give as well
            says nothing.
        undefined: {statistic: reason}, of these documents: an answer that the numbers do not give
            is given with the reason.
    """
    known = {record["id"]: record for record in records}
    graded = []
    for entry in entries:
        with name_entry_in_errors("headline", entry):
            graded.append(_headline(entry, known, documents, control, undefined or {}))
    return graded


def read_headlines(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of `headlines.yaml` of the ledger's folder."""
    return read_entries(folder / "headlines.yaml", Asked)


def _headline(
    entry: Mapping[str, Any],
    known: Mapping[str, Record],
    documents: Mapping[str, Any],
    control: Sequence[Mapping[str, Any]],
    undefined: Mapping[str, str],
) -> Headline:
    claims = match_claims(entry, known)
    asks = [(ask, answers(ask, documents)) for ask in entry["asks"]]
    choices = conjunction([words for _, words in asks])
    models = words_by_model(entry["asks"], documents)
    drawn = count_draws(entry["asks"], control)
    as_random = is_as_random(drawn)
    own_grade = grade(choices, models, as_random=as_random)
    words = {"grade": Value(own_grade), ALONE: Value(yes_alone_under(choices)), **_words_of(asks)}
    values = values_of(entry, known, documents, words)
    stated = {name: value for name, value in values.items() if name not in words}
    return Headline(
        **{name: entry[name] for name in ("id", "paper", "source", "where")},
        says=fill(entry["says"], stated),
        grade=own_grade,
        numbers=count_as_printed(claims),
        reason=" ".join(
            [fill_sentences(entry["reason"], values), *unanswered_sentences(entry, undefined)]
        ).strip(),
        caveats=[
            f"{caveat['says'].removesuffix('.')} ({caveat['where']})."
            for caveat in entry.get("caveats", [])
        ],
        power=" ".join(
            filter(
                None,
                [
                    power_sentence(entry["asks"], documents),
                    too_few_sentences(entry["asks"], documents),
                ],
            )
        ),
        parts=[
            *(ClaimPart(claim=claim["id"], verdict=claim["verdict"]) for claim in claims),
            *(
                QuestionPart(question=ask["question"], word=answer.get(PUBLISHED))
                for ask, answer in asks
            ),
        ],
        choices=choices,
        models=models,
        as_random=as_random,
        drawn=drawn,
    )


# --- the one rule ---------------------------------------------------------------------------------


def grade(choices: Mapping[str, str], models: Mapping[str, str], *, as_random: bool = False) -> str:
    """Grade a claim by the words of its questions.

    Arguments:
        choices: {choice: word} of its questions together.
        models: {model: word}, as the papers asked, of a claim on each of several models.
        as_random: a yes is no evidence, as random weights give it too.
    """
    published = choices.get(PUBLISHED)
    in_part = YES in models.values() and not as_random
    if published == NO:
        return SOME if in_part else NOT
    if as_random:
        return UNDECIDED
    answered = {word for word in choices.values() if word not in (TOO_FEW, NEVER)}
    if YES in answered:
        return STANDS if answered == {YES} and published == YES else DEPENDS
    if in_part:
        return SOME
    return {None: NEEDS_WEIGHTS, TOO_FEW: NEEDS_WEIGHTS, NEVER: CANNOT}.get(published, UNDECIDED)


def answers(ask: Mapping[str, Any], documents: Mapping[str, Any]) -> dict[str, str]:
    """Return the word of a quantifier by choice; empty where the source answers nothing.

    Under a choice that bears on some models alone, the others keep the word of the papers' way.
    """
    by_model = _words_by_choice(ask, documents)
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
    """Return yes where as many models answer it as are needed, no where too few still could.

    A model that could never answer is asked for nothing.
    """
    able = [word for word in words if word != NEVER]
    if not able:
        return NEVER
    need = min(need, len(able))
    if able.count(YES) >= need:
        return YES
    if len(able) - able.count(NO) < need:
        return NO
    return OPEN if OPEN in able else TOO_FEW


def conjunction(asked: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the words of several quantifiers together, by choice.

    A quantifier that lacks a choice keeps its word of the papers' way.
    One that can never be answered holds the others neither up nor down.
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
    return next(word for word in (NO, OPEN, TOO_FEW, YES, NEVER) if word in given)


def words_by_model(
    asks: Sequence[Mapping[str, Any]], documents: Mapping[str, Any]
) -> dict[str, str]:
    """Return the word of each model that a claim is about, as the papers asked.

    Empty for a claim that names one model or none, or counts how many of them answer.
    """
    asks_by_model = [ask for ask in asks if "of" in ask and "at_least" not in ask]
    words: dict[str, list[str]] = {}
    for ask in asks_by_model:
        by_model = _words_by_choice(ask, documents)
        for model in ask["of"]:
            words.setdefault(model, []).append(by_model.get(model, {}).get(PUBLISHED, TOO_FEW))
    if len(asks_by_model) < len(asks) or len(words) < 2:
        return {}
    return {model: _weakest(given) for model, given in words.items()}


def yes_alone_under(words: Mapping[str, str]) -> str:
    """Return the one choice under which questions are answered yes; empty for none or several."""
    yes = [choice for choice, word in words.items() if word == YES]
    return yes[0] if len(yes) == 1 else ""


def count_draws(
    asks: Sequence[Mapping[str, Any]], control: Sequence[Mapping[str, Any]]
) -> Drawn | None:
    """Count the draws of random weights that answer yes to all of these together."""
    if not control:
        return None
    words = Counter(
        conjunction([answers(ask, draw) for ask in asks]).get(PUBLISHED, "") for draw in control
    )
    unable = words[""] + words[TOO_FEW] + words[NEVER]
    return Drawn(draws=len(control), yes=words[YES], unanswered=unable)


def is_as_random(drawn: Drawn | None) -> bool:
    """Return whether at least half of the draws that answer at all answer yes."""
    if drawn is None or not drawn["yes"]:
        return False
    return drawn["yes"] >= MOST_DRAWS * (drawn["draws"] - drawn["unanswered"])


def count_as_printed(records: Sequence[Record]) -> str:
    """Return how many of the printed numbers are as printed, of those that could be compared.

    A number that several places print counts once.
    """
    once = {
        (record["provenance"]["statistic"] or record["id"], str(record["published"])): record
        for record in records
    }
    known = [standing for standing in map(stands, once.values()) if standing is not None]
    if not records:
        return "no printed number"
    return f"{sum(known)} of {len(known)} as printed" if known else "none could be compared"


def _words_by_choice(
    ask: Mapping[str, Any], documents: Mapping[str, Any]
) -> dict[str, dict[str, str]]:
    """Return {model: {choice: word}}; a word is yes where the answer is what the claim says.

    A choice is `choice/part` where parts are left out.
    """
    models = answers_by_model(documents, ask["question"])
    turned = {} if ask.get("answer", YES) == YES else OPPOSITE
    words: dict[str, dict[str, str]] = {}
    for model, choices in models.items():
        words[model] = {}
        for choice, answer in choices.items():
            parts = {choice: answer} if "word" in answer else answer
            for part, cell in parts.items():
                name = choice if "word" in answer else f"{choice}/{part}"
                words[model][name] = turned.get(cell["word"], cell["word"])
    return words


def unanswered_sentences(entry: Mapping[str, Any], undefined: Mapping[str, str]) -> list[str]:
    """Return a sentence for each answer, as the papers asked, that the numbers do not give."""
    sentences = []
    for ask in entry["asks"]:
        start, end = f"questions:{ask['question']}:/models/", f"/{PUBLISHED}"
        for place, why in undefined.items():
            model = place.removeprefix(start).removesuffix(end)
            is_whole = place == f"{start}{model}{end}"
            if is_whole and model in ask.get("of", [model]):
                question = ask["question"].replace("_", " ")
                sentences.append(f"{question} of {model} has no answer: {why}.")
    return sentences


# --- what so few units can tell -------------------------------------------------------------------


def power_sentence(asks: Sequence[Mapping[str, Any]], documents: Mapping[str, Any]) -> str:
    """Say which effects the units can tell, for every question without the claimed answer.

    Models with equally many units share one range.
    """
    sizes: dict[str, list[float]] = {}
    times_wider = []
    for ask in asks:
        if answers(ask, documents).get(PUBLISHED) == YES:
            continue
        models = answers_by_model(documents, ask["question"])
        for model in ask.get("of", models):
            cell = models.get(model, {}).get(PUBLISHED)
            power = statistic_value(
                documents, f"power:{ask['question']}:{pointer('models', model, PUBLISHED)}"
            )
            if cell is None or power is None or power["smallest"] is None:
                continue
            if cell["word"] not in (ask.get("answer", YES), TOO_FEW, NEVER):
                sizes.setdefault(power["told"], []).append(power["smallest"])
                times_wider += [power["wider"]] if "taken as independent" in power["told"] else []
    clauses = [f"{units}{_smallest_effects(smallest)}" for units, smallest in sizes.items()]
    wider = _wider_clause(times_wider)
    return f"With 80% power at 5%, {'; '.join(clauses)}{wider}." if clauses else ""


def _wider_clause(times: Sequence[float]) -> str:
    """Say how many times wider resampled intervals are than those of independent units."""
    if not times or max(times) < WIDER:
        return ""
    low, high = (f"{size:.1f}" for size in (min(times), max(times)))
    factor = low if low == high else f"{low} to {high}"
    return f" (the resampled intervals are {factor} times as wide as independence gives)"


def too_few_sentences(asks: Sequence[Mapping[str, Any]], documents: Mapping[str, Any]) -> str:
    """Say for every question that its units could not answer how many units it takes."""
    sentences = {}
    for ask in asks:
        models = answers_by_model(documents, ask["question"])
        for model in ask.get("of", models):
            cell = models.get(model, {}).get(PUBLISHED)
            if cell is not None and cell["word"] == NEVER:
                question = ask["question"].replace("_", " ")
                sentences[question] = (
                    f"{cell['n']} {cell['unit']} cannot answer the question of {question}, "
                    f"whatever they show; it takes {cell['fewest']}."
                )
    return " ".join(sentences.values())


def _smallest_effects(sizes: Sequence[float]) -> str:
    """Say the smallest effects of several models: that of the best and that of the worst."""
    low, high = (f"{size:.2g}" for size in (min(sizes), max(sizes)))
    return f"{low} or more" if low == high else f"{low} to {high} or more, depending on the model"


def _words_of(
    asks: Sequence[tuple[Mapping[str, Any], Mapping[str, str]]],
) -> dict[str, Value]:
    """Return the questions' words as conditions name them."""
    return {ask["question"]: Value(words.get(PUBLISHED)) for ask, words in asks}
