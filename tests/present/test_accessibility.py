"""Every kind of page breaks none of axe's rules, on a light phone and on a dark screen."""

from pathlib import Path
from typing import Any

import pytest

import layerwise
from browser import Browser
from claim_records import central_claim, folders, record
from layerwise.run.steps import page as stage
from tiny_checkpoints import EXAMPLE, twin_folder

KINDS = ("published", "random weights", "own model", "several models")
LOOKS = (("light", 390), ("dark", 1280))  # scheme, width


@pytest.fixture(scope="module")
def pages(root: Path, once: Any, results: Path, analyzed_once: Any) -> dict[str, Path]:
    """A page of every kind. The papers' figures are stand-ins; those of a reader's are drawn."""

    def make(folder: Path) -> dict[str, Path]:
        judged = results / "published"
        made = folders(folder / "published", [])
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(root)
            patch.setattr("layerwise.reader.of_checkpoint.N_RESAMPLES", 200)
            stage.run(
                "published", judged / "claims.json", judged / "statistics", made.figures, made.out
            )
            part = {"claim": "p2.a", "verdict": "differs"}
            of_random = folders(
                folder / "random",
                [record("p2.a", verdict="differs", inputs=["beyond/ours#/x"])],
                "measured",
                random_weights=True,
                central=[central_claim("p2.r", "fails", printed=[part])],
            )
            stage.run("measured", **vars(of_random))
            other = layerwise.analyze(twin_folder("gpt2"), **EXAMPLE, without=["spectral"])
            layerwise.compare([analyzed_once, other], folder / "several")
        written = (
            made.out / "index.html",
            of_random.out / "index.html",
            analyzed_once.folder / "index.html",
            folder / "several" / "scaling.html",
        )
        return dict(zip(KINDS, written, strict=True))

    return once("kinds_of_pages", make)


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_accessible(
    window: Browser, pages: dict[str, Path], kind: str, scheme: str, width: int
) -> None:
    window.scheme(scheme)
    window.size(width, 900)
    window.open(pages[kind].as_uri())
    assert window.violations() == []


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_the_panel_of_a_claim_is_accessible(
    window: Browser, pages: dict[str, Path], scheme: str, width: int
) -> None:
    window.scheme(scheme)
    window.size(width, 900)
    window.open("about:blank")
    window.open(f"{pages['published'].as_uri()}#p2.abstract.n_models")
    assert window.run("return document.querySelector('dialog').open")
    assert window.violations("dialog") == []
