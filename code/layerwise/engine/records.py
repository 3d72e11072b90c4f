"""Judged claims, `results/SOURCE/claims.json`, as pages, figures and the command line read them.

A version and a seal, one SHA-256 over the content, stand for every check of a field: what this
version wrote and nobody changed is right; all else is judged again. What programs of others read is
promised in `judged_shape`.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from layerwise.csv_rows import format_csv
from layerwise.engine.claims import DOCUMENT_KINDS, DocumentKind
from layerwise.engine.marks import MARKS, mark_text
from layerwise.engine.verdicts import AS_RANDOM, count_verdicts
from layerwise.errors import LayerwiseError
from layerwise.files import read_json, sha256_of
from layerwise.home import is_repository, judged_claims
from layerwise.progress import say

AGAIN = "judge the ledger again"
REMAKE = {"published": "make reproduce", "measured": "dvc repro judge@measured"}
FORMAT = 5  # of claims.json: one more where a field changes its name, its place or its meaning
SEAL = "seal"
VERDICT_COLUMNS = ("kind", "id", "verdict")  # of verdicts.csv
JUDGED_FROM = ("claims", "published")  # the folders of the repository


def seal_of(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document's content, without its seal, whatever the order of keys."""
    content = {name: part for name, part in document.items() if name != SEAL}
    text = json.dumps(json.loads(json.dumps(content)), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return judged claims with the version of their format and a seal, as `read_judged` asks."""
    versioned = {"format": FORMAT, **document}
    return {**versioned, SEAL: seal_of(versioned)}


def verdicts_csv(document: Mapping[str, Any]) -> str:
    """Return the mark of every central claim and the verdict of every claim, a row each."""
    rows = [
        ("central", claim["id"], mark_text(claim["mark"], claim["why"]))
        for claim in document["central"]
    ]
    rows += [("claim", record["id"], record["verdict"]) for record in document["claims"]]
    return format_csv(VERDICT_COLUMNS, rows)


def judged(source: str, results: Path) -> dict[str, Any]:
    """Return the judged claims of a source, of the folder of all results.

    A line on stderr says if the repository around that folder has changed since they were judged.
    """
    document = read_judged(judged_claims(source, results), source)
    if changed := changed_files(document, results):
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        say(f"judged from other files ({changed[0]}{more}); run `{REMAKE[source]}`")
    return document


def read_judged(path: Path, source: str, statistics: Path | None = None) -> dict[str, Any]:
    """Read the judged claims of a source, once STATISTICS are the files they were judged by.

    Raises:
        LayerwiseError: if the ledger was not judged yet, or for another source, or by other
            statistics; if another version wrote the file, or it was changed since.
    """
    if not path.exists():
        raise LayerwiseError(
            f"{path}: the ledger was not judged for source {source!r} yet; run `make reproduce` "
            "(or `make reproduce-full` for source measured) first"
        )
    document: dict[str, Any] = read_json(path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise LayerwiseError(
            f"{path}: judged claims must have format {FORMAT}, another version wrote these; {AGAIN}"
        )
    if document.get(SEAL) != seal_of(document):
        raise LayerwiseError(
            f"{path}: the file must be as it was written, it was changed since; {AGAIN}"
        )
    if document["source"] != source:
        raise LayerwiseError(
            f"{path}: claims of source {source!r} are wanted, these were judged for "
            f"{document['source']!r}; give that source's claims.json"
        )
    if statistics:
        require_unchanged(document, path.parents[1], statistics)
    return document


def count_by_paper(records: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Return how often each verdict was given, by paper."""
    counts: dict[str, dict[str, int]] = count_verdicts(
        records, lambda record: f"paper{record['paper']}"
    )
    return counts


def hashes_of(folder: Path, pattern: str = "*.json") -> dict[str, str]:
    """Return the SHA-256 of every file below a folder, by relative path."""
    files = sorted(path for path in folder.rglob(pattern) if path.is_file())
    return {file.relative_to(folder).as_posix(): sha256_of(file) for file in files}


def hashes_judged_from(claims: Path, published: Path) -> dict[str, str]:
    """Return the SHA-256 of the ledger and of the published numbers, by path in the repository."""
    folders = zip(JUDGED_FROM, (claims, published), strict=True)
    return {
        f"{name}/{path}": sha256
        for name, folder in folders
        for pattern in ("*.yaml", "*.csv")
        for path, sha256 in hashes_of(folder, pattern).items()
    }


def changed_files(
    document: Mapping[str, Any],
    results: Path | None = None,
    statistics: Path | None = None,
    analysis: str | None = None,
) -> list[str]:
    """Return the files that are not as they were when the claims were judged from them.

    DVC keeps the order of stages; this is for who runs one alone, or reads what was judged before.

    Arguments:
        results: the folder of all results, for ledger and published numbers beside it; where that
            is no repository these are not compared: a wheel brings some of the files only.
        statistics: the folder of the statistics, for these: all, or those of an `analysis`.
    """
    now: dict[str, str] = {}
    then: dict[str, str] = {}
    if results is not None and is_repository(results.parent):
        now |= hashes_judged_from(*(results.parent / folder for folder in JUDGED_FROM))
        then |= document["judged_from"]
    if statistics is not None:
        names = f"{analysis or '*'}.json"
        judged_by = document["statistics"].items()
        now |= {f"{statistics}/{name}": sha for name, sha in hashes_of(statistics, names).items()}
        then |= {f"{statistics}/{name}": sha for name, sha in judged_by if fnmatch(name, names)}
    return sorted(path for path in now.keys() | then.keys() if now.get(path) != then.get(path))


def require_unchanged(
    document: Mapping[str, Any],
    results: Path | None = None,
    statistics: Path | None = None,
    analysis: str | None = None,
) -> None:
    """Refuse judged claims of which `changed_files` names one.

    Raises:
        LayerwiseError: naming the first.
    """
    if changed := changed_files(document, results, statistics, analysis):
        raise LayerwiseError(
            f"judged from other files ({changed[0]}); run `dvc repro judge@{document['source']}` "
            "first"
        )


# --- counts of verdicts ---


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

    What only the notebooks claim is not among them; `verdicts.json` counts all. None is called
    like a dependency of a stage, `claims` for one: `dvc exp show` has a column for each of both,
    and of two with one name it loses both.
    """
    papers = totals(records).get("paper", Totals(0, 0, 0, 0, 0, 0))
    marks = Counter(claim["mark"] for claim in central if claim["source"] == "paper")
    return {
        "claims of the papers": papers.n,
        "agree": papers.agree,
        "differ": papers.differ,
        "contradicted": papers.contradicted,
        **{f"central: {mark}": marks[mark] for mark in MARKS},
    }


def tally_sentence(records: Iterable[Record]) -> str:
    """Say the totals: the papers', then those of what stands beside them."""
    records = list(records)
    counts = totals(records)
    sentences = []
    if papers := counts.pop("paper", None):
        verb = "is" if papers.contradicted == 1 else "are"
        sentences.append(
            f"Of {papers.n:,} numbers and statements that the papers print, {papers.compared:,} "
            f"are recomputed and compared: {papers.agree:,} agree, {papers.differ:,} differ. "
            f"{papers.contradicted:,} more {verb} contradicted by what is published; the rest "
            "cannot be compared."
        )
    others = [
        f"{kind}s, {total.n:,} ({total.agree:,} agree, {total.differ:,} differ, "
        f"{total.contradicted:,} contradicted)"
        for kind, total in counts.items()
    ]
    if others:
        sentences.append(f"Counted apart: {'; '.join(others)}.")
    # a claim that was measured in 16 bits has the band of its replicates
    n_banded = sum("band" in (record.get("noise") or {}) for record in records)
    if n_banded:
        sentences.append(
            f"{n_banded:,} of them were measured in 16 bits, within a band of rounding that leaves "
            "out one number in twenty: if all of these reproduce, up to "
            f"{n_banded / 20:.0f} differ by chance."
        )
    return " ".join(sentences)
