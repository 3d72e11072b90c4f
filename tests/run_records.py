"""Documents of a run as `compare` reads them, with a made-up record."""

from collections.abc import Mapping
from typing import Any

from layerwise.measures.values import sampled_layers
from layerwise.reader.run_record import run_record, with_record
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws
from random_states import some_pairs


def with_made_up_record(
    documents: Mapping[str, Any], model: str, n_layers: int
) -> dict[str, Mapping[str, Any]]:
    """The documents as `analyze` writes them of a model; all such runs are alike."""
    index = {"model": model, "revision": "", "template": "none", "n_layers": n_layers}
    draws = Draws(N_RESAMPLES, LEVEL, SEED)
    record = run_record(index, some_pairs(), (), sampled_layers(n_layers), draws)
    return with_record(documents, record)
