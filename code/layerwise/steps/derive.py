"""statistics <- measured numbers: what `replay` derives from print, derived from measurement."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from layerwise.analyses import TABLES, replay
from layerwise.files import write_json
from layerwise.inputs.measured import measured, read_fragments
from layerwise.inputs.published import read_published


def run(fragments: Path, published: Path, out: Path, params: dict[str, Any]) -> str:
    """Write one file per analysis, `{analysis, documents, ...}`."""
    tables = measured(read_published(published), read_fragments(fragments))
    for analysis in TABLES:
        work = replay(analysis, tables, **params)
        result = {"documents": _finite(work.documents), "derived": {}, "given": {}}
        result["undefined"] = work.undefined
        write_json(out / f"{analysis}.json", {"analysis": analysis, **result})
    return f"statistics of {len(TABLES)} analyses in {out}"


def _finite(node: Any) -> Any:
    """Half precision leaves some layers without a number; a result file calls that null."""
    if isinstance(node, dict):
        return {name: _finite(entry) for name, entry in node.items()}
    if isinstance(node, list | tuple):
        return [_finite(entry) for entry in node]
    return None if isinstance(node, float) and not math.isfinite(node) else node
