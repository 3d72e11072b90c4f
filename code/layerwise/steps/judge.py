"""verdicts <- ledger and statistics."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any, Required

from layerwise.files import numbered, read_json, sha256_of, together, write_json
from layerwise.inputs.measured import CONTROL, NOISE, read_measurements
from layerwise.inputs.models import read_models
from layerwise.inputs.published import TYPED, Published, read_published
from layerwise.inputs.shapes import Loose, require_shape
from layerwise.inputs.upstream import read_registry
from layerwise.ledger.claims import read_ledger
from layerwise.ledger.findings import findings, read_findings
from layerwise.ledger.headlines import headlines, read_headlines
from layerwise.ledger.origins import Origins
from layerwise.ledger.story import read_story, story
from layerwise.ledger.verdicts import Statistics, counted, judge
from layerwise.steps import Place, Source, program


class Result(Loose, total=False):
    """A file of statistics."""

    documents: Required[dict[str, Any]]
    derived: dict[str, list[str]]
    given: dict[str, str]
    undefined: dict[str, str]
    missing: dict[str, str]


PARTS = ("derived", "given", "undefined", "missing")  # of a statistics file, by statistic


def read_statistics(
    source: str, folder: Path, published: Published, origins: Origins | None = None
) -> Statistics:
    """The statistics of one source, every analysis of the folder."""
    documents: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for path in sorted(folder.glob("*.json")):
        result = require_shape(path, Result, read_json(path), "analyse again")
        documents[path.stem] = result["documents"]
        for part, found in parts.items():
            found |= {f"{path.stem}:{key}": value for key, value in result.get(part, {}).items()}
    return Statistics(source, documents, **parts, origins=origins, published=published)


def input_hashes(files: set[str], published: Path) -> dict[str, str]:
    """SHA-256 of the published files that claims rest on, as pinned.

    What a notebook typed into its cells is held by a table of ours; it has that table's hash.
    """
    pins, typed = read_registry(published).pins, sha256_of(published / TYPED)
    return {file: pins[file].sha256 if file in pins else typed for file in sorted(files)}


def run(
    source: Source,
    statistics: Place,
    out: Place,
    numbers: Place = Path("published"),
    claims: Place = Path("claims"),
    published: Place = Path("published"),
    models: Place = Path("models.yaml"),
) -> str:
    """Judge every claim; counts of verdicts and grades go to `verdicts.json` beside the records.

    Of a measured source NUMBERS is the folder of the models' measurements: the records name the
    runs that their inputs come from, `runs` what measured them, `failed` and `left_out` what was
    not, and how many claims wait for it.
    """
    tables = read_published(published)
    origins = None
    if source == "measured":
        origins = Origins(read_measurements(numbers), read_models(models), tables)
    results = read_statistics(source, statistics, tables, origins)
    replicates, draws = (
        [read_statistics(source, folder, tables) for folder in numbered(statistics / beside)]
        for beside in (NOISE, CONTROL)
    )
    records = [judge(claim, results, replicates, draws) for claim in read_ledger(claims, tables)]
    counts = counted(records, lambda record: f"paper{record['paper']}")
    document: dict[str, Any] = {
        "source": source,
        "counts": counts,
        "statistics": {path.name: sha256_of(path) for path in sorted(statistics.glob("*.json"))},
    }
    if origins is None:
        cells = (cell for record in records for cell in record["provenance"]["inputs"])
        document["inputs"] = input_hashes({cell.partition("#")[0] for cell in cells}, published)
    else:
        document |= origins.document(records, numbers)
    random = [draw.documents for draw in draws]
    graded = headlines(
        records, results.documents, read_headlines(claims), random, results.undefined
    )
    facts = findings(
        records,
        read_findings(claims),
        [headline.id for headline in graded],
        argued=source == "published",
    )
    document["headlines"] = [asdict(headline) for headline in graded]
    document["findings"] = [asdict(finding) for finding in facts]
    told = story(records, results.documents, graded, read_story(claims))
    document["story"] = [asdict(paragraph) for paragraph in told]
    with together(out.parent) as part:
        write_json(part / out.name, {**document, "claims": records})
        grades = Counter(headline.grade for headline in graded)
        write_json(part / "verdicts.json", {**counts, "headlines": grades})
    return f"{len(records)} claims judged in {out}"


if __name__ == "__main__":
    program(run)
