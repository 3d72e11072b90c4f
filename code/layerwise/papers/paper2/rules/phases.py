"""Phases, stars, transitions and labels of every curve, and what Paper 2's text says of them.

A statement is the text in print where its rule holds, and its negation elsewhere.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from layerwise.engine.derivation import (
    NOWHERE,
    Document,
    Function,
    Rule,
    Rules,
    all_of,
    count,
    words_of,
)
from layerwise.engine.evidence import Entry, Evidence, measured_among
from layerwise.papers.paper2.rules.pair_curves import (
    APERTUS_CURVE,
    CURVES,
    GEMMA_CURVE,
    LLAMA_CURVE,
    PYTHIA_CURVE,
    WITH,
    WITHOUT,
    PairCurve,
)
from layerwise.papers.shared.names.result_files import (
    APERTUS,
    BINS,
    BOOTSTRAP,
    CONSOLIDATED,
    GEMMA,
    LLAMA,
    PAIRS,
)
from layerwise.papers.shared.rules.categories import (
    includes_zero,
    n_categories,
    shared_value,
    total_pairs,
)
from layerwise.papers.shared.terms import NO_STARS, STARS
from layerwise.statistics import curves, phases
from layerwise.statistics.correlation import pearson_p

THREE = (PYTHIA_CURVE, LLAMA_CURVE, APERTUS_CURVE)  # the models said to invert
FOUR = (*THREE, GEMMA_CURVE)
RESAMPLED = (BOOTSTRAP, BINS, PAIRS, LLAMA, APERTUS, GEMMA)  # files that say how often they drew
SIGNIFICANT = 0.05
NEAR_ZERO = 0.1
DENSITY = "knn_density_asymmetry"

# --- every curve ----------------------------------------------------------------------------------


def has_late_inversion(curve: PairCurve) -> bool:
    """Return whether some late layer has an interval below zero."""
    return curve.inverted(curve.phase("late"))


def stars(curve: PairCurve, r: float) -> str:
    """Return stars for the two-sided p of r over all pairs.

    Paper 2 never says how it sets its stars; this rule, with a phase mean taken as one r over all
    pairs, gives eleven of the twelve cells of its table of phases.
    """
    return curves.word_below(float(pearson_p(r, curve.n_pairs)), STARS, NO_STARS)


def stars_at(curve: PairCurve, layer: int) -> str:
    """Return the stars of r at a layer."""
    return stars(curve, curve.tests[layer].r)


def structured_by_layer(curve: PairCurve) -> str:
    """Say whether a curve begins above zero on average and some late layer inverts."""
    return "Yes" if all_of([curve.mean("early") > 0, has_late_inversion(curve)]) else "No"


def structured_by_signs(curve: PairCurve) -> str:
    """Say whether a curve begins above zero on average and ends below it."""
    return "Yes" if all_of([curve.mean("early") > 0, curve.mean("late") < 0]) else "No"


PHASE_RULES: Mapping[str, Callable[..., Any]] = {
    "partition": Rule(
        lambda curve, phase: phases.span(curve.phase(phase)),
        "the layers of the phase, by thirds of the list",
    ),
    "partition_by_depth": Rule(
        lambda curve, phase: phases.span(curve.phase_by_depth(phase)),
        "the layers of the phase, by thirds of the depth",
    ),
    "means": Rule(lambda curve, phase: curve.mean(phase), "mean r of the phase"),
    "means_by_depth": Rule(
        lambda curve, phase: curve.mean(phase, by_depth=True),
        "mean r of the phase, by thirds of the depth",
    ),
    "stars": Rule(
        lambda curve, phase: stars(curve, curve.mean(phase)),
        "stars of the phase mean, taken as one r over all pairs",
    ),
    "stars_of_last_layer": Rule(
        lambda curve, phase: stars_at(curve, curve.phase(phase)[-1]),
        "stars of r at the phase's last layer",
    ),
    "stars_of_printed": Rule(
        lambda curve, phase: stars(curve, curve.printed_mean(phase)),
        "stars of the printed phase mean",
    ),
}
CURVE_RULES: Rules = {
    "n_layers": Rule(lambda curve: curve.layers[-1], "the blocks of the model"),
    "late_inversion": Rule(
        lambda curve: phases.late_inversion(curve.mean("late")),
        "whether the late mean is below -0.1",
    ),
    "late_inversion_of_printed": Rule(
        lambda curve: phases.late_inversion(curve.printed_mean("late")),
        "whether the printed late mean is below -0.1",
    ),
    "late_inversion_by_layer": Rule(
        lambda curve: "TRUE" if has_late_inversion(curve) else "FALSE",
        "whether some late layer has an interval below zero",
    ),
    "structured": Rule(
        lambda curve: phases.structured(
            curve.mean("early"), curve.mean("late"), has_late_inversion(curve)
        ),
        "whether the curve falls from positive to negative",
    ),
    "structured_of_printed": Rule(
        lambda curve: phases.structured(
            curve.printed_mean("early"), curve.printed_mean("late"), has_late_inversion(curve)
        ),
        "whether the curve falls from positive to negative, by the printed means",
    ),
    "structured_by_layer": structured_by_layer,
    "structured_by_signs": structured_by_signs,
    "transition": Rule(
        lambda curve: phases.transition(curve.r()), "the layers between which r turns negative"
    ),
    "transition_if_inverted": Rule(
        lambda curve: phases.transition(curve.r() if has_late_inversion(curve) else {}),
        "the layers between which r turns negative, where some late layer inverts",
    ),
    "first_not_positive": Rule(
        lambda curve: phases.first_not_positive(curve.r()),
        "the first layer whose r is not positive",
    ),
    "most_negative_layer": Rule(
        lambda curve: f"L{min(curve.r(), key=curve.r().__getitem__)}", "the layer of the smallest r"
    ),
    "stars_of_layer": Rule(
        lambda curve: {str(n): partial(stars_at, curve, n) for n in curve.layers},
        "stars of r at each layer",
    ),
    "partitions": Rule(
        lambda curve: ", ".join(phases.span(curve.phase(phase)) for phase in phases.PHASES),
        "the layers of the three phases",
    ),
    **{
        f"{name}/{phase}": partial(rule, phase=phase)
        for name, rule in PHASE_RULES.items()
        for phase in phases.PHASES
    },
}


def mean_of_density(curve: PairCurve, phase: str) -> float:
    """Return the mean r of a phase, with the kNN density measure in place of the centroids."""
    return replace(curve, metric=DENSITY).mean(phase)


DENSITY_RULES: Rules = {  # only one published file has several measures
    f"metrics/{DENSITY}/{phase}": partial(mean_of_density, phase=phase) for phase in phases.PHASES
}

# --- statements on several layers or models -------------------------------------------------------


def statement_on_curve(curve: PairCurve, statement: Function) -> Rule:
    """Return the rule of a statement on one curve."""
    return Rule(lambda evidence: statement(curve.of(evidence)), words_of(statement))


def count_of_four(rule: Callable[[PairCurve], bool]) -> Rule:
    """Return a rule that counts in how many of the four models another one holds."""
    return Rule(
        lambda evidence: f"{sum(rule(curve.of(evidence)) for curve in FOUR)}/{len(FOUR)}",
        words_of(rule),
    )


def inverting_curves(evidence: Evidence) -> list[PairCurve]:
    """Return the curves of the three models that are said to invert."""
    return [curve.of(evidence) for curve in THREE]


def drawn_late_means(evidence: Evidence) -> list[float]:
    """Return the mean r of the late layers, for those of the four models that were measured."""

    def late_mean(curve: PairCurve) -> float:
        return curve.mean("late")

    return [
        late_mean(curve)
        for curve in measured_among(
            {curve.file: curve.of(evidence) for curve in FOUR}, late_mean
        ).values()
    ]


def statement_on_three(rule: Callable[[PairCurve], bool], yes: str, no: str) -> Rule:
    """Return a rule that says whether another one holds in the three models."""
    return Rule(
        lambda evidence: yes if all_of(map(rule, inverting_curves(evidence))) else no,
        words_of(rule),
    )


def p_bound(source: Entry | Evidence, *r: float) -> str:
    """Return the smallest customary bound above the p of each of these r over all pairs."""
    largest = max(float(pearson_p(value, total_pairs(source))) for value in r)
    return curves.word_below(largest, {p: f"p < {p}" for p in STARS}, f"p >= {SIGNIFICANT}")


def significant_layers(tests: Entry, significant: Callable[[Entry], bool]) -> str:
    """Return the layers with a significant test, or the paper's `no significant pattern`."""
    layers = [int(layer) for layer, test in tests.items() if significant(test)]
    names = ", ".join(map(str, layers))
    return f"significant at layers {names}" if layers else "no significant pattern"


