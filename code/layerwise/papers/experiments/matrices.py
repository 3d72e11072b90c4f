"""The attention's matrices, block by block (Paper 3, section 4.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np

from layerwise.engine.experiment import Filled, Subject
from layerwise.measures.spectral import Spectrum, spectrum
from layerwise.models.needs import processes_for_spectra
from layerwise.models.projections import Matrix, Weights
from layerwise.papers.shared.names import MATRICES, SLICINGS
from layerwise.workers import dropped, submit

COMPARED = ("W_V", "W_O")  # means beyond the file, of both slicings


def projections(subject: Subject, _: None) -> Filled:
    """Return numbers of whole matrices, biases left out, the legacy slices of fused projections."""
    weights = subject.weights
    blocks = range(weights.n_layers)
    most = processes_for_spectra(weights.hidden_size)
    begun = {
        (name, block): submit(_spectra, partial(_slices, weights, block, name), most=most)
        for name in MATRICES
        for block in blocks
    }
    with dropped(begun.values()):
        spectra = {name: [begun[name, block].result() for block in blocks] for name in MATRICES}
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
    return {"n_layers": len(blocks), **numbers_by_block(legacy), "beyond": beyond}


def numbers_by_block(by_matrix: Mapping[str, Sequence[Spectrum]]) -> dict[str, list[float]]:
    """Return each number of the matrices' spectra, a list over the blocks."""
    return {
        f"{name}_{key}": [getattr(spectrum, key) for spectrum in spectra]
        for name, spectra in by_matrix.items()
        for key in asdict(spectra[0])
    }


def _slices(weights: Weights, block: int, name: str) -> tuple[Matrix, Matrix | None]:
    """Return a matrix by both slicings; None where they are the same, as for most architectures."""
    legacy, correct = (weights.matrix(block, name, slicing) for slicing in SLICINGS)
    return legacy, None if np.array_equal(legacy, correct) else correct


def _spectra(legacy: Matrix, correct: Matrix | None) -> tuple[Spectrum, Spectrum]:
    """Return the spectra of both slicings, in another process."""
    first = spectrum(legacy)
    return first, first if correct is None else spectrum(correct)
