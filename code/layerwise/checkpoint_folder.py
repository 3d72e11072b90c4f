"""What a checkpoint folder must hold; looked at without loading anything, and without torch."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import read_json

ITEMSIZE = {"float32": 4, "float16": 2, "bfloat16": 2}
# Where the base model of an architecture keeps its blocks. Of all these the base model's last
# hidden state is taken after the final norm (OPT-350M, which has none: after project_out).
BLOCKS = {
    "apertus": "layers",
    "bloom": "h",
    "falcon": "h",
    "gemma": "layers",
    "gemma2": "layers",
    "gpt2": "h",
    "gpt_neo": "h",
    "gpt_neox": "layers",
    "gptj": "h",
    "llama": "layers",
    "mistral": "layers",
    "opt": "decoder.layers",
    "phi3": "layers",
    "stablelm": "layers",
}


def check_config(path: Path) -> None:
    """Refuse a checkpoint whose architecture is not known, before anything else is looked at.

    Raises:
        LayerwiseError: without a config.json, for another architecture, or for one that only code
            of the checkpoint's own could build.
    """
    if not (path / "config.json").is_file():
        raise LayerwiseError(f"{path}: a checkpoint folder has a config.json, this one has none")
    config = read_json(path / "config.json")
    config = config if isinstance(config, dict) else {}
    family = config.get("model_type")
    if family in BLOCKS:
        return  # its own code, if it brings some, is not needed and not run
    if "auto_map" in config:
        raise LayerwiseError(
            f"{path}: the checkpoint asks for code of its own ({_named(config['auto_map'])}), "
            "which is never run; use one whose architecture transformers brings along, such as "
            f"{', '.join(BLOCKS)}"
        )
    raise LayerwiseError(
        f"{path}: no known layout for the architecture {family!r}; supported: {', '.join(BLOCKS)}"
    )


def _named(auto_map: Any) -> str:
    values = auto_map.values() if isinstance(auto_map, dict) else [auto_map]
    return ", ".join(sorted({str(value) for value in values}))


def check_folder(path: Path) -> list[Path]:
    """The weight files of a folder that has all a checkpoint needs.

    Raises:
        LayerwiseError: if config.json, the tokenizer or safetensors weights are missing, or the
            architecture is not known.
    """
    if not path.is_dir():
        raise LayerwiseError(f"{path}: no such checkpoint folder; check the path")
    check_config(path)
    if not any((path / n).is_file() for n in ("tokenizer.json", "tokenizer.model", "vocab.json")):
        raise LayerwiseError(
            f"{path}: no tokenizer (tokenizer.json, tokenizer.model or vocab.json); save it into "
            "the same folder"
        )
    files = sorted(path.glob("*.safetensors"))
    if not files:
        others = sorted(p.name for p in (*path.glob("*.bin"), *path.glob("*.pt")))
        found = f"only {', '.join(others)}" if others else "no weights at all"
        raise LayerwiseError(
            f"{path}: weights are read from *.safetensors only (other formats can run code), "
            f"found {found}; save the model again with safetensors"
        )
    return files


def weight_bytes(files: list[Path], dtype: str) -> int:
    """Bytes the weights take once loaded in `dtype`, read from the safetensors headers alone.

    Raises:
        LayerwiseError: if a file has no readable header (cut off, or a pointer to a large file).
    """
    total, itemsize = 0, ITEMSIZE[dtype]
    for file in files:
        try:
            with file.open("rb") as handle:
                header = json.loads(handle.read(int.from_bytes(handle.read(8), "little")))
            tensors = [entry for key, entry in header.items() if key != "__metadata__"]
            total += sum(math.prod(tensor["shape"]) for tensor in tensors) * itemsize
        except (ValueError, KeyError, OverflowError, MemoryError):
            raise LayerwiseError(
                f"{file}: not a safetensors file (its header cannot be read); it may be cut off, "
                "or a pointer to a file that was not downloaded"
            ) from None
    return total
