"""the papers' models, and what each takes <- the registry and the local cache."""

import json
from pathlib import Path
from typing import Any

from layerwise.models.registry import read_models
from layerwise.run.doctor.model_list import Listing, as_document


def run(models: Path, as_json: bool) -> Any:
    """Return all models with experiments, memory, gate, revision, cached or not, and time."""
    registry = list(read_models(models).values())
    if as_json:
        return json.dumps(as_document(registry), indent=1)
    return Listing(registry)
