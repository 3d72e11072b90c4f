"""statistics <- published numbers: the documents of `infer`, as far as they can be derived."""

from pathlib import Path
from typing import Any

from layerwise import analyses as replay
from layerwise.files import write_json
from layerwise.inputs.published import read_published


def run(analysis: str, published: Path, out: Path, params: dict[str, Any]) -> str:
    """Write `{analysis, documents, derived, given}`: the last two name the published inputs."""
    work = replay.replay(analysis, read_published(published), **params)
    result = {"documents": work.documents, "derived": work.derived, "given": work.given}
    write_json(out, {"analysis": analysis, **result})
    return f"{len(work.derived)} statistics of {analysis} in {out}"
