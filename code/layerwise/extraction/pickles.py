"""Pickled weights into safetensors: run as a process of its own, by `hub`.

python -m layerwise.extraction.pickles FOLDER FILE...     writes model*.safetensors into FOLDER
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import torch
from huggingface_hub import save_torch_state_dict

TIED = ("lm_head.weight",)  # left out where it is another tensor once more: loading ties it again


def convert(folder: Path, files: Sequence[Path]) -> None:
    """Write the tensors of pickled files as safetensors: values, dtypes and names are theirs.

    Of tensors that are one in memory a single one is written.

    Raises:
        ValueError: if a file holds anything else.
        pickle.UnpicklingError: from torch, for what is no tensor, dict or number.
    """
    tensors: dict[str, torch.Tensor] = {}
    for file in files:
        mapped = zipfile.is_zipfile(file)  # older files are read into memory
        found = torch.load(file, map_location="cpu", weights_only=True, mmap=mapped)
        if not isinstance(found, dict):
            raise ValueError(f"{file.name} holds no dict but {type(found).__name__}")
        if other := [str(key) for key, one in found.items() if not isinstance(one, torch.Tensor)]:
            raise ValueError(f"{file.name}: {other[0]} is no tensor")
        tensors |= found
    save_torch_state_dict(tensors, folder, shared_tensors_to_discard=list(TIED))


if __name__ == "__main__":
    try:
        convert(Path(sys.argv[1]), [Path(file) for file in sys.argv[2:]])
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
        # torch's own advice comes first: to be less strict
        said = next((line for line in lines if re.search("GLOBAL|Unpickler error", line)), lines[0])
        sys.exit(f"{type(error).__name__}: {said}")
