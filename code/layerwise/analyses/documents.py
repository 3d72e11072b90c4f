"""Documents under construction, and what several of them derive from the categories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from layerwise.analyses.evidence import Draws  # noqa: F401
from layerwise.errors import LayerwiseError
from layerwise.inputs.published import DATASET, Cell, NotMeasured, Published, pointer, split_pointer
from layerwise.statistics import rules
from layerwise.statistics.correlation import pearson_p, pearson_r

SLUG = "pythia-6p9b"
N_LAYERS = 32  # blocks of Pythia-6.9B
UA_FILES = {
    "pythia-6p9b": "Results/pythia/pythia_6.9b_ua_results_20260102_002828.json",
    "pythia-12b": "Results/pythia/pythia_12b_ua_results_20260102_003540.json",
}


class Replay:
    """Documents of one analysis under construction."""

    def __init__(self, published: Published) -> None:
        self.published = published
        self.documents: dict[str, Any] = {}
        self.derived: dict[str, list[str]] = {}
        self.given: dict[str, str] = {}
        self.undefined: dict[str, str] = {}  # statistics without a value, and why
        self._constants: list[tuple[str, str, Any]] = []

    def start(self, document: str, given: dict[str, Any], origins: Mapping[str, Cell]) -> None:
        """Begin a document with what is published; what is below a key came from a file and key."""
        self.documents[document] = given
        for key, (file, cell) in origins.items():
            self.given[f"{document}:{key}"] = f"{file}#{cell}"

    def derive(self, document: str, key: str, compute: Callable[..., Any], *arguments: Any) -> None:
        """Put what `compute` gives at `key` and note the published cells it read.

        Over measured numbers a statistic stays out that needs one which was not measured, or that
        counts names alone; a constant of the method (no cell read) waits for `settle`. One that
        these numbers do not have (a test of an empty group, say) is noted as undefined.
        """
        try:
            with self.published.recording() as used:
                value = compute(*arguments)
        except NotMeasured:
            return
        except LayerwiseError as error:
            if not self.published.kept:
                raise
            self.undefined[f"{document}:{key}"] = str(error)
            return
        if used and used <= self.published.kept:
            return
        inputs = sorted(f"{file}#{cell}" for file, cell in used)
        if self.published.kept and not used:
            self._constants.append((document, key, value))
        else:
            self._put(document, key, value, inputs)

    def settle(self) -> None:
        """Add the constants of documents in which something was measured."""
        found = {key.partition(":")[0] for key in self.derived}
        for document, key, value in self._constants:
            if document in found:
                self._put(document, key, value, [])

    def _put(self, document: str, key: str, value: Any, inputs: list[str]) -> None:
        node = self.documents[document]
        *path, last = split_pointer(key)
        for name in path:
            node = node[int(name)] if isinstance(node, list) else node.setdefault(name, {})
        if isinstance(node, list):
            node[int(last)] = value
        else:
            node[last] = value
        self._note(f"{document}:{key}", value, inputs)

    def _note(self, key: str, value: Any, inputs: list[str]) -> None:
        self.derived[key] = inputs
        if isinstance(value, dict | list):
            entries = value.items() if isinstance(value, dict) else enumerate(value)
            for name, entry in entries:
                self._note(key + pointer(name), entry, inputs)


def categories(published: Published) -> list[str]:
    """The categories of the statement pairs, in the order of the streams."""
    return [split_pointer(key)[0] for key in published.keys(DATASET)]


def asymmetry(published: Published, file: str, category: str) -> float:
    """UA of a category from the two published mean pairwise cosines."""
    a, b = (published.number(file, pointer(category, f"uniformity_{side}")) for side in "ab")
    return a - b


def asymmetries(published: Published, file: str) -> list[float]:
    """UA per category."""
    return [asymmetry(published, file, category) for category in categories(published)]


def preferences(published: Published, file: str) -> list[float]:
    """Mean preference per category, nats."""
    return [
        published.number(file, pointer(category, "output_preference"))
        for category in categories(published)
    ]


def n_pairs(published: Published, category: str) -> int:
    """Pairs of a category."""
    return int(published.number(DATASET, pointer(category, "n_pairs")))


def total_pairs(published: Published) -> int:
    """Pairs of all categories."""
    return sum(n_pairs(published, category) for category in categories(published))


def r_over_categories(published: Published, file: str) -> float:
    """r of UA and preference over the categories."""
    return pearson_r(np.array(asymmetries(published, file)), np.array(preferences(published, file)))


def p_value(published: Published, file: str, key: str, n: Callable[[Published], int]) -> float:
    """The two-sided p of the published r at `key` over n points."""
    return float(pearson_p(published.number(file, key), n(published)))


def n_categories(published: Published) -> int:
    """Points of a correlation over the categories."""
    return len(categories(published))


def interval(published: Published, file: str, key: str) -> tuple[float, float]:
    """The ends of the published interval below `key`."""
    low, high = (published.number(file, f"{key}/{end}") for end in ("ci_lower", "ci_upper"))
    return low, high


def includes_zero(published: Published, file: str, key: str) -> bool:
    """Whether that interval includes 0."""
    return rules.includes_zero(interval(published, file, key))
