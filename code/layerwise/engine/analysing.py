"""The analyses of one source: every table of rules over its numbers, as result files hold them."""

import contextlib
import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from layerwise.engine.derivation import (
    Derivation,
    Table,
    derive,
    derived_cells,
    documents_of,
    evidence_of,
)
from layerwise.engine.evidence import Evidence
from layerwise.engine.measured import map_leaves
from layerwise.engine.published import COUNTED, Cell, Published
from layerwise.errors import LayerwiseError
from layerwise.statistics.bootstrap import Draws

WRITTEN = ("documents", "derived", "given", "undefined")
OF_MEASURED = ("missing",)  # in print nothing is missing


def derive_all(tables: Mapping[str, Table], evidence: Evidence) -> dict[str, Derivation]:
    """Return the documents of every analysis, and from which cells they were derived or given."""
    return {name: derive(table, evidence) for name, table in tables.items()}


class Recomputed(NamedTuple):
    """What a rule gives for a published cell, and whether it only repeats a number that it read."""

    analysis: str
    cell: Cell
    value: Any
    is_copy: bool


def recomputed_cells(tables: Mapping[str, Table], evidence: Evidence) -> Iterator[Recomputed]:
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


def statistics_files(
    tables: Mapping[str, Table], numbers: Published, draws: Draws
) -> dict[str, dict[str, Any]]:
    """Return, by analysis, its documents and what in them was derived or given, as JSON holds it.

    Args:
        tables: the rules of a paper, by analysis.
        numbers: what they are applied to, printed or measured.
        draws: how often and from which seed is resampled.
    """
    evidence = evidence_of(numbers, draws, tables)
    kept = (*WRITTEN, *OF_MEASURED) if evidence.measured else WRITTEN
    return {
        name: {key: map_leaves(getattr(derivation, key), _finite) for key in kept}
        for name, derivation in derive_all(tables, evidence).items()
    }


def _finite(leaf: Any) -> Any:
    """Return a leaf, None where it is not finite: half precision leaves layers without a number."""
    return None if isinstance(leaf, float) and not math.isfinite(leaf) else leaf


@contextlib.contextmanager
def errors_naming(folder: Path) -> Iterator[None]:
    """Let a rule that cannot take a number say, inside the block, which folder it came from."""
    try:
        yield
    except LayerwiseError as error:
        raise LayerwiseError(f"{folder}, a *.csv or measured.json: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise LayerwiseError(
            f"{folder}: a number in a *.csv or measured.json is not of the kind of the published "
            f"one ({type(error).__name__}: {error!s:.200}); restore it, or measure it again"
        ) from error
