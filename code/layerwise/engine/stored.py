"""Stored result files: how many of their cells are recomputed, and which of these differ.

`claims/stored.yaml` says which statistics recompute the cells of which file. A stored cell is no
claim of a paper, so a file has one line, whatever its size.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired

from layerwise.engine.claims import FULL, Claim, Decimals
from layerwise.engine.published import Published, leaves
from layerwise.engine.verdicts import AS_RANDOM, STANDING, Statistics, judge
from layerwise.errors import LayerwiseError
from layerwise.shapes import Paper, Strict, read_yaml, require_shape

_P_VALUE = re.compile(r"(^|_)p(_|$)|p_val")  # a name like p, p_value, Spearman_p


class Entry(Strict):
    """A result file.

    Attributes:
        statistics: {analysis:document:/pointer: pointer in the file}; below the two, a statistic
            and the cell that it recomputes have the same pointer.
        decimals: how many the file has, where it does not keep every digit.
    """

    file: str
    paper: Paper
    statistics: dict[str, str]
    decimals: NotRequired[Decimals]


class StoredFiles(Strict):
    """The document `stored.yaml`."""

    files: list[Entry]


@dataclass(frozen=True)
class Stored:
    """The counts of the cells of a result file.

    Attributes:
        n_cells: numbers and labels that the file holds.
        verdicts: how often each verdict was given to those that have a statistic.
        differ: pointers of the cells whose statistic is another number.
    """

    file: str
    paper: Paper
    n_cells: int
    verdicts: dict[str, int]
    differ: list[str]

    @property
    def n_recomputed(self) -> int:
        """The number of cells that were recomputed and compared with the file."""
        return sum(self.verdicts.get(word, 0) for word in (*STANDING, AS_RANDOM, "differs"))


def read_stored(folder: Path) -> list[Entry]:
    """Return the entries of `stored.yaml` of the ledger's folder; none where it has no such file.

    Raises:
        LayerwiseError: for a file whose entry is not as `Entry` says.
    """
    path = folder / "stored.yaml"
    if not path.is_file():
        return []
    files: list[Entry] = require_shape(path, StoredFiles, read_yaml(path))["files"]
    return files


def judge_stored(
    entry: Entry,
    published: Published,
    results: Statistics,
    replicates: Sequence[Statistics],
    draws: Sequence[Statistics],
) -> Stored:
    """Return the line of a result file, its cells judged as printed numbers are.

    Raises:
        LayerwiseError: for a file without published cells, or a place that has none of them.
    """
    verdicts: dict[str, str] = {}
    for claim in _claims(entry, published, results):
        verdict = judge(claim, results, replicates, draws)["verdict"]
        if verdicts.get(claim.source_key or "") in (None, "needs weights"):
            verdicts[claim.source_key or ""] = verdict
    differ = [key for key, verdict in verdicts.items() if verdict == "differs"]
    n_cells = len(published.keys(entry["file"]))
    return Stored(entry["file"], entry["paper"], n_cells, dict(Counter(verdicts.values())), differ)


def _claims(entry: Entry, published: Published, statistics: Statistics) -> Iterator[Claim]:
    """Yield a claim for every cell of a file that has a statistic."""
    file, decimals = entry["file"], entry.get("decimals")
    cells = set(published.keys(file))
    for place, below in entry["statistics"].items():
        known = [at for at in _pointers(place, statistics) if below + at in cells]
        if statistics.source == "published" and not known:
            raise LayerwiseError(
                f"stored.yaml: {place} must have cells of {file} below {below or '/'}, "
                "found none; correct the two places"
            )
        for pointer in known:
            value = published.value(file, below + pointer)
            is_number = isinstance(value, float)
            is_p_value = _P_VALUE.search(pointer.rpartition("/")[2])
            yield Claim(
                id="stored",
                paper=entry["paper"],
                document="notebook",
                printed=value,
                decimals=(FULL if decimals is None else decimals) if is_number else 0,
                tolerance="exact" if not is_number else "p" if is_p_value else "measured",
                statistic=place + pointer,
                source_file=file,
                source_key=below + pointer,
            )


def _pointers(place: str, statistics: Statistics) -> list[str]:
    """Return the pointers, from a place on, of the numbers and labels that stand below it."""
    analysis, document, start = place.split(":", 2)
    node = statistics.documents.get(analysis, {}).get(document, {})
    below = [key for key, value in leaves("", node, texts=True) if value is not None]
    return [key[len(start) :] for key in below if f"{key}/".startswith(f"{start}/")]
