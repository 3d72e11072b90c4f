"""Pickled weights made into safetensors, once."""

import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path

from layerwise.errors import reword_errors
from layerwise.files import together
from layerwise.models.checkpoint_folder import PICKLED, matches, shards

TIED = ("lm_head.weight",)  # left out where it is another tensor once more: loading ties it again


def place_of(snapshot: Path) -> Path:
    """Return the folder of a commit's pickles as safetensors, which is whole or not there."""
    return snapshot.parents[1] / "converted" / snapshot.name


def convert(snapshot: Path, beside: Sequence[str]) -> Path:
    """Return the folder of a snapshot whose pickles are made into safetensors.

    Files that `beside` means are copied.

    Raises:
        LayerwiseError: for pickles that hold anything but tensors.
    """
    place = place_of(snapshot)
    with (
        reword_errors(
            snapshot, "its pickles are not tensors alone", "take a revision with safetensors"
        ),
        together(place.parent) as part,
    ):
        folder = part / place.name
        folder.mkdir()
        for file in snapshot.iterdir():
            if matches(file.name, beside):
                shutil.copyfile(file, folder / file.name)
        write_safetensors(folder, shards(snapshot, PICKLED))
    return place


def write_safetensors(folder: Path, files: Sequence[Path]) -> None:
    """Write the tensors of pickled files as safetensors: values, dtypes and names are theirs.

    Of tensors that are one in memory a single one is written. Nothing of a pickle is called.
    """
    import torch  # which asking what is in the cache does without
    from huggingface_hub import save_torch_state_dict

    tensors: dict[str, torch.Tensor] = {}
    for file in files:
        mapped = zipfile.is_zipfile(file)  # older files are read into memory
        tensors |= torch.load(file, map_location="cpu", weights_only=True, mmap=mapped)
    save_torch_state_dict(tensors, folder, shared_tensors_to_discard=list(TIED))
