#!/usr/bin/env python3
"""A trained model through `layerwise analyze`, every number held against what was recorded.

    python tests/real/check.py [--record]

The papers' pairs and prompts (from LAYERWISE_MIRROR, or fetched), float32, on the CPU. Prints what
differs and the page to look at; exit code 0: nothing differs; 1: something does; 2: texts or model
cannot be had. `--record` writes what was found as what is recorded from now on.

It is no test of the suite: it takes a package of 0.1 GB, texts that are not in this repository, and
a minute. Random weights, which the suite uses, cannot show what it shows: real names and digits, a
component that holds 99.9 % of the variance, an r that one category makes.
"""

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing here asks a hub

from checkpoint import trained_model
from comparison import differences

import layerwise
from layerwise.errors import LayerwiseError
from layerwise.files import read_json, write_text
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.papers.fetching.upstream import PAPERS
from layerwise.reader.run_record import RECORD

RECORDED = Path(__file__).with_name("recorded.json")
OUT = Path("out/real")
DIGITS = 9  # that are recorded of a float: two more than any band asks
MOST = 40  # differences that are printed


def main(arguments: Sequence[str]) -> int:
    """Measure, compare, and say how it went."""
    record = list(arguments) == ["--record"]
    if arguments and not record:
        sys.exit(f"real: the only option is --record, found {' '.join(arguments)}")
    try:
        found = measured(OUT)
    except LayerwiseError as error:
        print(f"real: {error}", file=sys.stderr)
        return 2
    if record:
        write_text(RECORDED, json.dumps(rounded(found), separators=(",", ":")) + "\n")
        print(f"real: recorded in {RECORDED}; look at the page: {OUT / 'index.html'}")
        return 0
    moved = differences(read_json(RECORDED), found)
    for line in moved[:MOST]:
        print(f"real: {line}")
    if len(moved) > MOST:
        print(f"real: ... and {len(moved) - MOST} more")
    how = f"{len(moved)} numbers differ from" if moved else "every number is as in"
    print(f"real: {how} {RECORDED.name}; look at the page: {OUT / 'index.html'}")
    return 1 if moved else 0


def measured(out: Path) -> dict[str, Any]:
    """Every result file that `analyze` writes of the trained model.

    Raises:
        LayerwiseError: where the papers' texts or the model cannot be had.
    """
    read_pairs(PAPERS), read_prompts(PAPERS)  # before the model is made, for which it takes longer
    model = trained_model()
    shutil.rmtree(out / "hidden_states", ignore_errors=True)  # an earlier run's would be used again
    result = layerwise.analyze(str(model), PAPERS, PAPERS, out=out)
    documents = {name: read_json(out / f"{name}.json") for name in result.documents}
    return {  # the record of the run names versions, which may change
        name: {key: part for key, part in document.items() if key != RECORD}
        for name, document in documents.items()
    }


def rounded(node: Any) -> Any:
    """The same with floats of so many digits."""
    if isinstance(node, dict):
        return {key: rounded(part) for key, part in node.items()}
    if isinstance(node, list):
        return [rounded(part) for part in node]
    return float(f"{node:.{DIGITS}g}") if isinstance(node, float) else node


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
