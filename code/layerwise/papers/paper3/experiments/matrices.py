"""The attention's matrices block by block, and what they make of texts (Paper 3, section 4.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from layerwise.engine.experiment import Subject
from layerwise.measures.entropy import head_mean, row_entropies, sparsity
from layerwise.measures.spectral import Spectrum, singular_values, spectrum
from layerwise.papers.shared.names.matrices import MATRICES, SLICINGS

COMPARED = ("W_V", "W_O")  # means beyond the file, of both slicings


def projections(subject: Subject, _: None) -> dict[str, Any]:
    """Whole matrices, biases left out, the legacy slices of fused projections."""
    blocks = range(subject.weights.n_layers)
    found = {name: [_spectra(subject, block, name) for block in blocks] for name in MATRICES}
    legacy = {name: [first for first, _ in of] for name, of in found.items()}
    beyond = {
        slicing: {
            name: float(np.mean([both[n].spectral_norm for both in found[name]]))
            for name in COMPARED
        }
        for n, slicing in enumerate(SLICINGS)
    }
    return {"n_layers": len(blocks), **by_block(legacy), "beyond": beyond}


def by_block(found: Mapping[str, Sequence[Spectrum]]) -> dict[str, list[float]]:
    """Each number of the matrices' spectra, a list over the blocks."""
    return {
        f"{name}_{key}": [getattr(one, key) for one in spectra]
        for name, spectra in found.items()
        for key in asdict(spectra[0])
    }


def _spectra(subject: Subject, block: int, name: str) -> tuple[Spectrum, Spectrum]:
    """Legacy and correct: for most architectures both are the same."""
    legacy, correct = (subject.weights.matrix(block, name, s) for s in SLICINGS)
    first = spectrum(legacy)
    return first, first if np.array_equal(legacy, correct) else spectrum(correct)


def value_sizes(subject: Subject, _: None) -> dict[str, float]:
    """W_V of the OPT investigation, of which only means over the blocks were saved."""
    w = subject.weights
    blocks = [singular_values(w.matrix(block, "W_V", "legacy")) for block in range(w.n_layers)]
    return {
        "mean_frobenius": float(np.mean([np.sqrt(np.sum(s**2)) for s in blocks])),
        "mean_spectral": float(np.mean([s[0] for s in blocks])),
        "mean_condition": float(np.mean([s[0] / s[-1] if s[-1] > 0 else np.nan for s in blocks])),
    }


def attention_shape(subject: Subject, texts: Sequence[str]) -> dict[str, list[float]]:
    """Entropy and sparsity of head-mean maps, mean over those texts that have a number.

    Half precision leaves some of Pythia's layers without an entropy; means leave NaN out, as
    pandas does.
    """
    maps = [
        [head_mean(block) for block in subject.trace(text, attention=True).attention]
        for text in texts
    ]
    entropies = np.array([[np.mean(row_entropies(block)) for block in of] for of in maps])
    there = ~np.isnan(entropies)
    totals, counts = entropies.sum(axis=0, where=there), there.sum(axis=0)
    return {
        "entropy_by_layer": np.where(counts, totals / np.maximum(counts, 1), np.nan).tolist(),
        "sparsity_by_layer": np.mean([[sparsity(a) for a in of] for of in maps], axis=0).tolist(),
    }
