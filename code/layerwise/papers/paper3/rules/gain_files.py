"""Result files on last gains, and what applies to any gain: the norm after over the norm before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.engine.derivation import Rule, Rules
from layerwise.engine.evidence import Entry, Evidence, floats
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.result_files import HUNT, SWEEP
from layerwise.statistics.correlation import Correlation

GROUPS = ("models", "tested_results", "results")  # where the models of a file stand


def dampens(gain: float, decimals: int | None = None) -> bool:
    """Return whether a gain is under 1, with `decimals` after rounding to them."""
    return (gain if decimals is None else round(gain, decimals)) < 1


def share(flags: Sequence[bool]) -> float:
    """Return the share of true flags.

    Raises:
        LayerwiseError: without flags.
    """
    if not flags:
        raise LayerwiseError("a share needs at least one model, found none; check the selection")
    return sum(flags) / len(flags)


def percent_true(flags: Sequence[bool]) -> int | float:
    """Return the share of true flags in percent, as an integer where it is whole."""
    value = 100 * share(flags)
    return int(value) if value == int(value) else value


def contracting_percent(gains: Float64[np.ndarray, " gain"]) -> float:
    """Return the percent of the gains that are under 1."""
    return float(np.sum(gains < 1) / len(gains) * 100)


def short_name(model: Entry) -> str:
    """Return the name of a model without its owner."""
    return str(model.model.rpartition("/")[2])


def models_by_name(results: Entry) -> dict[str, Entry]:
    """Return the models of a file by their short names."""
    group = results[next((name for name in GROUPS if name in results), GROUPS[0])]
    if group.is_object:
        return dict(group.items())
    return {short_name(model): model for model in group}


def pooled_by_name(evidence: Evidence) -> dict[str, Entry]:
    """Return the models of survey and sweep; a model in both is the sweep's, with more prompts."""
    return models_by_name(evidence[HUNT]) | models_by_name(evidence[SWEEP])


def group_by_lab(models: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Return the models of each lab, in the order of the file."""
    models_by_lab: dict[str, list[Entry]] = {}
    for model in models:
        models_by_lab.setdefault(model.lab, []).append(model)
    return models_by_lab


def gain(model: Entry) -> float:
    """Return the mean gain of the second-last block, from prompts where the file has them."""
    if "residual_gain_all" in model:  # one per prompt, in the sweep only
        return float(model.residual_gain_all[:].mean())
    return model.all_layer_gains[-2]


def final_gain(model: Entry) -> float:
    """Return the mean gain of the last block, which is taken after the final norm."""
    return model.all_layer_gains[-1]


def mean_gains(models: Iterable[Entry]) -> list[float]:
    """Return the mean gain of each model."""
    return [gain(model) for model in models]


def damps(model: Entry) -> bool:
    """Return whether a model's mean gain is under 1."""
    return dampens(gain(model))


def density(model: Entry) -> float:
    """Return the number of heads over the size of a head."""
    return int(model.n_heads) / head_size(model)


def head_size(model: Entry) -> int:
    """Return the size of a head, which is hidden // heads."""
    return int(model.d_model) // int(model.n_heads)


class Rows:
    """The rows of a published table that have some labels, chosen while a rule reads them."""

    def __init__(self, table: Entry, **labels: str) -> None:
        self.table, self.labels = table, labels

    def where(self, **labels: str) -> Rows:
        """Return those of the rows that have further labels."""
        return Rows(self.table, **self.labels, **labels)

    def by(self, column: str) -> dict[str, Rows]:
        """Return the rows of each label in a column, in the order of the table."""
        return {label: self.where(**{column: label}) for label in self.column(column)}

    def __getitem__(self, column: str) -> Float64[np.ndarray, " row"]:
        """Return the numbers of a column."""
        return floats(self.column(column))

    def column(self, column: str) -> list[Any]:
        """Return what stands in a column, row by row."""
        return [row[column] for row in self._rows()]

    def _rows(self) -> list[Entry]:
        """Return the rows with these labels, chosen once for all that ask for them."""
        name = ("rows", self.table.cell, *sorted(self.labels.items()))
        return self.table.evidence.once(name, self._chosen)

    def _chosen(self) -> list[Entry]:
        return [row for row in self.table if {n: row[n] for n in self.labels} == self.labels]


def r_and_p(correlation: Callable[[], Correlation], key: str, says: str) -> Rules:
    """Return the rules of r and of its p, whose keys begin alike."""
    return {
        f"{key}r": Rule(lambda: correlation().r, says),
        f"{key}p": Rule(lambda: correlation().p, f"p of {says}"),
    }


def rows_reader(file: str, **labels: str) -> Callable[[Evidence], Rows]:
    """Return the function that reads the rows of a table with some labels."""
    return lambda evidence: Rows(evidence[file], **labels)


def entry_reader(file: str, model: str, group: str = "results") -> Callable[[Any], Entry]:
    """Return the function that reads the entry of a model in a list of a file."""
    return lambda source: source.of(file)[group].row(model=model)
