"""statistics <- the numbers of one source: all analyses, in one process."""

from __future__ import annotations

import shutil
from pathlib import Path

from layerwise.analyses import TABLES, analyse_all
from layerwise.analyses.derivation import evidence_of
from layerwise.analyses.evidence import Draws
from layerwise.files import publish_folder, write_json
from layerwise.inputs.published import read_published
from layerwise.steps import Place, Source, choices, program


def run(
    source: Source,
    out: Place,
    published: Place = Path("published"),
    params: Place = Path("params.yaml"),
) -> str:
    """Write OUT/ANALYSIS.json: documents, and what in them was derived or given, from which cells.

    Raises:
        LayerwiseError: if a published number is missing or does not give a statistic.
    """
    draws = Draws(**choices(params, "analyse"))
    evidence = evidence_of(read_published(published), draws, TABLES)
    part = out.with_name(f"{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    analyses = analyse_all(evidence)
    for name, found in analyses.items():
        document = {"documents": found.documents, "derived": found.derived, "given": found.given}
        write_json(part / f"{name}.json", {"analysis": name, **document})
    publish_folder(part, out)
    return f"{len(analyses)} analyses of the {source} numbers in {out}"


if __name__ == "__main__":
    program(run)
