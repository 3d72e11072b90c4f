"""A source, from numbers to judged claims: statistics, verdicts, marks, findings.

`statistics_files` runs every table of rules; `judge_ledger` holds the ledger against what they
give. Beside the statistics stand those of replicates with rounding noise and of draws of random
weights, where there are any: a verdict on a measured number rests on all three. `judge_paper` does
both for a paper of one's own, from the folder of its numbers and claims.
"""

import contextlib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Required, TypeVar

from layerwise.engine.answers import Answers, RowsByQuestion, read_answer_rows
from layerwise.engine.central import judge_central, read_central
from layerwise.engine.claims import read_ledger, statistic_parts
from layerwise.engine.derivation import (
    Analysis,
    Derivation,
    derive,
    derived_cells,
    documents_of,
    evidence_of,
)
from layerwise.engine.evidence import Evidence
from layerwise.engine.judged import JudgedClaim, files_behind
from layerwise.engine.measured import CONTROL, NOISE, map_leaves
from layerwise.engine.origins import Origins
from layerwise.engine.paper import Paper
from layerwise.engine.published import (
    COUNTED,
    HEADER,
    Cell,
    Published,
    read_table,
    read_tables,
    split_pointer,
)
from layerwise.engine.question import documents_of_questions
from layerwise.engine.records import JudgedSource, count_by_paper, hashes_judged_from
from layerwise.engine.seen import tell_findings, tell_story, told
from layerwise.engine.verdicts import Statistics, judge
from layerwise.engine.words import Names, label_model
from layerwise.errors import LayerwiseError, prefix_errors
from layerwise.files import JsonObject, numbered, read_json, sha256_of
from layerwise.home import Source
from layerwise.shapes import Loose, require_shape
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws

Noted = TypeVar("Noted")

# --- statistics ---


def derive_all(tables: Mapping[str, Analysis], evidence: Evidence) -> dict[str, Derivation]:
    """Return the documents of every analysis, and from which cells they were derived or given."""
    return {name: derive(table, evidence) for name, table in tables.items()}


class Recomputed(NamedTuple):
    """What a rule gives for a published cell, and whether it only repeats a number that it read."""

    analysis: str
    cell: Cell
    value: Any
    is_copy: bool


def recomputed_cells(tables: Mapping[str, Analysis], evidence: Evidence) -> Iterator[Recomputed]:
    """Yield what the rules give for every published cell that a document has a place for."""
    for analysis, table in tables.items():
        for document in documents_of(table, evidence).values():
            for cell, compute in derived_cells(document, evidence).items():
                with evidence.recording() as recording:
                    value = compute()
                read = recording.cells
                is_copy = cell in read or _is_copy(value, read, evidence.cells)
                yield Recomputed(analysis, cell, value, is_copy)


def _is_copy(value: Any, read: Collection[Cell], numbers: Published) -> bool:
    """Return whether a value is the one number that its rule read; a count of ours is no copy."""
    if len(read) != 1 or isinstance(value, bool):
        return False
    ((file, key),) = read
    return file not in COUNTED and numbers.cells[file, key] == value


class StatisticsFile(Loose, total=False):
    """A file of statistics: the parts of a `Derivation`; in print nothing is missing."""

    documents: Required[JsonObject]
    derived: dict[str, list[str]]
    given: dict[str, str]
    undefined: dict[str, str]
    missing: dict[str, str]


def statistics_files(
    tables: Mapping[str, Analysis], numbers: Published, draws: Draws
) -> dict[str, StatisticsFile]:
    """Return, by analysis, its documents and what in them was derived or given, as JSON holds it.

    Args:
        tables: the rules of a paper, by analysis.
        numbers: what they are applied to, printed or measured.
        draws: how often and from which seed is resampled.
    """
    evidence = evidence_of(numbers, draws, tables)
    files = {}
    for name, derivation in derive_all(tables, evidence).items():
        files[name] = StatisticsFile(
            documents=map_leaves(derivation.documents, _finite_or_none),
            derived=derivation.derived,
            given=derivation.given,
            undefined=derivation.undefined,
        )
        if evidence.measured:
            files[name]["missing"] = derivation.missing
    return files


