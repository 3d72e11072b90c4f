"""The ledger against the statistics of one source: claims judged, central ones marked, findings.

Beside the statistics stand those of replicates with rounding noise and of draws of random weights,
where there are any: a verdict on a measured number rests on all three.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Required

from layerwise.engine.central import judge_central, read_central
from layerwise.engine.claims import read_ledger, statistic_parts
from layerwise.engine.findings import tell_findings
from layerwise.engine.measured import CONTROL, NOISE
from layerwise.engine.origins import Origins
from layerwise.engine.paper import Paper
from layerwise.engine.prospects import NO_MEANS, Means, with_settling
from layerwise.engine.published import HEADER, Published, read_table, split_pointer
from layerwise.engine.seen import told
from layerwise.engine.story import tell_story
from layerwise.engine.verdicts import Statistics, judge
from layerwise.errors import LayerwiseError
from layerwise.files import numbered, read_json, sha256_of
from layerwise.shapes import Loose, require_shape


class StatisticsFile(Loose, total=False):
    """A file of statistics."""

    documents: Required[dict[str, Any]]
    derived: dict[str, list[str]]
    given: dict[str, str]
    undefined: dict[str, str]
    missing: dict[str, str]


PARTS = ("derived", "given", "undefined", "missing")  # of a statistics file, by statistic


@dataclass(frozen=True)
class SourceStatistics:
    """The statistics of one source, and the same of its replicates and draws."""

    results: Statistics
    replicates: Sequence[Statistics]
    draws: Sequence[Statistics]


def read_sides(
    source: str, folder: Path, published: Published, origins: Origins | None
) -> SourceStatistics:
    """Read the statistics in a folder, and those in the numbered folders beside them."""
    replicates, draws = (
        [read_statistics(source, side, published) for side in numbered(folder / kind)]
        for kind in (NOISE, CONTROL)
    )
    return SourceStatistics(read_statistics(source, folder, published, origins), replicates, draws)


def read_statistics(
    source: str, folder: Path, published: Published, origins: Origins | None = None
) -> Statistics:
    """Read the statistics of one source, every analysis of the folder."""
    analyses = {}
    for path in sorted(folder.glob("*.json")):
        analyses[path.stem] = require_shape(path, StatisticsFile, read_json(path), "analyse again")
    return statistics_of(source, analyses, published, origins)


def statistics_of(
    source: str,
    analyses: Mapping[str, Mapping[str, Any]],
    published: Published,
    origins: Origins | None = None,
) -> Statistics:
    """Return the statistics of one source.

    Args:
        analyses: by analysis, what `statistics_files` gives.
        published: the cells that published statistics rest on.
        origins: which run measured a number, of a measured source.
    """
    documents = {name: result["documents"] for name, result in analyses.items()}
    parts: dict[str, dict[str, Any]] = {
        part: {
            f"{name}:{key}": value
            for name, result in analyses.items()
            for key, value in result.get(part, {}).items()
        }
        for part in PARTS
    }
    return Statistics(source, documents, **parts, origins=origins, published=published)


def judge_ledger(
    claims: Path,
    sides: SourceStatistics,
    published: Published,
    paper: Paper,
    means: Means = NO_MEANS,
) -> dict[str, Any]:
    """Judge every claim, and what is made of them.

    Arguments:
        paper: the questions that its central claims ask, and what is said of them.
        means: what there is to measure with, to settle what is open.

    Returns:
        `claims`, the records; `central`, `findings`, `story` and `surprises` on them.
    """
    records = [
        note_shift(judge(claim, sides.results, sides.replicates, sides.draws), paper.shifted)
        for claim in read_ledger(claims, published)
    ]
    random = [draw.documents for draw in sides.draws]
    results = sides.results
    entries = read_central(claims)
    central, seen = judge_central(
        entries,
        paper.sentences,
        records,
        results.documents,
        paper.questions,
        random,
        results.undefined,
    )
    told_of = {part["claim"] for claim in central for part in claim.printed} | seen.asked
    facts = tell_findings(paper.findings, records, seen, told_of)
    return {
        "central": [
            asdict(claim)
            for claim in with_settling(
                central, entries, results.documents, paper.questions, paper.measured_by, means
            )
        ],
        "findings": [asdict(finding) for finding in facts],
        "story": [asdict(paragraph) for paragraph in tell_story(paper.story, seen)],
        "surprises": [*told(paper.surprises, seen)],
        "claims": records,
    }


def note_shift(record: Mapping[str, Any], shifted: Mapping[str, Collection[str]]) -> dict[str, Any]:
    """Return a claim's record with the note that its band does not show a shift by 16 bits.

    Args:
        shifted: names of statistics that have one, by analysis.
    """
    statistic = record["provenance"]["statistic"]
    if "noise" not in record or statistic is None:
        return dict(record)
    analysis, _, key = statistic_parts(statistic)
    if split_pointer(key)[-1] not in shifted.get(analysis, ()):
        return dict(record)
    return {**record, "noise": {**record["noise"], "shift": True}}


def files_behind(records: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the published files that claims and their other readings rest on."""
    files = set()
    for record in records:
        rests_on = [record["provenance"], *record["readings"]]
        files |= {cell.partition("#")[0] for source in rests_on for cell in source["inputs"]}
    return files


def table_hashes(folder: Path, tables: Iterable[str]) -> dict[str, str]:
    """Return, for every file whose numbers stand in these tables of a folder, its table's SHA-256.

    For numbers that stand nowhere else: what a notebook typed into its cells, say.
    """
    return {
        file: sha256
        for table in tables
        for sha256 in [sha256_of(folder / table)]
        for _, (file, _, _) in read_table(folder / table, HEADER)
    }


def input_hashes(records: Iterable[Mapping[str, Any]], known: Mapping[str, str]) -> dict[str, str]:
    """Return the SHA-256 of the published files that claims rest on.

    Args:
        records: judged claims.
        known: SHA-256 by file, as pinned or of the table that holds the file's numbers.

    Raises:
        LayerwiseError: for a file without one.
    """
    files = sorted(files_behind(records))
    if unknown := [file for file in files if file not in known]:
        raise LayerwiseError(
            f"published/: every file that claims rest on must have a SHA-256, {unknown[0]!r:.80} "
            "has none; pin it in registry.csv, or restore the table that lists it"
        )
    return {file: known[file] for file in files}
