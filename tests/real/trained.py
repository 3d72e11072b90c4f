#!/usr/bin/env python3
"""A model outside the table of families, trained here and measured from end to end.

    python tests/real/trained.py

The papers' pairs and prompts, float32, on the CPU, in two minutes. Training gives other bytes on
another machine, so there is no record to compare with: the files of the run are held against a
plain loop, which runs one text at a time through transformers and takes each number by its
definition. Exit code 0: every number is that of the loop, and the model is trained; 1: not so.
"""

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # nothing here asks a hub

from checkpoint import quiet_in_pipes
from plain_loop import differences
from training import NAME, train

import layerwise
from layerwise.errors import LayerwiseError
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.papers.fetching.upstream import PAPERS

OUT = Path("out/real")
DRAWS = 3  # of random weights


def main() -> int:
    """Train, measure, compare, and say how it went."""
    try:
        pairs, prompts = read_pairs(PAPERS), read_prompts(PAPERS)
    except LayerwiseError as error:
        print(f"real: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        with quiet_in_pipes():
            trained = train(Path(scratch, NAME))
        print(f"real: {trained}")
        out = OUT / NAME
        result = layerwise.analyze(trained.folder, PAPERS, PAPERS, out=out, control=DRAWS)
        moved = list(differences(result, trained.folder, pairs, prompts))
    for place, found, expected in moved:
        print(f"real: {NAME}: {place} is {found:.6g}, the plain loop has {expected:.6g}")
    how = f"{len(moved)} numbers differ from" if moved else "every number is that of"
    print(f"real: {NAME}: {how} a plain loop; look at the page: {out / 'index.html'}")
    if not trained.is_trained:
        print(f"real: {NAME}: it is not trained, and shows nothing")
    return 1 if moved or not trained.is_trained else 0


if __name__ == "__main__":
    sys.exit(main())
