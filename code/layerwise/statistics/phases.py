"""Phases of a curve of r over layers, and the words that Paper 2 and its notebooks give them."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from layerwise.errors import LayerwiseError
from layerwise.statistics.curves import Curve, fishers_z

PHASES = ("early", "mid", "late")
NO_TRANSITION = "---"
BOUND = 0.1  # how far from zero a phase mean must lie to count in a label

Partition = dict[str, list[int]]


def thirds_of_list(layers: Sequence[int]) -> Partition:
    """Thirds of three or more sampled layers, cut at n div 3 and 2n div 3 (the notebooks)."""
    if len(layers) < len(PHASES):
        raise LayerwiseError(
            f"three phases need at least three sampled layers, found {len(layers)}; sample more"
        )
    first, second = len(layers) // 3, 2 * len(layers) // 3
    parts = (layers[:first], layers[first:second], layers[second:])
    return {phase: list(part) for phase, part in zip(PHASES, parts, strict=True)}


def thirds_of_depth(layers: Sequence[int], n_layers: int) -> Partition:
    """Sampled layers up to one third of the depth, up to two thirds, and the rest."""
    ends = (n_layers / 3, 2 * n_layers / 3, np.inf)
    starts = (-np.inf, *ends[:-1])
    return {
        phase: [layer for layer in layers if start < layer <= end]
        for phase, start, end in zip(PHASES, starts, ends, strict=True)
    }


def span(layers: Sequence[int]) -> str:
    """First and last layer of a phase: [0, 4, 8] -> "0-8"."""
    return f"{layers[0]}-{layers[-1]}"


def phase_mean(curve: Curve, layers: Sequence[int]) -> float:
    return float(np.mean([curve[layer] for layer in layers]))


def transition(curve: Curve) -> str:
    """The first two neighbouring sampled layers between which r turns from positive to negative."""
    for (before, r_before), (after, r_after) in itertools.pairwise(curve.items()):
        if r_before > 0 > r_after:
            return f"L{before}-{after}"
    return NO_TRANSITION


def first_not_positive(curve: Curve) -> str:
    """The first sampled layer whose r is not positive."""
    return next((f"L{layer}" for layer, r in curve.items() if r <= 0), NO_TRANSITION)


def equal_signs(first: Curve, second: Curve) -> int:
    """Layers at which both curves have the same strict sign."""
    return sum(first[layer] * second[layer] > 0 for layer in first)


def structured(early: float, late: float, late_layer_inverted: bool) -> str:
    """Yes where the early mean is positive, the late one negative and a late layer significant."""
    return "Yes" if early > 0 > late and late_layer_inverted else "No"


def late_inversion(late: float) -> str:
    """TRUE where the late mean lies below -0.1, the bound of the notebooks' labels."""
    return "TRUE" if late < -BOUND else "FALSE"


def thirds_label(early: float, mid: float, late: float) -> str:
    """Label of the Gemma and Apertus notebooks."""
    if early > BOUND and late < -BOUND:
        return "PYTHIA_PATTERN: positive early, negative late"
    if late < -BOUND:
        return "LATE_INVERSION"
    return "DECOUPLED" if all(abs(mean) < 0.15 for mean in (early, mid, late)) else "OTHER"


def llama_label(early: float, mid: float, late: float) -> str:
    """Label of the Llama notebook."""
    if late >= 0:
        return "DIFFERENT PATTERN"
    if early > 0 and mid > 0:
        return "MATCHES"
    return "PARTIAL MATCH: positive early, negative late" if early > 0 else "PARTIAL"


def template_label(early: float, mid: float, late: float) -> str:
    """Label of the template notebook."""
    if early > BOUND and mid > BOUND and late < -BOUND:
        return "PYTHIA_PATTERN"
    return "DECOUPLED" if all(abs(mean) < BOUND for mean in (early, mid, late)) else "OTHER"


def fisher_interval(r: float, n: int, quantile: float = 1.959963984540054) -> tuple[float, float]:
    """Interval of r by Fisher's z: tanh(artanh r -+ quantile / sqrt(n - 3)); 95 percent."""
    if n < 4 or not abs(r) < 1:
        raise LayerwiseError(f"Fisher's interval needs n >= 4 and |r| < 1, found n={n}, r={r}")
    z, half = fishers_z(r), quantile / math.sqrt(n - 3)
    return math.tanh(z - half), math.tanh(z + half)
