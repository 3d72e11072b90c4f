"""The published gains: where they stand, and how the analyses of gains read them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from layerwise.inputs.published import Published, pointer
from layerwise.statistics import gains

RESULTS = "paper3/Results/"
SWEEP = RESULTS + "pythia_family_NO_FINAL_LN_20260105_174820.json"
HUNT = RESULTS + "high_rho_hunt_NO_FINAL_LN_20260105_184728.json"
CLEAN = RESULTS + "clean_residual_NO_FINAL_LN_20260105_173546.json"
GPT2 = RESULTS + "gpt2_layernorm_validation_20260105_150306.csv"
GPTJ = RESULTS + "gptj_parallel_test_20260105_152333.csv"

# Where the models of a file stand; the layers' gains are means over prompts.
PLACES = {SWEEP: "models", HUNT: "tested_results", CLEAN: "results"}
PROMPTS = "residual_gain_all"  # gain of the second-last block, one per prompt (sweep only)
UNDEFINED = "undefined"  # a statistic that measured numbers may not have: an empty group
LAYERS = "all_layer_gains"  # one per block, the last one behind the final norm


def models(published: Published, file: str) -> dict[str, str]:
    """Key of each model of a file, by its name without the owner."""
    document = published.document(file)[PLACES[file]]
    if isinstance(document, dict):
        return {name: pointer(PLACES[file], name) for name in document}
    return {
        entry["model"].split("/")[-1]: pointer(PLACES[file], row)
        for row, entry in enumerate(document)
    }


def length(published: Published, file: str, key: str) -> int:
    """Entries of the list at a key, also one that is missing within it."""
    n = 0
    while any((file, f"{key}/{entry}") in published.cells for entry in (n, n + 1)):
        n += 1
    return n


def numbers(published: Published, file: str, key: str) -> list[float]:
    """The list of numbers at a key."""
    n = length(published, file, key)
    return [published.number(file, f"{key}/{entry}") for entry in range(n)]


def prompt_gains(published: Published, key: str) -> list[float]:
    """The sweep's gains of a model, one per prompt."""
    return numbers(published, SWEEP, f"{key}/{PROMPTS}")


def gain(published: Published, file: str, key: str) -> float:
    """Mean gain of the second-last block, from the lowest published level."""
    if file == SWEEP:
        return float(np.mean(prompt_gains(published, key)))
    return layer_gain(published, file, key, before_last=1)


def layer_gain(published: Published, file: str, key: str, before_last: int) -> float:
    """A block's mean gain; the last block is counted with the final norm."""
    n = length(published, file, f"{key}/{LAYERS}")
    return published.number(file, f"{key}/{LAYERS}/{n - 1 - before_last}")


def gains_of(published: Published, file: str, keys: Sequence[str]) -> list[float]:
    """Mean gain of each model."""
    return [gain(published, file, key) for key in keys]


def density(published: Published, file: str, key: str) -> float:
    """Heads over head size."""
    n_heads, hidden = (published.number(file, f"{key}/{name}") for name in ("n_heads", "d_model"))
    return gains.head_density(int(n_heads), int(hidden))


def densities_of(published: Published, file: str, keys: Sequence[str]) -> list[float]:
    """Head density of each model."""
    return [density(published, file, key) for key in keys]


def labs(published: Published) -> dict[str, list[str]]:
    """Keys of the hunt's models by lab, in the file's order."""
    found: dict[str, list[str]] = {}
    for row, entry in enumerate(published.document(HUNT)[PLACES[HUNT]]):
        found.setdefault(entry["lab"], []).append(pointer(PLACES[HUNT], row))
    return found


def rows_of(published: Published, file: str, column: str) -> dict[str, list[int]]:
    """Rows of a table by the label in a column."""
    found: dict[str, list[int]] = {}
    for row, entry in enumerate(published.document(file)):
        found.setdefault(entry[column], []).append(row)
    return found


def column(published: Published, file: str, name: str, rows: Sequence[int]) -> np.ndarray:
    """A table's column in the given rows."""
    return np.array([published.number(file, pointer(row, name)) for row in rows])
