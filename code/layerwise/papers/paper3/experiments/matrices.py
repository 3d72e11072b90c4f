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
    spectra = {name: [_spectra(subject, block, name) for block in blocks] for name in MATRICES}
    legacy = {
        name: [first for first, _ in blocks_of_matrix] for name, blocks_of_matrix in spectra.items()
    }
    beyond = {
        slicing: {
            name: float(np.mean([both[n].spectral_norm for both in spectra[name]]))
            for name in COMPARED
        }
        for n, slicing in enumerate(SLICINGS)
    }
    return {"n_layers": len(blocks), **by_block(legacy), "beyond": beyond}


def by_block(by_matrix: Mapping[str, Sequence[Spectrum]]) -> dict[str, list[float]]:
    """Each number of the matrices' spectra, a list over the blocks."""
    return {
        f"{name}_{key}": [getattr(spectrum, key) for spectrum in spectra]
        for name, spectra in by_matrix.items()
        for key in asdict(spectra[0])
    }


def _spectra(subject: Subject, block: int, name: str) -> tuple[Spectrum, Spectrum]:
    """Legacy and correct: for most architectures both are the same."""
    legacy, correct = (subject.weights.matrix(block, name, slicing) for slicing in SLICINGS)
    first = spectrum(legacy)
    return first, first if np.array_equal(legacy, correct) else spectrum(correct)


def value_sizes(subject: Subject, _: None) -> dict[str, float]:
    """W_V of the OPT investigation, of which only means over the blocks were saved."""
    weights = subject.weights
    blocks = [
        singular_values(weights.matrix(block, "W_V", "legacy")) for block in range(weights.n_layers)
    ]
    return {
        "mean_frobenius": float(np.mean([np.sqrt(np.sum(values**2)) for values in blocks])),
        "mean_spectral": float(np.mean([values[0] for values in blocks])),
        "mean_condition": float(
            np.mean([values[0] / values[-1] if values[-1] > 0 else np.nan for values in blocks])
        ),
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
    entropies = np.array([[np.mean(row_entropies(block)) for block in prompt] for prompt in maps])
    is_number = ~np.isnan(entropies)
    totals, counts = entropies.sum(axis=0, where=is_number), is_number.sum(axis=0)
    return {
        "entropy_by_layer": np.where(counts, totals / np.maximum(counts, 1), np.nan).tolist(),
        "sparsity_by_layer": np.mean(
            [[sparsity(a) for a in prompt] for prompt in maps], axis=0
        ).tolist(),
    }
