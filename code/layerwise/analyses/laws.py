"""The three laws of Paper 3 side by side, and its equation 4."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from layerwise.analyses import depth_gain, lab_heritage
from layerwise.analyses import gain_files as files
from layerwise.analyses.documents import Draws, Replay
from layerwise.analyses.evidence import Evidence
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import attention_trace, gains
from layerwise.statistics.ranks import mann_whitney

SPECTRAL = files.RESULTS + "restriction_map_spectral_20260105_202448.json"
LEVEL = 0.05
TOKENS, HIDDEN = 8, 16  # of the attention that stands for any in equation 4


def derive(work: Replay, draws: Draws) -> None:
    """p of each law from the lowest published level; the trace of equation 4."""
    published = work.published
    given = published.document(SPECTRAL)
    work.start("spectral", given, {"": (SPECTRAL, "")})
    by_lab: dict[bool, list[str]] = {True: [], False: []}
    for row, entry in enumerate(given["results"]):
        key = pointer("results", row)
        by_lab[entry["lab"] == lab_heritage.ELEUTHER].append(key)
        work.derive("spectral", f"{key}/W_V_mean_spectral", stored_mean, published, key)
    work.start("laws", {}, {})
    p_values = _p_values(published, by_lab)
    for name, compute in p_values.items():
        work.derive("laws", f"/p/{name}", compute)
    rules: dict[str, Sequence[str]] = {"all": list(p_values), "first_two": list(p_values)[:2]}
    for name, chosen in rules.items():
        work.derive("laws", f"/below/{name}", _below, p_values, chosen)
    for name, word in _equation4(draws.seed).items():
        work.derive("laws", f"/equation4/{name}", word)


def stored_mean(published: Published, key: str) -> float:
    """Mean of the spectral norms of the layers, in float32 as they were measured."""
    norms = files.numbers(published, SPECTRAL, f"{key}/W_V_spectral_norm")
    return float(np.mean(np.array(norms, dtype=np.float32)))


def _p_values(
    published: Published, by_lab: dict[bool, list[str]]
) -> dict[str, Callable[[], float]]:
    evidence = Evidence(published, Draws(0, 0.0, 0))
    labs = files.labs(published)

    def spectral() -> float:
        groups = (
            np.array(
                [
                    np.mean(files.numbers(published, SPECTRAL, f"{k}/W_V_spectral_norm"))
                    for k in keys
                ]
            )
            for keys in (by_lab[True], by_lab[False])
        )
        return mann_whitney(*groups)[1]

    return {
        "depth_gain": lambda: depth_gain.correlation(evidence[depth_gain.SWEEP].models, float)["p"],
        "lab_heritage": lambda: lab_heritage.fisher_p(lab_heritage.table(published, labs)),
        "spectral_norms": spectral,
    }


def _below(p_values: dict[str, Callable[[], float]], chosen: Sequence[str]) -> bool:
    return gains.below({name: p_values[name]() for name in chosen}, LEVEL)


def _equation4(seed: int) -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(seed)
    attention = attention_trace.softmax_rows(rng.standard_normal((TOKENS, TOKENS)))
    value = rng.standard_normal((HIDDEN, HIDDEN))
    scale = float(np.sum(value**2))
    forms = {
        "printed": attention_trace.printed_trace,
        "coded": attention_trace.coded_trace,
    }
    return {
        name: partial(attention_trace.trace_word, trace(attention, value), scale)
        for name, trace in forms.items()
    }
