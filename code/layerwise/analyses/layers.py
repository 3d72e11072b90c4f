"""r by layer and by pooling (notebook 001)."""

from __future__ import annotations

from typing import Any

from layerwise.analyses.documents import (
    N_LAYERS,
    SLUG,
    UA_FILES,
    Draws,
    Replay,
    n_categories,
    p_value,
    r_over_categories,
)
from layerwise.inputs.published import pointer
from layerwise.statistics import curves

LAYERS = "Results/pythia/layer_analysis_20260102_122534.json"


def derive(work: Replay, draws: Draws) -> None:
    """p values and words from r; r itself where the category values are published."""
    published = work.published
    given = published.document(LAYERS)
    work.start(SLUG, {**given, "n_layers": N_LAYERS}, {"": (LAYERS, "")})

    def r(strategy: str) -> float:
        return published.number(LAYERS, pointer("strategies", strategy, "correlation"))

    def band(strategy: str) -> str:
        return curves.band(r(strategy))

    def curve() -> tuple[list[int], list[float]]:
        names = [name for name in given["strategies"] if name.startswith("layer_")]
        return [int(name.removeprefix("layer_")) for name in names], [r(name) for name in names]

    def sign_changes() -> list[dict[str, Any]]:
        return curves.sign_changes(*curve(), N_LAYERS)

    for strategy in given["strategies"]:
        key = pointer("strategies", strategy)
        work.derive(
            SLUG, f"{key}/p_value", p_value, published, LAYERS, f"{key}/correlation", n_categories
        )
        if strategy in ("mean_pooled", f"layer_{N_LAYERS}"):
            work.derive(SLUG, f"{key}/correlation", r_over_categories, published, UA_FILES[SLUG])
        work.derive(SLUG, pointer("summary", "bands", strategy), band, strategy)
    work.derive(SLUG, "/summary/sign_changes", sign_changes)
    work.derive(
        SLUG,
        "/summary/pooling_verdict",
        lambda: curves.pooling_verdict(r("mean_pooled"), r("last_token")),
    )
