"""What texts say of a source: sentences, findings, the story; a text is a function of a `Seen`.

The sentences on a central claim are a function that yields f-strings (`papers/*/central.py`); what
it speaks of it takes from a `Seen`. A value that the source does not have is `MISSING`: it compares
with nothing, and a sentence that names it is left out. So no sentence outlives its number. Findings
and the paragraphs of the story are such functions too; a claim that falls and that no sentence
speaks of is a finding by itself.
"""

import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from layerwise.engine.answers import Answer, RowsByQuestion, get_answer
from layerwise.engine.judged import FALLS, JudgedClaim
from layerwise.engine.published import DECIDES, OVER_MODELS, pointer
from layerwise.engine.verdicts import Statistics, statistic_value
from layerwise.errors import LayerwiseError
from layerwise.shapes import PaperNumber

if TYPE_CHECKING:
    from layerwise.engine.central import Central

LEAST_P = 0.001  # that is spelled in digits
NO_VALUE = "\ue000"  # in the place of a missing value: a private character, which no text has


class Absent:
    """What the source does not have: it is false, like every comparison with it; so is its part."""

    def __getattr__(self, name: str) -> "Absent":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def includes(self, _: object) -> bool:
        """Return False: what is not there includes nothing."""
        return False

    def _never(self, _: object) -> bool:
        return False

    __lt__ = __le__ = __gt__ = __ge__ = _never
    __eq__ = __ne__ = _never
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return False

    def __format__(self, form: str) -> str:
        return NO_VALUE


MISSING: Any = Absent()


def or_missing(value: Any) -> Any:
    """Return a value, or `MISSING` in the place of None."""
    return MISSING if value is None else value


def format_value(value: Any, form: str) -> str:
    """Return a value as sentences have it: a number by its format, or four digits; two numbers in
    a list as the ends of a range; labels as they are, whatever the format.
    """
    if value is MISSING:
        return NO_VALUE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        is_range = len(value) == 2 and all(isinstance(entry, int | float) for entry in value)
        return (" to " if is_range else ", ").join(format_value(entry, form) for entry in value)
    if isinstance(value, float):
        return format(value, form or ".4g")
    return format(value, "" if isinstance(value, str) else form)


@dataclass(frozen=True)
class Value:
    """A number, a label or a list of these, which formats as sentences have it."""

    value: Any

    def __format__(self, form: str) -> str:
        return format_value(self.value, form)


@dataclass(frozen=True)
class Reading(Value):
    """What another reading of a claim's rule gives, and whether that is the printed value."""

    gives: bool


@dataclass(frozen=True)
class SeenClaim(Value):
    """A printed number, label or statement: its recomputed value, and how it fares.

    Attributes:
        printed: what is printed, as text; `published`: the same as a value.
        stands: True where its verdict confirms it, False where it falls, None elsewhere.
        readings: what other readings of its rule give.
    """

    printed: str
    published: Any
    stands: bool | None
    readings: Mapping[str, Reading] = field(default_factory=dict)

    @property
    def falls(self) -> bool:
        """True where the published material gives another value, or denies it."""
        return self.stands is False

    @property
    def known(self) -> bool:
        """True where the source gives a value."""
        return self.value is not MISSING

    def reading(self, text: str) -> Reading:
        """Return what another reading of the claim's rule gives.

        Raises:
            LayerwiseError: for a reading that the claim does not have.
        """
        if text not in self.readings:
            raise LayerwiseError(
                f"the claim has no reading {text!r}, known are {', '.join(self.readings)}; "
                "correct the sentence"
            )
        return self.readings[text]


@dataclass(frozen=True)
class SeenAnswer:
    """An answer as sentences see it: what it lacks is `MISSING`; without an answer all is."""

    answer: Answer | None

    @property
    def known(self) -> bool:
        """True where the source gives an answer."""
        return self.answer is not None

    @property
    def unshown(self) -> bool:
        """True where there is an answer, and it is not yes."""
        return self.answer is not None and not self.answer.yes

    def __getattr__(self, name: str) -> Any:
        return MISSING if self.answer is None else or_missing(getattr(self.answer, name))


