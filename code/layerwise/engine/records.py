"""Judged claims, `results/SOURCE/claims.json`, as pages, figures and the command line read them."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

from layerwise.engine.claims import Decimals, DocumentKind, Printed
from layerwise.engine.findings import Finding
from layerwise.engine.headlines import Headline, grade
from layerwise.engine.published import Number
from layerwise.engine.stored import Stored
from layerwise.engine.story import Paragraph
from layerwise.engine.strip import Row
from layerwise.engine.verdicts import TOLERANCES, VERDICTS, count_verdicts
from layerwise.errors import LayerwiseError
from layerwise.files import is_there, read_json, sha256_of
from layerwise.home import is_repository, judged_claims
from layerwise.progress import say
from layerwise.shapes import Loose, Paper, Whole, require_shape

AGAIN = "judge the ledger again"
REMAKE = {"published": "make reproduce", "measured": "dvc repro judge@measured"}
SHAPES = {
    "headlines": Headline,
    "findings": Finding,
    "story": Paragraph,
    "strip": Row,
    "stored": Stored,
}
JUDGED_FROM = ("claims", "published")  # the folders of the repository


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


class Noise(Loose):
    """What replicates with rounding noise did to a measured value."""

    replicates: Whole
    band: NotRequired[Number | list[Number | None] | None]
    same: NotRequired[Annotated[int, Field(ge=0)]]


class Control(Loose):
    """How many draws of random weights give a claim too, and what they give."""

    draws: Annotated[int, Field(ge=0)]
    give: Annotated[int, Field(ge=0)]
    values: list[Printed]


class Record(Loose):
    """One judged claim."""

    id: str
    paper: Paper
    document: DocumentKind
    where: str
    quantity: str
    model: str | None
    unit: str | None
    kind: str
    decimals: Decimals | None
    published: Printed
    recomputed: Printed
    noise: NotRequired[Noise]
    control: NotRequired[Control]
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
    statistics: dict[Annotated[str, Field(pattern=r"^[a-z0-9_/]{1,100}\.json$")], str]
    judged_from: dict[str, str]
    inputs: dict[str, str]
    headlines: list[dict[str, Any]]
    findings: list[dict[str, Any]]
    story: list[dict[str, Any]]
    strip: list[dict[str, Any]]
    stored: list[dict[str, Any]]
    claims: list[Record]
    runs: NotRequired[dict[str, dict[str, Any]]]
    failed: NotRequired[dict[str, Absent]]
    left_out: NotRequired[dict[str, Absent]]


def judged(source: str, results: Path) -> dict[str, Any]:
    """The judged claims of a source, of the folder of all results.

    A line on stderr says if the repository around that folder has changed since they were judged.
    """
    document = read_judged(judged_claims(source, results), source)
    if changed := changed_files(document, results):
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        say(f"judged from other files ({changed[0]}{more}); run `{REMAKE[source]}`")
    return document


def read_judged(path: Path, source: str, statistics: Path | None = None) -> dict[str, Any]:
    """The judged claims of a source, and that STATISTICS are the files that they were judged by.

    Raises:
        LayerwiseError: if the ledger was not judged yet, or for another source, or by other
            statistics; naming the place of a missing field, of an unknown verdict, tolerance class,
            claim, headline, file or run, an id that is there twice, or counts of other claims.
    """
    if not is_there(path):
        raise LayerwiseError(
            f"{path}: the ledger was not judged for source {source!r} yet; run `make reproduce` "
            "(or `make reproduce-full` for source measured) first"
        )
    document: dict[str, Any] = require_shape(path, Judged, read_json(path), AGAIN)
    for name, shape in SHAPES.items():
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
    if document["counts"] != by_paper(document["claims"]):
        raise LayerwiseError(f"{path}: counts: must be those of its claims, they are not; {AGAIN}")
    _require_own_grades(path, document)
    if statistics:
        gone = dict.fromkeys(document["statistics"], "")
        require_judged(document, gone | hashes_of(statistics), statistics)
        if changed := changed_files(document, path.parents[1]):
            raise LayerwiseError(
                f"{path}: judged from other files ({changed[0]}); "
                f"run `dvc repro judge@{source}` first"
            )
    return document


def _require_own_grades(path: Path, document: dict[str, Any]) -> None:
    """Grade every headline again from its answers, and refuse another grade."""
    for headline in document["headlines"]:
        own = grade(headline["choices"], headline["models"], as_random=headline["as_random"])
        if headline["grade"] != own:
            raise LayerwiseError(
                f"{path}: headline {headline['id']}: by its answers the grade is "
                f"{own!r}, found {headline['grade']!r}; {AGAIN}"
            )


def by_paper(records: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """How often each verdict was given, by paper."""
    counts: dict[str, dict[str, int]] = count_verdicts(records, lambda one: f"paper{one['paper']}")
    return counts


def _references(document: dict[str, Any]) -> Iterator[tuple[str, str, str, Collection[str]]]:
    """Where the document names a claim, a headline, a file or a run: place, kind, name, and all."""
    claims = {record["id"] for record in document["claims"]}
    headlines = {one["id"] for one in document["headlines"]}
    for number, record in enumerate(document["claims"]):
        at, origin = f"claims.{number}", record["provenance"]
        for run in origin.get("runs", ()):
            yield f"{at}.provenance.runs", "runs", run, document.get("runs", {})
        if document["source"] == "published":  # a measured cell stands in what its run wrote
            for cell in [cell for of in (origin, *record["readings"]) for cell in of["inputs"]]:
                yield f"{at}: inputs", "files", cell.partition("#")[0], document["inputs"]
    for number, one in enumerate(document["headlines"]):
        for part_number, part in enumerate(one["parts"]):
            if "claim" in part:
                place = f"headlines.{number}.parts.{part_number}.claim"
                yield place, "claims", part["claim"], claims
    for number, one in enumerate(document["findings"]):
        for claim in one["claims"]:
            yield f"findings.{number}.claims", "claims", claim, claims
        if one["headline"] is not None:
            yield f"findings.{number}.headline", "headlines", one["headline"], headlines


def hashes_of(folder: Path, pattern: str = "*.json") -> dict[str, str]:
    """SHA-256 by relative path of every file below a folder: statistics, those of draws too."""
    files = sorted(path for path in folder.rglob(pattern) if path.is_file())
    return {file.relative_to(folder).as_posix(): sha256_of(file) for file in files}


def hashes_judged_from(claims: Path, published: Path) -> dict[str, str]:
    """SHA-256 of the ledger's files and of the published numbers, by path in the repository."""
    folders = zip(JUDGED_FROM, (claims, published), strict=True)
    return {
        f"{name}/{path}": sha256
        for name, folder in folders
        for pattern in ("*.yaml", "*.csv")
        for path, sha256 in hashes_of(folder, pattern).items()
    }


def changed_files(document: Mapping[str, Any], results: Path) -> list[str]:
    """The files of the ledger and published numbers that are not as they were when judged.

    Empty where RESULTS is not the folder of a repository: a wheel brings some of these files only.
    """
    root = results.parent
    if not is_repository(root):
        return []
    now = hashes_judged_from(*(root / folder for folder in JUDGED_FROM))
    then = document["judged_from"]
    return sorted(path for path in now.keys() | then.keys() if now.get(path) != then.get(path))


def require_judged(document: dict[str, Any], found: Mapping[str, str], statistics: Path) -> None:
    """Refuse statistics of which a file was written, changed or removed since they were judged.

    Arguments:
        found: `hashes_of` the folder of the statistics, or some of them.
    """
    for name, sha256 in found.items():
        if sha256 != document["statistics"].get(name):
            raise LayerwiseError(
                f"{statistics / name}: these statistics are not the ones that were judged; "
                f"run `dvc repro judge@{document['source']}` first"
            )
