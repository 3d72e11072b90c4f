"""A paper and the folder of its numbers and claims, taken to judged claims in one call."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from layerwise.engine.analysing import statistics_files
from layerwise.engine.derivation import Table
from layerwise.engine.judging import (
    SourceStatistics,
    input_hashes,
    judge_ledger,
    statistics_of,
    table_hashes,
)
from layerwise.engine.paper import Paper
from layerwise.engine.published import Published, read_tables
from layerwise.engine.questions.table import documents_of_questions
from layerwise.engine.records import count_by_paper, hashes_judged_from
from layerwise.errors import LayerwiseError
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws

PRINT = "published"  # the source whose numbers are those in print
NUMBERS, LEDGER = "published", "claims"  # folders of a paper


@dataclass(frozen=True)
class JudgedPaper:
    """A paper whose claims are judged by its own published numbers.

    Attributes:
        paper: its rules and questions.
        published: its numbers, by file and key.
        questions: the answers to its questions, {question: document}.
        document: the judged claims, the central claims and the findings: what
            `claims.json` holds.
    """

    paper: Paper
    published: Published
    questions: Mapping[str, Any]
    document: Mapping[str, Any]

    @property
    def marks(self) -> dict[str, str]:
        """The mark of every central claim, by id."""
        return {claim["id"]: claim["mark"] for claim in self.document["central"]}

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of every claim, by id."""
        return {record["id"]: record["verdict"] for record in self.document["claims"]}


def judge_paper(paper: Paper, folder: Path, draws: Draws | None = None) -> JudgedPaper:
    """Judge every claim of a paper by its published numbers, and mark its central claims.

    Args:
        paper: its rules and questions.
        folder: holds `published/*.csv` (columns file, key, value) and `claims/` (the claims in
            `paper1/*.yaml`, the central ones in `central.yaml`).
        draws: how often, at which level and from which seed is resampled; 10,000 times at 95 %
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
    tables: dict[str, Table] = {"questions": partial(documents_of_questions, paper.questions)}
    analyses = statistics_files(
        tables | dict(paper.rules), published, draws or Draws(N_RESAMPLES, LEVEL, SEED)
    )
    sides = SourceStatistics(statistics_of(PRINT, analyses, published), [], [])
    judged = judge_ledger(folder / LEDGER, sides, published, paper)
    known = table_hashes(folder / NUMBERS, names)
    document = {
        "source": PRINT,
        "counts": count_by_paper(judged["claims"]),
        "statistics": {},
        "judged_from": hashes_judged_from(folder / LEDGER, folder / NUMBERS),
        "inputs": input_hashes(judged["claims"], known),
        **judged,
    }
    return JudgedPaper(paper, published, analyses["questions"]["documents"], document)
