"""The anisotropy profile of Pythia-6.9B (notebook 004)."""

from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from layerwise.analyses.categories import SLUG, includes_zero
from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Entry
from layerwise.errors import LayerwiseError
from layerwise.inputs.result_files import ANISOTROPY, BOOTSTRAP, PAIRS, PROMPTS
from layerwise.statistics import curves

BELL = ("is_bell_curve", "phase1_slope", "phase1_r", "phase2_slope", "phase2_r")


def bell(f: Entry) -> curves.BellTest:
    """The shape of the profile around its peak, the layer of the largest share."""
    return curves.bell_test(f.intrinsic_dim_ratio[:].tolist())


def peak(f: Entry) -> int:
    """The layer of the largest share."""
    return bell(f).l_star


def without_last(f: Entry) -> dict[str, Any]:
    """The same without the last layer, which stands behind the final norm."""
    found = curves.bell_test(f.intrinsic_dim_ratio[:-1].tolist())
    return {name: getattr(found, name) for name in BELL}


def n_layers(f: Entry) -> int:
    """Blocks: the profile begins before the first one."""
    return len(f.intrinsic_dim_ratio) - 1


def estimate(f: Entry) -> int:
    """The layer of Paper 2 that notebook 004 compares with; it typed the number."""
    return int(f.of("notebook 004").PAPER2_L_STAR_ESTIMATE)


def inversion_layer(f: Entry) -> int:
    """Paper 2's inversion: the first tested layer whose pair-level r is negative.

    Raises:
        LayerwiseError: if no r is negative.
    """
    results = f.of(PAIRS).results
    for layer in sorted(map(int, results)):
        if results[layer].centroid_asymmetry.r < 0:
            return layer
    raise LayerwiseError(f"{PAIRS}: no layer has a negative r, so there is no inversion layer")


def category_inversion(f: Entry) -> int | None:
    """Another reading: the first layer whose r over the categories is stably negative."""
    results = f.of(BOOTSTRAP).layer_results
    for layer in sorted(map(int, results)):
        if results[layer].r < 0 and not includes_zero(results[layer]):
            return layer
    return None


def change(f: Entry, layer: int, decimals: int | None = None) -> float:
    """Share of a layer less that of the layer before it; of rounded shares, where decimals are."""
    after, before = f.intrinsic_dim_ratio[layer], f.intrinsic_dim_ratio[layer - 1]
    return after - before if decimals is None else round(after, decimals) - round(before, decimals)


def changes(f: Entry, decimals: int | None = None) -> Rules:
    """The change of every layer."""
    layers = range(1, len(f.intrinsic_dim_ratio))
    return {str(layer): partial(change, f, layer, decimals) for layer in layers}


SHAPE = {
    "n_layers": n_layers,
    "L_star_anisotropy": peak,
} | {name: lambda f, of=attrgetter(name): of(bell(f)) for name in BELL}
PROFILE: Rules = {
    **SHAPE,
    "n_prompts": lambda f: int(f.of(PROMPTS).anisotropy.n_prompts),
    "gap": lambda f: abs(estimate(f) - peak(f)),
    "match_verdict": lambda f: curves.match_verdict(peak(f), estimate(f)),
    "effective_rank_min_layer": lambda f: int(np.argmin(f.effective_rank)),
    "three_phases": lambda f: curves.three_phases(peak(f), estimate(f), n_layers(f)),
    "spectrum_layers": lambda f: curves.spectrum_layers(peak(f), n_layers(f)),
    "share_change": changes,
}
OF_PAPER_2: Rules = {
    "L_star_paper2": inversion_layer,
    "category_inversion": category_inversion,
    "without_last": without_last,
    "rounded_share_change": partial(changes, decimals=3),
}
DOCUMENTS = {SLUG: Document(ANISOTROPY, {"": {**PROFILE, **OF_PAPER_2}})}
READER = Document(ANISOTROPY, {"": {**PROFILE, "L_star_paper2": estimate}})
