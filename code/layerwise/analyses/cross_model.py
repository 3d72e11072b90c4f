"""The models that Paper 2 compares with Pythia: Llama, Apertus and Gemma."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from layerwise.analyses.documents import (
    Draws,
    Replay,
    asymmetries,
    categories,
    includes_zero,
    n_categories,
    p_value,
    total_pairs,
)
from layerwise.analyses.pair_curves import APERTUS_CURVE, GEMMA_CURVE, LLAMA, LLAMA_CURVE, PairCurve
from layerwise.analyses.validation import PAPER1
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import phases, rules
from layerwise.statistics.correlation import pearson_r

CONTRIBUTIONS = "extended_results/data/contribution_by_category.csv"
REFERENCE = "notebook Llama"  # it typed Pythia's r with two decimals
LAST = 32


def derive(work: Replay, draws: Draws) -> None:
    """p values, flags, phase means, labels; the category-level r of Llama's last layer."""
    for slug, curve in {"apertus-8b": APERTUS_CURVE, "gemma-2b": GEMMA_CURVE}.items():
        work.start(slug, work.published.document(curve.file), {"": (curve.file, "")})
        derive_flags(work, slug, curve)
        _phases(work, slug, curve, phases.thirds_label)
    _llama(work)


def derive_flags(work: Replay, slug: str, curve: PairCurve) -> None:
    """Whether each interval excludes zero."""
    published = work.published

    def significant(layer: int) -> bool:
        return not rules.includes_zero(curve.interval(published, layer))

    for layer in curve.layers(published):
        work.derive(slug, f"{curve.key(layer)}/sig", significant, layer)


def mean(published: Published, curve: PairCurve, phase: str) -> float:
    """Mean r of a phase, with the notebooks' partition."""
    layers = phases.thirds_of_list(curve.layers(published))[phase]
    return phases.phase_mean(curve.r(published, layers), layers)


def means(published: Published, curve: PairCurve) -> list[float]:
    """Early, mid and late mean."""
    return [mean(published, curve, phase) for phase in phases.PHASES]


def _phases(work: Replay, slug: str, curve: PairCurve, label: Callable[..., str]) -> None:
    published = work.published
    for phase in phases.PHASES:
        work.derive(slug, f"/phase_structure/{phase}_mean", mean, published, curve, phase)
    work.derive(slug, "/phase_structure/pattern", lambda: label(*means(published, curve)))


def _llama(work: Replay) -> None:
    slug, curve, published = "llama-3p1-8b", LLAMA_CURVE, work.published
    given = published.document(LLAMA)
    work.start(slug, given, {"": (LLAMA, "")})
    for layer in given["category_level_results"]:
        key = pointer("category_level_results", layer)
        work.derive(slug, f"{key}/p_value", p_value, published, LLAMA, f"{key}/r", n_categories)
    last = pointer("category_level_results", LAST, "r")
    work.derive(slug, last, _r_over_categories, published)

    for layer, found in given["pair_level_results"].items():
        for metric in found:
            key = pointer("pair_level_results", layer, metric)
            work.derive(slug, f"{key}/p_value", p_value, published, LLAMA, f"{key}/r", total_pairs)
            work.derive(slug, f"{key}/includes_zero", includes_zero, published, LLAMA, key)
    _phases(work, slug, curve, phases.llama_label)
    layers = curve.layers(published)

    def same_sign() -> int:
        typed = {
            layer: published.number(REFERENCE, pointer("pythia_reference", layer))
            for layer in layers
        }
        return phases.equal_signs(typed, curve.r(published, layers))

    work.derive(slug, "/pythia_comparison/same_sign_layers", same_sign)
    work.derive(slug, "/pythia_comparison/total_compared", len, layers)


def _r_over_categories(published: Published) -> float:
    """UA of Paper 1's run and the preferences of its follow-up: the same last layer."""
    rows = {
        row["category"]: number
        for number, row in enumerate(published.document(CONTRIBUTIONS))
        if row["model"] == "llama"
    }
    ua = asymmetries(published, PAPER1["llama"])
    preferences = [
        published.number(CONTRIBUTIONS, pointer(rows[category], "preference"))
        for category in categories(published)
    ]
    return pearson_r(np.array(ua), np.array(preferences))
