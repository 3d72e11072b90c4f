"""Phases, stars, transitions and labels of every curve, and what Paper 2's text says of them.

A statement is the text in print where its rule holds, and its negation elsewhere.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from layerwise.engine.derivation import (
    Document,
    Function,
    Rule,
    Rules,
    all_of,
    combined,
    count,
    for_each_group,
    words_of,
)
from layerwise.engine.evidence import Entry, Evidence, measured_among
from layerwise.engine.published import pointer
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
    PHASE_SUMMARY,
)
from layerwise.papers.shared.rules.categories import (
    includes_zero,
    n_categories,
    shared_value,
    total_pairs,
)
from layerwise.statistics import curves, phases
from layerwise.statistics.correlation import pearson_p

THREE = (PYTHIA_CURVE, LLAMA_CURVE, APERTUS_CURVE)  # the models said to invert
FOUR = (*THREE, GEMMA_CURVE)
RESAMPLED = (BOOTSTRAP, BINS, PAIRS, LLAMA, APERTUS, GEMMA)  # files that say how often they drew
SIGNIFICANT = 0.05
NEAR_ZERO = 0.1
STARS = {0.001: "***", 0.01: "**", SIGNIFICANT: "*"}

# --- every curve ----------------------------------------------------------------------------------


def some_late(curve: PairCurve) -> bool:
    """Return whether some late layer has an interval below zero."""
    return curve.inverted(curve.phase("late"))


def stars(curve: PairCurve, r: float) -> str:
    """Stars for the two-sided p of r over all pairs.

    Paper 2 never says how it sets its stars; this rule, with a phase mean taken as one r over all
    pairs, gives eleven of the twelve cells of its table of phases.
    """
    return curves.word_below(float(pearson_p(r, curve.n_pairs)), STARS, "(none)")


def stars_at(curve: PairCurve, layer: int) -> str:
    """Return the stars of r at a layer."""
    return stars(curve, curve.tests[layer].r)


def structured_by_layer(curve: PairCurve) -> str:
    """Whether a curve begins above zero on average and some late layer inverts."""
    return "Yes" if all_of([curve.mean("early") > 0, some_late(curve)]) else "No"


def structured_by_signs(curve: PairCurve) -> str:
    """Whether it begins above zero on average and ends below."""
    return "Yes" if all_of([curve.mean("early") > 0, curve.mean("late") < 0]) else "No"


OF_PHASE: Mapping[str, Callable[..., Any]] = {
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
OF_CURVE: Rules = {
    "n_layers": Rule(lambda curve: curve.layers[-1], "the blocks of the model"),
    "late_inversion": Rule(
        lambda curve: phases.late_inversion(curve.mean("late")),
        "whether the late mean is below -0.1",
    ),
    "late_inversion_of_printed": Rule(
        lambda c: phases.late_inversion(c.printed_mean("late")), "the same of the printed late mean"
    ),
    "late_inversion_by_layer": Rule(
        lambda curve: "TRUE" if some_late(curve) else "FALSE",
        "whether some late layer has an interval below zero",
    ),
    "structured": Rule(
        lambda c: phases.structured(c.mean("early"), c.mean("late"), some_late(c)),
        "whether the curve falls from positive to negative",
    ),
    "structured_of_printed": Rule(
        lambda c: phases.structured(c.printed_mean("early"), c.printed_mean("late"), some_late(c)),
        "the same of the printed means",
    ),
    "structured_by_layer": structured_by_layer,
    "structured_by_signs": structured_by_signs,
    "transition": Rule(
        lambda curve: phases.transition(curve.r()), "the layers between which r turns negative"
    ),
    "transition_if_inverted": Rule(
        lambda c: phases.transition(c.r() if some_late(c) else {}),
        "the same, where some late layer inverts",
    ),
    "first_not_positive": Rule(
        lambda curve: phases.first_not_positive(curve.r()),
        "the first layer whose r is not positive",
    ),
    "most_negative_layer": Rule(
        lambda c: f"L{min(c.r(), key=c.r().__getitem__)}", "the layer of the smallest r"
    ),
    "stars_of_layer": Rule(
        lambda curve: {str(n): partial(stars_at, curve, n) for n in curve.layers},
        "stars of r at each layer",
    ),
    "partitions": Rule(
        lambda c: ", ".join(phases.span(c.phase(phase)) for phase in phases.PHASES),
        "the layers of the three phases",
    ),
    **{
        f"{name}/{phase}": partial(rule, phase=phase)
        for name, rule in OF_PHASE.items()
        for phase in phases.PHASES
    },
}

METRICS: Rules = {  # of the one curve that is published of all measures
    "metrics": for_each_group(
        lambda c: {one: replace(c, metric=one) for one in c.source.of(PAIRS).results["0"]},
        combined({phase: partial(PairCurve.mean, phase=phase) for phase in phases.PHASES}),
    )
}

# --- statements on several layers or models -------------------------------------------------------


def statement_on_curve(curve: PairCurve, statement: Function) -> Rule:
    """Return the rule of a statement on one curve."""
    return Rule(lambda e: statement(curve.of(e)), words_of(statement))


def of_four(rule: Callable[[PairCurve], bool]) -> Rule:
    """Return a rule that counts in how many of the four models another one holds."""
    return Rule(lambda e: f"{sum(rule(curve.of(e)) for curve in FOUR)}/{len(FOUR)}", words_of(rule))


def three(e: Evidence) -> list[PairCurve]:
    return [curve.of(e) for curve in THREE]


def drawn_late_means(e: Evidence) -> list[float]:
    """Mean r of the late layers, of those of the four models that were measured."""

    def late(curve: PairCurve) -> float:
        return curve.mean("late")

    return [late(c) for c in measured_among({c.file: c.of(e) for c in FOUR}, late).values()]


def of_three(rule: Callable[[PairCurve], bool], yes: str, no: str) -> Rule:
    """Return a rule that says whether another one holds in the three models."""
    return Rule(lambda e: yes if all_of(map(rule, three(e))) else no, words_of(rule))


def p_bound(e: Entry | Evidence, *r: float) -> str:
    """The smallest customary bound that the p of each of these r over all pairs stays under."""
    largest = max(float(pearson_p(one, total_pairs(e))) for one in r)
    return curves.word_below(largest, {p: f"p < {p}" for p in STARS}, f"p >= {SIGNIFICANT}")


def pattern(tests: Entry, significant: Callable[[Entry], bool]) -> str:
    """Of r over six categories the paper says that there is no significant pattern."""
    layers = [int(layer) for layer, test in tests.items() if significant(test)]
    named = ", ".join(map(str, layers))
    return f"significant at layers {named}" if layers else "no significant pattern"


def category_pattern(e: Evidence) -> str:
    """Their pattern, by intervals that exclude zero."""
    return pattern(e[BOOTSTRAP].layer_results, lambda test: not includes_zero(test))


def category_pattern_of_llama(e: Evidence) -> str:
    """Llama's, by p."""
    return pattern(e[LLAMA].category_level_results, lambda test: test.p_value < SIGNIFICANT)


