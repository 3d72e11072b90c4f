"""Statements of Paper 2's text that rest on several layers or models, each by one rule.

Every function gives the text in print where the rule holds, and its negation elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from layerwise.analyses.categories import includes_zero, n_categories, total_pairs
from layerwise.analyses.derivation import Rules
from layerwise.analyses.evidence import Evidence
from layerwise.analyses.pair_curves import (
    APERTUS_CURVE,
    GEMMA_CURVE,
    LLAMA_CURVE,
    PYTHIA_CURVE,
    WITH,
    WITHOUT,
    Curve,
)
from layerwise.inputs.result_files import BOOTSTRAP, CONSOLIDATED, LLAMA, PAIRS
from layerwise.statistics import phases, rules
from layerwise.statistics.correlation import pearson_p

THREE = (PYTHIA_CURVE, LLAMA_CURVE, APERTUS_CURVE)  # the models said to invert
FOUR = (*THREE, GEMMA_CURVE)
SIGNIFICANT = 0.05
NEAR_ZERO = 0.1

OfCurve = Callable[[Curve], bool]

# --- counts ---------------------------------------------------------------------------------------


def n_models(e: Evidence) -> int:
    """Models with a curve in the table, base and instruction-tuned as one."""
    with_r = {row.model: row.r for row in e[CONSOLIDATED]}
    return sum("Instruct" not in model for model in with_r)


def significance_rate(e: Evidence) -> float:
    """Percent of Pythia's tests whose interval excludes zero."""
    tests = [test for of_layer in e[PAIRS].results.values() for test in of_layer.values()]
    return 100 * sum(not includes_zero(test) for test in tests) / len(tests)


def constant_resamples(e: Evidence) -> list[int]:
    """Resamples of the categories that draw a single one, by layer."""
    n_series = len(e[BOOTSTRAP].layer_results)
    return phases.constant_resamples(n_categories(e), e.draws.n_resamples, n_series, e.draws.seed)


# --- late inversion over the models ---------------------------------------------------------------


def some_late(curve: Curve) -> bool:
    """Whether some late layer has a negative r and an interval that excludes zero."""
    return curve.inverted(curve.phase("late"))


def every_late(curve: Curve) -> bool:
    """Whether every late layer has."""
    return all(curve.inverted([layer]) for layer in curve.phase("late"))


def late_below(bound: float) -> OfCurve:
    """Whether the late mean lies below a bound."""
    return lambda curve: curve.mean("late") < bound


def of_four(e: Evidence, rule: OfCurve) -> str:
    """In how many of the four models a rule holds."""
    return f"{sum([rule(curve.of(e)) for curve in FOUR])}/{len(FOUR)}"


def of_three(e: Evidence, rule: OfCurve, yes: str, no: str) -> str:
    """Whether a rule holds in the three models, in words."""
    return yes if all(rule(curve.of(e)) for curve in THREE) else no


def p_of(e: Evidence, *r: float) -> str:
    """The bound of the largest p of these r over all pairs."""
    return phases.p_bound(max(float(pearson_p(one, total_pairs(e))) for one in r))


def p_of_strongest(e: Evidence) -> str:
    """The same of the smallest late r of each of the three models."""
    curves = [curve.of(e) for curve in THREE]
    return p_of(e, *(min(curve.r(curve.phase("late")).values()) for curve in curves))


# --- six categories: the paper says no significant pattern ----------------------------------------


def pattern(significant: Collection[str]) -> str:
    """The statement, given the layers with a significant r."""
    layers = [int(layer) for layer in significant]
    return f"significant at {layers}" if layers else "no significant pattern"


def by_interval(e: Evidence) -> str:
    """Pythia, by its intervals."""
    tests = e[BOOTSTRAP].layer_results.items()
    return pattern([layer for layer, test in tests if not includes_zero(test)])


def by_p(e: Evidence) -> str:
    """Llama, by its p values."""
    tests = e[LLAMA].category_level_results.items()
    return pattern([layer for layer, test in tests if test.p_value < SIGNIFICANT])


def llama_transition(e: Evidence) -> str:
    """Where Llama's r over the categories turns negative."""
    tests = e[LLAMA].category_level_results.items()
    return phases.transition({int(layer): test.r for layer, test in tests})


# --- Gemma: its mid layers, as the paper cuts them, and its intervals from the last of them on ----


def mid_signs(e: Evidence) -> str:
    """The signs of r at its mid layers."""
    gemma = GEMMA_CURVE.of(e)
    positive = all(r > 0 for r in gemma.r(gemma.phase_by_depth("mid")).values())
    return "positive mid-layers" if positive else "mid-layers of both signs"


