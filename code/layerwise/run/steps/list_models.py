"""the papers' models, and what each takes <- the registry and the local cache."""

import json
from pathlib import Path
from typing import Any

from layerwise.models import needs
from layerwise.models.registry import read_models
from layerwise.run.doctor.model_list import Listing, as_document


def run(models: Path, as_json: bool, tflops: float | None = None) -> Any:
    """All models with experiments, memory, gate, revision, cached or not, and time."""
    rate = needs.TFLOPS if tflops is None else tflops
    registry = list(read_models(models).values())
    if as_json:
        return json.dumps(as_document(registry, rate), indent=1)
    return Listing(registry, rate)