def category_pattern(evidence: Evidence) -> str:
    """Return the layers of Pythia whose interval over the categories excludes zero."""
    return significant_layers(
        evidence[BOOTSTRAP].layer_results, lambda test: not includes_zero(test)
    )


def category_pattern_of_llama(evidence: Evidence) -> str:
    """Return the layers of Llama whose r over the categories has p < 0.05."""
    return significant_layers(
        evidence[LLAMA].category_level_results, lambda test: test.p_value < SIGNIFICANT
    )


def category_transition_of_llama(evidence: Evidence) -> str | None:
    """Return the layers between which r over Llama's categories turns negative."""
    tests = evidence[LLAMA].category_level_results
    return phases.transition({int(layer): test.r for layer, test in tests.items()})


def n_models(evidence: Evidence) -> int:
    """Return the number of models of the consolidated table, base and instruction-tuned as one."""
    rows = [row for row in evidence[CONSOLIDATED] if "Instruct" not in row.model]
    return count(rows, lambda row: row.r, named=lambda row: row.model)


def lowest_late(curve: PairCurve) -> float:
    """Return the smallest r of a late layer."""
    return min(curve.r(curve.phase("late")).values())


def p_of_mean(curve: PairCurve, phase: str) -> float:
    """Return p of a phase mean, taken as one r over all pairs."""
    return float(pearson_p(curve.mean(phase), curve.n_pairs))


