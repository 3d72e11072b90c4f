"""What an extraction will write: the shapes of all arrays, and which texts share a batch."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from layerwise.extraction.store import BEFORE_NORM, NORMS, POOLINGS, Layer, layer_file


@dataclass(frozen=True)
class Batch:
    """Texts of one length in tokens that go through the model together."""

    kind: str  # "statements" or "prompts"
    members: tuple[int, ...]
    length: int

    def parts(self, size: int) -> list[Batch]:
        """The same texts, at most `size` at a time."""
        cuts = range(0, len(self.members), size)
        return [Batch(self.kind, self.members[cut : cut + size], self.length) for cut in cuts]


@dataclass(frozen=True)
class Table:
    """An array file of rows: the last axes from `row_axis` on are one row."""

    dtype: str
    shape: tuple[int, ...]
    row_axis: int

    @property
    def header(self) -> bytes:
        """What an .npy file begins with."""
        buffer = io.BytesIO()
        described = {"descr": np.dtype(self.dtype).str, "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(buffer, described)
        return buffer.getvalue()

    @property
    def row_bytes(self) -> int:
        return np.dtype(self.dtype).itemsize * math.prod(self.shape[self.row_axis :])

    @property
    def file_bytes(self) -> int:
        return len(self.header) + self.row_bytes * math.prod(self.shape[: self.row_axis])


@dataclass(frozen=True)
class Plan:
    """Shapes of all arrays and all batches, in order; the same in every process."""

    n_layers: int
    hidden_size: int
    final_size: int  # width after the final norm; differs for OPT-350M
    dtype: str
    n_statements: int
    prompt_starts: tuple[int, ...]  # first token row of every prompt, then the total
    batches: tuple[Batch, ...]

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Layers 0..n_layers, then the residual stream before the final norm."""
        return (*range(self.n_layers + 1), BEFORE_NORM)

    def width(self, layer: Layer) -> int:
        """Length of one hidden state at a layer."""
        return self.final_size if layer == self.n_layers else self.hidden_size

    def tables(self) -> dict[str, Table]:
        """Every array file of an extraction, by its path inside the folder."""
        n, n_tokens = self.n_statements, self.prompt_starts[-1]
        tables = {
            "nll.npy": Table("float64", (n,), 1),
            "norms.npy": Table("float32", (n, len(self.layers), len(NORMS)), 1),
        }
        for layer in self.layers:
            width = self.width(layer)
            pooled = Table(self.dtype, (len(POOLINGS), n, width), 2)
            tables[f"states/{layer_file(layer)}"] = pooled
            if n_tokens:
                tables[f"tokens/{layer_file(layer)}"] = Table(self.dtype, (n_tokens, width), 1)
        return tables

    @property
    def total_bytes(self) -> int:
        """What a finished extraction takes on disk."""
        return sum(table.file_bytes for table in self.tables().values())


def plan_batches(kind: str, lengths: Sequence[int], tokens_per_batch: int) -> tuple[Batch, ...]:
    """Texts sorted by (length, index), cut where the length changes or the tokens run out.

    The composition depends on nothing else: half precision depends on the shape of a batch.
    """
    batches: list[Batch] = []
    members: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        length = lengths[members[0]] if members else lengths[index]
        if members and (length != lengths[index] or (len(members) + 1) * length > tokens_per_batch):
            batches.append(Batch(kind, tuple(members), length))
            members = []
        members.append(index)
    if members:
        batches.append(Batch(kind, tuple(members), lengths[members[0]]))
    return tuple(batches)
