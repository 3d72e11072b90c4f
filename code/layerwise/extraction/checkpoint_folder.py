"""What a checkpoint folder must hold; looked at without loading anything, and without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import safetensors

from layerwise.errors import LayerwiseError
from layerwise.extraction.families import FAMILIES
from layerwise.files import read_json, require_name

WEIGHTS = "model.safetensors"
INDEX = f"{WEIGHTS}.index.json"
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json")


class Stored(NamedTuple):
    """Where a tensor is, and its shape."""

    file: Path
    key: str
    shape: tuple[int, ...]


def check_config(path: Path) -> None:
    """Refuse a checkpoint whose architecture is not known, before anything else is looked at.

    Raises:
        LayerwiseError: without a config.json, for another architecture, for one that only code of
            the checkpoint's own could build, or for weights in a file of another name.
    """
    if not (path / "config.json").is_file():
        raise LayerwiseError(f"{path}: a checkpoint folder has a config.json, this one has none")
    config = read_json(path / "config.json")
    config = config if isinstance(config, dict) else {}
    family = config.get("model_type")
    if "transformers_weights" in config:  # would be read in place of the files that are checked
        raise LayerwiseError(
            f"{path}: weights are read from {WEIGHTS} or the shards of {INDEX}, config.json names "
            f"{config['transformers_weights']!r:.80}; save the model again, or remove that entry"
        )
    if family in FAMILIES:
        return  # its own code, if it brings some, is not needed and not run
    if "auto_map" in config:
        raise LayerwiseError(
            f"{path}: the checkpoint asks for code of its own ({_named(config['auto_map'])}), "
            "which is never run; use one whose architecture transformers brings along, such as "
            f"{', '.join(FAMILIES)}"
        )
    raise LayerwiseError(
        f"{path}: no known layout for the architecture {family!r:.80}; "
        f"supported: {', '.join(FAMILIES)}"
    )


def _named(auto_map: Any) -> str:
    values = auto_map.values() if isinstance(auto_map, dict) else [auto_map]
    return f"{', '.join(sorted({str(value) for value in values})):.200}"


def check_folder(path: Path) -> list[Path]:
    """The weight files of a folder that has all a checkpoint needs.

    Raises:
        LayerwiseError: if config.json, the tokenizer or safetensors weights are missing, the
            architecture is not known, a shard lies elsewhere, or the folder's name, by which
            results call the model, is not printable.
    """
    if not path.is_dir():
        raise LayerwiseError(f"{path}: no such checkpoint folder; check the path")
    require_name(f"{path.resolve()}: the folder of a checkpoint", path.resolve().name)
    check_config(path)
    if not any((path / name).is_file() for name in _TOKENIZERS):
        raise LayerwiseError(
            f"{path}: no tokenizer ({', '.join(_TOKENIZERS)}); save it into the same folder"
        )
    return weight_files(path)


def weight_files(path: Path) -> list[Path]:
    """The files that hold the weights: one file, or the shards that an index lists.

    A link to a file elsewhere is followed, as the hub's cache is made of such links; what is
    read through it is safetensors all the same.

    Raises:
        LayerwiseError: if a file is not there, or the index has another shape or lists a file
            that is not a safetensors file of this folder.
    """
    files = [path / name for name in _shard_names(path)]
    for file in files:
        if not file.is_file():  # a device or a pipe never ends
            others = sorted(p.name for p in (*path.glob("*.bin"), *path.glob("*.pt")))
            raise LayerwiseError(
                f"{path}: weights are read from *.safetensors only (other formats can run code), "
                f"{file.name} is missing or no file (beside it: {', '.join(others) or 'none'}); "
                "fetch the folder again, or save the model with safetensors"
            )
    return files


def _shard_names(path: Path) -> list[str]:
    if (path / WEIGHTS).is_file() or not (path / INDEX).is_file():
        return [WEIGHTS]
    index = read_json(path / INDEX)
    listed = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(listed, dict) or not listed:
        raise LayerwiseError(
            f"{path / INDEX}: an index names the file of every weight in `weight_map`, this one "
            "has none; save the model again with safetensors"
        )
    for name in listed.values():
        plain = isinstance(name, str) and name.isprintable() and not {"/", "\\"} & set(name)
        if not plain or not name.endswith(".safetensors"):
            raise LayerwiseError(
                f"{path / INDEX}: a shard must be a *.safetensors file of the same folder, found "
                f"{name!r:.80}; save the model again with safetensors"
            )
    return sorted(set(listed.values()))


def stored_tensors(files: list[Path]) -> list[Stored]:
    """Every tensor, from the headers of safetensors files.

    Raises:
        LayerwiseError: if a file has no readable header (cut off, or a pointer to a large file).
    """
    found = []
    for file in files:
        try:
            with safetensors.safe_open(file, framework="np") as handle:
                for key in handle.keys():  # noqa: SIM118, it is no dictionary
                    found.append(Stored(file, key, tuple(handle.get_slice(key).get_shape())))
        except safetensors.SafetensorError as error:
            raise LayerwiseError(
                f"{file}: not a safetensors file ({error}); it may be cut off, or a pointer to a "
                "file that was not downloaded"
            ) from None
    return found
