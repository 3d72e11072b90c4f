"""Totals: how many claims were compared, and how they fare."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layerwise.engine.claims import DOCUMENT_KINDS, DocumentKind
from layerwise.engine.headlines import NOT, STANDS
from layerwise.engine.verdicts import (
    AS_RANDOM,
    FALLS,
    NO_CONTROL,
    NO_NOISE,
    STANDING,
    TOO_NOISY,
    count_verdicts,
)

Record = Mapping[str, Any]
ABSTRACT = "abstract"
PLACES = (ABSTRACT, *DOCUMENT_KINDS)  # the abstract apart from the rest of the paper
FAR = 0.1  # relative difference, from which on a number is another one and no rounding
# Verdicts that say the same of a printed value, for who counts them by place.
ALIKE: Mapping[str, tuple[str, ...]] = {
    "agrees": ("agrees", "reproduced"),
    AS_RANDOM: (AS_RANDOM,),
    "rounding or copy of a stored number": ("follows", "same number"),
    "differs": ("differs",),
    "contradicted": ("contradicted",),
    "not distinguishable from noise": (TOO_NOISY, NO_NOISE, NO_CONTROL),
    "needs the weights": ("needs weights", "not measured"),
    "nothing to compare": ("not checkable", "declared"),
}


@dataclass(frozen=True)
class Totals:
    """How the claims of one kind of document fare.

    Attributes:
        n: claims; the rest of them needs the weights, or has no value to compare.
        compared: recomputed from lower-level values or measured; they `agree` or `differ`.
        contradicted: statements that the published material denies.
        copies: roundings or copies of a stored number.
    """

    n: int
    compared: int
    agree: int
    differ: int
    contradicted: int
    copies: int


def totals(records: Iterable[Record]) -> dict[DocumentKind, Totals]:
    """Return the totals of the papers, then of the supplements and of the notebooks."""
    counts = count_verdicts(records, lambda record: record["document"])
    return {kind: _totals(counts[kind]) for kind in DOCUMENT_KINDS if kind in counts}


def _totals(verdicts: Counter[str]) -> Totals:
    agree = sum(verdicts[word] for word in ("agrees", "reproduced", AS_RANDOM))
    differ, copies = verdicts["differs"], verdicts["follows"] + verdicts["same number"]
    n, contradicted = verdicts.total(), verdicts["contradicted"]
    return Totals(n, agree + differ, agree, differ, contradicted, copies)


def count_by(records: Iterable[Record], key: Callable[[Record], str | None]) -> Counter[str | None]:
    """Count the claims of each group."""
    return Counter(map(key, records))


def graded(headlines: Iterable[Record]) -> Counter[str]:
    """Count the central claims of each grade."""
    return Counter(headline["grade"] for headline in headlines)


def in_short(records: Sequence[Record], headlines: Iterable[Record]) -> dict[str, int]:
    """Return the few counts of the papers' claims that DVC's tables of metrics have room for.

    None is called like a dependency of a stage, `claims` for one: `dvc exp show` has a column for
    each of both, and of two with one name it loses both.
    """
    papers = totals(records).get("paper", Totals(0, 0, 0, 0, 0, 0))
    grades = graded(headlines)
    return {
        "claims of the papers": papers.n,
        "agree": papers.agree,
        "differ": papers.differ,
        "contradicted": papers.contradicted,
        "central stand": grades[STANDS],
        "central fall": grades[NOT],
    }


def tally_sentence(records: Iterable[Record]) -> str:
    """Say the totals as README, report and page do: the papers', then what stands beside them."""
    counts = totals(records)
    sentences = []
    if papers := counts.pop("paper", None):
        sentences.append(
            f"Of {papers.n:,} claims of the papers, {papers.compared:,} are recomputed and "
            f"compared: {papers.agree:,} agree, {papers.differ:,} differ. "
            f"{papers.contradicted:,} more are contradicted by what is published; the others are "
            "roundings or copies of a stored number, need the models' weights, or have no value "
            "to compare."
        )
    beside = [
        f"{kind}s, {total.n:,} claims ({total.agree:,} agree, {total.differ:,} differ, "
        f"{total.contradicted:,} contradicted)"
        for kind, total in counts.items()
    ]
    if beside:
        sentences.append(f"Counted apart: {'; '.join(beside)}.")
    return " ".join(sentences)


# --- by place -------------------------------------------------------------------------------------


def place_of(record: Record) -> tuple[int, str]:
    """Paper and place of a claim."""
    return record["paper"], ABSTRACT if ABSTRACT in record["where"] else record["document"]


def by_place(records: Iterable[Record]) -> dict[tuple[int, str], Counter[str]]:
    """How often each verdict was given, by paper and place, in their order."""
    counts = count_verdicts(records, place_of)
    return {at: counts[at] for at in sorted(counts, key=in_order)}


def alike_by_place(records: Iterable[Record]) -> dict[tuple[int, str], dict[str, int]]:
    """The same with the verdicts of `ALIKE` counted together."""
    return {
        at: {kind: sum(counts[word] for word in words) for kind, words in ALIKE.items()}
        for at, counts in by_place(records).items()
    }


def in_order(at: tuple[int, str]) -> tuple[int, int]:
    """Where a paper's place stands among all."""
    return at[0], PLACES.index(at[1])


@dataclass(frozen=True)
class Compared:
    """How many printed values can be compared, how many of them fall, how many in the abstracts."""

    n: int
    fall: int
    fall_in_abstracts: int


def compared(records: Sequence[Record]) -> Compared:
    """What of the judged claims confirms or denies what is printed."""
    falling = [record for record in records if record["verdict"] in FALLS]
    standing = [record for record in records if record["verdict"] in STANDING]
    in_abstracts = [record for record in falling if place_of(record)[1] == ABSTRACT]
    return Compared(len(falling) + len(standing), len(falling), len(in_abstracts))


# --- how far from print ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Gap:
    """A printed number other than zero that something answers.

    at: paper and place; size: the relative difference; falls: the claim does not stand.
    """

    at: tuple[int, str]
    size: float
    falls: bool


@dataclass(frozen=True)
class Gaps:
    """All gaps; how many stand and how many fall, `far` of these by more than `FAR`."""

    every: Sequence[Gap]
    stand: int
    fall: int
    far: int
    n: Mapping[tuple[int, str], int]  # by place
    equal: Mapping[tuple[int, str], int]  # by place, in every digit


def gaps(records: Iterable[Record]) -> Gaps:
    """The relative differences of printed and recomputed numbers, by place; of a list each."""
    every = [gap for record in records for gap in _gaps(record)]
    every.sort(key=lambda gap: in_order(gap.at))
    falling = [gap for gap in every if gap.falls]
    n, equal = Counter(gap.at for gap in every), Counter(gap.at for gap in every if not gap.size)
    far = [gap for gap in falling if gap.size > FAR]
    return Gaps(every, len(every) - len(falling), len(falling), len(far), n, equal)


def _gaps(record: Record) -> Iterator[Gap]:
    pairs = [(record["published"], record["recomputed"])]
    if all(isinstance(value, list) for value in pairs[0]):
        pairs = list(zip(*pairs[0], strict=False))
    for printed, again in pairs:
        if all(type(value) in (int, float) for value in (printed, again)) and printed:
            size = abs(again - printed) / abs(printed)
            yield Gap(place_of(record), size, record["verdict"] in FALLS)
