"""A central claim: what was pre-registered of it, how it fares, and what is said of it.

`claims/central.yaml` holds the pre-registered half: the claim in ten words, the place that makes it
and the questions that it asks, without a number or a condition. The sentences are a function for
each claim (`engine.seen`). `judge_central` makes one record of both, `Central`, which page, paper,
README and terminal read; none of them computes.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Required

from pydantic import Field

from layerwise.engine.answer_words import OPPOSITE, WORDS, YES
from layerwise.engine.answers import Answers
from layerwise.engine.marks import (
    MARKS,
    OPENNESS,
    Ask,
    DrawCount,
    count_draws,
    is_as_random,
    weigh,
)
from layerwise.engine.published import PUBLISHED, pointer
from layerwise.engine.seen import (
    Claimed,
    Detail,
    InRow,
    Record,
    Seen,
    Sentences,
    stands,
    told,
    too_few_sentences,
    unanswered_sentences,
)
from layerwise.engine.verdicts import VERDICTS, Statistics
from layerwise.errors import LayerwiseError
from layerwise.shapes import Flag, Paper, Strict, read_yaml, require_shape

if TYPE_CHECKING:  # at run time it would bring NumPy to who only reads a record
    from layerwise.engine.question import Question

FILE = "central.yaml"
Word: Any = Literal[WORDS]
SourceOfClaim = Literal["paper", "notebooks"]

# --- the pre-registered half ----------------------------------------------------------------------


class Shown(Strict, total=False):
    """Estimates of a question that a row shows.

    of: models; all that have an answer, if left out.
    label: what an estimate is called, `{model}` if left out; it may name its `{n}` units.
    largest: of these models only so many, those with the largest estimates.
    choice: how the question is asked; as the papers did, if left out.
    answer: what the claim says; yes, if left out.
    prints: by model the claim that prints its estimate.
    """

    question: Required[str]
    of: list[str]
    label: str
    largest: int
    choice: str
    answer: Literal["yes", "no"]
    prints: dict[str, str]


class Caveat(Strict):
    """A paper's own warning against too strong a reading, in our words, and its place."""

    says: str
    where: str


class CentralEntry(Strict, total=False):
    """An entry of central.yaml.

    paper, where: the paper, and the places in it that make the claim.
    source: notebooks, where only the notebooks make it.
    claim: the claim in ten words.
    asks: the questions that decide it.
    number: what their estimates are; `decimals`: of these.
    shows: the estimates of the row, where they are not those of `asks`.
    printed: the printed numbers and words that are counted with it, ids of claims.
    caveats: what the paper itself says against too strong a reading.
    figure: the figure that shows the evidence.
    front: whether README shows the row.
    """

    id: Required[str]
    paper: Required[Paper]
    source: SourceOfClaim
    where: Required[str]
    claim: Required[str]
    asks: Required[list[Ask]]
    number: Required[str]
    decimals: int
    shows: list[Shown]
    printed: Required[list[str]]
    caveats: list[Caveat]
    figure: str
    front: bool


class Registered(Strict):
    """The document of central.yaml."""

    central: Annotated[list[CentralEntry], Field(min_length=1)]


