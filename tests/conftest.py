"""Shared fixtures: the published data, and shape checks of every annotated function."""

import os
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

# Shapes in signatures are enforced in tests only.
install_import_hook("layerwise", "beartype.beartype")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def mirror() -> Path:
    """A folder that mirrors the upstream repository at its pinned commit."""
    folder = Path(os.environ.get("LAYERWISE_MIRROR", ROOT.parent / "shared" / "upstream"))
    if not (folder / "dataset.json").is_file():
        pytest.skip(f"no mirror of the published data at {folder}; set LAYERWISE_MIRROR")
    return folder
