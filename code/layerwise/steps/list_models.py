"""the papers' models, and what each takes <- the registry and the local cache."""

import json
from pathlib import Path

from layerwise.doctor.model_list import as_document, as_text
from layerwise.extraction import needs
from layerwise.inputs.models import read_models


def run(models: Path, as_json: bool, tflops: float | None = None) -> str:
    """All models with experiments, memory, gate, revision, cached or not, and time."""
    rate = needs.TFLOPS if tflops is None else tflops
    registry = list(read_models(models).values())
    if as_json:
        return json.dumps(as_document(registry, rate), indent=1)
    return as_text(registry, rate)
