"""L* of equation 4's trace in float16: the cross-heritage run and the sign-change run.

Paper 3, section 5.3 and figure 5; two notebooks. Per text and block t = |sum(A) - n| |W_V|_F^2, A
the mean over the heads of float16 attention, W_V the legacy slice of the float16 weights. The rows
of A sum to one, so t is rounding noise times a norm: the layers found here are those of that
noise, or of the first NaN.

`beyond/lstar`, at /<slug>: `predicted` (equation 6), `n_layers`, `n_heads`, `nan_layers` (blocks
with NaN attention, one list per text), `largest_excess` (the largest |sum(A) - n|, NaN left out),
and `legacy` and `correct` (slices of W_V), each flat: the mean over the texts under `argmax` and
`sign_change` as published, `argmax_guarded` and `sign_change_guarded` without NaN, and
`coded_argmax` and `coded_argmax_guarded` of the trace that is not zero, the multi-head one.
Population SDs stand beside them (`argmax_sd`, ...). A text without any number has no guarded layer
and is left out of those means, which are null where no text is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import texts
from layerwise.experiments.value_traces import SLICINGS, squared_norms
from layerwise.inputs.published import pointer
from layerwise.measures import sheaf
from layerwise.statistics import critical_layer
from layerwise.statistics.critical_layer import PRINTED

ARGMAX = "paper3/Results/l_star_cross_heritage_20260106_104357.json"
SIGNS = "paper3/Results/l_star_sign_change_20260106_111315.json"
FILES = (ARGMAX, SIGNS)
PROMPTS = "l_star"
# Layers of the trace scripts, typed into the sign-change notebook to compare with.
CALIBRATION = {"pythia-160m": 7, "pythia-410m": 16, "opt-125m": 8, "gpt2": 9}


@dataclass(frozen=True)
class _Masses:
    """Of every text, block and head."""

    excess: Float64[np.ndarray, "text block head"]
    off_diagonal: Float64[np.ndarray, "text block head"]


def fragments(subject: Subject) -> Fragments:
    """The model's entries of both runs' files."""
    slug, weights = subject.model.slug, subject.weights
    rows = {file: subject.row(file, "results", slug) for file in FILES}
    masses = _masses(subject)
    norms = {slicing: squared_norms(subject, slicing) for slicing in SLICINGS}
    legacy = _printed(masses, norms["legacy"])
    signs = [critical_layer.sign_change(series) for series in legacy]
    further = {
        "predicted": PRINTED.layer(weights.n_layers, weights.n_heads),
        "n_layers": weights.n_layers,
        "n_heads": weights.n_heads,
        "nan_layers": [list(critical_layer.nan_layers(series)) for series in legacy],
        "largest_excess": _largest(masses.excess.mean(axis=-1)),
        **{slicing: _beyond(masses, norms[slicing]) for slicing in SLICINGS},
    }
    return {
        ARGMAX: {
            rows[ARGMAX]: _entry(
                subject, [critical_layer.largest_step(series) for series in legacy]
            )
        },
        SIGNS: {
            rows[SIGNS]: _entry(subject, [sign.layer for sign in signs])
            | {
                "L_star_calibration": CALIBRATION.get(slug),
                "detection_method": Counter(sign.rule for sign in signs).most_common(1)[0][0],
                "individual_L_stars": [sign.layer for sign in signs],
            }
        },
        "beyond/lstar": {pointer(slug): further},
    }


def _masses(subject: Subject) -> _Masses:
    excess, off_diagonal = [], []
    for text in texts(subject, PROMPTS):
        maps = subject.trace(text, attention=True).attention
        excess.append(np.stack([sheaf.excess_mass(of) for of in maps]))
        off_diagonal.append(np.stack([sheaf.off_diagonal_mass(of) for of in maps]))
    return _Masses(np.stack(excess), np.stack(off_diagonal))


def _printed(
    masses: _Masses, norms: Float64[np.ndarray, "block head"]
) -> list[Float64[np.ndarray, " block"]]:
    """Size of equation 4's trace, one series per text."""
    return [np.abs(sheaf.printed_trace(excess, norms)) for excess in masses.excess]


def _entry(subject: Subject, layers: Sequence[int]) -> dict[str, Any]:
    n, heads = subject.weights.n_layers, subject.weights.n_heads
    predicted, found = PRINTED.layer(n, heads), float(np.mean(layers))
    return {
        "L": n,
        "H": heads,
        "L_star_predicted": predicted,
        "L_star_empirical": found,
        "L_star_std": float(np.std(layers)),
        "error_pct": critical_layer.depth_error(predicted, found, n),
    }


def _beyond(masses: _Masses, norms: Float64[np.ndarray, "block head"]) -> dict[str, Any]:
    steps = critical_layer.step_sizes
    printed = _printed(masses, norms)
    coded = [sheaf.multihead_trace(mass, norms) for mass in masses.off_diagonal]
    layers: dict[str, list[int | None]] = {
        "argmax": [critical_layer.largest_step(t) for t in printed],
        "argmax_guarded": [critical_layer.guarded(steps, t).layer for t in printed],
        "sign_change": [critical_layer.sign_change(t).layer for t in printed],
        "sign_change_guarded": [critical_layer.guarded_sign_change(t).layer for t in printed],
        "coded_argmax": [critical_layer.largest_step(t) for t in coded],
        "coded_argmax_guarded": [critical_layer.guarded(steps, t).layer for t in coded],
    }
    found: dict[str, Any] = {}
    for name, each in layers.items():
        there = [layer for layer in each if layer is not None]
        found[name] = float(np.mean(there)) if there else None
        found[f"{name}_sd"] = float(np.std(there)) if there else None
    return found


def _largest(excess: Float64[np.ndarray, "text block"]) -> float | None:
    there = np.abs(excess[~np.isnan(excess)])
    return float(there.max()) if len(there) else None