def category_transition_of_llama(e: Evidence) -> str | None:
    """Where r over Llama's categories changes its sign."""
    tests = e[LLAMA].category_level_results
    return phases.transition({int(layer): test.r for layer, test in tests.items()})


def n_models(e: Evidence) -> int:
    """The models in the consolidated table, base and instruction-tuned as one."""
    rows = [row for row in e[CONSOLIDATED] if "Instruct" not in row.model]
    return count(rows, lambda row: row.r, named=lambda row: row.model)


def lowest_late(curve: PairCurve) -> float:
    """The smallest r of a late layer."""
    return min(curve.r(curve.phase("late")).values())


def p_of_mean(curve: PairCurve, phase: str) -> float:
    """p of a phase mean, taken as one r over all pairs."""
    return float(pearson_p(curve.mean(phase), curve.n_pairs))


def same_models_by_means(e: Evidence) -> bool:
    """Whether the models whose late mean is negative are the three that are said to invert."""
    return [curve for curve in FOUR if curve.of(e).mean("late") < 0] == list(THREE)


def interval_of_late_mean(curve: PairCurve) -> str:
    """Whether Fisher's interval of the late mean, as one r over all pairs, includes zero."""
    interval = phases.fisher_interval(curve.mean("late"), curve.n_pairs)
    return LATE[curves.includes_zero(interval)]


