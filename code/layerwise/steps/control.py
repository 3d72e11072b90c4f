"""published/control.csv <- the judged claims of a rehearsal: words and flags of random weights."""

import csv
import json
from pathlib import Path

from layerwise.files import atomic_path, read_json
from layerwise.inputs.published import CONTROL, CONTROL_HEADER
from layerwise.steps import Place, program


def run(claims: Place, out: Place = Path("published") / CONTROL) -> str:
    """Write OUT: what random weights give for every claim that prints a word or a flag.

    CLAIMS is the `results/measured/claims.json` of a rehearsal, or of a run on the papers' models.
    """
    document = read_json(claims)
    runs = document["runs"].values()
    twins = "twins" if any(run.get("random_weights") for run in runs) else "the papers' shapes"
    versions = {
        f"{name} {run[name]}" for run in runs for name in ("torch", "transformers") if name in run
    }
    of = ", ".join([twins, *sorted(versions)])
    rows = [
        (record["id"], json.dumps(record["control"]), of)
        for record in document["claims"]
        if isinstance(record["published"], str | bool)
        and record["control"] is not None
        and record["provenance"]["runs"]  # a count of the texts is no model's
    ]
    with atomic_path(out) as part, part.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([CONTROL_HEADER, *rows])
    return f"{len(rows)} words and flags of random weights in {out}"


if __name__ == "__main__":
    program(run)