def _finite_or_none(leaf: Any) -> Any:
    """Return a leaf, None where it is not finite: half precision leaves layers without a number."""
    return None if isinstance(leaf, float) and not math.isfinite(leaf) else leaf


@contextlib.contextmanager
def errors_naming(folder: Path) -> Iterator[None]:
    """Let a rule that cannot take a number say, inside the block, which folder it came from."""
    try:
        with prefix_errors(f"{folder}, a *.csv or measured.json"):
            yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise LayerwiseError(
            f"{folder}: a number in a *.csv or measured.json is not of the kind of the published "
            f"one ({type(error).__name__}: {error!s:.200}); restore it, or measure it again"
        ) from error


# --- claims ---


@dataclass(frozen=True)
class SourceStatistics:
    """The statistics of one source, and the same of its replicates and draws."""

    results: Statistics
    replicates: Sequence[Statistics]
    draws: Sequence[Statistics]


def read_sides(
    source: Source, folder: Path, published: Published, origins: Origins | None
) -> SourceStatistics:
    """Read the statistics in a folder, and those in the numbered folders beside them."""
    replicates, draws = (
        [read_statistics(source, side, published) for side in numbered(folder / kind)]
        for kind in (NOISE, CONTROL)
    )
    return SourceStatistics(read_statistics(source, folder, published, origins), replicates, draws)


def read_statistics(
    source: Source, folder: Path, published: Published, origins: Origins | None = None
) -> Statistics:
    """Read the statistics of one source, every analysis of the folder."""
    analyses = {}
    for path in sorted(folder.glob("*.json")):
        analyses[path.stem] = require_shape(path, StatisticsFile, read_json(path), "analyse again")
    return statistics_of(source, analyses, published, origins)


def read_trained(folder: Path) -> dict[str, RowsByQuestion]:
    """Return the answers of the small trained models, a folder for each, by model."""
    return {
        path.parent.name: read_answer_rows(
            read_json(path)["rows"], "measure the small models again"
        )
        for path in sorted(folder.glob("*/sensitivity.json"))
    }


def statistics_of(
    source: Source,
    analyses: Mapping[str, StatisticsFile],
    published: Published,
    origins: Origins | None = None,
) -> Statistics:
    """Return the statistics of one source.

    Args:
        analyses: by analysis, what `statistics_files` gives.
        published: the cells that published statistics rest on.
        origins: which run measured a number, of a measured source.
    """
    derived: dict[str, list[str]] = {}
    given: dict[str, str] = {}
    undefined: dict[str, str] = {}
    missing: dict[str, str] = {}
    for name, file in analyses.items():
        derived |= _named(name, file.get("derived", {}))
        given |= _named(name, file.get("given", {}))
        undefined |= _named(name, file.get("undefined", {}))
        missing |= _named(name, file.get("missing", {}))
    documents = {name: file["documents"] for name, file in analyses.items()}
    return Statistics(source, documents, derived, given, undefined, missing, origins, published)


def _named(analysis: str, part: Mapping[str, Noted]) -> dict[str, Noted]:
    """Return a part of a statistics file by the full names of statistics."""
    return {f"{analysis}:{statistic}": noted for statistic, noted in part.items()}


def judge_ledger(
    claims: Path,
    sides: SourceStatistics,
    published: Published,
    paper: Paper,
    trained: Mapping[str, RowsByQuestion] | None = None,
    names: Names = MappingProxyType({}),
) -> JudgedSource:
    """Judge every claim, and say what follows from them.

    Arguments:
        paper: the questions that its central claims ask, and what is said of them.
        trained: the answers of small trained models, beside the source; `read_trained`.
        names: what the models are called, `words.display_names`.

    Returns:
        the judged claims, which do not name the files behind them yet.
    """
    judged = [
        note_shift(judge(claim, sides.results, sides.replicates, sides.draws), paper.shifted)
        for claim in read_ledger(claims, published)
    ]
    name = partial(label_model, names=names)
    central, seen = judge_central(read_central(claims), paper, judged, sides.results, name, trained)
    told_of = {part["claim"] for claim in central for part in claim.printed} | seen.asked
    return JudgedSource(
        source=sides.results.source,
        counts=count_by_paper(judged),
        statistics={},
        judged_from={},
        inputs={},
        central=central,
        findings=tell_findings(paper.findings, judged, seen, told_of),
        story=tell_story(paper.story, seen),
        surprises=[*told(paper.surprises, seen)],
        claims=judged,
    )


