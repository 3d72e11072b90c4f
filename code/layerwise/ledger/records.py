"""Judged claims, `results/SOURCE/claims.json`, as pages, figures and the command line read them."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NotRequired

from layerwise.errors import LayerwiseError
from layerwise.files import read_json, sha256_of
from layerwise.inputs.shapes import Loose, require_shape
from layerwise.ledger.claims import Printed
from layerwise.ledger.findings import Finding
from layerwise.ledger.headlines import Headline
from layerwise.ledger.story import Paragraph
from layerwise.ledger.verdicts import TOLERANCES, VERDICTS
from layerwise.places.home import judged_claims

AGAIN = "judge the ledger again"


class Provenance(Loose):
    """What a recomputed number rests on."""

    file: str | None
    key: str | None
    statistic: str | None
    inputs: list[str]
    runs: NotRequired[list[str]]


class Reading(Loose):
    """What another reading of a claim's words gives, and the cells that it was computed from."""

    text: str
    value: Printed
    gives: bool
    inputs: list[str]


class Record(Loose):
    """One judged claim."""

    id: str
    paper: Literal[1, 2, 3]
    where: str
    quantity: str
    model: str | None
    unit: str | None
    kind: str
    decimals: int | str | None
    published: Printed
    recomputed: Printed
    verdict: Literal[tuple(VERDICTS)]  # type: ignore[valid-type]
    tolerance: Literal[tuple(TOLERANCES)]  # type: ignore[valid-type]
    cause: str | None
    readings: list[Reading]
    provenance: Provenance


class Absent(Loose):
    """Why a model gave nothing, or not all."""

    claims: int
    reasons: dict[str, str]


class Judged(Loose):
    """All of them, of one source."""

    source: Literal["published", "measured"]
    counts: dict[str, dict[str, int]]
    statistics: dict[str, str]
    inputs: dict[str, str]
    headlines: list[dict[str, Any]]
    findings: list[dict[str, Any]]
    story: list[dict[str, Any]]
    claims: list[Record]
    runs: NotRequired[dict[str, dict[str, Any]]]
    failed: NotRequired[dict[str, Absent]]
    left_out: NotRequired[dict[str, Absent]]


def judged(source: str, results: Path) -> dict[str, Any]:
    """The judged claims of a source, of the folder of all results."""
    return read_judged(judged_claims(source, results), source)


def read_judged(path: Path, source: str, statistics: Path | None = None) -> dict[str, Any]:
    """The judged claims of a source, and that STATISTICS are the files that they were judged by.

    Raises:
        LayerwiseError: if the ledger was not judged yet, or for another source; naming the place
            of a missing field, of an unknown verdict, tolerance class, claim or headline, or an id
            that is there twice.
    """
    if not path.is_file():
        raise LayerwiseError(
            f"{path}: the ledger was not judged for source {source!r} yet; run `make reproduce` "
            "(or `make reproduce-full` for source measured) first"
        )
    document: dict[str, Any] = require_shape(path, Judged, read_json(path), AGAIN)
    for name, shape in (("headlines", Headline), ("findings", Finding), ("story", Paragraph)):
        require_shape(f"{path}: {name}", list[shape], document[name], AGAIN)  # type: ignore[valid-type]
    if document["source"] != source:
        raise LayerwiseError(
            f"{path}: claims of source {source!r} are wanted, these were judged for "
            f"{document['source']!r}; give that source's claims.json"
        )
    for claim, n in Counter(record["id"] for record in document["claims"]).most_common(1):
        if n > 1:
            raise LayerwiseError(f"{path}: claim {claim!r:.80} is there {n} times; {AGAIN}")
    for place, kind, named, known in _references(document):
        if named not in known:
            raise LayerwiseError(
                f"{path}: {place}: must be in the list of {kind}, found {named!r:.80}; {AGAIN}"
            )
    for file in statistics.glob("*.json") if statistics else ():
        require_judged(document, file)
    return document


def _references(document: dict[str, Any]) -> Iterator[tuple[str, str, str, set[str]]]:
    """Where the document names a claim or a headline: place, kind, name, and all of the kind."""
    claims = {record["id"] for record in document["claims"]}
    headlines = {one["id"] for one in document["headlines"]}
    for number, one in enumerate(document["headlines"]):
        for at, part in enumerate(one["parts"]):
            if "claim" in part:
                yield f"headlines.{number}.parts.{at}.claim", "claims", part["claim"], claims
    for number, one in enumerate(document["findings"]):
        for claim in one["claims"]:
            yield f"findings.{number}.claims", "claims", claim, claims
        if one["headline"] is not None:
            yield f"findings.{number}.headline", "headlines", one["headline"], headlines


def require_judged(document: dict[str, Any], file: Path) -> None:
    """Refuse a file of statistics that was written, or changed, since the claims were judged."""
    if sha256_of(file) != document["statistics"].get(file.name):
        raise LayerwiseError(
            f"{file}: these statistics are not the ones that were judged; "
            f"run `dvc repro judge@{document['source']}` first"
        )