class Seen:
    """What is known of one source, as the sentences ask for it.

    Arguments:
        claims: judged claims by id.
        results: the statistics of the source.
        centrals: the central claims by id, once they are judged.
        trained: the answers of small trained models beside the source, by model.
        name: how texts call a model.
    """

    def __init__(
        self,
        claims: Mapping[str, JudgedClaim],
        results: Statistics,
        centrals: Mapping[str, "Central"] | None = None,
        trained: Mapping[str, RowsByQuestion] | None = None,
        name: Callable[[str], str] = str,
    ) -> None:
        self._claims = claims
        self._results = results
        self._centrals = centrals or {}
        self._trained = trained or {}
        self.name = name
        self.asked: set[str] = set()  # claims

    def claim(self, claim_id: str) -> SeenClaim:
        """Return a judged claim.

        Raises:
            LayerwiseError: if the ledger has no such claim.
        """
        if claim_id not in self._claims:
            raise LayerwiseError(f"the ledger has no claim {claim_id!r}; correct the sentence")
        self.asked.add(claim_id)
        return seen_claim(self._claims[claim_id])

    def answer(self, question: str, model: str = OVER_MODELS, reading: str = DECIDES) -> SeenAnswer:
        """Return the answer to a question.

        Arguments:
            reading: the one that decides, another one, or `reading/part` without a part.
        """
        return SeenAnswer(get_answer(self._results.answers, question, model, reading))

    def statistic(self, analysis: str, document: str, *names: str | int) -> Any:
        """Return the statistic of these names in a document of an analysis."""
        place = f"{analysis}:{document}:{pointer(*names)}"
        return or_missing(statistic_value(self._results.documents, place))

    def central(self, claim_id: str) -> "Central":
        """Return a central claim, without its sentences.

        Raises:
            LayerwiseError: if there is no such central claim.
        """
        if claim_id not in self._centrals:
            raise LayerwiseError(f"there is no central claim {claim_id!r}; correct the sentence")
        return self._centrals[claim_id]

    def trained(self, question: str, reading: str = DECIDES) -> dict[str, Answer]:
        """Return the answers of the small trained models to a question, by model."""
        return {
            model: answers[question][reading]
            for model, answers in self._trained.items()
            if reading in answers.get(question, {})
        }

    def afresh(self) -> "Seen":
        """Return the same, of which no claim was asked yet."""
        return Seen(self._claims, self._results, self._centrals, self._trained)

    def claims_like(self, pattern: str) -> list[SeenClaim]:
        """Return the claims whose ids fit a pattern with `*`.

        Raises:
            LayerwiseError: if none does.
        """
        ids = fnmatch.filter(self._claims, pattern)
        if not ids:
            raise LayerwiseError(f"no claim fits {pattern!r}; correct the sentence")
        return [self.claim(claim_id) for claim_id in ids]


def seen_claim(claim: JudgedClaim) -> SeenClaim:
    """Return a judged claim as sentences see it."""
    decimals = claim.decimals
    form = ""
    if isinstance(claim.published, float) and isinstance(decimals, int):
        form = f".{max(decimals, 0)}f"
    return SeenClaim(
        value=or_missing(claim.recomputed),
        printed=format_value(or_missing(claim.published), form),
        published=or_missing(claim.published),
        stands=claim.stands,
        readings={
            reading.text: Reading(or_missing(reading.value), reading.gives)
            for reading in claim.readings
        },
    )


def spell_p(p: Any) -> str:
    """Return a p as a sentence has it: three decimals, or "< 0.001"."""
    value = p.value if isinstance(p, Value) else p
    return f"< {LEAST_P}" if value < LEAST_P else format_value(value, ".3f")


def equal_p(p: Any) -> str:
    """Return a p as it stands behind its letter: "= 0.036", or "< 0.001"."""
    spelled = spell_p(p)
    return spelled if spelled.startswith("<") else f"= {spelled}"


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them: "a, b and c"."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def capital(text: str) -> str:
    """Return a text as a sentence begins with it."""
    return f"{text[:1].upper()}{text[1:]}"