def note_shift(claim: JudgedClaim, shifted: Mapping[str, Collection[str]]) -> JudgedClaim:
    """Return a claim with the note that its band does not show a shift by 16 bits.

    Args:
        shifted: names of statistics that have one, by analysis.
    """
    statistic = claim.provenance.statistic
    if claim.noise is None or statistic is None:
        return claim
    analysis, _, key = statistic_parts(statistic)
    if split_pointer(key)[-1] not in shifted.get(analysis, ()):
        return claim
    return replace(claim, noise=replace(claim.noise, shift=True))


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


def input_hashes(claims: Iterable[JudgedClaim], known: Mapping[str, str]) -> dict[str, str]:
    """Return the SHA-256 of the published files that claims rest on.

    Args:
        known: SHA-256 by file, as pinned or of the table that holds the file's numbers.

    Raises:
        LayerwiseError: for a file without one.
    """
    files = sorted(files_behind(claims))
    if unknown := [file for file in files if file not in known]:
        raise LayerwiseError(
            f"published/: every file that claims rest on must have a SHA-256, {unknown[0]!r:.80} "
            "has none; pin it in registry.csv, or restore the table that lists it"
        )
    return {file: known[file] for file in files}


# --- a paper of one's own ---


PRINT: Source = "published"  # the source whose numbers are those in print
NUMBERS, LEDGER = "published", "claims"  # folders of a paper


@dataclass(frozen=True)
class JudgedPaper:
    """A paper whose claims are judged by its own published numbers.

    Attributes:
        paper: its rules and questions.
        published: its numbers, by file and key.
        answers: to its questions, {question: {model: {reading: answer}}}.
        results: the judged claims, the central claims and the findings: what
            `claims.json` holds.
    """

    paper: Paper
    published: Published
    answers: Answers
    results: JudgedSource

    @property
    def marks(self) -> dict[str, str]:
        """The mark of every central claim, by id."""
        return {claim.id: claim.mark for claim in self.results.central}

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of every claim, by id."""
        return {claim.id: claim.verdict for claim in self.results.claims}


def judge_paper(paper: Paper, folder: Path, draws: Draws | None = None) -> JudgedPaper:
    """Judge every claim of a paper by its published numbers, and mark its central claims.

    Args:
        paper: its rules and questions.
        folder: holds `published/*.csv` (columns file, key, value) and `claims/` (the claims in
            `paper1/paper.csv`, the central ones in `central.yaml`).
        draws: how often, at which level and from which seed is resampled; 10,000 times at 95%
            by default.

    Raises:
        LayerwiseError: naming the file, and what is wrong in it.
    """
    names = sorted(path.name for path in (folder / NUMBERS).glob("*.csv"))
    if not names:
        raise LayerwiseError(
            f"{folder / NUMBERS}: there must be a table of published numbers, found no *.csv; add "
            "one with the columns file, key and value"
        )
    published = read_tables(folder / NUMBERS, names)
    tables: dict[str, Analysis] = {"questions": partial(documents_of_questions, paper.questions)}
    analyses = statistics_files(
        tables | dict(paper.rules), published, draws or Draws(N_RESAMPLES, LEVEL, SEED)
    )
    sides = SourceStatistics(statistics_of(PRINT, analyses, published), [], [])
    judged = judge_ledger(folder / LEDGER, sides, published, paper)
    judged = replace(
        judged,
        judged_from=hashes_judged_from(folder / LEDGER, folder / NUMBERS),
        inputs=input_hashes(judged.claims, table_hashes(folder / NUMBERS, names)),
    )
    return JudgedPaper(paper, published, sides.results.answers, judged)
