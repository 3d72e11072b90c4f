"""The layer curves of the Pythia family (notebook 002)."""

from __future__ import annotations

from typing import Any

from layerwise.analyses.documents import (
    UA_FILES,
    Draws,
    Replay,
    n_categories,
    p_value,
    r_over_categories,
)
from layerwise.analyses.of_values import scaling
from layerwise.inputs.published import Published, pointer, split_pointer

SCALING = "Results/pythia/pythia_scaling_20260102_131212.json"
LAST_LAYER = {"Pythia-6.9B": "pythia-6p9b", "Pythia-12B": "pythia-12b"}  # category values known


def derive(work: Replay, draws: Draws) -> None:
    """p values, extremes, sign changes and peaks from r; r of the last layer where it can be."""
    published = work.published
    given = published.document(SCALING)
    work.start("family", given, {"": (SCALING, "")})

    def row_of(display: str) -> dict[str, Any]:
        sampled = _layers(published, display)
        r = [_r(published, display, layer) for layer in sampled]
        return scaling.summarise_model(display, sampled, r, sampled[-1])

    for row, display in enumerate(given["models"]):
        sampled = _layers(published, display)
        for layer in sampled:
            key = pointer("models", display, "layer_results", layer)
            r_key = f"{key}/correlation"
            work.derive(
                "family", f"{key}/p_value", p_value, published, SCALING, r_key, n_categories
            )
        summary = pointer("summary", row)
        work.derive("family", summary, row_of, display)
        # These two rest on less than the whole curve.
        work.derive("family", f"{summary}/n_layers", max, sampled)
        work.derive("family", f"{summary}/final_r", _r, published, display, sampled[-1])
        if display in LAST_LAYER:
            key = pointer("models", display, "layer_results", sampled[-1], "correlation")
            file = UA_FILES[LAST_LAYER[display]]
            work.derive("family", key, r_over_categories, published, file)
    work.derive(
        "family",
        "/peak_analysis",
        lambda: scaling.peak_analysis([row_of(name)["max_pos_pct"] for name in given["models"]]),
    )


def _layers(published: Published, display: str) -> list[int]:
    """Sampled layers of a model; the last one is its number of blocks."""
    place = ["models", display, "layer_results"]
    names = [split_pointer(key) for key in published.keys(SCALING)]
    return sorted({int(name[3]) for name in names if name[:3] == place})


def _r(published: Published, display: str, layer: int) -> float:
    key = pointer("models", display, "layer_results", layer, "correlation")
    return published.number(SCALING, key)
