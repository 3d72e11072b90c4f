"""the papers' models, and what each takes <- the registry and the local cache."""

import json
from pathlib import Path
from typing import Any

from layerwise.doctor.model_list import Listing, as_document
from layerwise.extraction import needs
from layerwise.inputs.models import read_models


def run(models: Path, as_json: bool, tflops: float | None = None) -> Any:
    """All models with experiments, memory, gate, revision, cached or not, and time."""
    rate = needs.TFLOPS if tflops is None else tflops
    registry = list(read_models(models).values())
    if as_json:
        return json.dumps(as_document(registry, rate), indent=1)
    return Listing(registry, rate)
