"""Gains of whole-sequence norms: four models, Mistral, the input dependency, one stream per head.

The norm is that of all tokens together, so the first token rules it (Paper 3, appendices).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.analyses.documents import Draws, Replay
from layerwise.analyses.series import R, series
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import norm_ratios
from layerwise.statistics.correlation import pearson_p, pearson_r
from layerwise.statistics.samples import spearman_r

FOUR = R + "4model_validation_results.json"
MISTRAL = R + "mistral_paradox_investigation_results.json"
INPUTS = R + "input_dependency_thermodynamics.json"
LLAMAS = R + "llama2_vs_llama31_hypothesis_test.json"
HEADS = R + "beautiful_ones_analysis_20260105_164639.json"
LLAMA = "llama3.1-8b"


def derive(work: Replay, draws: Draws) -> None:
    """Statistics of the gains from the norms; correlation of entropy and gain over the prompts."""
    published = work.published
    streams = {
        model: (FOUR, pointer("results", model), entry)
        for model, entry in published.document(FOUR)["results"].items()
    }
    mistral = published.document(MISTRAL)["residual_stream_analysis"]["mistral-7b"]
    streams["mistral-7b"] = (MISTRAL, pointer("residual_stream_analysis", "mistral-7b"), mistral)
    for model, (file, key, entry) in streams.items():
        work.start(model, {}, {"": (file, key)})
        for name in STATISTICS:
            if name in entry:
                n = len(entry["norms"])
                work.derive(model, pointer(name), _of_gains, published, file, key, n, name)
    _inputs(work)
    models = published.document(HEADS)["models"]
    given = {
        model: {"last_layer": {"residual_ratio": entry["layers"][-1]["residual_ratio"]}}
        for model, entry in models.items()
    }
    origins = {
        pointer(model, "last_layer"): (
            HEADS,
            pointer("models", model, "layers", len(entry["layers"]) - 1),
        )
        for model, entry in models.items()
    }
    work.start("per_head", given, origins)


STATISTICS: dict[str, Callable[[np.ndarray], Any]] = {
    "initial_gain": lambda gains: float(gains[0]),
    "last_gain": lambda gains: float(gains[-1]),
    "max_gain": lambda gains: float(np.max(gains)),
    "max_gain_layer": lambda gains: int(np.argmax(gains)),
    "contracting_pct": norm_ratios.contracting_percent,
    "expanding_pct": lambda gains: 100 - norm_ratios.contracting_percent(gains),
    "final_cumulative": norm_ratios.cumulative_gain,
}
ENDS = {"initial_gain": slice(0, 2), "last_gain": slice(-2, None)}  # the norms they rest on


def _of_gains(published: Published, file: str, key: str, n: int, name: str) -> Any:
    norms = series(published, file, f"{key}/norms", range(n)[ENDS.get(name, slice(None))])
    return STATISTICS[name](norm_ratios.norm_ratios(norms))


def _inputs(work: Replay) -> None:
    published = work.published
    results = published.document(INPUTS)["results"]

    def pairs() -> tuple[np.ndarray, np.ndarray]:
        entropy = [published.number(INPUTS, pointer("results", p, "entropy")) for p in results]
        last = [
            published.number(INPUTS, pointer("results", p, "gains", len(results[p]["gains"]) - 1))
            for p in results
        ]
        return np.array(entropy), np.array(last)

    def pearson() -> float:
        return pearson_r(*pairs())

    def ranked() -> float:
        return spearman_r(*pairs())

    def last_gain(file: str, key: str) -> float:
        entry = published.document(file)
        for name in key.split("/")[1:]:
            entry = entry[name]
        n = len(entry["norms"])
        norms = series(published, file, f"{key}/norms", [n - 2, n - 1])
        return float(norm_ratios.norm_ratios(norms)[0])

    def whole_tokens() -> float:
        return last_gain(LLAMAS, f"/models/{LLAMA}/residual")

    def whole_sequence() -> float:
        return last_gain(FOUR, f"/results/{LLAMA}")

    origins = {
        "/correlation": (INPUTS, "/correlation"),
        "/swiglu_comparison": (FOUR, "/swiglu_comparison"),
    }
    work.start("study", {}, origins)
    statistics: dict[str, Callable[[], Any]] = {
        "/correlation/pearson_r": pearson,
        "/correlation/pearson_p": lambda: pearson_p(pearson(), len(results)),
        "/correlation/spearman_r": ranked,
        "/correlation/spearman_p": lambda: pearson_p(ranked(), len(results)),
        "/expansion_ratio/of_rounded": lambda: (
            round(whole_tokens(), 2) / round(whole_sequence(), 2)
        ),
        "/expansion_ratio/unrounded": lambda: whole_tokens() / whole_sequence(),
        "/swiglu_comparison/ratio": lambda: (
            whole_sequence() / published.number(FOUR, "/mistral_reference/last_layer_gain")
        ),
    }
    for key, compute in statistics.items():
        work.derive("study", key, compute)
