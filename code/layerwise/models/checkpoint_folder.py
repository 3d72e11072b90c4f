"""What a checkpoint folder must hold; looked at without loading anything, and without torch."""

import os
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import safetensors

from layerwise.errors import LayerwiseError
from layerwise.files import is_file, is_folder, read_json, require_name
from layerwise.models.checkpoint_config import QUANTISED, check_config, in_words
from layerwise.models.checkpoint_tokenizer import check_tokenizer
from layerwise.models.families import FAMILIES

WEIGHTS, PICKLED = "model.safetensors", "pytorch_model.bin"
INDEX = f"{WEIGHTS}.index.json"
_FLOATS = ("F64", "F32", "F16", "BF16")


class Stored(NamedTuple):
    """Where a tensor is, and its shape."""

    file: Path
    key: str
    shape: tuple[int, ...]


class Announced(NamedTuple):
    """Where a tensor is by the index, which has no shapes."""

    file: Path
    key: str
    shape: None = None


def check_folder(path: Path) -> list[Stored]:
    """The tensors of a folder that has all a checkpoint needs, or an error that says what is not.

    Results call the model by the folder's name, which must be printable.
    """
    if not is_folder(path):
        raise LayerwiseError(f"{path}: no such checkpoint folder; check the path")
    require_name(f"{path.resolve()}: the folder of a checkpoint", path.resolve().name)
    check_files(path)
    return stored_tensors(path)


def check_files(path: Path) -> None:
    """Refuse a folder for its config.json, tokenizer or adapter; weights need not be there."""
    check_config(path)
    check_adapters(path, [file.name for file in path.iterdir()])
    check_tokenizer(path)


def check_adapters(place: object, names: Iterable[str]) -> None:
    """Refuse an adapter beside the weights: they alone are another model than both together."""
    if adapters := sorted(name for name in names if is_one(name, ["adapter_*"])):
        raise LayerwiseError(
            f"{place}: a model is measured whole, found an adapter beside its weights "
            f"({', '.join(adapters):.80}); merge it first (`merge_and_unload` of peft) and save "
            "the result, or remove it"
        )


def weight_files(path: Path) -> list[Path]:
    """The files that hold the weights, all of which are there.

    A link to a file elsewhere is followed, as the hub's cache is made of such links; what is
    read through it is safetensors all the same.
    """
    files = shards(path)
    for file in files:
        if not is_file(file):  # a device or a pipe never ends
            others = sorted(p.name for p in (*path.glob("*.bin"), *path.glob("*.pt")))
            raise LayerwiseError(
                f"{path}: weights are read from *.safetensors only (other formats can run code), "
                f"{file.name} is missing or no file (beside it: {', '.join(others) or 'none'}); "
                "fetch the folder again, or save the model with safetensors"
            )
    return files


def is_one(name: str, patterns: Iterable[str]) -> bool:
    """Whether a file of the folder itself is one of those meant; `*` stands for no slash."""
    return "/" not in name and any(fnmatch(name, pattern) for pattern in patterns)


def shards(path: Path, weights: str = WEIGHTS) -> list[Path]:
    """Where the weights are: one file, or those that its index lists; they may be missing.

    Raises:
        LayerwiseError: for an index of another shape, or of files elsewhere or of another kind.
    """
    file, suffix = path / f"{weights}.index.json", Path(weights).suffix
    if is_file(path / weights) or not is_file(file):
        return [path / weights]
    return [path / name for name in sorted(set(_weight_map(file, suffix).values()))]


def indexed_tensors(path: Path) -> list[Announced] | None:
    """The tensors that the index names, where the weights are to come; None: there is no index."""
    file = path / INDEX
    if not is_file(file):
        return None
    weight_map = _weight_map(file, Path(WEIGHTS).suffix)
    return [Announced(path / name, key) for key, name in weight_map.items()]


def _weight_map(file: Path, suffix: str) -> dict[str, str]:
    """The file of every tensor, by an index."""
    index = read_json(file)
    listed = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(listed, dict) or not listed:
        raise LayerwiseError(
            f"{file}: an index names the file of every weight in `weight_map`, this one "
            "has none; save the model again with safetensors"
        )
    for name in listed.values():
        plain = isinstance(name, str) and name.isprintable() and not {"/", "\\"} & set(name)
        if not plain or not name.endswith(suffix):
            raise LayerwiseError(
                f"{file}: a shard must be a *{suffix} file of the same folder, found "
                f"{name!r:.80}; save the model again with safetensors"
            )
    return listed


def stored_tensors(path: Path) -> list[Stored]:
    """Every tensor of a folder, from the headers of its weight files; weights are floats."""
    fix = "it may be cut off, or a pointer to a file that was not downloaded"
    found = []
    for file in weight_files(path):
        require_readable(file)
        with (
            in_words(file, "not a safetensors file", fix),
            safetensors.safe_open(file, framework="np") as handle,
        ):
            for key in handle.keys():  # noqa: SIM118, it is no dictionary
                stored = handle.get_slice(key)
                if key.endswith(".weight") and stored.get_dtype() not in _FLOATS:
                    raise LayerwiseError(
                        f"{file}: {key:.80} must be one of {', '.join(_FLOATS)}, found "
                        f"{stored.get_dtype()}; {QUANTISED}"
                    )
                found.append(Stored(file, key, tuple(stored.get_shape())))
    return found


def require_readable(file: Path) -> None:
    """Refuse a file that this user may not read: safetensors says that there is none."""
    if not os.access(file, os.R_OK):
        raise LayerwiseError(
            f"{file}: this user may not read it; give permission (`chmod a+r {file.name}`), or "
            "have its owner copy it"
        )


def check_blocks(
    path: Path, family: str, n_layers: int, tensors: Sequence[Stored | Announced]
) -> None:
    """Refuse a config.json that speaks of more or fewer blocks than there are weights of."""
    numbered = re.compile(rf"(?:^|\.){re.escape(FAMILIES[family].blocks)}\.(\d{{1,9}})\.")
    blocks = {found[1] for one in tensors if (found := numbered.search(one.key))}
    if not blocks or len(blocks) != n_layers:
        raise LayerwiseError(
            f"{path / 'config.json'}: it declares {n_layers} layers, the safetensors files hold "
            f"weights of {len(blocks)}; save config and weights of one model together"
        )
