"""Reading the published tables of Paper 3: series over layers, and single-precision numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Float32

from layerwise.inputs.published import Published, pointer

R = "paper3/Results/"


def series(
    published: Published, file: str, key: str, names: int | Sequence[int | str]
) -> Float[np.ndarray, " n"]:
    """The numbers below `key`: the first so many of a list, or those named."""
    names = range(names) if isinstance(names, int) else names
    return np.array([published.number(file, key + pointer(name)) for name in names], np.float64)


def single(values: Float[np.ndarray, " n"]) -> Float32[np.ndarray, " n"]:
    """The values in single precision, which they were computed in."""
    return values.astype(np.float32)


def short(model: str) -> str:
    """A model's name without its owner: facebook/opt-125m -> opt-125m."""
    return model.rsplit("/", 1)[-1]


def rows_by(entries: Sequence[dict[str, Any]], name: str) -> dict[str, int]:
    """Row of each entry, by the short form of the model (or family) under `name`."""
    return {short(str(entry.get(name))): row for row, entry in enumerate(entries)}


def whole(value: float) -> int:
    """The nearest whole number, as printed without decimals."""
    return round(value)


def one_digit(value: float) -> int:
    """A number over 1 with one significant digit, as printed after a tilde."""
    return int(float(f"{value:.0e}"))
