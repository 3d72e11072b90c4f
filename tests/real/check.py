#!/usr/bin/env python3
"""Trained models through `layerwise analyze`, every number held against what was recorded.

    python tests/real/check.py [--record | --draw] [MODEL ...]

The papers' pairs and prompts (from LAYERWISE_MIRROR, or fetched), float32, on the CPU. Prints what
differs from `examples/measured`, and the pages to look at; exit code 0: nothing differs; 1:
something does; 2: texts or models cannot be had. `--record` writes what was found as what is
recorded from now on; `--draw` draws of random weights too, each as long as the model.

It is no test of the suite: it takes packages of 0.4 GB, texts that are not in this repository, and
a minute or two for each model. Random weights, which the suite uses, cannot show what it shows:
real names and digits, a component that holds 99.9% of the variance, an r that one category makes.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing here asks a hub

from checkpoint import MODELS, Packed, trained_model
from comparison import differences

import layerwise
from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.papers.fetching.upstream import PAPERS
from layerwise.reader.files import CONTROL, RECORD
from layerwise.statistics.noise import FEWEST_DRAWS

MEASURED = Path(__file__).resolve().parents[2] / "examples" / "measured"
OUT = Path("out/real")
MOST = 40  # differences that are printed


def main(arguments: Sequence[str]) -> int:
    """Measure, compare, and say how it went."""
    draws = FEWEST_DRAWS if "--draw" in arguments else 0
    is_recorded = draws or "--record" in arguments
    names = [name for name in arguments if not name.startswith("--")] or list(MODELS)
    if unknown := [name for name in names if name not in MODELS]:
        sys.exit(f"real: a model is one of {', '.join(MODELS)}, found {' '.join(unknown)}")
    try:
        read_pairs(PAPERS), read_prompts(PAPERS)  # before a model is made, which takes longer
        if is_recorded:
            for name in names:
                record(MODELS[name], draws)
            return 0
        n_moved = sum(compare(MODELS[name]) for name in names)
    except LayerwiseError as error:
        print(f"real: {error}", file=sys.stderr)
        return 2
    return 1 if n_moved else 0


def compare(packed: Packed) -> int:
    """Print which numbers of a model moved, and return how many."""
    measured = measure(packed, draws=0)
    moved = differences(recorded(packed.name), measured)
    for line in moved[:MOST]:
        print(f"real: {packed.name}: {line}")
    if len(moved) > MOST:
        print(f"real: ... and {len(moved) - MOST} more")
    how = f"{len(moved)} numbers differ from" if moved else "every number is as in"
    page = OUT / packed.name / "index.html"
    print(f"real: {packed.name}: {how} {MEASURED.name}; look at the page: {page}")
    return len(moved)


def record(packed: Packed, draws: int) -> None:
    """Write the result files of a model as what is recorded; without draws the former stay."""
    measured = measure(packed, draws)
    folder = MEASURED / packed.name
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*measured, *([CONTROL] if draws else [])):
        shutil.copy(OUT / packed.name / f"{name}.json", folder / f"{name}.json")
    print(f"real: recorded in {folder}; look at the page: {OUT / packed.name / 'index.html'}")


def measure(packed: Packed, draws: int) -> dict[str, Any]:
    """Return every result document of a model but its control, without the record of the run.

    Raises:
        LayerwiseError: where the papers' texts or the model cannot be had.
    """
    out = OUT / packed.name
    layerwise.analyze(str(trained_model(packed)), PAPERS, PAPERS, out=out, control=draws)
    return documents_of(out)


def recorded(name: str) -> dict[str, Any]:
    """Return the same of what is recorded of a model."""
    return documents_of(MEASURED / name)


def documents_of(folder: Path) -> dict[str, Any]:
    """Return the result documents of a folder; a record of a run names versions, which change."""
    documents = {path.stem: read_json(path) for path in sorted(folder.glob("*.json"))}
    return {
        name: {key: part for key, part in document.items() if key != RECORD}
        for name, document in documents.items()
        if name != CONTROL
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
