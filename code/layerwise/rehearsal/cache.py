"""Twins where the hub's client keeps what it fetched: the pipeline finds them and asks no network.

CACHE/models--ORGANISATION--NAME/snapshots/REVISION/FILE -> ../../blobs/SHA256
"""

import hashlib
import importlib.metadata
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import layerwise.extraction
from layerwise.files import sha256_of, write_text
from layerwise.inputs.models import Model

_BUILDERS = ("twins.py", "families.py")
_STAMP = "twin"  # what the twin was made from, beside its snapshots


def place(model: Model, texts: Sequence[str], cache: Path) -> Path:
    """Build a model's twin into a cache of the hub, at its revision; gives the snapshot.

    One that is there, whole and made from the same, stays.
    """
    assert model.revision is not None
    home = cache / f"models--{model.hub.replace('/', '--')}"
    stamp, recipe = home / _STAMP, _recipe(model, texts)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == recipe:
        return home / "snapshots" / model.revision
    from layerwise.extraction.twins import build_twin  # torch, where one must be built

    shutil.rmtree(home, ignore_errors=True)
    snapshot = keep(build_twin(model, texts, home / "built"), home, model.revision)
    write_text(stamp, recipe)  # last: what has it is whole
    return snapshot


def _recipe(model: Model, texts: Sequence[str]) -> str:
    """A digest of all that makes a twin what it is: declaration, texts, code, libraries."""
    code = Path(layerwise.extraction.__path__[0])
    parts = [repr(model), *texts, *((code / name).read_text("utf-8") for name in _BUILDERS)]
    parts += [importlib.metadata.version(name) for name in ("torch", "transformers", "tokenizers")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def keep(folder: Path, home: Path, revision: str) -> Path:
    """Move a checkpoint's files into HOME as the hub's client keeps them; gives the snapshot."""
    snapshot, blobs = home / "snapshots" / revision, home / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for file in sorted(folder.iterdir()):
        blob = blobs / sha256_of(file)
        os.replace(file, blob)
        (snapshot / file.name).symlink_to(Path("..", "..", "blobs", blob.name))
    folder.rmdir()
    write_text(home / "refs" / "main", revision)
    return snapshot