def interval_of_late_mean(curve: PairCurve) -> str:
    """Say whether Fisher's interval of the late mean, as one r over all pairs, includes zero."""
    interval = phases.fisher_interval(curve.mean("late"), curve.n_pairs)
    return LATE[curves.includes_zero(interval)]


def mid_signs(curve: PairCurve) -> str:
    """Say whether r is positive at every layer of the middle third of the depth."""
    lowest = min(curve.r(curve.phase_by_depth("mid")).values())
    return "positive mid-layers" if lowest > 0 else "mid-layers of both signs"


def zero_from_last_mid_layer(curve: PairCurve) -> str:
    """Say whether every interval from the last layer of the middle third on includes zero."""
    covered = all_cover_zero(curve, curve.phase_by_depth("mid")[-1])
    return "all overlap zero" if covered else "not all overlap zero"


def zero_at_last_layer(curve: PairCurve) -> str:
    """Say whether the interval of the last layer includes zero."""
    return f"CI {'overlaps' if all_cover_zero(curve, curve.layers[-1]) else 'excludes'} zero"


def late_inversion_text(curve: PairCurve) -> str:
    """Say whether some late layer's r is negative with an interval that excludes zero."""
    return f"{'a' if has_late_inversion(curve) else 'no'} significant late-layer inversion"


def table_intervals(curve: PairCurve) -> list[list[float]]:
    """Return the intervals of the consolidated table, layer by layer."""
    rows = map(curve.row, curve.layers)
    return [[row.ci_lo, row.ci_hi] for row in rows]


def all_inverted(curve: PairCurve, layers: Collection[int]) -> bool:
    """Return whether each of the layers has a negative r and an interval that excludes zero."""
    return all_of(curve.inverted([layer]) for layer in layers)


def all_cover_zero(curve: PairCurve, first: int) -> bool:
    """Return whether every interval from a layer on includes zero."""
    layers = [layer for layer in curve.layers if layer >= first]
    return all_of(map(curves.includes_zero, curve.ends(layers).values()))


