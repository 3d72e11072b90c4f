"""Statements of Paper 2's text that rest on several layers or models, each by one rule.

Every function gives the text in print where the rule holds, and its negation elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from layerwise.analyses.categories import includes_zero, n_categories, total_pairs
from layerwise.analyses.category_bootstrap import BOOTSTRAP
from layerwise.analyses.cross_model import ends_of, inverted, layers_of, mean, means, r_of
from layerwise.analyses.derivation import Rules
from layerwise.analyses.evidence import Evidence
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
from layerwise.statistics import phases, rules
from layerwise.statistics.correlation import pearson_p

THREE = (PYTHIA_CURVE, LLAMA_CURVE, APERTUS_CURVE)  # the models said to invert
FOUR = (*THREE, GEMMA_CURVE)
SIGNIFICANT = 0.05
NEAR_ZERO = 0.1

OfCurve = Callable[[Evidence, PairCurve], bool]


def printed_mean(e: Evidence, curve: PairCurve, phase: str) -> float:
    """The phase mean that the summary table prints with two decimals."""
    value: float = e[SUMMARY][curve.summary_row][f"{phase}_mean"]
    return value


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


def some_late(e: Evidence, curve: PairCurve) -> bool:
    """Whether some late layer is inverted."""
    return inverted(e, curve, layers_of(e, curve, "late"))


def every_late(e: Evidence, curve: PairCurve) -> bool:
    """Whether every late layer is."""
    return all(inverted(e, curve, [layer]) for layer in layers_of(e, curve, "late"))


def late_below(e: Evidence, curve: PairCurve, bound: float) -> bool:
    """Whether the late mean lies below a bound."""
    return mean(e, curve, "late") < bound


def strongest_late(e: Evidence, curve: PairCurve) -> float:
    """The smallest r of the late layers."""
    return min(r_of(e, curve, layers_of(e, curve, "late")).values())


def of_four(e: Evidence, rule: OfCurve) -> str:
    """In how many of the four models a rule holds."""
    return f"{sum([rule(e, curve) for curve in FOUR])}/{len(FOUR)}"


def excludes(e: Evidence, rule: OfCurve) -> str:
    """Whether the intervals exclude zero in all three models, by a rule."""
    return f"CI {'excludes' if all(rule(e, curve) for curve in THREE) else 'includes'} zero"


def p_of(e: Evidence, *r: float) -> str:
    """The bound of the largest p of these r over all pairs."""
    return phases.p_bound(max(float(pearson_p(one, total_pairs(e))) for one in r))


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
    p = {layer: test.p_value for layer, test in e[LLAMA].category_level_results.items()}
    return pattern([layer for layer, value in p.items() if value < SIGNIFICANT])


def llama_transition(e: Evidence) -> str:
    """Where Llama's r over the categories turns negative."""
    tests = e[LLAMA].category_level_results.items()
    return phases.transition({int(layer): test.r for layer, test in tests})


# --- Gemma: its mid layers, as the paper cuts them, and its intervals from the last of them on ----


def gemma_mid(e: Evidence) -> list[int]:
    """Its mid layers."""
    layers = list(GEMMA_CURVE.tests(e))
    return phases.thirds_of_depth(layers, layers[-1])["mid"]


def mid_signs(e: Evidence) -> str:
    """The signs of r there."""
    positive = all(r > 0 for r in r_of(e, GEMMA_CURVE, gemma_mid(e)).values())
    return "positive mid-layers" if positive else "mid-layers of both signs"


def covers_zero(e: Evidence, layers: Collection[int]) -> bool:
    """Whether all intervals of these layers of Gemma include zero."""
    return all(map(rules.includes_zero, ends_of(e, GEMMA_CURVE, layers).values()))


def from_mid(e: Evidence) -> str:
    """Its intervals from the last mid layer on."""
    layers = [layer for layer in GEMMA_CURVE.tests(e) if layer >= gemma_mid(e)[-1]]
    return "all overlap zero" if covers_zero(e, layers) else "not all overlap zero"


def gemma_last(e: Evidence) -> str:
    """The interval of its last layer."""
    last = max(GEMMA_CURVE.tests(e))
    return f"CI {'overlaps' if covers_zero(e, [last]) else 'excludes'} zero"


def gemma_late(e: Evidence) -> str:
    """Whether a late layer is inverted."""
    return f"{'a' if some_late(e, GEMMA_CURVE) else 'no'} significant late-layer inversion"


# --- the chat template ----------------------------------------------------------------------------


def negative(e: Evidence) -> bool:
    """Whether every layer with the template is inverted."""
    return all(inverted(e, WITH, [layer]) for layer in WITH.tests(e))


def like_base(e: Evidence) -> str:
    """Whether r without the template has the sign of the base model's at every layer."""
    base, bare = (r_of(e, curve) for curve in (LLAMA_CURVE, WITHOUT))
    same = phases.equal_signs(base, bare) == len(bare)
    return "similar to base" if same else "unlike base"


# --- does the mid phase approach zero or change sign? No bound is stated, so two readings ---------


def eases(e: Evidence, curve: PairCurve) -> bool:
    """Whether its mean is nearer to zero than the early one, or of the other sign."""
    early, mid, _ = means(e, curve)
    return abs(mid) < abs(early) or early * mid < 0


def near_zero(e: Evidence, curve: PairCurve) -> bool:
    """Whether its r have both signs, or their mean is near zero."""
    inside = r_of(e, curve, layers_of(e, curve, "mid"))
    both_signs = min(inside.values()) < 0 < max(inside.values())
    return both_signs or abs(mean(e, curve, "mid")) < NEAR_ZERO


def mid_transition(e: Evidence, rule: OfCurve) -> str:
    """The statement, by one of them."""
    if all(rule(e, curve) for curve in THREE):
        return "approaches zero or changes sign"
    return "neither nears zero nor changes sign"


# --- Pythia's intervals, in its file and in the table that the figure is drawn from ---------------


def intervals_of_table(e: Evidence) -> list[list[float]]:
    """Of its rows, two decimals."""
    first, n = PYTHIA_CURVE.first_row, len(PYTHIA_CURVE.tests(e))
    rows = e[CONSOLIDATED][first : first + n]
    return [[row.ci_lo, row.ci_hi] for row in rows]


def labels(e: Evidence) -> list[str]:
    """The labels of the three notebooks."""
    rules_of = (phases.thirds_label, phases.template_label, phases.llama_label)
    return [label(*means(e, PYTHIA_CURVE)) for label in rules_of]


STATEMENTS: Rules = {
    "n_pairs": total_pairs,
    "n_categories": n_categories,
    "n_models": n_models,
    "significance_rate": significance_rate,
    "constant_resamples": constant_resamples,
    "inverted_models": partial(of_four, rule=some_late),
    "inverted_models_by_bound": partial(of_four, rule=partial(late_below, bound=-phases.BOUND)),
    "inverted_models_by_sign": partial(of_four, rule=partial(late_below, bound=0.0)),
    "late_p": lambda e: p_of(e, mean(e, PYTHIA_CURVE, "late")),
    "late_p_of_printed": lambda e: p_of(e, printed_mean(e, PYTHIA_CURVE, "late")),
    "late_p_of_strongest_layers": lambda e: p_of(e, *(strongest_late(e, c) for c in THREE)),
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
    "intervals": lambda e: [list(ends) for ends in ends_of(e, PYTHIA_CURVE).values()],
    "intervals_of_table": intervals_of_table,
    "pythia_labels": labels,
}
