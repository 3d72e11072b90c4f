"""Pickled weights made into safetensors, once, by a process of its own.

python -m layerwise.models.pickles FOLDER FILE...     that process
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from layerwise.errors import LayerwiseError
from layerwise.files import together
from layerwise.models.checkpoint_folder import PICKLED, is_one, shards

TIED = ("lm_head.weight",)  # left out where it is another tensor once more: loading ties it again


def place_of(snapshot: Path) -> Path:
    """Where a commit's pickles stand as safetensors, once that is done: whole or not at all."""
    return snapshot.parents[1] / "converted" / snapshot.name


def convert(snapshot: Path, beside: Sequence[str]) -> Path:
    """The folder of a snapshot whose pickles, right by sha256, are made into safetensors.

    The process that reads them is given no token. Files that `beside` means are copied.
    """
    pickles = shards(snapshot, PICKLED)
    for file in pickles:
        if not file.is_symlink() or len(file.readlink().name) != 64:
            raise LayerwiseError(
                f"{snapshot}: pickles are read only if the cache says by a link what their sha256 "
                f"is, {file.name} is none; fetch them into a cache on a disk that has links"
            )
    place = place_of(snapshot)
    with together(place.parent) as part:
        folder = part / place.name
        folder.mkdir()
        for file in snapshot.iterdir():
            if is_one(file.name, beside):
                shutil.copyfile(file, folder / file.name)
        done = subprocess.run(
            [sys.executable, "-m", "layerwise.models.pickles", folder, *pickles],
            env={name: value for name, value in os.environ.items() if "TOKEN" not in name},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            said = (done.stderr.splitlines() or [f"ended by signal {-done.returncode}"])[-1]
            raise LayerwiseError(
                f"{snapshot}: its pickles must hold tensors and nothing else, and could not be "
                f"made into safetensors ({said:.300}); make room if that is missing, or take a "
                "revision that has *.safetensors"
            )
    return place


def write_safetensors(folder: Path, files: Sequence[Path]) -> None:
    """Write the tensors of pickled files as safetensors: values, dtypes and names are theirs.

    Of tensors that are one in memory a single one is written. Anything else is an error.
    """
    import torch  # which asking what is in the cache does without
    from huggingface_hub import save_torch_state_dict

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
        write_safetensors(Path(sys.argv[1]), [Path(file) for file in sys.argv[2:]])
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
        # torch's own advice comes first: to be less strict
        said = next((line for line in lines if re.search("GLOBAL|Unpickler error", line)), lines[0])
        sys.exit(f"{type(error).__name__}: {said}")