def mid_nears_zero(curve: PairCurve, bound: float | None = None) -> bool:
    """Return whether |mid mean| is below a bound, by default |early mean|, or its sign another."""
    early, mid, _ = curve.means()
    return early * mid < 0 or abs(mid) < (abs(early) if bound is None else bound)


def is_like_base(evidence: Evidence) -> bool:
    """Return whether r without the template has the base model's sign at every layer."""
    base, bare = LLAMA_CURVE.of(evidence).r(), WITHOUT.of(evidence).r()
    return phases.equal_signs(base, bare) == len(bare)


def reversed_layers(evidence: Evidence) -> int:
    """Return the number of layers at which r over categories and over pairs differ in sign."""
    over_pairs = PYTHIA_CURVE.of(evidence).r()
    over_categories = evidence[BOOTSTRAP].layer_results
    return sum(r * over_categories[layer].r < 0 for layer, r in over_pairs.items())


def count_negative_layers(curve: PairCurve) -> str:
    """Say whether r is negative at a single sampled layer or at several."""
    negative = [layer for layer, r in curve.r().items() if r < 0]
    return "a single layer" if len(negative) == 1 else f"{len(negative)} layers"


def models_negative_at_start(evidence: Evidence) -> str:
    """Name the folders of the four models whose r is negative at layer 0."""
    return ", ".join(
        curve.file.split("/")[1] for curve in FOUR if curve.of(evidence).tests[0].r < 0
    )


def mid_transitions(evidence: Evidence, bound: float | None = None) -> str:
    """Say whether the mid phases of the three models near zero or change sign, or how many do."""
    n = sum(mid_nears_zero(curve, bound) for curve in inverting_curves(evidence))
    return MID if n == len(THREE) else f"{MID} in {n} of {len(THREE)} models"


def layers_without_zero(curve: PairCurve) -> list[int]:
    """Return the layers whose interval excludes zero."""
    return [layer for layer, ends in curve.ends().items() if not curves.includes_zero(ends)]


def starred_in_table(curve: PairCurve) -> list[int]:
    """Return the layers that the consolidated table calls significant."""
    return [layer for layer in curve.layers if curve.row(layer).significant == "TRUE"]


LATE = ("CI excludes zero", "CI includes zero")
MID = "approaches zero or changes sign"


def setting_rule(name: str, *files: str) -> Rule:
    """Return a rule for the value of a setting that all of these files hold."""
    return Rule(
        lambda evidence: shared_value([evidence[file][name] for file in files]),
        f"{name}, as all of these files hold it",
    )


