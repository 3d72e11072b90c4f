"""Counts of names: which models there are, where the tables must also hold their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from layerwise.inputs.published import Published

Value = TypeVar("Value")


def once_measured(published: Published, compute: Callable[[], object], value: Value) -> Value:
    """The value, as it stands; over measured numbers only once `compute` has found them all.

    Published tables are whole. Measured ones name the same models, which must not be counted as
    measured where they were not. A count waits for all of its numbers; a constant of the method,
    which reads none, waits for any number of its document (`Replay.settle`).

    Raises:
        NotMeasured: if `compute` reads a number that was not measured.
    """
    if published.kept:
        compute()
    return value
