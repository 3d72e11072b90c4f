"""Anisotropy by layer in Pythia-6.9B (notebook 004) and Gemma-2B (supplement of Paper 3)."""

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, count
from layerwise.engine.evidence import Entry, by_layer
from layerwise.engine.published import PROMPTS, NotMeasured
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import (
    ANISOTROPY,
    BOOTSTRAP,
    GEMMA_ANISOTROPY,
    PAIRS,
    TYPED_LAYER,
    own_file,
)
from layerwise.papers.shared.rules.categories import includes_zero
from layerwise.statistics import curves

FILLED = 0.99  # share of the first component above which nothing else is seen
BELL = ("is_bell_curve", "phase1_slope", "phase1_r", "phase2_slope", "phase2_r")


def bell(f: Entry, last: int | None = None) -> curves.BellTest:
    """The shape of the profile around its peak, up to a layer."""
    return curves.bell_test(f.intrinsic_dim_ratio[:last].tolist())


def bell_number(f: Entry, name: str, last: int | None = None) -> Any:
    """One number of that shape."""
    return getattr(bell(f, last), name)


def bell_numbers(f: Entry, last: int) -> dict[str, Any]:
    """The shape in numbers, up to a layer."""
    return {name: bell_number(f, name, last) for name in BELL}


def peak(f: Entry) -> int:
    """The layer of the largest share."""
    return bell(f).l_star


def filled_by_one_direction(f: Entry | Mapping[str, Any]) -> list[int]:
    """The layers at which the first component holds nearly all of the variance."""
    return [layer for layer, share in enumerate(f["intrinsic_dim_ratio"]) if share > FILLED]


def n_layers(f: Entry) -> int:
    """Blocks: the profile begins before the first one."""
    return count(f.intrinsic_dim_ratio) - 1


def estimate(f: Entry) -> int:
    """The layer of Paper 2 that notebook 004 compares with; it typed the number."""
    return int(f.of(TYPED_LAYER).PAPER2_L_STAR_ESTIMATE)


def gap(f: Entry) -> int:
    """Layers between the peak and that of Paper 2."""
    return abs(estimate(f) - peak(f))


def match_verdict(f: Entry) -> str:
    """The notebook's word for that gap: up to 3 layers excellent, up to 5 good."""
    return curves.word_below(gap(f), {4: "EXCELLENT MATCH", 6: "GOOD MATCH"}, "DISCREPANCY")


def three_phases(f: Entry) -> dict[str, str] | None:
    """Layer ranges of the three-phase reading; None unless L* <= Paper 2's layer <= last layer."""
    cuts = (0, peak(f), estimate(f), n_layers(f))
    if list(cuts) != sorted(cuts):
        return None
    return {f"phase{n}": f"{a}-{b}" for n, (a, b) in enumerate(pairwise(cuts), 1)}


def inversion_layer(f: Entry) -> int:
    """Paper 2's inversion: the first tested layer whose pair-level r is negative."""
    for layer, of_layer in by_layer(f.of(PAIRS).results).items():
        if of_layer.centroid_asymmetry.r < 0:
            return layer
    raise LayerwiseError(f"{PAIRS}: no layer has a negative r, so there is no inversion layer")


def category_inversion(f: Entry) -> int | None:
    """The first layer whose r over the categories is negative with an interval without zero.

    None where no layer's is.
    """
    for layer, test in by_layer(f.of(BOOTSTRAP).layer_results).items():
        if test.r < 0 and not includes_zero(test):
            return layer
    return None


def changes(f: Entry) -> Rules:
    """Share of a layer less that of the layer before it."""

    def change(layer: int) -> float:
        """Return the share of a layer less that of the layer before it."""
        return f.intrinsic_dim_ratio[layer] - f.intrinsic_dim_ratio[layer - 1]

    return {str(n): partial(change, n) for n in range(1, len(f.intrinsic_dim_ratio))}


def half_layer(f: Entry) -> int | None:
    """The first layer behind the peak whose share is under half of the largest; None: no layer."""
    shares, highest = f.intrinsic_dim_ratio[:], peak(f)
    behind = range(highest + 1, len(shares))
    return next((layer for layer in behind if shares[layer] < shares[highest] / 2), None)


def steepest_rise(f: Entry) -> list[float]:
    """The layer whose share exceeds that of the layer before it most, and by how much."""
    rises = np.diff(f.intrinsic_dim_ratio[:])
    at = int(np.argmax(rises))
    return [at + 1, float(rises[at])]


def spectra_shares(f: Entry) -> dict[str, list[float]]:
    """The eigenvalues kept of each layer, divided by their sum."""
    if "spectra" not in f:
        raise NotMeasured("the notebook plotted its spectra and saved none")
    spectra = {layer: of[:] for layer, of in by_layer(f.spectra).items()}
    return {str(layer): (values / values.sum()).tolist() for layer, values in spectra.items()}


def spread(f: Entry) -> float:
    """Largest less smallest share, in single precision, which Gemma's were computed in."""
    return float(np.ptp(f.intrinsic_dim_ratio[:].astype(np.float32)))


SHAPE: Rules = {
    "n_layers": n_layers,
    "n_prompts": Rule(
        lambda f: int(f.of(PROMPTS).anisotropy.n_prompts), "the prompts that were measured"
    ),
    "L_star_anisotropy": peak,
    **{name: partial(bell_number, name=name) for name in BELL},
}
PROFILE: Rules = {
    **SHAPE,
    "gap": gap,
    "match_verdict": match_verdict,
    "effective_rank_min_layer": Rule(
        lambda f: int(np.argmin(f.effective_rank)), "the layer of the smallest effective rank"
    ),
    "three_phases": three_phases,
    "spectrum_layers": Rule(
        lambda f: curves.spectrum_layers(peak(f), n_layers(f)),
        "the layers whose spectra the notebook kept",
    ),
    "share_change": changes,
}
OF_PAPER_2: Rules = {
    "L_star_paper2": inversion_layer,
    "gap_of_pairs": Rule(
        lambda f: abs(inversion_layer(f) - peak(f)),
        "the layers between the sign change of r and the peak",
    ),
    # another reading: the first layer whose r over the categories is stably negative
    "category_inversion": category_inversion,
    # the last layer stands behind the final norm
    "without_last": partial(bell_numbers, last=-1),
}
OF_GEMMA: Rules = {
    **SHAPE,
    "profile_variance": Rule(
        lambda f: np.var(f.intrinsic_dim_ratio[:].astype(np.float32)),
        "variance of the profile, in single precision",
    ),
    "profile_range": spread,
    "max_anisotropy": Rule(
        lambda f: np.max(f.intrinsic_dim_ratio), "the largest share of the first component"
    ),
    "gauge_theory_test/gemma_profile_range": spread,
    "gauge_theory_test/is_flatter": Rule(
        lambda f: spread(f) < f.gauge_theory_test.pythia_profile_range,
        "whether the profile spans less than Pythia's",
    ),
}
DRAWN: Rules = {
    "drawn/half_layer": half_layer,
    "drawn/steepest_rise": steepest_rise,
    "drawn/spectra": spectra_shares,
}
DOCUMENTS = {
    SLUG: Document(ANISOTROPY, {"": {**PROFILE, **OF_PAPER_2, **DRAWN}}),
    "gemma-2b": Document(GEMMA_ANISOTROPY, {"": {**OF_GEMMA, **DRAWN}}),
}
READER = Document(own_file("anisotropy"), {"": {**PROFILE, "L_star_paper2": estimate}})
