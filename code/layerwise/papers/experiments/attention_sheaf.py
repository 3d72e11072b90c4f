"""Traces and gaps of the attention sheaf, over texts (Paper 3, section 5).

All of the slices of W_V that the notebooks cut, `legacy`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float32, Float64

from layerwise.engine.experiment import Filled, Subject
from layerwise.measures import sheaf
from layerwise.measures.entropy import head_mean
from layerwise.papers.shared.names import LEGACY
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


def head_norms(subject: Subject) -> Norms:
    """Return |W_h|_F^2 of every query head; heads that share a key-value head have its norm."""
    weights = subject.weights
    norms = []
    for block in range(weights.n_layers):
        matrix = weights.matrix(block, "W_V", LEGACY)
        own = sheaf.squared_norms(matrix.reshape(-1, weights.head_size, matrix.shape[1]))
        norms.append(np.repeat(own, weights.n_heads // len(own)))
    return np.stack(norms)


def first_script(subject: Subject, texts: Sequence[str]) -> Filled:
    """Return numbers of the dense Laplacian: head 0, up to 6 tokens, a 16 x 16 corner (H4)."""
    weights = subject.weights
    corners = [
        weights.matrix(block, "W_V", LEGACY)[:FIRST_CORNER, :FIRST_CORNER].copy()
        for block in range(weights.n_layers)
    ]
    spectra = [laplacian_spectra(maps, corners) for maps in attention(subject, texts)]
    means = {
        name: np.mean([[getattr(block, key) for block in text] for text in spectra], axis=0)
        for name, key in (("spectral_gaps", "gap"), ("lambda_2", "lambda_2"))
    }
    return {name: mean.tolist() for name, mean in means.items()} | {"n_layers": weights.n_layers}


def laplacian_spectra(
    maps: Maps, corners: Sequence[Float32[np.ndarray, "corner corner"]]
) -> list[sheaf.Smallest]:
    """Return the smallest eigenvalues of each block's Laplacian, of head 0 and few tokens."""
    kept = sheaf.evenly_chosen(maps[0].shape[-1], FIRST_TOKENS)
    few = [block[0][np.ix_(kept, kept)] for block in maps]
    return list(map(sheaf.laplacian_spectrum, few, corners))


def second_script(subject: Subject, texts: Sequence[str]) -> Filled:
    """Return the traces of whole layers, and a gap from the Laplacian's two factors (H4, v2).

    Means over the texts. A trace is linear in the attention, so the masses are averaged.
    """
    maps = attention(subject, texts)
    masses = mass_by_head(maps, sheaf.off_diagonal_mass)
    series = sheaf.traces(masses.mean(axis=0), head_norms(subject))
    return {
        "n_layers": subject.weights.n_layers,
        "n_heads": subject.weights.n_heads,
        "traces_full": series["full"].tolist(),
        "traces_multihead": series["multihead"].tolist(),
        "spectral_gaps": second_gaps(subject, maps),
    }


def second_gaps(subject: Subject, maps: Sequence[Maps]) -> list[float]:
    """Return the gaps that the second script takes from the first head's slice, block by block."""
    weights = subject.weights
    values = [
        weights.matrix(block, "W_V", LEGACY)[: weights.head_size]
        for block in range(weights.n_layers)
    ]
    spectra = [sheaf.ascending(sheaf.corner_gram(matrix, sheaf.GRAPH_CORNER)) for matrix in values]
    by_text = [
        [
            sheaf.smallest_products(graph_spectrum(block), spectrum).gap
            for block, spectrum in zip(text, spectra, strict=True)
        ]
        for text in maps
    ]
    return np.mean(by_text, axis=0).tolist()


def graph_spectrum(maps: Any) -> Float64[np.ndarray, " token"]:
    """Return the eigenvalues of the graph Laplacian of a block's head-mean map, ascending."""
    return sheaf.ascending(sheaf.graph_laplacian(head_mean(maps)))


# --- L* of equation 4's trace in float16: t = |sum(A) - n| |W_V|_F^2 by text and block, A the mean
# over the heads. The rows of A sum to one, so t is rounding noise times a norm, and the layers
# found here are those of that noise, or of the first NaN. ---


def printed_traces(maps: Sequence[Maps], norms: Norms) -> list[Float64[np.ndarray, " block"]]:
    """Return the size of equation 4's trace, text by text."""
    masses = mass_by_head(maps, sheaf.excess_mass)
    return [np.abs(sheaf.traces(mass, norms)["mean_map"]) for mass in masses]


def cross_heritage(subject: Subject, texts: Sequence[str]) -> Filled:
    """Return the layer of the largest step of t; its mean and SD were all that was saved."""
    maps = attention(subject, texts)
    traces = printed_traces(maps, head_norms(subject))
    layers = [critical_layer.sharpest(critical_layer.step_sizes, trace) for trace in traces]
    return _shape(subject) | {
        "L_star_empirical": float(np.mean(layers)),
        "L_star_std": float(np.std(layers)),
    }


def turning_layers(subject: Subject, texts: Sequence[str]) -> Filled:
    """Return the layer at which t turns, text by text."""
    maps = attention(subject, texts)
    traces = printed_traces(maps, head_norms(subject))
    return _shape(subject) | {
        "individual_L_stars": [critical_layer.turning_layer(trace) for trace in traces]
    }


def _shape(subject: Subject) -> dict[str, int]:
    return {"L": subject.weights.n_layers, "H": subject.weights.n_heads}
