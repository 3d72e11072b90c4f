"""Statements of Paper 2's text that rest on several layers or models, each by one rule.

Every function gives the text in print where the rule holds, and its negation elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layerwise.analyses.category_bootstrap import BOOTSTRAP
from layerwise.analyses.cross_model import mean, means
from layerwise.analyses.documents import Draws, Replay, interval, n_categories, total_pairs
from layerwise.analyses.once_measured import once_measured
from layerwise.analyses.pair_curves import (
    APERTUS_CURVE,
    CONSOLIDATED,
    GEMMA_CURVE,
    LLAMA,
    LLAMA_CURVE,
    PYTHIA_CURVE,
    SUMMARY,
    WITH,
    WITHOUT,
    PairCurve,
)
from layerwise.analyses.pairs import PAIRS
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import phases, rules
from layerwise.statistics.correlation import pearson_p

THREE = (PYTHIA_CURVE, LLAMA_CURVE, APERTUS_CURVE)  # the models said to invert
FOUR = (*THREE, GEMMA_CURVE)
SIGNIFICANT = 0.05
NEAR_ZERO = 0.1


def derive_statements(work: Replay, document: str, draws: Draws) -> None:
    """Counts, ranges and yes-no statements of abstract, results, discussion and conclusion."""
    published = work.published
    groups = (_counts, _inversions, _category_level, _gemma, _template, _mid_phase, _pythia)
    for group in groups:
        for name, compute in group(published).items():
            work.derive(document, pointer(name), compute)
    n_series = len(published.document(BOOTSTRAP)["layer_results"])
    work.derive(
        document,
        "/constant_resamples",
        lambda: phases.constant_resamples(
            n_categories(published), draws.n_resamples, n_series, draws.seed
        ),
    )


def _late(published: Published, curve: PairCurve) -> list[int]:
    return phases.thirds_of_list(curve.layers(published))["late"]


def _of_four(count: int) -> str:
    return f"{count}/{len(FOUR)}"


def _counts(published: Published) -> dict[str, Callable[[], Any]]:
    rows = range(len(published.document(CONSOLIDATED)))
    given = published.document(PAIRS)

    def correlations() -> list[float]:
        return [published.number(CONSOLIDATED, pointer(row, "r")) for row in rows]

    def models() -> int:
        names = {str(published[CONSOLIDATED, pointer(row, "model")]) for row in rows}
        count = len({name for name in names if "Instruct" not in name})
        return once_measured(published, correlations, count)

    def significance_rate() -> float:
        tests = [
            interval(published, PAIRS, pointer("results", layer, metric))
            for layer in given["results"]
            for metric in given["results"][layer]
        ]
        return 100 * sum(not rules.includes_zero(ends) for ends in tests) / len(tests)

    return {
        "n_pairs": lambda: total_pairs(published),
        "n_categories": lambda: n_categories(published),
        "n_models": models,
        "significance_rate": significance_rate,
    }


def _inversions(published: Published) -> dict[str, Callable[[], Any]]:
    """Late inversion over the models, its p and its intervals."""

    def p_of(r: float) -> float:
        return float(pearson_p(r, total_pairs(published)))

    def strongest() -> float:
        return max(
            p_of(min(curve.r(published, _late(published, curve)).values())) for curve in THREE
        )

    def some(curve: PairCurve) -> bool:
        return curve.inverted(published, _late(published, curve))

    def every(curve: PairCurve) -> bool:
        return all(curve.inverted(published, [layer]) for layer in _late(published, curve))

    def below(bound: float) -> int:
        return sum(mean(published, curve, "late") < bound for curve in FOUR)

    def printed_late() -> float:
        return published.number(SUMMARY, pointer(PYTHIA_CURVE.summary_row, "late_mean"))

    def excludes(rule: Callable[[PairCurve], bool]) -> str:
        return f"CI {'excludes' if all(rule(curve) for curve in THREE) else 'includes'} zero"

    def no_inversion() -> str:
        found = "a" if some(GEMMA_CURVE) else "no"
        return f"{found} significant late-layer inversion"

    return {
        "inverted_models": lambda: _of_four(sum(some(curve) for curve in FOUR)),
        "inverted_models_by_bound": lambda: _of_four(below(-phases.BOUND)),
        "inverted_models_by_sign": lambda: _of_four(below(0.0)),
        "late_p": lambda: phases.p_bound(p_of(mean(published, PYTHIA_CURVE, "late"))),
        "late_p_of_printed": lambda: phases.p_bound(p_of(printed_late())),
        "late_p_of_strongest_layers": lambda: phases.p_bound(strongest()),
        "late_interval": lambda: excludes(some),
        "late_interval_of_every_layer": lambda: excludes(every),
        "gemma_late": no_inversion,
    }


def _category_level(published: Published) -> dict[str, Callable[[], Any]]:
    """What the six-category correlations show: the paper says no significant pattern."""
    layers = {
        file: [int(layer) for layer in published.document(file)[group]]
        for file, group in ((BOOTSTRAP, "layer_results"), (LLAMA, "category_level_results"))
    }

    def pattern(significant: list[int]) -> str:
        return f"significant at {significant}" if significant else "no significant pattern"

    def by_interval() -> str:
        keys = {layer: pointer("layer_results", layer) for layer in layers[BOOTSTRAP]}
        return pattern(
            [
                layer
                for layer, key in keys.items()
                if not rules.includes_zero(interval(published, BOOTSTRAP, key))
            ]
        )

    def by_p() -> str:
        p = {
            layer: published.number(LLAMA, pointer("category_level_results", layer, "p_value"))
            for layer in layers[LLAMA]
        }
        return pattern([layer for layer, value in p.items() if value < SIGNIFICANT])

    def llama_transition() -> str:
        return phases.transition(
            {
                layer: published.number(LLAMA, pointer("category_level_results", layer, "r"))
                for layer in layers[LLAMA]
            }
        )

    return {
        "category_pattern": by_interval,
        "category_pattern_of_llama": by_p,
        "category_transition_of_llama": llama_transition,
    }


def _gemma(published: Published) -> dict[str, Callable[[], Any]]:
    """Gemma's mid layers, as the paper cuts them, and its intervals from the last of them on."""
    layers = GEMMA_CURVE.layers(published)
    mid = phases.thirds_of_depth(layers, layers[-1])["mid"]

    def covers(wanted: list[int]) -> bool:
        intervals = GEMMA_CURVE.intervals(published, wanted)
        return all(rules.includes_zero(ends) for ends in intervals.values())

    def mid_signs() -> str:
        positive = all(r > 0 for r in GEMMA_CURVE.r(published, mid).values())
        return "positive mid-layers" if positive else "mid-layers of both signs"

    def from_mid() -> str:
        wanted = [layer for layer in layers if layer >= mid[-1]]
        return "all overlap zero" if covers(wanted) else "not all overlap zero"

    return {
        "gemma_mid": mid_signs,
        "gemma_from_12": from_mid,
        "gemma_last": lambda: f"CI {'overlaps' if covers(layers[-1:]) else 'excludes'} zero",
    }