def covers_zero(curve: Curve, layers: Collection[int]) -> bool:
    """Whether all intervals of these layers include zero."""
    return all(map(rules.includes_zero, curve.ends(layers).values()))


def from_mid(e: Evidence) -> str:
    """Its intervals from the last mid layer on."""
    gemma = GEMMA_CURVE.of(e)
    last = gemma.phase_by_depth("mid")[-1]
    covers = covers_zero(gemma, [layer for layer in gemma.layers if layer >= last])
    return "all overlap zero" if covers else "not all overlap zero"


def gemma_last(e: Evidence) -> str:
    """The interval of its last layer."""
    gemma = GEMMA_CURVE.of(e)
    return f"CI {'overlaps' if covers_zero(gemma, gemma.layers[-1:]) else 'excludes'} zero"


def gemma_late(e: Evidence) -> str:
    """Whether a late layer is inverted."""
    return f"{'a' if some_late(GEMMA_CURVE.of(e)) else 'no'} significant late-layer inversion"


# --- the chat template ----------------------------------------------------------------------------


def negative(e: Evidence) -> bool:
    """Whether every layer with the template is inverted."""
    curve = WITH.of(e)
    return all(curve.inverted([layer]) for layer in curve.layers)


def like_base(e: Evidence) -> str:
    """Whether r without the template has the sign of the base model's at every layer."""
    base, bare = LLAMA_CURVE.of(e).r(), WITHOUT.of(e).r()
    return "similar to base" if phases.equal_signs(base, bare) == len(bare) else "unlike base"


# --- does the mid phase approach zero or change sign? No bound is stated, so two readings ---------


def eases(curve: Curve) -> bool:
    """Whether its mean is nearer to zero than the early one, or of the other sign."""
    early, mid, _ = curve.means()
    return abs(mid) < abs(early) or early * mid < 0


def near_zero(curve: Curve) -> bool:
    """Whether its r have both signs, or their mean is near zero."""
    inside = curve.r(curve.phase("mid")).values()
    return min(inside) < 0 < max(inside) or abs(curve.mean("mid")) < NEAR_ZERO


# --- Pythia's intervals, in its file and in the table that the figure is drawn from ---------------


def intervals_of_table(e: Evidence) -> list[list[float]]:
    """Of its rows, two decimals."""
    curve = PYTHIA_CURVE.of(e)
    rows = [curve[layer].row for layer in curve]
    return [[row.ci_lo, row.ci_hi] for row in rows]


def labels(e: Evidence) -> list[str]:
    """The labels of the three notebooks."""
    rules_of = (phases.thirds_label, phases.template_label, phases.llama_label)
    return [label(*PYTHIA_CURVE.of(e).means()) for label in rules_of]


excludes = partial(of_three, yes="CI excludes zero", no="CI includes zero")
mid_transition = partial(
    of_three, yes="approaches zero or changes sign", no="neither nears zero nor changes sign"
)
STATEMENTS: Rules = {
    "n_pairs": total_pairs,
    "n_categories": n_categories,
    "n_models": n_models,
    "significance_rate": significance_rate,
    "constant_resamples": constant_resamples,
    "inverted_models": partial(of_four, rule=some_late),
    "inverted_models_by_bound": partial(of_four, rule=late_below(-phases.BOUND)),
    "inverted_models_by_sign": partial(of_four, rule=late_below(0.0)),
    "late_p": lambda e: p_of(e, PYTHIA_CURVE.of(e).mean("late")),
    "late_p_of_printed": lambda e: p_of(e, PYTHIA_CURVE.of(e).printed_mean("late")),
    "late_p_of_strongest_layers": p_of_strongest,
    "late_interval": partial(excludes, rule=some_late),
    "late_interval_of_every_layer": partial(excludes, rule=every_late),
    "category_pattern": by_interval,
    "category_pattern_of_llama": by_p,
    "category_transition_of_llama": llama_transition,
    "gemma_mid": mid_signs,
    "gemma_from_12": from_mid,
    "gemma_last": gemma_last,
    "gemma_late": gemma_late,
    "template_uniform": lambda e: "uniformly negative" if negative(e) else "not all negative",
    "template_layers": lambda e: "all layers" if negative(e) else "some layers",
    "like_base": like_base,
    "mid_transition": partial(mid_transition, rule=eases),
    "mid_transition_strict": partial(mid_transition, rule=near_zero),
    "intervals": lambda e: [list(ends) for ends in PYTHIA_CURVE.of(e).ends().values()],
    "intervals_of_table": intervals_of_table,
    "pythia_labels": labels,
}
