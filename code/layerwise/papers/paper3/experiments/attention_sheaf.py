"""Traces and gaps of the attention sheaf, over texts (Paper 3, section 5).

Published were the legacy slices of W_V; what stands under `beyond` are the layers that each trace
gives with `legacy` and `correct` slices, the first NaN winning and, as `*_guarded`, without NaN.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float32, Float64

from layerwise.engine.experiment import Subject
from layerwise.measures import sheaf
from layerwise.measures.entropy import head_mean
from layerwise.papers.shared.names.matrices import SLICINGS
from layerwise.statistics import critical_layer

FIRST_TOKENS, FIRST_CORNER = 6, 16  # of the first trace script's Laplacian

Maps = tuple[Float32[np.ndarray, "head _ _"], ...]  # by block; a text has its number of tokens
ByHead = Float64[np.ndarray, "text block head"]
Norms = Float64[np.ndarray, "block head"]


def attention(subject: Subject, texts: Sequence[str]) -> list[Maps]:
    """Return the maps of every text."""
    return [subject.trace(text, attention=True).attention for text in texts]


def mass_by_head(maps: Sequence[Maps], mass: Callable[[Any], Any]) -> ByHead:
    """Return a mass of every map of every text."""
    return np.array([[mass(block) for block in text] for text in maps])


def squared_norms(subject: Subject, slicing: str) -> Norms:
    """Return |W_h|_F^2 of every query head; heads that share a key-value head have its norm."""
    weights = subject.weights
    norms = []
    for block in range(weights.n_layers):
        matrix = weights.matrix(block, "W_V", slicing)
        own = sheaf.squared_norms(matrix.reshape(-1, weights.head_size, matrix.shape[1]))
        norms.append(np.repeat(own, weights.n_heads // len(own)))
    return np.stack(norms)


def trace_layers(masses: ByHead, norms: Norms) -> dict[str, int | None]:
    """Return the steepest layer of the mean over the texts of each trace.

    A trace is linear in the attention, so the masses are averaged.
    """
    layers: dict[str, int | None] = {}
    for name, series in sheaf.traces(masses.mean(axis=0), norms).items():
        layers[f"L_star_{name}"] = critical_layer.sharpest(critical_layer.gradient_sizes, series)
        layers[f"L_star_{name}_guarded"] = critical_layer.guarded(
            critical_layer.gradient_sizes, series
        )
    return layers


def first_script(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """Return numbers of the dense Laplacian: head 0, up to 6 tokens, a 16 x 16 corner (H4)."""
    weights = subject.weights
    corners = [
        weights.matrix(block, "W_V", "legacy")[:FIRST_CORNER, :FIRST_CORNER].copy()
        for block in range(weights.n_layers)
    ]
    spectra = [laplacian_spectra(maps, corners) for maps in attention(subject, texts)]
    means = {
        name: np.mean([[getattr(block, key) for block in text] for text in spectra], axis=0)
        for name, key in (("spectral_gaps", "gap"), ("lambda_2", "lambda_2"), ("traces", "trace"))
    }
    return {name: mean.tolist() for name, mean in means.items()} | {"n_layers": weights.n_layers}


def laplacian_spectra(
    maps: Maps, corners: Sequence[Float32[np.ndarray, "corner corner"]]
) -> list[sheaf.Smallest]:
    """Return the smallest eigenvalues of each block's Laplacian, of head 0 and few tokens."""
    kept = sheaf.evenly_chosen(maps[0].shape[-1], FIRST_TOKENS)
    few = [block[0][np.ix_(kept, kept)] for block in maps]
    return list(map(sheaf.laplacian_spectrum, few, corners))


