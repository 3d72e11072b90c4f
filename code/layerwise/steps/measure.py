"""values <- hidden states."""

from pathlib import Path
from typing import Any

from layerwise.experiments.reduction import measure
from layerwise.extraction.store import open_states
from layerwise.inputs.left_out import mark_values, states_left_out
from layerwise.inputs.pairs import read_pairs
from layerwise.progress import meter


def run(
    states: Path, pairs: Path, out: Path, params: dict[str, Any], layer_step: int | None = None
) -> str:
    """Reduce one model's hidden states to the values the statistics need.

    `layer_step` stands in for that of `params` where it is given.
    """
    if states_left_out(states):
        mark_values(out)
        return f"{states.name} was left out; no values in {out}"
    choices = {key: value for key, value in params.items() if key != "bins"}
    if layer_step is not None:
        choices["layer_step"] = layer_step
    with meter(f"values of {states.name}"):
        values = measure(open_states(states), read_pairs(pairs), **choices, **params["bins"])
    values.save(out)
    return f"values of {values.display} in {out}"