def agree(names: Sequence[str], one: str, several: str) -> str:
    """Return the form of a verb for one name, or for several."""
    return several if len(names) > 1 else one


# --- sentences ------------------------------------------------------------------------------------


class Claimed(str):
    """A sentence on what is claimed, with the printed numbers."""

    __slots__ = ()


class Detail(str):
    """A sentence that stands behind the reason: what else differs from print."""

    __slots__ = ()


Tell = Callable[[Seen], Iterable[str]]


class Sentences(dict[str, Tell]):
    """The functions that tell what is said, by id: `@sentences("p2.late")` adds one."""

    def __call__(self, claim_id: str) -> Callable[[Tell], Tell]:
        """Return the decorator of the function that tells of a claim."""
        if claim_id in self:
            raise LayerwiseError(f"{claim_id} has its sentences twice; remove one function")

        def added(tell: Tell) -> Tell:
            self[claim_id] = tell
            return tell

        return added


def say_nothing(seen: Seen) -> Iterator[str]:
    """Yield no sentence."""
    yield from ()


def told(tell: Tell, seen: Seen) -> Iterator[str]:
    """Yield what a function tells, without the sentences that name a missing value."""
    yield from (sentence for sentence in tell(seen) if NO_VALUE not in sentence)


# --- findings ---


@dataclass(frozen=True)
class Finding:
    """A fact that does not stand: what is said of it, and the claims that it speaks of."""

    id: str
    paper: PaperNumber
    text: str
    claims: list[str]


def tell_findings(
    findings: Sentences, judged: Sequence[JudgedClaim], seen: Seen, told_of: Iterable[str]
) -> list[Finding]:
    """Return the findings that have something to say, then one for each quantity left over.

    Arguments:
        findings: the functions that tell of them, by id.
        seen: what they see.
        told_of: ids of the claims that the central claims speak of.
    """
    known = {claim.id: claim for claim in judged}
    facts, listed = [], {*told_of}
    for name, tell in findings.items():
        view = seen.afresh()
        try:
            text = " ".join(told(tell, view))
        except LayerwiseError as error:
            raise LayerwiseError(f"the finding {name}: {error}") from None
        listed |= view.asked
        claims = [claim.id for claim in judged if claim.id in view.asked]
        if text:
            facts.append(Finding(name, known[claims[0]].paper, text, claims))
    left = [claim for claim in judged if claim.verdict in FALLS]
    return [*facts, *_left_over(claim for claim in left if claim.id not in listed)]


def _left_over(claims: Iterable[JudgedClaim]) -> list[Finding]:
    """Return a finding for every quantity of a paper."""
    groups: dict[tuple[PaperNumber, str], list[JudgedClaim]] = {}
    for claim in claims:
        groups.setdefault((claim.paper, claim.quantity), []).append(claim)
    return [
        Finding(
            group[0].id,
            paper,
            f"{quantity}: {_given(group[0])}, not {seen_claim(group[0]).printed}.",
            [claim.id for claim in group],
        )
        for (paper, quantity), group in groups.items()
    ]


def _given(judged: JudgedClaim) -> str:
    claim = seen_claim(judged)
    return f"{claim}" if claim.known else "no value"


# --- the story ---


@dataclass(frozen=True)
class Matter:
    """What a paragraph is about: a question, its answer in a sentence, and what else is told.

    Attributes:
        tell: what follows the answer; `answer`: made of whatever words and numbers there are.
    """

    id: str
    title: str
    tell: Tell
    answer: Callable[[Seen], str] = lambda seen: ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph on what a reader should believe about one matter."""

    id: str
    title: str
    answer: str
    text: str


def tell_story(matters: Iterable[Matter], seen: Seen) -> list[Paragraph]:
    """Return the paragraphs that have something to say, in order."""
    paragraphs = []
    for matter in matters:
        try:
            text = " ".join(told(matter.tell, seen))
            answer = matter.answer(seen)
        except LayerwiseError as error:
            raise LayerwiseError(f"the paragraph {matter.id}: {error}") from None
        answer = "" if NO_VALUE in answer else answer
        if answer or text:
            paragraphs.append(Paragraph(matter.id, matter.title, answer, text))
    return paragraphs
