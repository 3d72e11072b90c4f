"""Judged claims, `results/SOURCE/claims.json`, as pages, figures and the command line read them.

`JudgedSource` is the file: JSON Schema is generated from it for programs of others. A version and a
seal, one SHA-256 over the content, say that this version wrote the file and nobody changed it; any
other is judged again.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, JsonValue, TypeAdapter

from layerwise.csv_rows import format_csv
from layerwise.engine.central import Central
from layerwise.engine.claims import DOCUMENT_KINDS, DocumentKind
from layerwise.engine.judged import AS_RANDOM, JudgedClaim, NoisyNumber, count_verdicts
from layerwise.engine.marks import MARKS, mark_text
from layerwise.engine.origins import Absences
from layerwise.engine.seen import Finding, Paragraph
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject, parse_json, read_text, sha256_of
from layerwise.home import Source, is_repository, judged_claims
from layerwise.progress import say
from layerwise.shapes import STRICT, parsed

AGAIN = "judge the ledger again"
REMAKE = {"published": "make reproduce", "measured": "dvc repro judge@measured"}
FORMAT = 5  # of claims.json: one more where a field changes its name, its place or its meaning
SEAL = "seal"
VERDICT_COLUMNS = ("kind", "id", "verdict")  # of verdicts.csv
JUDGED_FROM = ("claims", "published")  # the folders of the repository
DIALECT = "https://json-schema.org/draft/2020-12/schema"
TITLE = "Judged claims of layerwise, results/SOURCE/claims.json"
OF_MEASURED = ("runs", "failed", "left_out")  # keys that a published source does not have
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True, kw_only=True)
class JudgedSource:
    """All claims of the papers as one source answers them.

    counts: how often each verdict was given, by paper.
    statistics, judged_from, inputs: files that the claims were judged by, and that their numbers
        stand in.
    runs: the settings of the runs that measured their numbers, by "slug/experiment".
    failed, left_out: models of which something was not measured.
    """

    __pydantic_config__ = STRICT  # of its parts too
    format: Annotated[int, Field(ge=FORMAT, le=FORMAT)] = FORMAT
    source: Source
    counts: dict[str, dict[str, int]]
    statistics: dict[str, Sha256]
    judged_from: dict[str, Sha256]
    inputs: dict[str, Sha256]
    runs: dict[str, dict[str, JsonValue]] = field(default_factory=dict)
    failed: dict[str, Absences] = field(default_factory=dict)
    left_out: dict[str, Absences] = field(default_factory=dict)
    central: list[Central]
    findings: list[Finding]
    story: list[Paragraph]
    surprises: list[str]
    claims: list[JudgedClaim]
    seal: Sha256 = ""


def judged_schema() -> JsonObject:
    """Return the JSON Schema of claims.json."""
    return {"$schema": DIALECT, **TypeAdapter(JudgedSource).json_schema(), "title": TITLE}


def as_json(record: Any, source: str) -> dict[str, Any]:
    """Return a record as JSON has it: without noise, control and runs where there are none."""
    left_out = [("noise", None), ("control", None), ("waits_for", ""), ("shift", False)]
    names = OF_MEASURED if source == "published" else ()
    return asdict(
        record,
        dict_factory=lambda pairs: {
            name: value
            for name, value in pairs
            if (name, value) not in left_out and name not in names
        },
    )


def seal_of(document: JsonObject) -> str:
    """Return the SHA-256 of a document's content, without its seal, whatever the order of keys."""
    content = {name: part for name, part in document.items() if name != SEAL}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(document: JsonObject) -> JsonObject:
    """Return judged claims with the version of their format and a seal, as `read_judged` asks."""
    versioned = {"format": FORMAT, **document}
    return {**versioned, SEAL: seal_of(versioned)}


def verdicts_csv(judged: JudgedSource) -> str:
    """Return the mark of every central claim and the verdict of every claim, a row each."""
    rows = [("central", claim.id, mark_text(claim.mark, claim.why)) for claim in judged.central]
    rows += [("claim", claim.id, claim.verdict) for claim in judged.claims]
    return format_csv(VERDICT_COLUMNS, rows)


def judged(source: str, results: Path) -> JudgedSource:
    """Return the judged claims of a source, of the folder of all results.

    A line on stderr says if the repository around that folder has changed since they were judged.
    """
    document = read_judged(judged_claims(source, results), source)
    if changed := changed_files(document, results):
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        say(f"judged from other files ({changed[0]}{more}); run `{REMAKE[source]}`")
    return document