def read_central(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of `central.yaml` of the ledger's folder.

    Raises:
        LayerwiseError: for another shape, and an id that two entries have.
    """
    path = folder / FILE
    entries: list[dict[str, Any]] = require_shape(path, Registered, read_yaml(path))["central"]
    ids = [entry["id"] for entry in entries]
    if twice := next((claim_id for claim_id in ids if ids.count(claim_id) > 1), None):
        raise LayerwiseError(f"{path}: an id must stand once, {twice} stands twice; rename one")
    return entries


# --- the record -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """An estimate with its interval, and where it lies if the claim is right.

    Attributes:
        model: what it is about.
        low, high: the ends of the interval, of 90% where the claim is that a number lies between
            two bounds (two one-sided tests at 5%); None where too few units give none.
        word: whether it lies where the claim says, a word of `engine.answer_words`.
        above, below: the ends of the range that the claim names; None where there is no end.
        n: units, `unit` says of what; `method`: what gives the interval, or the p in its place.
        p: the p, where there is no interval.
        printed: the printed value; `as_printed`: whether the source gives it. None where no single
            number is printed, or its verdict says nothing.
        statistic: where the answer stands, as a claim names it.
    """

    model: str
    value: float
    low: float | None
    high: float | None
    word: Word
    above: float | None
    below: float | None
    n: int
    unit: str
    method: str
    p: float | None = None
    printed: float | None = None
    as_printed: Flag | None = None
    statistic: str = ""


class PrintedPart(Strict):
    """A printed number or word that is counted with a central claim, and its verdict."""

    claim: str
    verdict: Literal[tuple(VERDICTS)]  # type: ignore[valid-type]


class QuestionPart(Strict):
    """A question that decides it, with its word; None where the source does not answer."""

    question: str
    word: Word | None


@dataclass(frozen=True)
class Central:
    """A central claim, how it fares, and what is said of it.

    Attributes:
        id: p1.neutral, ...; in the papers' order.
        paper, source, where, claim, number, decimals, figure, front: those of its entry.
        mark: one of MARKS; `why`: the reason if it is open, one of OPENNESS, else empty.
        points: the estimates that decide; none where the source has none.
        questions, printed: what it rests on.
        as_printed: how many of the printed numbers the source gives as printed; `compared`: of how
            many that can be compared. A number that several places print counts once.
        choices: {choice: word} of its questions together.
        models: {model: word} of its questions together, as the papers asked them, where the claim
            names several models and is about each of them; else empty.
        as_random: whether random weights answer yes as well, so that a yes says nothing; `drawn`:
            how many draws do, None without draws.
        caveats: what the paper itself says against too strong a reading, with its place.
        says: the claim with its printed numbers.
        reason: why it fares so, a sentence each.
        row: what else its row of the strip says, a sentence each.
        details: what else differs from print, a sentence each.
        decide: what would decide it if it is open, in a sentence.
    """

    id: str
    paper: Paper
    source: SourceOfClaim
    where: str
    claim: str
    number: str
    decimals: int
    figure: str
    front: Flag
    mark: Literal[tuple(MARKS)]  # type: ignore[valid-type]
    why: Literal["", *OPENNESS]  # type: ignore[valid-type]
    points: list[Point]
    questions: list[QuestionPart]
    printed: list[PrintedPart]
    as_printed: int
    compared: int
    choices: dict[str, Word]
    models: dict[str, Word]
    as_random: Flag
    drawn: DrawCount | None
    caveats: list[str]
    says: str = ""
    reason: Sequence[str] = ()
    row: Sequence[str] = ()
    details: Sequence[str] = ()
    decide: str = ""


def judge_central(
    entries: Sequence[Mapping[str, Any]],
    sentences: Sentences,
    records: Sequence[Record],
    results: Statistics,
    questions: Mapping[str, "Question"],
    control: Sequence[Answers] = (),
) -> tuple[list[Central], Seen]:
    """Return the central claims, in order, and what their sentences saw; alike for every source.

    Arguments:
        entries: `read_central`.
        sentences: the functions that tell what is said, by id.
        records: judged claims.
        results: the statistics of the same source; an answer that its numbers do not give is given
            with the reason.
        questions: the papers' questions by name.
        control: the answers of each draw of random weights: a yes that most of them give as well
            says nothing.

    Raises:
        LayerwiseError: for a claim without sentences, sentences without a claim, and an entry that
            names what there is not.
    """
    require_sentences([entry["id"] for entry in entries], sentences)
    known = {record["id"]: record for record in records}
    judged = [_judge(entry, known, results.answers, questions, control) for entry in entries]
    seen = Seen(known, results, {central.id: central for central in judged})
    says = says_of(questions)
    told_of = []
    for entry, central in zip(entries, judged, strict=True):
        open_ones = [
            *too_few_sentences(entry["asks"], results.answers, says),
            *unanswered_sentences(entry["asks"], results.undefined, says),
        ]
        told_of.append(_tell(central, sentences, seen, open_ones))
    return told_of, seen


def says_of(questions: Mapping[str, "Question"]) -> dict[str, str]:
    """Return what each question says, by name."""
    return {name: question.says for name, question in questions.items()}


def require_sentences(ids: Sequence[str], sentences: Sentences) -> None:
    """Refuse central claims without sentences, and sentences without a claim."""
    if lacking := [claim_id for claim_id in ids if claim_id not in sentences]:
        raise LayerwiseError(
            f"{FILE}: every central claim must have a function that tells what is said of it, "
            f"{lacking[0]} has none; add one"
        )
    if left := [claim_id for claim_id in sentences if claim_id not in ids]:
        raise LayerwiseError(
            f"{FILE}: every function must tell of a central claim, {left[0]} is none; add an entry "
            "or remove the function"
        )


def _judge(
    entry: Mapping[str, Any],
    known: Mapping[str, Record],
    answers: Answers,
    questions: Mapping[str, "Question"],
    control: Sequence[Answers],
) -> Central:
    """Return a central claim without its sentences."""
    _require_known(entry, known, questions)
    asks = entry["asks"]
    drawn = count_draws(asks, control)
    as_random = is_as_random(drawn)
    weighed = weigh(asks, answers, as_random=as_random)
    printed = [known[claim_id] for claim_id in entry["printed"]]
    as_printed, compared = count_as_printed(printed)
    return Central(
        **{name: entry[name] for name in ("id", "paper", "where", "claim", "number")},
        source=entry.get("source", "paper"),
        decimals=entry.get("decimals", 2),
        figure=entry.get("figure", ""),
        front=entry.get("front", False),
        mark=weighed.mark,
        why=weighed.why,
        points=[
            point
            for shown in entry.get("shows", asks)
            for point in points(shown, answers, questions, known)
        ],
        questions=[
            QuestionPart(question=ask["question"], word=given.get(PUBLISHED))
            for ask, given in zip(asks, weighed.words, strict=True)
        ],
        printed=[PrintedPart(claim=claim["id"], verdict=claim["verdict"]) for claim in printed],
        as_printed=as_printed,
        compared=compared,
        choices=dict(weighed.choices),
        models=dict(weighed.models),
        as_random=as_random,
        drawn=drawn,
        caveats=[
            f"{caveat['says'].removesuffix('.')} ({caveat['where']})."
            for caveat in entry.get("caveats", [])
        ],
    )


def _require_known(
    entry: Mapping[str, Any], known: Mapping[str, Record], questions: Mapping[str, "Question"]
) -> None:
    """Refuse an entry that names a question or a claim that there is not."""
    shown = [*entry["asks"], *entry.get("shows", ())]
    prints = [claim for one in shown for claim in one.get("prints", {}).values()]
    for kind, names, there in (
        ("question", [one["question"] for one in shown], questions),
        ("claim", [*entry["printed"], *prints], known),
    ):
        if unknown := next((name for name in names if name not in there), None):
            raise LayerwiseError(
                f"{FILE}, {entry['id']}: there is no {kind} {unknown!r:.80}; correct the name"
            )
    if words := next(
        (claim for claim in prints if not isinstance(known[claim]["published"], float)), None
    ):
        raise LayerwiseError(
            f"{FILE}, {entry['id']}: what prints an estimate must print a number, {words} prints "
            f"{known[words]['published']!r:.80}; name another claim or none"
        )


def _tell(central: Central, sentences: Sentences, seen: Seen, open_ones: list[str]) -> Central:
    """Return a central claim with its sentences, those on questions without an answer last."""
    try:
        told_of = list(told(sentences[central.id], seen))
    except LayerwiseError as error:
        raise LayerwiseError(f"the sentences of {central.id}: {error}") from None
    reason = [said for said in told_of if not isinstance(said, Claimed | InRow | Detail)]
    return replace(
        central,
        says=" ".join(str(said) for said in told_of if isinstance(said, Claimed)),
        reason=[*reason, *open_ones],
        row=[str(said) for said in told_of if isinstance(said, InRow)],
        details=[str(said) for said in told_of if isinstance(said, Detail)],
    )


def points(
    shown: Mapping[str, Any],
    answers: Answers,
    questions: Mapping[str, "Question"],
    known: Mapping[str, Record],
) -> Iterator[Point]:
    """Yield the estimates of a question that a row shows, without those that the source lacks.

    Arguments:
        known: the judged claims by id.
    """
    name = shown["question"]
    by_model = answers.get(name, {})
    choice = shown.get("choice", PUBLISHED)
    by_choice = {
        model: by_model[model][choice]
        for model in shown.get("of", by_model)
        if choice in by_model.get(model, {})
    }
    order = sorted(by_choice, key=lambda model: -by_choice[model].value)
    kept = order[: shown["largest"]] if "largest" in shown else list(by_choice)
    agrees = shown.get("answer", YES) == YES
    above, below = questions[name].above, questions[name].below
    if not agrees:  # the claim is what lies outside: a range too, where the question's has one end
        has_one_end = math.isinf(above) != math.isinf(below)
        above, below = (below, above) if has_one_end else (math.inf, math.inf)
    for model in kept:
        answer = by_choice[model]
        word, deciding = answer.word, answer.deciding
        prints = known.get(shown.get("prints", {}).get(model, ""), {"published": None})
        yield Point(
            model=shown.get("label", "{model}").format(model=model, n=answer.n),
            value=answer.value,
            low=None if deciding is None else deciding.low,
            high=None if deciding is None else deciding.high,
            word=word if agrees else OPPOSITE.get(word, word),
            above=above if math.isfinite(above) else None,
            below=below if math.isfinite(below) else None,
            n=answer.n,
            unit=answer.unit,
            method=answer.method,
            p=answer.deciding_p,
            printed=prints["published"],
            as_printed=stands(prints) if "verdict" in prints else None,
            statistic=f"questions:{name}:{pointer('models', model, choice)}",
        )


def count_as_printed(records: Sequence[Record]) -> tuple[int, int]:
    """Return how many printed numbers are as printed, and how many can be compared.

    A number that several places print counts once.
    """
    once = {
        (record["provenance"]["statistic"] or record["id"], str(record["published"])): record
        for record in records
    }
    known = [standing for standing in map(stands, once.values()) if standing is not None]
    return sum(known), len(known)
