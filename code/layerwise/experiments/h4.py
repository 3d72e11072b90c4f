"""Traces and spectral gaps of the attention sheaf: the two trace scripts (H4).

Paper 3, section 5.2.1 and equation 4. Published were four models in float32, four texts and the
legacy W_V. The second script (`H4_v2_validation`) has the traces of whole layers and a spectral
gap from the factors of the Laplacian; the first (`H4_validation`) a dense Laplacian of head 0, at
most 6 tokens and a 16 x 16 corner of W_V. What they call gain and behaviour was typed into them.

`beyond/h4`, at /<slug>: `legacy` and `correct` (slices of W_V), each flat, with `value_traces.
summary` (the three traces, their means, L* with and without guard, `nan_layers`), the second
script's `spectral_gaps` and `L_star_spectral`, and `first_gaps`, the first script's gaps from the
factors, free of the rounding that the dense solver leaves, with `L_star_first_gap`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float32, Float64

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import published_slug, texts
from layerwise.experiments.value_traces import SLICINGS, query_norms, summary, trace_series
from layerwise.inputs.published import pointer
from layerwise.measures import sheaf
from layerwise.measures.attention import head_mean
from layerwise.statistics import critical_layer

SECOND = "paper3/Results/H4_v2_validation_20260106_015547.json"
FIRST = "paper3/Results/H4_validation_20260106_014132.json"
FILES = (SECOND, FIRST)
PROMPTS = "sheaf_trace"
# Typed into the scripts; GPT-2's gain is a guess.
TYPED = {
    "pythia-160m": ("DAMPEN", 1.157),
    "pythia-410m": ("DAMPEN", 0.978),
    "opt-125m": ("EXPAND", 1.263),
    "gpt2": ("EXPAND", 1.05),
}
FIRST_TOKENS, FIRST_CORNER = 6, 16


@dataclass(frozen=True)
class _Values:
    """What the scripts use of W_V in one slicing, block by block."""

    norms: Float64[np.ndarray, "block head"]
    eigenvalues: list[Float64[np.ndarray, " eigenvalue"]]  # of the corner of the first head's W^T W
    corners: list[Float32[np.ndarray, "corner corner"]]  # of W_V


@dataclass(frozen=True)
class _Text:
    """One text's part: masses, and the smallest eigenvalues by slicing and block."""

    masses: Float64[np.ndarray, "block head"]
    graph_lambda_2: list[float]
    second: dict[str, list[sheaf.Smallest]]
    dense: list[sheaf.Smallest]  # the first script's, legacy slices
    factored: dict[str, list[sheaf.Smallest]]


def fragments(subject: Subject) -> Fragments:
    """The model's entries of both scripts' files.

    Raises:
        LayerwiseError: see `published_slug`.
    """
    slug = published_slug(subject, TYPED)
    values = {slicing: _values(subject, slicing) for slicing in SLICINGS}
    found = [_measure(subject, text, values) for text in texts(subject, PROMPTS)]
    behavior, gain = TYPED[slug]
    typed = {"behavior": behavior, "known_gain": gain, "n_layers": subject.weights.n_layers}
    second = _second(found, values["legacy"], gain) | {"n_heads": subject.weights.n_heads}
    return {
        SECOND: {subject.row(SECOND, "results", slug): typed | second},
        FIRST: {subject.row(FIRST, "results", slug): typed | _first(found)},
        "beyond/h4": {
            pointer(slug): {slicing: _beyond(found, values, slicing) for slicing in SLICINGS}
        },
    }


def _values(subject: Subject, slicing: str) -> _Values:
    weights = subject.weights
    norms, eigenvalues, corners = [], [], []
    for block in range(weights.n_layers):
        matrix = weights.matrix(block, "W_V", slicing)
        norms.append(query_norms(subject, matrix))
        first_head = matrix[: weights.head_size]
        gram = sheaf.corner_gram(first_head, sheaf.GRAPH_CORNER)
        eigenvalues.append(sheaf.ascending(gram))
        corners.append(matrix[:FIRST_CORNER, :FIRST_CORNER].copy())
    return _Values(np.stack(norms), eigenvalues, corners)


