"""A central claim: what was pre-registered of it, how it fares, and what is said of it.

`claims/central.yaml` holds the pre-registered half: the claim in ten words, the place that makes it
and the questions that it asks, without a number or a condition. The sentences are a function for
each claim (`engine.seen`). `judge_central` makes one record of both, `Central`, which page, paper,
README and terminal read; none of them computes.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Required

from pydantic import Field

from layerwise.engine.answer_words import NEEDS_WEIGHTS, OPPOSITE, YES, Word
from layerwise.engine.answers import Answer, Answers, ByModel, RowsByQuestion
from layerwise.engine.deciding import what_would_decide
from layerwise.engine.judged import VERDICTS, JudgedClaim
from layerwise.engine.marks import MARKS, OPEN, OPENNESS, Ask, Counts, QuestionPart, weigh
from layerwise.engine.published import DECIDES, PUBLISHED, pointer
from layerwise.engine.reasons import reasons
from layerwise.engine.seen import Claimed, Detail, Seen, Sentences, told
from layerwise.engine.verdicts import Statistics
from layerwise.errors import LayerwiseError
from layerwise.shapes import Flag, PaperNumber, Strict, read_yaml, require_shape

if TYPE_CHECKING:  # at run time it would bring NumPy to who only reads a record
    from layerwise.engine.paper import Paper
    from layerwise.engine.question import Question, Range

FILE = "central.yaml"
SourceOfClaim = Literal["paper", "notebooks"]

# --- the pre-registered half ----------------------------------------------------------------------


class Shown(Strict, total=False):
    """Estimates of a question that a row shows.

    of: models; all that are asked, if left out.
    label: what an estimate is called, `{model}` if left out; it may name its `{n}` units.
    largest: of these models only so many, those with the largest estimates.
    answer: what the claim says; yes, if left out.
    prints: by model the claim that prints its estimate.
    """

    question: Required[str]
    of: list[str]
    label: str
    largest: int
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
    paper: Required[PaperNumber]
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


def read_central(folder: Path) -> list[CentralEntry]:
    """Return the entries of `central.yaml` of the ledger's folder.

    Raises:
        LayerwiseError: for another shape, and an id that two entries have.
    """
    path = folder / FILE
    entries: list[CentralEntry] = require_shape(path, Registered, read_yaml(path))["central"]
    ids = [entry["id"] for entry in entries]
    if twice := next((claim_id for claim_id in ids if ids.count(claim_id) > 1), None):
        raise LayerwiseError(f"{path}: an id must stand once, {twice} stands twice; rename one")
    return entries


# --- the record -----------------------------------------------------------------------------------


class AsPublished(Strict):
    """An estimate as its paper takes it, with its 95% interval and the word that this gives.

    n, unit, method: what the interval rests on; see `Point`.
    """

    value: float
    low: float | None
    high: float | None
    word: Word
    n: int
    unit: str
    method: str


@dataclass(frozen=True)
class Point:
    """The estimate of a question for one model, and where it lies if the claim is right.

    Attributes:
        model: what it is about.
        word: a word of `engine.answer_words`.
        value: the number that decides; None where the source lacks it.
        low, high: the interval that decides, at its `level`; None where there is none.
        family: by how many the error of a yes, and of a no, is divided; None without the number.
        published: the same as its paper takes it; the number itself with its 95% interval, where
            that is no other.
        above, below: the ends of the range that the claim names; None where there is no end.
        n: units, `unit` says of what; `method`: what gives the interval, or the p in its place.
        p: the p, where there is no interval.
        printed: the printed value; `as_printed`: whether the source gives it. None where no single
            number is printed, or its verdict says nothing.
        statistic: where its answers stand, by reading, as a claim names a statistic.
    """

    model: str
    word: Word
    value: float | None
    low: float | None
    high: float | None
    level: float | None
    family: list[int] | None
    published: AsPublished
    above: float | None
    below: float | None
    n: int
    unit: str
    method: str
    p: float | None = None
    printed: float | None = None
    as_printed: Flag | None = None
    statistic: str = ""

    @property
    def is_published(self) -> bool:
        """True where what decides is the number and the interval as the paper takes it."""
        taken = self.published
        return (self.value, self.low, self.high) == (taken["value"], taken["low"], taken["high"])


class PrintedPart(Strict):
    """A printed number or word that is counted with a central claim, and its verdict."""

    claim: str
    verdict: Literal[tuple(VERDICTS)]  # type: ignore[valid-type]


class ReadingOfClaim(Strict):
    """Another reading of a central claim: its name, the name in words, and its word."""

    reading: str
    text: str
    word: Word


@dataclass(frozen=True)
class Central:
    """A central claim, how it fares, and what is said of it.

    Attributes:
        id: p1.neutral, ...; in the papers' order.
        paper, source, where, claim, number, decimals, figure, front: those of its entry.
        mark: one of MARKS; `why`: the reason if it is open, one of OPENNESS, else empty.
        word: the answer of its questions together.
        parts: the questions that it asks, model by model, each with its word.
        counts: how many of them answer yes and no, and how many are open.
        points: the estimates that its row shows.
        readings: the word of the whole claim by every other reading that its paper allows.
        printed: the printed numbers that are counted with it.
        as_printed: how many of them the source gives as printed; `compared`: of how many that can
            be compared. A number that several places print counts once.
        caveats: what the paper itself says against too strong a reading, with its place.
        says: the claim with its printed numbers.
        reason: why it fares so, a sentence each; the first is the one that decides.
        notes: what the published data say beside it, a sentence each.
        details: what else differs from print, a sentence each.
        decide: what would decide it if it is open, in a sentence.
    """

    id: str
    paper: PaperNumber
    source: SourceOfClaim
    where: str
    claim: str
    number: str
    decimals: int
    figure: str
    front: Flag
    mark: Literal[tuple(MARKS)]  # type: ignore[valid-type]
    why: Literal["", *OPENNESS]  # type: ignore[valid-type]
    word: Word
    parts: list[QuestionPart]
    counts: Counts
    points: list[Point]
    readings: list[ReadingOfClaim]
    printed: list[PrintedPart]
    as_printed: int
    compared: int
    caveats: list[str]
    says: str = ""
    reason: Sequence[str] = ()
    notes: Sequence[str] = ()
    details: Sequence[str] = ()
    decide: str = ""


def judge_central(
    entries: Sequence[CentralEntry],
    paper: "Paper",
    claims: Sequence[JudgedClaim],
    results: Statistics,
    name: Callable[[str], str] = str,
    trained: Mapping[str, RowsByQuestion] | None = None,
) -> tuple[list[Central], Seen]:
    """Return the central claims, in order, and what their notes saw; alike for every source.

    Arguments:
        entries: `read_central`.
        paper: its questions, and the functions that tell what is said, by id.
        claims: judged claims.
        results: the statistics of the same source.
        name: how texts call a model.
        trained: the answers of small trained models, by model, for notes.

    Raises:
        LayerwiseError: for a claim without sentences, sentences without a claim, and an entry that
            names what there is not, or registers a question as it is not asked.
    """
    require_sentences([entry["id"] for entry in entries], paper.sentences)
    known = {claim.id: claim for claim in claims}
    judged = []
    for entry in entries:
        _require_known_names(entry, known, paper.questions)
        for ask in entry["asks"]:
            require_as_registered(entry["id"], ask, paper.questions[ask["question"]])
        judged.append(_judge(entry, paper, known, results, name))
    seen = Seen(known, results, {central.id: central for central in judged}, trained, name)
    return [_tell(central, paper.sentences, seen) for central in judged], seen


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
    entry: CentralEntry,
    paper: "Paper",
    known: Mapping[str, JudgedClaim],
    results: Statistics,
    name: Callable[[str], str],
) -> Central:
    """Return a central claim without what its own function says of it."""
    asks, answers, questions = entry["asks"], results.answers, paper.questions
    weighed, decimals = weigh(asks, answers), entry.get("decimals", 2)
    printed = [known[claim_id] for claim_id in entry["printed"]]
    as_printed, compared = count_as_printed(printed)
    in_words = paper.reading_in_words
    return Central(
        id=entry["id"],
        paper=entry["paper"],
        source=entry.get("source", "paper"),
        where=entry["where"],
        claim=entry["claim"],
        number=entry["number"],
        decimals=decimals,
        figure=entry.get("figure", ""),
        front=entry.get("front", False),
        mark=weighed.mark,
        why=weighed.why,
        word=weighed.word,
        parts=[part for parts in weighed.parts for part in parts],
        counts=weighed.counts,
        points=[*points(entry, answers, questions, known)],
        readings=[
            ReadingOfClaim(reading=reading, text=in_words(reading), word=word)
            for reading, word in weighed.readings.items()
        ],
        printed=[PrintedPart(claim=claim.id, verdict=claim.verdict) for claim in printed],
        as_printed=as_printed,
        compared=compared,
        caveats=[
            f"{caveat['says'].removesuffix('.')} ({caveat['where']})."
            for caveat in entry.get("caveats", [])
        ],
        reason=reasons(asks, weighed, results, questions, name, in_words, decimals),
        decide=what_would_decide(asks, weighed, answers, questions) if weighed.mark == OPEN else "",
    )


def require_as_registered(claim_id: str, ask: Ask, question: "Question") -> None:
    """Refuse an entry that registers another estimand, range, unit or family than is asked.

    Raises:
        LayerwiseError: naming both.
    """
    family, given = question.family, ask["family"]
    for what, registered, is_asked in (
        ("estimand", ask["estimand"], question.number),
        ("range", ask["range"], spell_range(question.within)),
        ("against", ask.get("against", ""), spell_range(question.against)),
        ("unit", ask["unit"], question.unit),
        ("family", (given["yes"], given["no"]), (family.yes, family.no)),
    ):
        if registered != is_asked:
            raise LayerwiseError(
                f"{FILE}, {claim_id}: the {what} of {question.name} must be registered as it is "
                f"asked, {is_asked!r}, found {registered!r}; correct the one that is wrong"
            )


def spell_range(given: "Range | None") -> str:
    """Return a range in words: "above 0", "between -0.015 and 0.015"; nothing without one."""
    if given is None:
        return ""
    above, below = (f"{end:.4g}" for end in (given.above, given.below))
    if math.isinf(given.below):
        return f"above {above}"
    return f"below {below}" if math.isinf(given.above) else f"between {above} and {below}"


def _require_known_names(
    entry: CentralEntry, known: Mapping[str, JudgedClaim], questions: Mapping[str, "Question"]
) -> None:
    """Refuse an entry that names a question or a claim that there is not."""
    shown: list[Ask | Shown] = [*entry["asks"], *entry.get("shows", ())]
    prints = [claim for row in shown for claim in row.get("prints", {}).values()]
    for kind, names, there in (
        ("question", [row["question"] for row in shown], questions),
        ("claim", [*entry["printed"], *prints], known),
    ):
        if unknown := next((name for name in names if name not in there), None):
            raise LayerwiseError(
                f"{FILE}, {entry['id']}: there is no {kind} {unknown!r:.80}; correct the name"
            )
    if words := next(
        (claim for claim in prints if not isinstance(known[claim].published, float)), None
    ):
        raise LayerwiseError(
            f"{FILE}, {entry['id']}: what prints an estimate must print a number, {words} prints "
            f"{known[words].published!r:.80}; name another claim or none"
        )


def _tell(central: Central, sentences: Sentences, seen: Seen) -> Central:
    """Return a central claim with what its own function says of it."""
    try:
        told_of = list(told(sentences[central.id], seen))
    except LayerwiseError as error:
        raise LayerwiseError(f"the sentences of {central.id}: {error}") from None
    return replace(
        central,
        says=" ".join(str(said) for said in told_of if isinstance(said, Claimed)),
        notes=[said for said in told_of if not isinstance(said, Claimed | Detail)],
        details=[str(said) for said in told_of if isinstance(said, Detail)],
    )


def _show_ask(ask: Ask) -> Shown:
    """Return what a row shows of a question: every estimate that is asked for."""
    shown = Shown(question=ask["question"], answer=ask.get("answer", "yes"))
    if "of" in ask:
        shown["of"] = ask["of"]
    if "prints" in ask:
        shown["prints"] = ask["prints"]
    return shown


def points(
    entry: CentralEntry,
    answers: Answers,
    questions: Mapping[str, "Question"],
    known: Mapping[str, JudgedClaim],
) -> Iterator[Point]:
    """Yield the estimates that the row of a central claim shows.

    Arguments:
        known: the judged claims by id.
    """
    for shown in entry.get("shows") or [_show_ask(ask) for ask in entry["asks"]]:
        question = questions[shown["question"]]
        by_model = answers.get(question.name, {})
        for model in _models_shown(shown, by_model):
            decided = by_model[model].get(DECIDES)
            taken = by_model[model].get(PUBLISHED, decided)
            if taken is not None:
                claim = known.get(shown.get("prints", {}).get(model, ""))
                yield _point(shown, question, model, decided, taken, claim)


def _models_shown(shown: Shown, by_model: ByModel) -> Sequence[str]:
    """Return the models whose estimates are shown: those with the largest, if so many are asked."""
    models = [model for model in shown.get("of", by_model) if by_model.get(model)]
    if "largest" not in shown:
        return models
    values = {
        model: by_model[model][DECIDES].value for model in models if DECIDES in by_model[model]
    }
    return sorted(values, key=lambda model: -values[model])[: shown["largest"]]


def _point(
    shown: Shown,
    question: "Question",
    model: str,
    decided: Answer | None,
    taken: Answer,
    claim: JudgedClaim | None,
) -> Point:
    """Return a model's estimate as it is decided, as its paper takes it, and as a claim prints it.

    What was not decided has the units of what the paper takes.
    """
    turned = {} if shown.get("answer", YES) == YES else OPPOSITE
    within = question.outside_of_one_end if turned else question.within
    rests_on = taken if decided is None else decided
    word = NEEDS_WEIGHTS if decided is None else decided.word
    low, high = (decided and decided.deciding) or (None, None)
    return Point(
        model=shown.get("label", "{model}").format(model=model, n=rests_on.n),
        word=turned.get(word, word),
        value=None if decided is None else decided.value,
        low=low,
        high=high,
        level=None if decided is None else decided.level,
        family=None if decided is None else [*decided.family],
        published=_as_published(taken, turned),
        above=within.above if math.isfinite(within.above) else None,
        below=within.below if math.isfinite(within.below) else None,
        n=rests_on.n,
        unit=rests_on.unit,
        method=rests_on.method,
        p=rests_on.deciding_p,
        printed=claim.published if claim and isinstance(claim.published, float) else None,
        as_printed=None if claim is None else claim.stands,
        statistic=f"questions:{question.name}:{pointer('models', model)}",
    )


def _as_published(taken: Answer, turned: Mapping[str, str]) -> AsPublished:
    low, high = taken.ends or (None, None)
    return AsPublished(
        value=taken.value,
        low=low,
        high=high,
        word=turned.get(taken.word, taken.word),
        n=taken.n,
        unit=taken.unit,
        method=taken.method,
    )


def count_as_printed(claims: Sequence[JudgedClaim]) -> tuple[int, int]:
    """Return how many printed numbers are as printed, and how many can be compared.

    A number that several places print counts once.
    """
    once = {
        (claim.provenance.statistic or claim.id, str(claim.published)): claim for claim in claims
    }
    known = [claim.stands for claim in once.values() if claim.stands is not None]
    return sum(known), len(known)
