"""values <- hidden states."""

from pathlib import Path
from typing import Any

from layerwise.left_out import mark_values, states_left_out
from layerwise.pairs import read_pairs
from layerwise.store import open_states
from layerwise.values import measure


def run(states: Path, pairs: Path, out: Path, params: dict[str, Any]) -> str:
    """Reduce one model's hidden states to the values the statistics need."""
    if states_left_out(states):
        mark_values(out)
        return f"{states.name} was left out; no values in {out}"
    choices = {key: value for key, value in params.items() if key != "bins"}
    values = measure(open_states(states), read_pairs(pairs), **choices, **params["bins"])
    values.save(out)
    return f"values of {values.display} in {out}"