def _template(published: Published) -> dict[str, Callable[[], Any]]:
    layers = WITH.layers(published)

    def negative() -> bool:
        return all(WITH.inverted(published, [layer]) for layer in layers)

    def like_base() -> str:
        base, bare = (curve.r(published, layers) for curve in (LLAMA_CURVE, WITHOUT))
        same = phases.equal_signs(base, bare) == len(layers)
        return "similar to base" if same else "unlike base"

    return {
        "template_uniform": lambda: "uniformly negative" if negative() else "not all negative",
        "template_layers": lambda: "all layers" if negative() else "some layers",
        "like_base": like_base,
    }


def _mid_phase(published: Published) -> dict[str, Callable[[], Any]]:
    """Does the mid phase approach zero or change sign? No bound is stated, so two readings."""

    def eases(curve: PairCurve) -> bool:
        early, mid, _ = means(published, curve)
        return abs(mid) < abs(early) or early * mid < 0

    def near_zero(curve: PairCurve) -> bool:
        part = phases.thirds_of_list(curve.layers(published))["mid"]
        inside = curve.r(published, part)
        both_signs = min(inside.values()) < 0 < max(inside.values())
        return both_signs or abs(phases.phase_mean(inside, part)) < NEAR_ZERO

    def holds(rule: Callable[[PairCurve], bool]) -> str:
        if all(rule(curve) for curve in THREE):
            return "approaches zero or changes sign"
        return "neither nears zero nor changes sign"

    return {
        "mid_transition": lambda: holds(eases),
        "mid_transition_strict": lambda: holds(near_zero),
    }


def _pythia(published: Published) -> dict[str, Callable[[], Any]]:
    """Pythia's intervals, in its file and in the table that the figure is drawn from; its label."""
    layers = PYTHIA_CURVE.layers(published)
    rows = range(PYTHIA_CURVE.first_row, PYTHIA_CURVE.first_row + len(layers))
    labels = (phases.thirds_label, phases.template_label, phases.llama_label)

    def of_table() -> list[list[float]]:
        return [
            [published.number(CONSOLIDATED, pointer(row, end)) for end in ("ci_lo", "ci_hi")]
            for row in rows
        ]

    return {
        "intervals": lambda: [
            list(ends) for ends in PYTHIA_CURVE.intervals(published, layers).values()
        ],
        "intervals_of_table": of_table,
        "pythia_labels": lambda: [rule(*means(published, PYTHIA_CURVE)) for rule in labels],
    }
