"""Totals: how many claims were compared, and how they fare."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layerwise.engine.claims import DOCUMENT_KINDS, DocumentKind
from layerwise.engine.marks import MARKS
from layerwise.engine.verdicts import AS_RANDOM, count_verdicts

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Totals:
    """The counts of the claims of one kind of document.

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


def in_short(records: Sequence[Record], central: Iterable[Record]) -> dict[str, int]:
    """Return the few counts of the papers' claims that DVC's tables of metrics have room for.

    None is called like a dependency of a stage, `claims` for one: `dvc exp show` has a column for
    each of both, and of two with one name it loses both.
    """
    papers = totals(records).get("paper", Totals(0, 0, 0, 0, 0, 0))
    marks = Counter(claim["mark"] for claim in central)
    return {
        "claims of the papers": papers.n,
        "agree": papers.agree,
        "differ": papers.differ,
        "contradicted": papers.contradicted,
        **{f"central: {mark}": marks[mark] for mark in MARKS},
    }


def tally_sentence(records: Iterable[Record]) -> str:
    """Say the totals: the papers', then those of what stands beside them."""
    counts = totals(records)
    sentences = []
    if papers := counts.pop("paper", None):
        verb = "is" if papers.contradicted == 1 else "are"
        sentences.append(
            f"Of {papers.n:,} claims of the papers, {papers.compared:,} are recomputed and "
            f"compared: {papers.agree:,} agree, {papers.differ:,} differ. "
            f"{papers.contradicted:,} more {verb} contradicted by what is published; the others "
            "are roundings or copies of a stored number, need the models' weights, or have no "
            "value to compare."
        )
    others = [
        f"{kind}s, {total.n:,} claims ({total.agree:,} agree, {total.differ:,} differ, "
        f"{total.contradicted:,} contradicted)"
        for kind, total in counts.items()
    ]
    if others:
        sentences.append(f"Counted apart: {'; '.join(others)}.")
    return " ".join(sentences)
