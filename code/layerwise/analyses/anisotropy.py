"""Anisotropy profiles: Pythia-6.9B (notebook 004) and Gemma-2B (supplement of Paper 3)."""

from functools import partial
from itertools import pairwise
from operator import attrgetter

import numpy as np

from layerwise.analyses.categories import includes_zero
from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Entry, by_layer
from layerwise.errors import LayerwiseError
from layerwise.places.models import SLUG
from layerwise.places.result_files import (
    ANISOTROPY,
    BOOTSTRAP,
    GEMMA_ANISOTROPY,
    PAIRS,
    PROMPTS,
    TYPED_LAYER,
)
from layerwise.statistics import curves

BELL = ("is_bell_curve", "phase1_slope", "phase1_r", "phase2_slope", "phase2_r")


def bell(f: Entry, last: int | None = None) -> curves.BellTest:
    """The shape of the profile around its peak, up to a layer."""
    return curves.bell_test(f.intrinsic_dim_ratio[:last].tolist())


def peak(f: Entry) -> int:
    """The layer of the largest share."""
    return bell(f).l_star


def n_layers(f: Entry) -> int:
    """Blocks: the profile begins before the first one."""
    return len(f.intrinsic_dim_ratio) - 1


def estimate(f: Entry) -> int:
    """The layer of Paper 2 that notebook 004 compares with; it typed the number."""
    return int(f.of(TYPED_LAYER).PAPER2_L_STAR_ESTIMATE)


def gap(f: Entry) -> int:
    """Layers between the peak and that of Paper 2."""
    return abs(estimate(f) - peak(f))


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


def changes(f: Entry, decimals: int | None = None) -> Rules:
    """Share of a layer less that of the layer before it; of rounded shares, where decimals are."""

    def change(layer: int) -> float:
        shares = f.intrinsic_dim_ratio[layer], f.intrinsic_dim_ratio[layer - 1]
        after, before = shares if decimals is None else (round(one, decimals) for one in shares)
        return after - before

    return {str(n): partial(change, n) for n in range(1, len(f.intrinsic_dim_ratio))}


def spread(f: Entry) -> float:
    """Largest less smallest share, in single precision, which Gemma's were computed in."""
    return float(np.ptp(f.intrinsic_dim_ratio[:].astype(np.float32)))


SHAPE = {
    "n_layers": n_layers,
    "n_prompts": lambda f: int(f.of(PROMPTS).anisotropy.n_prompts),
    "L_star_anisotropy": peak,
} | {name: lambda f, of=attrgetter(name): of(bell(f)) for name in BELL}
PROFILE: Rules = {
    **SHAPE,
    "gap": gap,
    # up to 3 layers excellent, up to 5 good
    "match_verdict": lambda f: curves.under(
        gap(f), {4: "EXCELLENT MATCH", 6: "GOOD MATCH"}, "DISCREPANCY"
    ),
    "effective_rank_min_layer": lambda f: int(np.argmin(f.effective_rank)),
    "three_phases": three_phases,
    "spectrum_layers": lambda f: curves.spectrum_layers(peak(f), n_layers(f)),
    "share_change": changes,
}
OF_PAPER_2: Rules = {
    "L_star_paper2": inversion_layer,
    "gap_of_pairs": lambda f: abs(inversion_layer(f) - peak(f)),
    # another reading: the first layer whose r over the categories is stably negative
    "category_inversion": lambda f: next(
        (
            layer
            for layer, test in by_layer(f.of(BOOTSTRAP).layer_results).items()
            if test.r < 0 and not includes_zero(test)
        ),
        None,
    ),
    # the last layer stands behind the final norm
    "without_last": lambda f: {name: getattr(bell(f, -1), name) for name in BELL},
    "rounded_share_change": partial(changes, decimals=3),
}
OF_GEMMA: Rules = {
    **SHAPE,
    "profile_variance": lambda f: np.var(f.intrinsic_dim_ratio[:].astype(np.float32)),
    "profile_range": spread,
    "flatter_pct": lambda f: 100 * (1 - spread(f) / spread(f.of(ANISOTROPY))),
    "max_anisotropy": lambda f: np.max(f.intrinsic_dim_ratio),
    "gauge_theory_test/gemma_profile_range": spread,
    "gauge_theory_test/is_flatter": lambda f: spread(f) < f.gauge_theory_test.pythia_profile_range,
}
DOCUMENTS = {
    SLUG: Document(ANISOTROPY, {"": {**PROFILE, **OF_PAPER_2}}),
    "gemma-2b": Document(GEMMA_ANISOTROPY, {"": OF_GEMMA}),
}
READER = Document(ANISOTROPY, {"": {**PROFILE, "L_star_paper2": estimate}})
