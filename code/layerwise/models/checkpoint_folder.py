"""What a checkpoint folder must hold; looked at without loading anything, and without torch."""

import os
import re
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import safetensors

from layerwise.errors import LayerwiseError, reword_errors
from layerwise.files import read_json
from layerwise.models.other_ways import LOADED, OF_GGUF

WEIGHTS, PICKLED = "model.safetensors", "pytorch_model.bin"
INDEX = f"{WEIGHTS}.index.json"
_FLOATS = ("F64", "F32", "F16", "BF16")
# Buffers that older checkpoints hold and the architecture computes anew: rotary frequencies,
# positions, the causal mask (`bias`, which has four axes: it is no projection's) and its filler.
_LEFTOVER = re.compile(r"(^|\.)(rotary_emb\.inv_freq|position_ids|masked_bias)$")
_MASK = re.compile(r"(^|\.)(attn|attention)\.bias$")


class Stored(NamedTuple):
    """The place of a stored tensor, and its shape."""

    file: Path
    key: str
    shape: tuple[int, ...]


def refuse_gguf(path: Path) -> None:
    """Refuse a GGUF file, or a folder that has nothing else, and say how it is measured."""
    alone = path.is_dir() and not (path / "config.json").exists() and any(path.glob("*.gguf"))
    if path.suffix.lower() == ".gguf" or alone:
        missing = "" if path.exists() else "there is no such file here; "
        raise LayerwiseError(f"{path}: {missing}a checkpoint is a folder of safetensors; {OF_GGUF}")


def refuse_revision(name: object, revision: str | None) -> None:
    """Refuse a revision of a folder."""
    if revision is not None:
        raise LayerwiseError(
            f"{name} is a local folder and has no revision, found {revision!r}; leave it out"
        )


def check_adapters(place: object, names: Iterable[str]) -> None:
    """Refuse an adapter, alone or beside weights: these are another model than both together."""
    if adapters := sorted(name for name in names if matches(name, ["adapter_*"])):
        raise LayerwiseError(
            f"{place}: a model is measured whole, found an adapter ({', '.join(adapters):.80}); "
            "merge it into its base model first (`merge_and_unload` of peft) and save the result "
            "with its tokenizer, or remove it: the base model is then measured without it; the "
            "virtual tokens of prompt and prefix tuning cannot be merged"
        )


def weight_files(path: Path) -> list[Path]:
    """Return the files that hold the weights, all of which are there."""
    files = shards(path)
    for file in files:
        if not file.is_file():
            others = sorted(other.name for other in (*path.glob("*.bin"), *path.glob("*.pt")))
            raise LayerwiseError(
                f"{path}: weights are read from *.safetensors only (other formats can run code), "
                f"{file.name} is missing or no file (beside it: {', '.join(others) or 'none'}); "
                "fetch the folder again, or save the model with safetensors"
            )
        if not os.access(file, os.R_OK):
            raise LayerwiseError(
                f"{file}: this user may not read it (safetensors writes files for their owner "
                "alone); have its owner run chmod a+r on it, or copy it"
            )
    return files


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a file of the folder itself is one of those meant; `*` stands for no slash."""
    return "/" not in name and any(fnmatch(name, pattern) for pattern in patterns)


def shards(path: Path, weights: str = WEIGHTS) -> list[Path]:
    """Return where the weights are: one file, or those of its index; they may be missing."""
    file = path / f"{weights}.index.json"
    if (path / weights).is_file() or not file.is_file():
        return [path / weights]
    return [path / name for name in sorted(set(_weight_map(file).values()))]


def _weight_map(file: Path) -> dict[str, str]:
    """Return the file of every tensor, by an index."""
    with reword_errors(file, "no index of weights", "save the model again with safetensors"):
        weight_map = dict(read_json(file)["weight_map"])
        outside = [name for name in weight_map.values() if not is_inside(name)]
    if outside:
        raise LayerwiseError(
            f"{file}: weights stay in the folder of their index, found {outside[0]!r:.80}; "
            "put them there, or a link to them, and correct the index"
        )
    return weight_map


def is_inside(name: str) -> bool:
    """Return whether a name leads to no other folder than the one it is read in, or one below."""
    place = PurePosixPath(name)
    return not place.is_absolute() and ".." not in place.parts


def stored_tensors(path: Path) -> list[Stored]:
    """Return every tensor of a folder but leftover buffers, from the headers of its weight files.

    Raises:
        LayerwiseError: for a file that is no safetensors file, or a weight that is no float.
    """
    fix = "it may be cut off, or a pointer to a file that was not downloaded"
    tensors = []
    for file in weight_files(path):
        with (
            reword_errors(file, "not a safetensors file", fix),
            safetensors.safe_open(file, framework="np") as handle,
        ):
            for key in handle.keys():  # noqa: SIM118, it is no dictionary
                stored = handle.get_slice(key)
                if key.endswith(".weight") and stored.get_dtype() not in _FLOATS:
                    raise LayerwiseError(
                        f"{file}: {key} must be one of {', '.join(_FLOATS)}, found "
                        f"{stored.get_dtype()}; {LOADED}"
                    )
                tensors.append(Stored(file, key, tuple(stored.get_shape())))
    return [tensor for tensor in tensors if not is_leftover(tensor)]


def is_leftover(tensor: Stored) -> bool:
    """Return whether a tensor is a buffer that no result depends on."""
    is_mask = _MASK.search(tensor.key) and len(tensor.shape) == 4
    return bool(_LEFTOVER.search(tensor.key) or is_mask)
