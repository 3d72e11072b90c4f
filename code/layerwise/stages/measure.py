"""values <- hidden states."""

from pathlib import Path
from typing import Any

from layerwise.pairs import read_pairs
from layerwise.store import open_states
from layerwise.values import measure


def run(states: Path, pairs: Path, out: Path, params: dict[str, Any]) -> str:
    """Reduce one model's hidden states to the values the statistics need."""
    bins = params["bins"]
    values = measure(
        open_states(states),
        read_pairs(pairs),
        layer_step=params["layer_step"],
        seed=params["seed"],
        k_values=bins["k_values"],
        n_permutations=bins["n_permutations"],
        k_stable=bins["k_stable"],
    )
    values.save(out)
    return f"values of {values.display} in {out}"
