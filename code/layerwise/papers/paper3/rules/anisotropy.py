"""Anisotropy by layer in Pythia-6.9B (notebook 004) and Gemma-2B (supplement of Paper 3)."""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float32

from layerwise.engine.derivation import Document, Rule, Rules, bind_each, count
from layerwise.engine.evidence import Entry, by_layer
from layerwise.engine.published import PROMPTS
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject
from layerwise.papers.shared.names import SLUG
from layerwise.papers.shared.result_files import (
    ANISOTROPY,
    BOOTSTRAP,
    GEMMA_ANISOTROPY,
    PAIRS,
    TYPED_LAYER,
    own_file,
)
from layerwise.papers.shared.rules import covers_zero
from layerwise.statistics import curves

FILLED = 0.99  # share of the first component above which nothing else is seen
# Ranks and slopes, which float16 moves further than its replicates do (docs/determinism.md).
SHIFTED = ("phase1_slope", "phase1_r", "phase2_slope", "phase2_r", "effective_rank_min_layer")
BELL = ("is_bell_curve", "phase1_slope", "phase1_r", "phase2_slope", "phase2_r")


def filled_by_one_direction(profile: Entry | JsonObject) -> list[int]:
    """Return the layers at which the first component holds nearly all of the variance."""
    return [layer for layer, share in enumerate(profile["intrinsic_dim_ratio"]) if share > FILLED]


def profile_bell(profile: Entry, last: int | None = None) -> curves.BellTest:
    """Return the bell test of the profile, up to a layer."""
    return curves.bell_test(profile.intrinsic_dim_ratio[:last].tolist())


def bell_number(profile: Entry, name: str, last: int | None = None) -> Any:
    """Return one number of the bell test."""
    return getattr(profile_bell(profile, last), name)


def bell_numbers(profile: Entry, last: int) -> dict[str, float | int]:
    """Return the numbers of the bell test, up to a layer."""
    return {name: bell_number(profile, name, last) for name in BELL}


def peak_layer(profile: Entry) -> int:
    """Return the layer of the largest share."""
    return profile_bell(profile).l_star


def n_layers(profile: Entry) -> int:
    """Return the number of blocks; the profile begins before the first one."""
    return count(profile.intrinsic_dim_ratio) - 1


def typed_layer(profile: Entry) -> int:
    """Return the layer of Paper 2 that notebook 004 typed and compares with."""
    return int(profile.of(TYPED_LAYER).PAPER2_L_STAR_ESTIMATE)


def half_layer(profile: Entry) -> int | None:
    """Return the first layer behind the peak whose share is under half of the largest, or None."""
    shares, highest = profile.intrinsic_dim_ratio[:], peak_layer(profile)
    behind = range(highest + 1, len(shares))
    return next((layer for layer in behind if shares[layer] < shares[highest] / 2), None)


def steepest_rise(profile: Entry) -> list[int | float]:
    """Return the layer whose share exceeds that of the layer before it most, and the rise."""
    rises = np.diff(profile.intrinsic_dim_ratio[:])
    steepest = int(np.argmax(rises))
    return [steepest + 1, float(rises[steepest])]


def drawn_layers(profile: Entry) -> Rules:
    """The statement of a figure on a profile."""
    return {
        "drawn/half_layer": partial(half_layer, profile),
        "drawn/steepest_rise": partial(steepest_rise, profile),
    }


def bell_statistics(profile: Entry) -> Rules:
    """The peak of a profile, and the trends on both sides of it."""
    return {
        "n_layers": partial(n_layers, profile),
        "n_prompts": Rule(
            lambda: int(profile.of(PROMPTS).anisotropy.n_prompts), "the prompts that were measured"
        ),
        "L_star_anisotropy": partial(peak_layer, profile),
        **{name: partial(bell_number, profile, name) for name in BELL},
    }


def three_phases(profile: Entry) -> dict[str, str] | None:
    """Return the layers of three phases; None unless L* <= Paper 2's layer <= the last layer."""
    cuts = (0, peak_layer(profile), typed_layer(profile), n_layers(profile))
    if list(cuts) != sorted(cuts):
        return None
    return {f"phase{n}": f"{first}-{last}" for n, (first, last) in enumerate(pairwise(cuts), 1)}