def signs_of_mid(curve: PairCurve) -> str:
    """Whether r is positive at every layer of the middle third of the depth."""
    lowest = min(curve.r(curve.phase_by_depth("mid")).values())
    return "positive mid-layers" if lowest > 0 else "mid-layers of both signs"


def zero_from_last_mid_layer(curve: PairCurve) -> str:
    """Whether every interval from the last layer of that third on includes zero."""
    covered = covers_zero(curve, curve.phase_by_depth("mid")[-1])
    return "all overlap zero" if covered else "not all overlap zero"


def zero_at_last_layer(curve: PairCurve) -> str:
    """Whether that of the last layer does."""
    return f"CI {'overlaps' if covers_zero(curve, curve.layers[-1]) else 'excludes'} zero"


def late_inversion_in_words(curve: PairCurve) -> str:
    """Whether some late layer's r is negative with an interval without zero."""
    return f"{'a' if some_late(curve) else 'no'} significant late-layer inversion"


def intervals_of_table(curve: PairCurve) -> list[list[float]]:
    """The intervals that the consolidated table has, layer by layer."""
    rows = map(curve.row, curve.layers)
    return [[row.ci_lo, row.ci_hi] for row in rows]


def all_inverted(curve: PairCurve, layers: Collection[int]) -> bool:
    """Whether each of the layers has a negative r and an interval that excludes zero."""
    return all_of(curve.inverted([layer]) for layer in layers)


def covers_zero(curve: PairCurve, first: int) -> bool:
    layers = [layer for layer in curve.layers if layer >= first]
    return all_of(map(curves.includes_zero, curve.ends(layers).values()))


def nears_zero(curve: PairCurve, bound: float | None = None) -> bool:
    """Whether the mid mean is below a bound (the early one), or of another sign than that."""
    early, mid, _ = curve.means()
    return early * mid < 0 or abs(mid) < (abs(early) if bound is None else bound)


def like_base(e: Evidence) -> bool:
    """Whether r without the template has the sign of the base model's at every layer."""
    base, bare = LLAMA_CURVE.of(e).r(), WITHOUT.of(e).r()
    return phases.equal_signs(base, bare) == len(bare)


def reversed_layers(e: Evidence) -> int:
    """Layers at which r over Pythia's categories and r over its pairs have opposite signs."""
    over_pairs = PYTHIA_CURVE.of(e).r()
    over_categories = e[BOOTSTRAP].layer_results
    return sum(r * over_categories[layer].r < 0 for layer, r in over_pairs.items())


def negative_layers(curve: PairCurve) -> str:
    """Whether the inversion of a curve is that of one sampled layer."""
    negative = [layer for layer, r in curve.r().items() if r < 0]
    return "a single layer" if len(negative) == 1 else f"{len(negative)} layers"


def negative_at_the_start(e: Evidence) -> str:
    """The models of the four whose r is negative at layer 0, by the folders of their results."""
    return ", ".join(curve.file.split("/")[1] for curve in FOUR if curve.of(e).tests[0].r < 0)


LATE = ("CI excludes zero", "CI includes zero")
MID = ("approaches zero or changes sign", "neither nears zero nor changes sign")


def setting(name: str, *files: str) -> Rule:
    """Return a rule for the value of a setting that all of these files hold."""
    return Rule(
        lambda e: shared_value([e[file][name] for file in files]),
        f"{name}, as all of these files hold it",
    )


