"""The attention projections of a checkpoint, read one by one without loading the model.

W_Q, W_K, W_V, W_O are (out, in) matrices: the module computes x W^T (+ bias). Some architectures
store Q, K and V in one matrix. Paper 3's notebooks cut it into thirds of rows, which is wrong for
GPT-NeoX and BLOOM, where the rows go head by head (q, k, v of head 0, then of head 1, ...): each
third holds all three projections of a third of the heads. Here that cut is `legacy`; `correct` is
what the model computes with. For every other architecture both are the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import torch
from jaxtyping import Float32

from layerwise.errors import LayerwiseError
from layerwise.models.checkpoint import CheckpointFiles
from layerwise.models.checkpoint_folder import Stored
from layerwise.models.families import STORED, Family, Heads, Rows, heads_of, layout_of
from layerwise.models.load import Checkpoint

Matrix = Float32[np.ndarray, "out in"]
ROWS_AT_ONCE = 4096  # their copies in other dtypes stay small
_BASES = ("transformer.", "gpt_neox.", "model.")


@dataclass(frozen=True)
class Weights:
    """A checkpoint folder whose matrices are read one at a time, as float32.

    With `dtype` float16 or bfloat16 every value is rounded to it first, as where a notebook
    loaded the model in half precision.
    """

    name: str  # of the folder or the model, for errors
    dtype: str
    layout: Family
    n_layers: int
    n_heads: int
    kv_heads: int  # of keys and values
    head_size: int
    hidden_size: int
    tensors: Mapping[str, Stored | torch.Tensor]  # by name without base prefix

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint) -> Weights:
        """Return those of a loaded model: of its files, or from memory where no file holds them.

        In memory they are what its projections multiply by now, pruned or parametrized.

        Raises:
            LayerwiseError: for a projection that is more than its weight, as with an adapter.
        """
        if checkpoint.files is not None:
            return cls.of_files(checkpoint.files, checkpoint.dtype)
        layout = layout_of(checkpoint.model.config)
        if checkpoint.quantised:
            raise LayerwiseError(
                f"spectral norms are of weights as numbers, these are quantised "
                f"({checkpoint.quantised}); leave it out (--without spectral)"
            )
        tensors = {
            f"{layout.blocks}.{number}.{place}.weight": _weight_of(block, place, number)
            for number, block in enumerate(checkpoint.blocks)
            for place in dict.fromkeys(map(layout.module, STORED))
        }
        config = checkpoint.model.config
        return cls._from_tensors(checkpoint.name, checkpoint.dtype, config, tensors)

    @classmethod
    def open(cls, folder: Path, dtype: str = "float32") -> Weights:
        """Return those of a folder."""
        return cls.of_files(CheckpointFiles(folder.name, folder), dtype)

    @classmethod
    def of_files(cls, files: CheckpointFiles, dtype: str) -> Weights:
        """Return those of the files of a checkpoint, by the headers."""
        stored = {_without_base(tensor.key): tensor for tensor in files.tensors}
        return cls._from_tensors(str(files.folder), dtype, files.config, stored)

    @classmethod
    def _from_tensors(
        cls, name: str, dtype: str, config: Any, tensors: Mapping[str, Stored | torch.Tensor]
    ) -> Weights:
        return cls(
            name=name,
            dtype=dtype,
            layout=layout_of(config),
            n_layers=config.num_hidden_layers,
            **vars(heads_of(config)),
            tensors=tensors,
        )

    def matrix(self, block: int, name: str, slicing: str) -> Matrix:
        """Return one of `MATRICES` of a block as (out, in), by one of `SLICINGS`, without bias.

        Rows of W_Q are n_heads * head_size, of W_K and W_V kv_heads * head_size; `legacy` thirds
        of GPT-NeoX and BLOOM have as many.

        Raises:
            LayerwiseError: for a tensor that is not there or of a shape that the config does not
                explain.
        """
        heads = Heads(self.n_heads, self.kv_heads, self.head_size, self.hidden_size)
        return self._read(
            f"{self.layout.blocks}.{block}.{self.layout.module(name)}.weight",
            self.layout.rows(name, slicing, heads),
            total=self.layout.height(name, heads),
            transposed=self.layout.transposed,
        )

    def _read(self, tensor: str, rows: Rows, total: int, *, transposed: bool) -> Matrix:
        """Return some of the `total` rows of a tensor (columns, if it is stored transposed).

        The file is mapped for this one read only: its pages count as memory while it is.
        """
        if tensor not in self.tensors:
            raise LayerwiseError(f"{self.name}: no tensor {tensor} among its weights")
        stored_tensor = self.tensors[tensor]
        shape = tuple(stored_tensor.shape)[::-1] if transposed else tuple(stored_tensor.shape)
        if len(shape) != 2 or shape[0] != total:
            place = (
                f"{stored_tensor.file}: {stored_tensor.key}"
                if isinstance(stored_tensor, Stored)
                else tensor
            )
            raise LayerwiseError(
                f"{place} has the shape {list(stored_tensor.shape)}, config.json asks for "
                f"{total} {'columns' if transposed else 'rows'}; they are of different models"
            )
        out = np.empty((sum(end - start for start, end in rows), shape[1]), np.float32)
        position = 0
        with _opened(stored_tensor) as stored:
            for first, last in rows:
                for start in range(first, last, ROWS_AT_ONCE):
                    end = min(start + ROWS_AT_ONCE, last)
                    part = stored[:, start:end].T if transposed else stored[start:end]
                    exact = part.to(getattr(torch, self.dtype)).to(torch.float32)
                    out[position : position + end - start] = exact.numpy(force=True)
                    position += end - start
        return out


@contextlib.contextmanager
def _opened(tensor: Stored | torch.Tensor) -> Iterator[Any]:
    if isinstance(tensor, torch.Tensor):
        yield tensor
        return
    with safetensors.safe_open(tensor.file, framework="pt") as handle:
        yield handle.get_slice(tensor.key)


def _weight_of(block: torch.nn.Module, place: str, number: int) -> torch.Tensor:
    """Return the matrix of a linear map in a block, if the map multiplies by it and no more."""
    module: Any = dict(block.named_modules()).get(place)  # none: the block is of another kind
    if module is None or not _multiplies_alone(module):
        kind = "none" if module is None else type(module).__name__
        raise LayerwiseError(
            f"{place} of block {number} must multiply by its weight and do nothing else, found "
            f"{kind}; merge what it, or a patched forward, adds into its weight"
        )
    return torch.as_tensor(module.weight)


def _multiplies_alone(module: torch.nn.Module) -> bool:
    """Return whether a module is a linear map of torch or transformers, and nothing more.

    Another class may add to the product, as adapters do, and so may a `forward` that was put on the
    module, unless accelerate did it, which moves tensors between devices.
    """
    library = type(module).forward.__module__.partition(".")[0]
    is_patched = "forward" in vars(module) and not hasattr(module, "_hf_hook")
    return library in ("torch", "transformers") and not is_patched and hasattr(module, "weight")


def _without_base(key: str) -> str:
    base = next((base for base in _BASES if key.startswith(base)), "")
    return key.removeprefix(base)
