"""Anisotropy of the token states over the layers (Paper 3, notebook 004)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from layerwise.errors import LayerwiseError
from layerwise.measures.values import ANISOTROPY, Values
from layerwise.statistics import profile

PARAMETERS = ()


def analyse(values: Values) -> dict[str, Any]:
    """Document with the keys of the published anisotropy file, the unsaved measures and spectra.

    Raises:
        LayerwiseError: if no prompts were extracted.
    """
    if not values.anisotropy.shape[1]:
        raise LayerwiseError(
            f"{values.display}: anisotropy is measured on prompts, none were extracted; "
            "extract again with prompts"
        )
    published = {
        name: values.anisotropy[row, : values.n_layers + 1].tolist()
        for row, name in enumerate(ANISOTROPY)
    }
    shape = profile_shape(published["first_pc_share"])
    document = {
        "model": values.model,
        "model_display": values.display,
        "n_layers": values.n_layers,
        "hidden_dim": values.hidden_size,
        "n_prompts": values.n_prompts,
        **shape,
        **summarise(
            published["first_pc_share"],
            published["effective_rank"],
            published["mean_cosine_to_mean"],
        ),
        "spectra": {
            str(layer): values.eigenvalues[layer].tolist()
            for layer in sorted(set(shape["spectrum_layers"]))
        },
    }
    for name in ("eigenvalue_variance", "var_top10", "var_top50"):
        document[name] = published[name]
    return document


def summarise(
    shares: Sequence[float], effective_ranks: Sequence[float], cosines: Sequence[float]
) -> dict[str, Any]:
    """The three published series and the layer of the smallest effective rank."""
    return {
        "intrinsic_dim_ratio": list(shares),
        "effective_rank": list(effective_ranks),
        "avg_cos_sim": list(cosines),
        "effective_rank_min_layer": int(np.argmin(np.asarray(effective_ranks))),
    }


def profile_shape(
    shares: Sequence[float], paper2_layer: int = profile.PAPER2_LAYER
) -> dict[str, Any]:
    """Where the first-PC share of layers 0..n peaks, and its shape around the peak."""
    n_layers = len(shares) - 1
    bell = profile.bell_test(shares)
    return {
        "L_star_anisotropy": bell.l_star,
        "L_star_paper2": int(paper2_layer),
        "is_bell_curve": bell.is_bell_curve,
        "phase1_slope": bell.phase1_slope,
        "phase2_slope": bell.phase2_slope,
        "phase1_r": bell.phase1_r,
        "phase2_r": bell.phase2_r,
        "gap": abs(int(paper2_layer) - bell.l_star),
        "match_verdict": profile.match_verdict(bell.l_star, paper2_layer),
        "share_change": {
            str(layer): float(shares[layer] - shares[layer - 1]) for layer in range(1, len(shares))
        },
        "three_phases": profile.three_phases(bell.l_star, paper2_layer, n_layers),
        "spectrum_layers": profile.spectrum_layers(bell.l_star, n_layers),
    }
