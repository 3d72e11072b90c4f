"""Locality, entropy and trace of head-mean attention: Paper 3's Bentov-point notebook.

It stored no output, so nothing is filled in and nothing can be compared. Its text is in none of
the prompt sets; the one text of the restriction maps stands in. Where it took the l-th tensor of a
name as W_V (weights and biases in turn, and for Pythia the fused matrix), the true W_V is taken.

`beyond/bentov`, at /<slug>, flat: `localities`, `entropies` (nats, of the whole map made to sum to
one), `traces_legacy` and `traces_correct` (head-mean map, whole W_V), `L_star_locality` (the
steepest layer), `L_star_half` (n // 2, the notebook's theory), `distance` in layers.
"""

from __future__ import annotations

import numpy as np

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.rmap import prompt
from layerwise.experiments.value_traces import SLICINGS, squared_norms
from layerwise.inputs.published import pointer
from layerwise.measures import sheaf
from layerwise.measures.attention import flattened_entropy, head_mean, locality
from layerwise.statistics import critical_layer

FILES: tuple[str, ...] = ()


def fragments(subject: Subject) -> Fragments:
    """The notebook's series and the layer they turn at, beyond the published files."""
    maps = subject.trace(prompt(subject), attention=True).attention
    means = [head_mean(of) for of in maps]
    masses = np.stack([sheaf.off_diagonal_mass(of) for of in maps])
    localities = np.array([locality(of) for of in means])
    layer, half = critical_layer.steepest(localities), len(means) // 2
    traces = {
        f"traces_{slicing}": sheaf.mean_map_trace(masses, squared_norms(subject, slicing)).tolist()
        for slicing in SLICINGS
    }
    found = {
        "localities": localities.tolist(),
        "entropies": [flattened_entropy(of, normalised=True) for of in means],
        **traces,
        "L_star_locality": layer,
        "L_star_half": half,
        "distance": abs(layer - half),
    }
    return {"beyond/bentov": {pointer(subject.model.slug): found}}
