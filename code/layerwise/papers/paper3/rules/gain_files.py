"""Result files on last gains, and what applies to any gain: the norm after over the norm before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.engine.evidence import Entry, Evidence, floats
from layerwise.errors import LayerwiseError

GROUPS = ("models", "tested_results", "results")  # where the models of a file stand


def dampens(gain: float, decimals: int | None = None) -> bool:
    """Strictly under 1; with `decimals` after rounding, so that 0.9995 does not at two."""
    return (gain if decimals is None else round(gain, decimals)) < 1


def share(flags: Sequence[bool]) -> float:
    """Share of true flags."""
    if not flags:
        raise LayerwiseError("a share needs at least one model, found none; check the selection")
    return sum(flags) / len(flags)


def percent(flags: Sequence[bool]) -> int | float:
    """Share in percent, a whole number where it is one."""
    value = 100 * share(flags)
    return int(value) if value == int(value) else value


def contracting_percent(gains: Float64[np.ndarray, " gain"]) -> float:
    return float(np.sum(gains < 1) / len(gains) * 100)


def models(f: Entry) -> dict[str, Entry]:
    """The models of a file by their names without the owner."""
    group = f[next((name for name in GROUPS if name in f), GROUPS[0])]
    if group.is_object:
        return dict(group.items())
    return {m.model.rpartition("/")[2]: m for m in group}


def by_lab(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Models by their lab, in the order of the file."""
    found: dict[str, list[Entry]] = {}
    for m in entries:
        found.setdefault(m.lab, []).append(m)
    return found


def gain(m: Entry) -> float:
    """Mean gain of the second-last block, from the lowest published level."""
    if "residual_gain_all" in m:  # one per prompt, in the sweep only
        return float(m.residual_gain_all[:].mean())
    return m.all_layer_gains[-2]


def final_gain(m: Entry) -> float:
    """Mean gain of the last block, which is taken behind the final norm."""
    return m.all_layer_gains[-1]


def gains_of(entries: Iterable[Entry]) -> list[float]:
    return [gain(m) for m in entries]


def damps(m: Entry) -> bool:
    """Return whether a model's mean gain is under 1."""
    return dampens(gain(m))


def density(m: Entry) -> float:
    """Heads over the size of a head, which is hidden // heads."""
    return int(m.n_heads) / (int(m.d_model) // int(m.n_heads))


class Rows:
    """The rows of a published table that have some labels, chosen while a rule reads them."""

    def __init__(self, table: Entry, **labels: str) -> None:
        self.table, self.labels = table, labels

    def where(self, **labels: str) -> Rows:
        """Those of them that have further labels."""
        return Rows(self.table, **self.labels, **labels)

    def by(self, column: str) -> dict[str, Rows]:
        """A part for every label in a column, in the order of the table."""
        return {label: self.where(**{column: label}) for label in self._column(column)}

    def __getitem__(self, column: str) -> Float64[np.ndarray, " row"]:
        return floats(self._column(column))

    def _column(self, column: str) -> list[Any]:
        return [row[column] for row in self._rows()]

    def _rows(self) -> list[Entry]:
        """Chosen once for all that ask for these labels."""
        name = ("rows", self.table.cell, *sorted(self.labels.items()))
        return self.table.evidence.once(name, self._chosen)

    def _chosen(self) -> list[Entry]:
        return [row for row in self.table if {n: row[n] for n in self.labels} == self.labels]


def rows_of(file: str, **labels: str) -> Callable[[Evidence], Rows]:
    """What a document over such rows reads."""
    return lambda evidence: Rows(evidence[file], **labels)


def row_of(file: str, model: str, group: str = "results") -> Callable[[Any], Entry]:
    """The entry of a model in a list of a file, as what a document reads."""
    return lambda e: e.of(file)[group].row(model=model)