STATEMENTS: Rules = {
    "drawn/n_models": Rule(lambda e: len(drawn_late_means(e)), "the measured models"),
    "drawn/n_negative_late": Rule(
        lambda e: sum(mean < 0 for mean in drawn_late_means(e)),
        "the measured models whose late mean is negative",
    ),
    "settings/n_resamples": setting("n_bootstrap", *RESAMPLED),
    "settings/level": Rule(
        lambda e: f"{e[BOOTSTRAP].ci_level:.0%}", "the level of the intervals that the file states"
    ),
    "reversed": Rule(
        lambda e: "some" if reversed_layers(e) else "none", "whether some layer has the other sign"
    ),
    "reversed_layers": reversed_layers,
    "negative_at_the_start": negative_at_the_start,
    "pythia_inversion": statement_on_curve(PYTHIA_CURVE, negative_layers),
    "gemma_step": Rule(
        statement_on_curve(
            GEMMA_CURVE, lambda c: shared_value([int(n) for n in np.diff(c.layers)])
        ),
        "the step between Gemma's sampled layers",
    ),
    "n_pairs": total_pairs,
    "n_categories": n_categories,
    "n_models": n_models,
    "inverted_models": of_four(some_late),
    "inverted_models_by_any": Rule(
        of_four(lambda curve: lowest_late(curve) < 0), "the models in which some late r is negative"
    ),
    "inverted_models_by_printed": Rule(
        of_four(lambda c: c.printed_mean("late") < -phases.BOUND),
        "the models whose printed late mean is below -0.1",
    ),
    "inverted_models_by_bound": Rule(
        of_four(lambda curve: curve.mean("late") < -phases.BOUND),
        "the models whose late mean is below -0.1",
    ),
    "inverted_models_by_sign": Rule(
        of_four(lambda curve: curve.mean("late") < 0), "the models whose late mean is negative"
    ),
    "same_models_by_means": same_models_by_means,
    "late_interval_of_weak_end": statement_on_curve(PYTHIA_CURVE, interval_of_late_mean),
    "late_p": Rule(
        statement_on_curve(PYTHIA_CURVE, lambda c: p_bound(c.source, c.mean("late"))),
        "the bound that the p of Pythia's late mean stays under",
    ),
    "late_p_value": Rule(
        statement_on_curve(PYTHIA_CURVE, lambda c: p_of_mean(c, "late")),
        "p of Pythia's late mean, taken as one r over all pairs",
    ),
    "late_p_of_printed": Rule(
        statement_on_curve(PYTHIA_CURVE, lambda c: p_bound(c.source, c.printed_mean("late"))),
        "the bound that the p of Pythia's printed late mean stays under",
    ),
    "late_p_of_strongest_layers": Rule(
        lambda e: p_bound(e, *map(lowest_late, three(e))),
        "the bound that the p of the smallest late r of each model stays under",
    ),
    "late_interval": of_three(some_late, *LATE),
    "late_interval_of_every_layer": Rule(
        of_three(lambda c: all_inverted(c, c.phase("late")), *LATE),
        "whether every late layer has an interval below zero",
    ),
    "category_pattern": category_pattern,
    "category_pattern_of_llama": category_pattern_of_llama,
    "category_transition_of_llama": category_transition_of_llama,
    "gemma_mid": statement_on_curve(GEMMA_CURVE, signs_of_mid),
    "gemma_from_12": statement_on_curve(GEMMA_CURVE, zero_from_last_mid_layer),
    "gemma_last": statement_on_curve(GEMMA_CURVE, zero_at_last_layer),
    "gemma_late": statement_on_curve(GEMMA_CURVE, late_inversion_in_words),
    "template_uniform": Rule(
        statement_on_curve(
            WITH,
            lambda c: "uniformly negative" if all_inverted(c, c.layers) else "not all negative",
        ),
        "whether every layer inverts under the chat template",
    ),
    "template_layers": Rule(
        statement_on_curve(
            WITH, lambda c: "all layers" if all_inverted(c, c.layers) else "some layers"
        ),
        "at which layers r inverts under the chat template",
    ),
    "like_base": Rule(
        lambda e: "similar to base" if like_base(e) else "unlike base",
        "whether Llama's curve without the template is like the base model's",
    ),
    "mid_transition": of_three(nears_zero, *MID),
    "mid_transition_strict": of_three(partial(nears_zero, bound=NEAR_ZERO), *MID),
    "intervals": Rule(
        statement_on_curve(PYTHIA_CURVE, lambda c: [list(ends) for ends in c.ends().values()]),
        "the intervals of Pythia's curve, layer by layer",
    ),
    "intervals_of_table": statement_on_curve(PYTHIA_CURVE, intervals_of_table),
}
DOCUMENTS = {
    slug: Document(
        curve.of,
        {"": {**OF_CURVE, **(METRICS if curve is PYTHIA_CURVE else {})}},
        {"/late_inversion": (PHASE_SUMMARY, pointer(curve.summary_row, "late_inversion"))},
    )
    for slug, curve in CURVES.items()
} | {"paper": Document(None, {"": STATEMENTS})}