def second_script(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """Return the traces of whole layers, and a gap from the Laplacian's two factors (H4, v2)."""
    maps = attention(subject, texts)
    masses = mass_by_head(maps, sheaf.off_diagonal_mass)
    graphs = [
        [sheaf.ascending(sheaf.graph_laplacian(head_mean(a))) for a in prompt] for prompt in maps
    ]
    smallest = {slicing: second_gaps(subject, slicing, graphs) for slicing in SLICINGS}
    norms = {slicing: squared_norms(subject, slicing) for slicing in SLICINGS}
    series = sheaf.traces(masses.mean(axis=0), norms["legacy"])
    return {
        "n_layers": subject.weights.n_layers,
        "n_heads": subject.weights.n_heads,
        "traces_full": series["full"].tolist(),
        "traces_multihead": series["multihead"].tolist(),
        "graph_lambda_2": np.mean(
            [[graph[1] for graph in prompt] for prompt in graphs], axis=0
        ).tolist(),
        **{name: values.tolist() for name, values in smallest["legacy"].items()},
        "beyond": {
            slicing: trace_layers(masses, norms[slicing])
            | {"L_star_spectral": int(np.argmax(smallest[slicing]["spectral_gaps"]))}
            for slicing in SLICINGS
        },
    }


def second_gaps(
    subject: Subject, slicing: str, graphs: list[list[Float64[np.ndarray, " _"]]]
) -> dict[str, Float64[np.ndarray, " block"]]:
    """Return what the second script takes from the first head's slice, means over the texts."""
    weights = subject.weights
    values = [
        weights.matrix(block, "W_V", slicing)[: weights.head_size]
        for block in range(weights.n_layers)
    ]
    spectra = [sheaf.ascending(sheaf.corner_gram(v, sheaf.GRAPH_CORNER)) for v in values]
    by_prompt = [
        [
            (product.lambda_2, product.gap)
            for product in map(sheaf.smallest_products, prompt, spectra)
        ]
        for prompt in graphs
    ]
    return dict(zip(("lambda_2", "spectral_gaps"), np.mean(by_prompt, axis=0).T, strict=True))


def packed_run(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """Return the extended run's traces from the real weights, for none of its published places.

    The run read W_V where bitsandbytes keeps it packed, so its "W_V" are raw bytes, two 4-bit codes
    each (their mean square is that of uniform bytes for every model). No measurement comes near.
    """
    masses = mass_by_head(attention(subject, texts), sheaf.off_diagonal_mass)
    return {
        "beyond": {
            slicing: trace_layers(masses, squared_norms(subject, slicing)) for slicing in SLICINGS
        }
    }


# --- L* of equation 4's trace in float16: t = |sum(A) - n| |W_V|_F^2 by text and block, A the mean
# over the heads. The rows of A sum to one, so t is rounding noise times a norm, and the layers
# found here are those of that noise, or of the first NaN. ---


def printed_traces(maps: Sequence[Maps], norms: Norms) -> list[Float64[np.ndarray, " block"]]:
    """Return the size of equation 4's trace, text by text."""
    masses = mass_by_head(maps, sheaf.excess_mass)
    return [np.abs(sheaf.traces(mass, norms)["mean_map"]) for mass in masses]


def cross_heritage(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """Return the layer of the largest step of t; its mean and SD were all that was saved."""
    maps = attention(subject, texts)
    traces = printed_traces(maps, squared_norms(subject, "legacy"))
    layers = [critical_layer.sharpest(critical_layer.step_sizes, t) for t in traces]
    return _shape(subject) | {
        "L_star_empirical": float(np.mean(layers)),
        "L_star_std": float(np.std(layers)),
    }


def sign_changes(subject: Subject, texts: Sequence[str]) -> dict[str, Any]:
    """Return the layer at which t turns, text by text, and the rule that found most of them."""
    maps = attention(subject, texts)
    norms = {slicing: squared_norms(subject, slicing) for slicing in SLICINGS}
    changes = [critical_layer.sign_change(t) for t in printed_traces(maps, norms["legacy"])]
    return _shape(subject) | {
        "individual_L_stars": [change.layer for change in changes],
        "detection_method": Counter(change.rule for change in changes).most_common(1)[0][0],
        "beyond": {slicing: mean_layers(maps, norms[slicing]) for slicing in SLICINGS},
    }


def mean_layers(maps: Sequence[Maps], norms: Norms) -> dict[str, float | None]:
    """Return both runs' layers and the largest step of the multi-head trace, means over the texts.

    A text without any number has no guarded layer and is left out; None where no text is left.
    """
    steps = critical_layer.step_sizes
    printed = printed_traces(maps, norms)
    masses = mass_by_head(maps, sheaf.off_diagonal_mass)
    coded = [sheaf.traces(mass, norms)["multihead"] for mass in masses]
    layers: dict[str, list[int | None]] = {
        "argmax": [critical_layer.sharpest(steps, t) for t in printed],
        "argmax_guarded": [critical_layer.guarded(steps, t) for t in printed],
        "sign_change": [critical_layer.sign_change(t).layer for t in printed],
        "sign_change_guarded": [critical_layer.guarded_sign_change(t) for t in printed],
        "coded_argmax": [critical_layer.sharpest(steps, t) for t in coded],
        "coded_argmax_guarded": [critical_layer.guarded(steps, t) for t in coded],
    }
    known = {name: [n for n in numbers if n is not None] for name, numbers in layers.items()}
    return {name: float(np.mean(numbers)) if numbers else None for name, numbers in known.items()}


def _shape(subject: Subject) -> dict[str, int]:
    return {"L": subject.weights.n_layers, "H": subject.weights.n_heads}
