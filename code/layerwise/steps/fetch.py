"""the statement pairs and prompts <- upstream, or a mirror of it; checked by sha256."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from layerwise.inputs import upstream
from layerwise.steps import Place, elsewhere, program


def run(out: Place = Path("data"), mirror: Annotated[str | None, typer.Option()] = None) -> str:
    """Put the pinned `dataset.json` and `prompts.json` into OUT; whole ones are left alone."""
    upstream.fetch(out, mirror)
    return f"statement pairs and prompts in {out}, as pinned"


def stage(out: Place) -> str:
    """The same, as the first stage of what is measured."""
    with elsewhere():
        return run(out)


if __name__ == "__main__":
    program(stage)
