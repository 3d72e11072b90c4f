"""Documents of a run as `compare` reads them, with a made-up record."""

from collections.abc import Mapping
from typing import Any

from layerwise.reader.run_record import FORMAT, with_record


def with_made_up_record(
    documents: Mapping[str, Any], model: str, n_layers: int
) -> dict[str, Mapping[str, Any]]:
    """The documents as `analyze` writes them of a model; all such runs are alike."""
    texts = dict.fromkeys(("side_a", "side_b", "categories", "prompts"), "0" * 64)
    record = {
        "format": FORMAT,
        "layerwise": "0.1.0",
        "model": model,
        "revision": "",
        "random_weights": False,
        "dtype": "float32",
        "template": "none",
        "n_layers": n_layers,
        "layers": list(range(0, n_layers + 1, 4)),
        "seed": 42,
        "resamples": 10_000,
        "limit": None,
        **texts,
    }
    return with_record(documents, record)
