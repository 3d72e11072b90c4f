"""Shared fixtures: the repository, its published numbers, and shape checks of every annotation."""

import os
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

os.environ.setdefault("SOURCE_DATE_EPOCH", "1767744000")  # results are dated
# Shapes in signatures are enforced in tests only.
install_import_hook("layerwise", "beartype.beartype")

ROOT = Path(__file__).resolve().parent.parent
# what only some machines have, by the fixture that reads it
ELSEWHERE = {
    "mirror": os.environ.get("LAYERWISE_MIRROR"),
    "real": os.environ.get("LAYERWISE_REAL"),
}


def pytest_collection_modifyitems(config, items):
    """Leave out what reads upstream's own texts or real models, unless a variable says where."""
    missing = {name for name, place in ELSEWHERE.items() if place is None}
    reading = [item for item in items if missing & set(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=reading)
    items[:] = [item for item in items if item not in reading]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def published():
    """The published numbers."""
    from layerwise.inputs.published import read_published

    return read_published(ROOT / "published")


@pytest.fixture(scope="session")
def works(published):
    """Every analysis of the published numbers."""
    from judged import everything

    return everything(published)


@pytest.fixture(scope="session")
def records(root, published, works):
    """The judged claims, by id."""
    from judged import judged

    return judged(root, published, works)


@pytest.fixture(scope="session")
def results(root, tmp_path_factory):
    """A folder of results with the source `published`, analysed and judged by the stages."""
    from layerwise.steps import analyse, judge

    of = tmp_path_factory.mktemp("judged") / "results" / "published"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        analyse.run("published", of / "statistics")
        judge.run("published", of / "statistics", of / "claims.json")
    return of.parent


@pytest.fixture(scope="session")
def analyzed(tmp_path_factory):
    """What `analyze` found on a twin of five blocks, and its folder; do not write into it."""
    from layerwise import analyze
    from tiny_checkpoints import EXAMPLE, twin_folder

    out = tmp_path_factory.mktemp("analyzed") / "out"
    return analyze(twin_folder("gpt_neox", 5), **EXAMPLE, out=out)


@pytest.fixture(scope="session")
def mirror() -> Path:
    """A folder that mirrors the upstream repository at its pinned commit."""
    return Path(ELSEWHERE["mirror"])


@pytest.fixture(scope="session")
def real() -> Path:
    """A folder with real tokenizers, `tokenizers/*/`, and checkpoints of trained models beside."""
    return Path(ELSEWHERE["real"])
