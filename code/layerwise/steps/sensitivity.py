"""which claims survive another choice <- values and other measurements of all models."""

from pathlib import Path
from typing import Any

from layerwise.analyses.of_values import sensitivity, weight_sensitivity
from layerwise.files import write_json
from layerwise.inputs.left_out import values_left_out
from layerwise.inputs.measured import read_fragments
from layerwise.measures.values import load


def run(values: Path, measured: Path, out: Path, params: dict[str, Any]) -> str:
    """Write a document per extraction or model, and `summary`: a row per claim and choice."""
    documents = {
        path.stem: sensitivity.analyse(load(path), **params)
        for path in sorted(values.glob("*.npz"))
        if not values_left_out(path)
    }
    documents = sensitivity.combine(documents, weight_sensitivity.analyse(read_fragments(measured)))
    documents["summary"] = sensitivity.summarise(documents)
    result = {"documents": documents, "derived": {}, "given": {}}
    write_json(out, {"analysis": "sensitivity", **result})
    return f"sensitivity of {len(documents) - 1} models in {out}"