STATEMENTS: Rules = {
    "drawn/n_models": Rule(lambda evidence: len(drawn_late_means(evidence)), "the measured models"),
    "drawn/n_negative_late": Rule(
        lambda evidence: sum(mean < 0 for mean in drawn_late_means(evidence)),
        "the measured models whose late mean is negative",
    ),
    "settings/n_resamples": setting_rule("n_bootstrap", *RESAMPLED),
    "settings/level": Rule(
        lambda evidence: f"{evidence[BOOTSTRAP].ci_level:.0%}",
        "the level of the intervals that the file states",
    ),
    "reversed": Rule(
        lambda evidence: "some" if reversed_layers(evidence) else "none",
        "whether some layer has the other sign",
    ),
    "reversed_layers": reversed_layers,
    "negative_at_the_start": models_negative_at_start,
    "pythia_inversion": statement_on_curve(PYTHIA_CURVE, count_negative_layers),
    "gemma_step": Rule(
        statement_on_curve(
            GEMMA_CURVE, lambda curve: shared_value([int(n) for n in np.diff(curve.layers)])
        ),
        "the step between Gemma's sampled layers",
    ),
    "n_pairs": total_pairs,
    "n_categories": n_categories,
    "n_models": n_models,
    "inverted_models": Rule(
        count_of_four(has_late_inversion),
        "the models in which some late layer has an interval below zero",
    ),
    "inverted_models_by_any": Rule(
        count_of_four(lambda curve: lowest_late(curve) < 0),
        "the models in which some late r is negative",
    ),
    "inverted_models_by_printed": Rule(
        count_of_four(lambda curve: curve.printed_mean("late") < -phases.BOUND),
        "the models whose printed late mean is below -0.1",
    ),
    "inverted_models_by_bound": Rule(
        count_of_four(lambda curve: curve.mean("late") < -phases.BOUND),
        "the models whose late mean is below -0.1",
    ),
    "inverted_models_by_sign": Rule(
        count_of_four(lambda curve: curve.mean("late") < 0),
        "the models whose late mean is negative",
    ),
    "late_interval_of_weak_end": statement_on_curve(PYTHIA_CURVE, interval_of_late_mean),
    "late_p": Rule(
        statement_on_curve(PYTHIA_CURVE, lambda curve: p_bound(curve.source, curve.mean("late"))),
        "the bound that the p of Pythia's late mean stays under",
    ),
    "late_p_value": Rule(
        statement_on_curve(PYTHIA_CURVE, lambda curve: p_of_mean(curve, "late")),
        "p of Pythia's late mean, taken as one r over all pairs",
    ),
    "late_p_of_printed": Rule(
        statement_on_curve(
            PYTHIA_CURVE, lambda curve: p_bound(curve.source, curve.printed_mean("late"))
        ),
        "the bound that the p of Pythia's printed late mean stays under",
    ),
    "late_p_of_strongest_layers": Rule(
        lambda evidence: p_bound(evidence, *map(lowest_late, inverting_curves(evidence))),
        "the bound that the p of the smallest late r of each model stays under",
    ),
    "late_interval": statement_on_three(has_late_inversion, *LATE),
    "late_interval_of_every_layer": Rule(
        statement_on_three(lambda curve: all_inverted(curve, curve.phase("late")), *LATE),
        "whether every late layer has an interval below zero",
    ),
    "category_pattern": category_pattern,
    "category_pattern_of_llama": category_pattern_of_llama,
    "category_transition_of_llama": category_transition_of_llama,
    "gemma_mid": statement_on_curve(GEMMA_CURVE, mid_signs),
    "gemma_from_12": statement_on_curve(GEMMA_CURVE, zero_from_last_mid_layer),
    "gemma_last": statement_on_curve(GEMMA_CURVE, zero_at_last_layer),
    "gemma_late": statement_on_curve(GEMMA_CURVE, late_inversion_text),
    "template_uniform": Rule(
        statement_on_curve(
            WITH,
            lambda curve: (
                "uniformly negative" if all_inverted(curve, curve.layers) else "not all negative"
            ),
        ),
        "whether every layer inverts under the chat template",
    ),
    "template_layers": Rule(
        statement_on_curve(
            WITH, lambda curve: "all layers" if all_inverted(curve, curve.layers) else "some layers"
        ),
        "at which layers r inverts under the chat template",
    ),
    "like_base": Rule(
        lambda evidence: "similar to base" if is_like_base(evidence) else "unlike base",
        "whether Llama's curve without the template is like the base model's",
    ),
    "mid_transition": mid_transitions,
    "mid_transition_strict": partial(mid_transitions, bound=NEAR_ZERO),
    "intervals": Rule(
        statement_on_curve(
            PYTHIA_CURVE, lambda curve: [list(ends) for ends in curve.ends().values()]
        ),
        "the intervals of Pythia's curve, layer by layer",
    ),
    "intervals_of_table": statement_on_curve(PYTHIA_CURVE, table_intervals),
    "significant_layers": statement_on_curve(PYTHIA_CURVE, layers_without_zero),
    "significant_layers_of_table": statement_on_curve(PYTHIA_CURVE, starred_in_table),
}
DOCUMENTS = {
    slug: Document(
        curve.of,
        {"": {**CURVE_RULES, **(DENSITY_RULES if curve is PYTHIA_CURVE else {})}},
        NOWHERE,
    )
    for slug, curve in CURVES.items()
} | {"paper": Document(None, {"": STATEMENTS})}
