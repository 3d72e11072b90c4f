"""statistics <- published numbers: the documents of `infer`, as far as they can be derived."""

from pathlib import Path
from typing import Any

from layerwise import replay
from layerwise.files import write_json
from layerwise.published import read_published


def run(analysis: str, published: Path, out: Path, params: dict[str, Any]) -> str:
    """Write `{analysis, documents, derived}`; `derived` names the inputs of what was recomputed."""
    documents, derived = replay.replay(analysis, read_published(published), **params)
    write_json(out, {"analysis": analysis, "documents": documents, "derived": derived})
    return f"{len(derived)} statistics of {analysis} in {out}"