def read_judged(path: Path, source: str, statistics: Path | None = None) -> JudgedSource:
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
    text = read_text(path)
    document = parse_json(str(path), text)
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
    judged = parsed(path, JudgedSource, text, AGAIN)
    if statistics:
        require_unchanged(judged, path.parents[1], statistics)
    return judged


def count_by_paper(claims: Iterable[JudgedClaim]) -> dict[str, dict[str, int]]:
    """Return how often each verdict was given, by paper."""
    counts = count_verdicts(claims, lambda claim: f"paper{claim.paper}")
    return {paper: dict(count) for paper, count in counts.items()}


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
    judged: JudgedSource,
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
        then |= judged.judged_from
    if statistics is not None:
        names = f"{analysis or '*'}.json"
        judged_by = judged.statistics.items()
        now |= {f"{statistics}/{name}": sha for name, sha in hashes_of(statistics, names).items()}
        then |= {f"{statistics}/{name}": sha for name, sha in judged_by if fnmatch(name, names)}
    return sorted(path for path in now.keys() | then.keys() if now.get(path) != then.get(path))


def require_unchanged(
    judged: JudgedSource,
    results: Path | None = None,
    statistics: Path | None = None,
    analysis: str | None = None,
) -> None:
    """Refuse judged claims of which `changed_files` names one.

    Raises:
        LayerwiseError: naming the first.
    """
    if changed := changed_files(judged, results, statistics, analysis):
        raise LayerwiseError(
            f"judged from other files ({changed[0]}); run `dvc repro judge@{judged.source}` first"
        )


# --- counts of verdicts ---


@dataclass(frozen=True)
class Totals:
    """The counts of the claims of one kind of document.

    Attributes:
        n: claims; the rest of them are copies of a stored number, need the weights, or have no
            value to compare.
        compared: recomputed from lower-level values or measured; they `agree` or `differ`.
        contradicted: statements that the published material denies.
    """

    n: int
    compared: int
    agree: int
    differ: int
    contradicted: int


def totals(claims: Iterable[JudgedClaim]) -> dict[DocumentKind, Totals]:
    """Return the totals of the papers, then of the supplements and of the notebooks."""
    counts = count_verdicts(claims, lambda claim: claim.document)
    return {kind: _totals(counts[kind]) for kind in DOCUMENT_KINDS if kind in counts}


def _totals(verdicts: Counter[str]) -> Totals:
    agree = sum(verdicts[word] for word in ("agrees", "reproduced", AS_RANDOM))
    differ, contradicted = verdicts["differs"], verdicts["contradicted"]
    return Totals(verdicts.total(), agree + differ, agree, differ, contradicted)


def in_short(judged: JudgedSource) -> dict[str, int]:
    """Return the few counts of the papers' claims that DVC's tables of metrics have room for.

    What only the notebooks claim is not among them; `verdicts.json` counts all. None is called
    like a dependency of a stage, `claims` for one: `dvc exp show` has a column for each of both,
    and of two with one name it loses both.
    """
    papers = totals(judged.claims).get("paper", Totals(0, 0, 0, 0, 0))
    marks = Counter(claim.mark for claim in judged.central if claim.source == "paper")
    return {
        "claims of the papers": papers.n,
        "agree": papers.agree,
        "differ": papers.differ,
        "contradicted": papers.contradicted,
        **{f"central: {mark}": marks[mark] for mark in MARKS},
    }


def tally_sentence(claims: Sequence[JudgedClaim]) -> str:
    """Say the totals: the papers', then those of what stands beside them."""
    counts = totals(claims)
    sentences = []
    if papers := counts.pop("paper", None):
        statements = "is a statement" if papers.contradicted == 1 else "are statements"
        sentences.append(
            f"Of {papers.n:,} numbers and statements that the papers print, {papers.compared:,} "
            f"are recomputed and compared: {papers.agree:,} agree, {papers.differ:,} differ. "
            f"{papers.contradicted:,} more {statements} that what is published contradicts; "
            "the rest cannot be compared."
        )
    others = [
        f"{kind}s, {total.n:,} ({total.agree:,} agree, {total.differ:,} differ, "
        f"{total.contradicted:,} contradicted)"
        for kind, total in counts.items()
    ]
    if others:
        sentences.append(f"Counted apart: {'; '.join(others)}.")
    # a claim that was measured in 16 bits has the band of its replicates
    n_banded = sum(isinstance(claim.noise, NoisyNumber) for claim in claims)
    if n_banded:
        sentences.append(
            f"{n_banded:,} of them were measured in 16 bits, within a band of rounding that leaves "
            "out one number in twenty: if all of these reproduce, up to "
            f"{n_banded / 20:.0f} differ by chance."
        )
    return " ".join(sentences)