def share_changes(profile: Entry) -> Rules:
    """Return a rule per layer: its share less that of the layer before it."""

    def change(layer: int) -> float:
        """Return the share of a layer less that of the layer before it."""
        return profile.intrinsic_dim_ratio[layer] - profile.intrinsic_dim_ratio[layer - 1]

    layers = range(1, len(profile.intrinsic_dim_ratio))
    return bind_each(change, {str(layer): layer for layer in layers})


def profile_statistics(profile: Entry) -> Rules:
    """The profile beside the layer that notebook 004 typed (summary of the notebook)."""

    def layers_apart() -> int:
        return abs(typed_layer(profile) - peak_layer(profile))

    def match_verdict() -> str:
        """Return the notebook's word for that gap: up to 3 layers excellent, up to 5 good."""
        return curves.word_below(
            layers_apart(), {4: "EXCELLENT MATCH", 6: "GOOD MATCH"}, "DISCREPANCY"
        )

    return {
        **bell_statistics(profile),
        "gap": Rule(layers_apart, "the number of layers between the peak and the layer of Paper 2"),
        "match_verdict": match_verdict,
        "effective_rank_min_layer": Rule(
            lambda: np.argmin(profile.effective_rank), "the layer of the smallest effective rank"
        ),
        "three_phases": partial(three_phases, profile),
        "spectrum_layers": Rule(
            lambda: curves.spectrum_layers(peak_layer(profile), n_layers(profile)),
            "the layers whose spectra the notebook kept",
        ),
        "share_change": partial(share_changes, profile),
    }


def pythia_statistics(profile: Entry) -> Rules:
    """The profile of Pythia-6.9B beside the curves of Paper 2."""

    def inversion_layer() -> int:
        """Return the first tested layer whose r over the pairs is negative."""
        for layer, tests in by_layer(profile.of(PAIRS).results).items():
            if tests.centroid_asymmetry.r < 0:
                return layer
        raise LayerwiseError(f"{PAIRS}: no layer has a negative r, so there is no inversion layer")

    def stable_inversion_layer() -> int | None:
        """Return the first layer whose interval over the categories lies below zero, or None."""
        for layer, test in by_layer(profile.of(BOOTSTRAP).layer_results).items():
            if test.r < 0 and not covers_zero(test):
                return layer
        return None

    return {
        **profile_statistics(profile),
        "L_star_paper2": inversion_layer,
        "gap_of_pairs": Rule(
            lambda: abs(inversion_layer() - peak_layer(profile)),
            "the layers between the sign change of r and the peak",
        ),
        # another reading: the first layer whose r over the categories is stably negative
        "category_inversion": stable_inversion_layer,
        # the last layer stands after the final norm
        "without_last": partial(bell_numbers, profile, last=-1),
        **drawn_layers(profile),
    }


def gemma_statistics(profile: Entry) -> Rules:
    """The profile of Gemma-2B, in single precision as the file's numbers (supplement)."""

    def shares() -> Float32[np.ndarray, " layer"]:
        return profile.intrinsic_dim_ratio[:].astype(np.float32)

    def share_range() -> float:
        """Return the largest less the smallest share, in single precision as the file's numbers."""
        return float(np.ptp(shares()))

    return {
        **bell_statistics(profile),
        "profile_variance": Rule(
            lambda: np.var(shares()), "variance of the profile, in single precision"
        ),
        "profile_range": share_range,
        "max_anisotropy": Rule(
            lambda: np.max(profile.intrinsic_dim_ratio), "the largest share of the first component"
        ),
        "gauge_theory_test/gemma_profile_range": share_range,
        "gauge_theory_test/is_flatter": Rule(
            lambda: share_range() < profile.gauge_theory_test.pythia_profile_range,
            "whether the profile spans less than Pythia's",
        ),
        **drawn_layers(profile),
    }


def own_profile(profile: Entry) -> Rules:
    """The profile of a reader's model, without what compares it with a layer of Pythia-6.9B."""
    compared = ("gap", "match_verdict", "three_phases")
    rules = profile_statistics(profile)
    return {name: rule for name, rule in rules.items() if name not in compared}


DOCUMENTS = {
    SLUG: Document(ANISOTROPY, {"": pythia_statistics}),
    "gemma-2b": Document(GEMMA_ANISOTROPY, {"": gemma_statistics}),
}
READER = Document(own_file("anisotropy"), {"": own_profile})
