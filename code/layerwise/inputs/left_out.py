"""Marks that stand for the results of a model that `models.yaml` skips.

A gated model whose licence was not accepted, or one whose revision nobody has resolved, must not
stop the others: its claims are `not measured` with that cause.
"""

from __future__ import annotations

from pathlib import Path

from layerwise.files import atomic_path, read_json, write_json

_INDEX = "index.json"
_MARK = "left_out"


def mark_states(folder: Path) -> None:
    """Leave the mark where hidden states would be."""
    write_json(folder / _INDEX, {_MARK: True})


def states_left_out(folder: Path) -> bool:
    """Whether a folder of hidden states holds the mark only."""
    path = folder / _INDEX
    return path.is_file() and _MARK in read_json(path)


def mark_values(path: Path) -> None:
    """Leave the mark where values would be."""
    import numpy as np  # the marks of models are read where it may be missing

    with atomic_path(path) as part, part.open("wb") as handle:
        np.savez(handle, left_out=np.array(True))


def values_left_out(path: Path) -> bool:
    """Whether a values file holds the mark only."""
    import numpy as np  # the marks of models are read where it may be missing

    with np.load(path) as found:
        return list(found.files) == [_MARK]