def _measure(subject: Subject, text: str, values: dict[str, _Values]) -> _Text:
    maps = subject.trace(text, attention=True).attention
    graphs = [sheaf.ascending(sheaf.graph_laplacian(head_mean(of))) for of in maps]
    kept = sheaf.evenly_chosen(maps[0].shape[-1], FIRST_TOKENS)
    few = [of[0][np.ix_(kept, kept)] for of in maps]
    return _Text(
        masses=np.stack([sheaf.off_diagonal_mass(of) for of in maps]),
        graph_lambda_2=[float(graph[1]) for graph in graphs],
        second={
            s: list(map(sheaf.smallest_products, graphs, v.eigenvalues)) for s, v in values.items()
        },
        dense=list(map(sheaf.laplacian_spectrum, few, values["legacy"].corners)),
        factored={s: list(map(sheaf.factored_spectrum, few, v.corners)) for s, v in values.items()},
    )


def _mean(rows: list[list[float]]) -> Float64[np.ndarray, " block"]:
    """Mean over the texts, block by block."""
    return np.mean(np.array(rows, dtype=np.float64), axis=0)


def _gaps(rows: list[list[sheaf.Smallest]]) -> Float64[np.ndarray, " block"]:
    return _mean([[one.gap for one in row] for row in rows])


def _second(found: list[_Text], values: _Values, gain: float) -> dict[str, Any]:
    """What the second script saves, beside what was typed."""
    series = trace_series(np.stack([text.masses for text in found]), values.norms)
    legacy = [text.second["legacy"] for text in found]
    gaps, n = _gaps(legacy), len(values.norms)
    apriori = critical_layer.layer_from_gain(n, gain)
    steepest = critical_layer.steepest(series["full"])
    return {
        "L_star_apriori": apriori,
        "traces_full": series["full"].tolist(),
        "traces_multihead": series["multihead"].tolist(),
        "mean_trace_full": float(np.mean(series["full"])),
        "mean_trace_multihead": float(np.mean(series["multihead"])),
        "lambda_2": _mean([[one.lambda_2 for one in row] for row in legacy]).tolist(),
        "spectral_gaps": gaps.tolist(),
        "graph_lambda_2": _mean([text.graph_lambda_2 for text in found]).tolist(),
        "L_star_trace": steepest,
        "L_star_spectral": critical_layer.legacy_argmax(gaps),
        "L_star_ratio_apriori": apriori / n,
        "L_star_ratio_trace": steepest / n,
    }


def _first(found: list[_Text]) -> dict[str, Any]:
    """What the first script saves, beside what was typed."""
    rows = [text.dense for text in found]
    gaps, lambda_2 = _gaps(rows), _mean([[one.lambda_2 for one in row] for row in rows])
    return {
        "spectral_gaps": gaps.tolist(),
        "lambda_2": lambda_2.tolist(),
        "traces": _mean([[one.trace for one in row] for row in rows]).tolist(),
        "L_star_gap_max": critical_layer.legacy_argmax(gaps),
        "L_star_lambda2_max": critical_layer.legacy_argmax(lambda_2),
        "L_star_inflection": critical_layer.inflection(gaps),
        "max_spectral_gap": float(np.max(gaps)),
        "mean_spectral_gap": float(np.mean(gaps)),
        "spectral_gap_at_half": float(gaps[len(gaps) // 2]),
    }


def _beyond(found: list[_Text], values: dict[str, _Values], slicing: str) -> dict[str, Any]:
    gaps = _gaps([text.second[slicing] for text in found])
    first = _gaps([text.factored[slicing] for text in found])
    masses = np.stack([text.masses for text in found])
    return summary(masses, values[slicing].norms) | {
        "spectral_gaps": gaps.tolist(),
        "L_star_spectral": critical_layer.legacy_argmax(gaps),
        "first_gaps": first.tolist(),
        "L_star_first_gap": critical_layer.legacy_argmax(first),
    }
