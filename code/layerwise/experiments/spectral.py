"""Singular values of the attention projections, block by block (figures 3, A1 and A5).

Paper 3, section 4.3 and its spectral notebook: whole matrices in float32, biases left out, the
legacy slices of fused projections; means and population SDs over the blocks.

`beyond/spectral`, at /<slug>: `legacy` and `correct`, each flat: for W_V, W_O, W_Q, W_K the mean
spectral norm under the matrix's name (`W_V`), its blocks under `W_V_by_layer`, and the mean
Frobenius norm and effective rank under `W_V_frobenius` and `W_V_effective_rank`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.value_traces import SLICINGS
from layerwise.inputs.published import pointer
from layerwise.measures.spectral import Spectrum, spectrum

FILE = "paper3/Results/restriction_map_spectral_20260105_202448.json"
FILES = (FILE,)
MATRICES = ("W_V", "W_O", "W_Q", "W_K")
Series = dict[str, list[float]]  # by the names of `Spectrum`, over the blocks


def fragments(subject: Subject) -> Fragments:
    """The model's entry of the spectral file."""
    slug = subject.model.slug
    row = subject.row(FILE, "results", slug)
    found = _matrices(subject)
    entry: dict[str, Any] = {"n_layers": subject.weights.n_layers}
    for matrix, series in found["legacy"].items():
        entry |= {f"{matrix}_{name}": values for name, values in series.items()}
        norms = np.array(series["spectral_norm"])
        entry |= {
            f"{matrix}_mean_spectral": float(np.mean(norms)),
            f"{matrix}_std_spectral": float(np.std(norms)),
        }
    return {
        FILE: {row: entry},
        "beyond/spectral": {
            pointer(slug): {slicing: _beyond(matrices) for slicing, matrices in found.items()}
        },
    }


def _matrices(subject: Subject) -> dict[str, dict[str, Series]]:
    """The series of every projection, by slicing."""
    found: dict[str, dict[str, Series]] = {slicing: {} for slicing in SLICINGS}
    for name in MATRICES:
        blocks = [_block(subject, block, name) for block in range(subject.weights.n_layers)]
        for number, slicing in enumerate(SLICINGS):
            rows = [asdict(block[number]) for block in blocks]
            found[slicing][name] = {key: [row[key] for row in rows] for key in rows[0]}
    return found


def _block(subject: Subject, block: int, name: str) -> tuple[Spectrum, Spectrum]:
    """Of one matrix, legacy and correct: for most architectures both are the same."""
    legacy, correct = (subject.weights.matrix(block, name, slicing) for slicing in SLICINGS)
    first = spectrum(legacy)
    return first, first if np.array_equal(legacy, correct) else spectrum(correct)


def _beyond(matrices: dict[str, Series]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, series in matrices.items():
        found |= {
            name: float(np.mean(series["spectral_norm"])),
            f"{name}_by_layer": series["spectral_norm"],
            f"{name}_frobenius": float(np.mean(series["frobenius_norm"])),
            f"{name}_effective_rank": float(np.mean(series["effective_rank"])),
        }
    return found
