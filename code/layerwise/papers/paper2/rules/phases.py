"""Phases, stars, transitions and labels of every curve, and what Paper 2's text says of them.

A statement is the text in print where its rule holds, and its negation elsewhere.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

import numpy as np

from layerwise.engine.derivation import NOWHERE, Document, Rule, Rules, all_of, bind_each, count
from layerwise.engine.evidence import Entry, Evidence, measured_among
from layerwise.papers.paper2.rules.pairs import (
    APERTUS_CURVE,
    GEMMA_CURVE,
    LLAMA_CURVE,
    PYTHIA_CURVE,
    WITH,
    WITHOUT,
    PairCurve,
    read_curve,
)
from layerwise.papers.shared.result_files import (
    APERTUS,
    BINS,
    BOOTSTRAP,
    CONSOLIDATED,
    CURVES,
    GEMMA,
    LLAMA,
    PAIRS,
)
from layerwise.papers.shared.rules import (
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
LATE = ("CI excludes zero", "CI includes zero")
MID = "approaches zero or changes sign"

# --- every curve ----------------------------------------------------------------------------------


def has_late_inversion(curve: PairCurve) -> bool:
    """Return whether some late layer has an interval below zero."""
    return curve.inverted(curve.phase("late"))


def curve_statistics(curve: PairCurve) -> Rules:
    """Phases and labels of one curve (tables of phases and transitions)."""

    def begins_above_and(ends_below: Callable[[], bool]) -> str:
        return "Yes" if all_of([curve.mean("early") > 0, ends_below()]) else "No"

    def spans() -> str:
        return ", ".join(phases.span(curve.phase(phase)) for phase in phases.PHASES)

    def is_structured(mean: Callable[[str], float]) -> str:
        return phases.structured(mean("early"), mean("late"), has_late_inversion(curve))

    statistics: Rules = {
        "n_layers": Rule(lambda: curve.layers[-1], "the blocks of the model"),
        "late_inversion": Rule(
            lambda: phases.late_inversion(curve.mean("late")), "whether the late mean is below -0.1"
        ),
        "late_inversion_of_printed": Rule(
            lambda: phases.late_inversion(curve.printed_mean("late")),
            "whether the printed late mean is below -0.1",
        ),
        "late_inversion_by_layer": Rule(
            lambda: "TRUE" if has_late_inversion(curve) else "FALSE",
            "whether some late layer has an interval below zero",
        ),
        "structured": Rule(
            lambda: is_structured(curve.mean), "whether the curve falls from positive to negative"
        ),
        "structured_of_printed": Rule(
            lambda: is_structured(curve.printed_mean),
            "whether the curve falls from positive to negative, by the printed means",
        ),
        "structured_by_layer": Rule(
            lambda: begins_above_and(partial(has_late_inversion, curve)),
            "whether a curve begins above zero on average and some late layer inverts",
        ),
        "structured_by_signs": Rule(
            lambda: begins_above_and(lambda: curve.mean("late") < 0),
            "whether a curve begins above zero on average and ends below it",
        ),
        "transition": Rule(
            lambda: phases.transition(curve.r()), "the layers between which r turns negative"
        ),
        "transition_if_inverted": Rule(
            lambda: phases.transition(curve.r() if has_late_inversion(curve) else {}),
            "the layers between which r turns negative, where some late layer inverts",
        ),
        "first_not_positive": Rule(
            lambda: phases.first_not_positive(curve.r()), "the first layer whose r is not positive"
        ),
        "most_negative_layer": Rule(
            lambda: f"L{min(curve.r(), key=curve.r().__getitem__)}", "the layer of the smallest r"
        ),
        "stars_of_layer": Rule(
            lambda: bind_each(
                lambda layer: stars(curve, curve.tests[layer].r),
                {str(layer): layer for layer in curve.layers},
            ),
            "stars of r at each layer",
        ),
        "partitions": Rule(spans, "the layers of the three phases"),
    }
    by_phase = {phase: phase_statistics(curve, phase) for phase in phases.PHASES}
    names = by_phase[phases.PHASES[0]]
    return {
        **statistics,
        **{f"{name}/{phase}": by_phase[phase][name] for name in names for phase in phases.PHASES},
        **(density_means(curve) if curve.model == PYTHIA_CURVE else {}),
    }


def stars(curve: PairCurve, r: float) -> str:
    """Return stars for the two-sided p of r over all pairs.

    Paper 2 never says how it sets its stars; this rule, with a phase mean taken as one r over all
    pairs, gives eleven of the twelve cells of its table of phases.
    """
    return curves.word_below(float(pearson_p(r, curve.n_pairs)), STARS, NO_STARS)


def phase_statistics(curve: PairCurve, phase: str) -> Rules:
    """Layers, mean and stars of one phase of a curve."""
    return {
        "partition": Rule(
            lambda: phases.span(curve.phase(phase)),
            "the layers of the phase, by thirds of the list",
        ),
        "partition_by_depth": Rule(
            lambda: phases.span(curve.phase_by_depth(phase)),
            "the layers of the phase, by thirds of the depth",
        ),
        "means": Rule(lambda: curve.mean(phase), "mean r of the phase"),
        "means_by_depth": Rule(
            lambda: curve.mean(phase, by_depth=True),
            "mean r of the phase, by thirds of the depth",
        ),
        "stars": Rule(
            lambda: stars(curve, curve.mean(phase)),
            "stars of the phase mean, taken as one r over all pairs",
        ),
        "stars_of_last_layer": Rule(
            lambda: stars(curve, curve.tests[curve.phase(phase)[-1]].r),
            "stars of r at the phase's last layer",
        ),
        "stars_of_printed": Rule(
            lambda: stars(curve, curve.printed_mean(phase)), "stars of the printed phase mean"
        ),
    }


def density_means(curve: PairCurve) -> Rules:
    """The phase means of the one curve whose published file has several measures."""
    by_density = replace(curve, place=replace(curve.place, metric=DENSITY))
    return {
        f"metrics/{DENSITY}/{phase}": Rule(
            partial(by_density.mean, phase),
            "the mean r of a phase, with the kNN density measure in place of the centroids",
        )
        for phase in phases.PHASES
    }


# --- statements on several layers or models -------------------------------------------------------


def extent_statements(evidence: Evidence) -> Rules:
    """What was drawn, sampled and counted, and where curves begin (methods, table 1)."""
    pythia, gemma = read_curve(PYTHIA_CURVE, evidence), read_curve(GEMMA_CURVE, evidence)
    four = [read_curve(model, evidence) for model in FOUR]

    def measured_late_means() -> list[float]:
        measured = measured_among(
            {curve.model: curve for curve in four}, lambda curve: curve.mean("late")
        )
        return [curve.mean("late") for curve in measured.values()]

    def reversed_layers() -> int:
        over_categories = evidence[BOOTSTRAP].layer_results
        return sum(r * over_categories[layer].r < 0 for layer, r in pythia.r().items())

    def count_negative_layers() -> str:
        negative = [layer for layer, r in pythia.r().items() if r < 0]
        return "a single layer" if len(negative) == 1 else f"{len(negative)} layers"

    def models_in_table() -> int:
        rows = [row for row in evidence[CONSOLIDATED] if "Instruct" not in row.model]
        return count(rows, lambda row: row.r, named=lambda row: row.model)

    return {
        "drawn/n_models": Rule(lambda: len(measured_late_means()), "the measured models"),
        "drawn/n_negative_late": Rule(
            lambda: sum(mean < 0 for mean in measured_late_means()),
            "the measured models whose late mean is negative",
        ),
        "settings/n_resamples": Rule(
            lambda: shared_value([evidence[file].n_bootstrap for file in RESAMPLED]),
            "n_bootstrap, as all of these files hold it",
        ),
        "settings/level": Rule(
            lambda: f"{evidence[BOOTSTRAP].ci_level:.0%}",
            "the level of the intervals that the file states",
        ),
        "reversed": Rule(
            lambda: "some" if reversed_layers() else "none",
            "whether some layer has the other sign",
        ),
        "reversed_layers": Rule(
            reversed_layers,
            "the number of layers at which r over categories and over pairs differ in sign",
        ),
        "negative_at_the_start": Rule(
            lambda: ", ".join(
                curve.place.file.split("/")[1] for curve in four if curve.tests[0].r < 0
            ),
            "the folders of the four models whose r is negative at layer 0",
        ),
        "pythia_inversion": Rule(
            count_negative_layers,
            "whether r is negative at a single sampled layer or at several",
        ),
        "gemma_step": Rule(
            lambda: shared_value([int(step) for step in np.diff(gemma.layers)]),
            "the step between Gemma's sampled layers",
        ),
        "n_pairs": Rule(lambda: total_pairs(evidence), "the number of statement pairs"),
        "n_categories": Rule(
            lambda: n_categories(evidence), "the number of categories of the statement pairs"
        ),
        "n_models": Rule(
            models_in_table,
            "the number of models of the consolidated table, base and instruction-tuned as one",
        ),
    }


def late_statements(evidence: Evidence) -> Rules:
    """Late layers correlate negatively (abstract, table 2)."""
    three, four = ([read_curve(model, evidence) for model in models] for models in (THREE, FOUR))
    pythia = three[0]

    def of_four(holds: Callable[[PairCurve], bool], says: str) -> Rule:
        return Rule(lambda: f"{sum(map(holds, four))}/{len(four)}", f"the models {says}")

    def of_three(holds: Callable[[PairCurve], bool], says: str) -> Rule:
        return Rule(lambda: LATE[0] if all_of(map(holds, three)) else LATE[1], says)

    def lowest_late(curve: PairCurve) -> float:
        return min(curve.r(curve.phase("late")).values())

    def p_bound(*r: float) -> str:
        """Return the smallest customary bound above the p of each of these r over all pairs."""
        largest = max(float(pearson_p(value, pythia.n_pairs)) for value in r)
        return curves.word_below(largest, {p: f"p < {p}" for p in STARS}, f"p >= {SIGNIFICANT}")

    def interval_of_mean() -> str:
        interval = phases.fisher_interval(pythia.mean("late"), pythia.n_pairs)
        return LATE[curves.includes_zero(interval)]

    return {
        "inverted_models": of_four(
            has_late_inversion, "in which some late layer has an interval below zero"
        ),
        "inverted_models_by_any": of_four(
            lambda curve: lowest_late(curve) < 0, "in which some late r is negative"
        ),
        "inverted_models_by_printed": of_four(
            lambda curve: curve.printed_mean("late") < -phases.BOUND,
            "whose printed late mean is below -0.1",
        ),
        "inverted_models_by_bound": of_four(
            lambda curve: curve.mean("late") < -phases.BOUND, "whose late mean is below -0.1"
        ),
        "inverted_models_by_sign": of_four(
            lambda curve: curve.mean("late") < 0, "whose late mean is negative"
        ),
        "late_interval_of_weak_end": Rule(
            interval_of_mean,
            "whether Fisher's interval of the late mean, as one r over all pairs, includes zero",
        ),
        "late_p": Rule(
            lambda: p_bound(pythia.mean("late")),
            "the bound that the p of Pythia's late mean stays under",
        ),
        "late_p_value": Rule(
            lambda: float(pearson_p(pythia.mean("late"), pythia.n_pairs)),
            "p of Pythia's late mean, taken as one r over all pairs",
        ),
        "late_p_of_printed": Rule(
            lambda: p_bound(pythia.printed_mean("late")),
            "the bound that the p of Pythia's printed late mean stays under",
        ),
        "late_p_of_strongest_layers": Rule(
            lambda: p_bound(*map(lowest_late, three)),
            "the bound that the p of the smallest late r of each model stays under",
        ),
        "late_interval": of_three(
            has_late_inversion, "whether some late layer has an interval below zero"
        ),
        "late_interval_of_every_layer": of_three(
            lambda curve: all_inverted(curve, curve.phase("late")),
            "whether every late layer has an interval below zero",
        ),
    }


def all_inverted(curve: PairCurve, layers: Collection[int]) -> bool:
    """Return whether each of the layers has a negative r and an interval that excludes zero."""
    return all_of(curve.inverted([layer]) for layer in layers)


def category_statements(evidence: Evidence) -> Rules:
    """Over the categories nothing is significant (section on the categories)."""

    def significant_layers(tests: Entry, significant: Callable[[Entry], bool]) -> str:
        """Return the layers with a significant test, or the paper's `no significant pattern`."""
        layers = [int(layer) for layer, test in tests.items() if significant(test)]
        names = ", ".join(map(str, layers))
        return f"significant at layers {names}" if layers else "no significant pattern"

    def llama_tests() -> Entry:
        return evidence[LLAMA].category_level_results

    return {
        "category_pattern": Rule(
            lambda: significant_layers(
                evidence[BOOTSTRAP].layer_results, lambda test: not includes_zero(test)
            ),
            "the layers of Pythia whose interval over the categories excludes zero",
        ),
        "category_pattern_of_llama": Rule(
            lambda: significant_layers(llama_tests(), lambda test: test.p_value < SIGNIFICANT),
            "the layers of Llama whose r over the categories has p < 0.05",
        ),
        "category_transition_of_llama": Rule(
            lambda: phases.transition({int(n): test.r for n, test in llama_tests().items()}),
            "the layers between which r over Llama's categories turns negative",
        ),
    }


def exception_statements(evidence: Evidence) -> Rules:
    """Gemma, the exception, and what the chat template does to Llama (key observations)."""
    gemma, templated = read_curve(GEMMA_CURVE, evidence), read_curve(WITH, evidence)
    three = [read_curve(model, evidence) for model in THREE]

    def gemma_covers_zero(first: int) -> bool:
        """Return whether every interval from a layer on includes zero."""
        layers = [layer for layer in gemma.layers if layer >= first]
        return all_of(map(curves.includes_zero, gemma.ends(layers).values()))

    def mid_signs() -> str:
        lowest = min(gemma.r(gemma.phase_by_depth("mid")).values())
        return "positive mid-layers" if lowest > 0 else "mid-layers of both signs"

    def zero_from_last_mid_layer() -> str:
        covered = gemma_covers_zero(gemma.phase_by_depth("mid")[-1])
        return "all overlap zero" if covered else "not all overlap zero"

    def is_like_base() -> bool:
        base, bare = (read_curve(model, evidence).r() for model in (LLAMA_CURVE, WITHOUT))
        return phases.equal_signs(base, bare) == len(bare)

    def mid_transitions(bound: float | None = None) -> str:
        """Say how many |mid means| are below a bound, by default |early mean|, or change sign."""
        n = 0
        for curve in three:
            early, mid, _ = curve.means()
            n += early * mid < 0 or abs(mid) < (abs(early) if bound is None else bound)
        return MID if n == len(three) else f"{MID} in {n} of {len(three)} models"

    return {
        "gemma_mid": Rule(
            mid_signs, "whether r is positive at every layer of the middle third of the depth"
        ),
        "gemma_from_12": Rule(
            zero_from_last_mid_layer,
            "whether every interval from the last layer of the middle third on includes zero",
        ),
        "gemma_last": Rule(
            lambda: f"CI {'overlaps' if gemma_covers_zero(gemma.layers[-1]) else 'excludes'} zero",
            "whether the interval of the last layer includes zero",
        ),
        "gemma_late": Rule(
            lambda: (
                f"{'a' if has_late_inversion(gemma) else 'no'} significant late-layer inversion"
            ),
            "whether some late layer's r is negative with an interval that excludes zero",
        ),
        "template_uniform": Rule(
            lambda: (
                "uniformly negative"
                if all_inverted(templated, templated.layers)
                else "not all negative"
            ),
            "whether every layer inverts under the chat template",
        ),
        "template_layers": Rule(
            lambda: "all layers" if all_inverted(templated, templated.layers) else "some layers",
            "at which layers r inverts under the chat template",
        ),
        "like_base": Rule(
            lambda: "similar to base" if is_like_base() else "unlike base",
            "whether Llama's curve without the template is like the base model's",
        ),
        "mid_transition": Rule(
            mid_transitions,
            "whether the mid phases of the three models near zero or change sign, or how many do",
        ),
        "mid_transition_strict": Rule(
            lambda: mid_transitions(NEAR_ZERO),
            "whether the mid means of the three models are below 0.1 or change sign, or how many",
        ),
    }


def interval_statements(evidence: Evidence) -> Rules:
    """The intervals of Pythia's curve, in its file and in the consolidated table."""
    pythia = read_curve(PYTHIA_CURVE, evidence)
    return {
        "intervals": Rule(
            lambda: [list(ends) for ends in pythia.ends().values()],
            "the intervals of Pythia's curve, layer by layer",
        ),
        "intervals_of_table": Rule(
            lambda: [[row.ci_lo, row.ci_hi] for row in map(pythia.row, pythia.layers)],
            "the intervals of the consolidated table, layer by layer",
        ),
        "significant_layers": Rule(
            lambda: [n for n, ends in pythia.ends().items() if not curves.includes_zero(ends)],
            "the layers whose interval excludes zero",
        ),
        "significant_layers_of_table": Rule(
            lambda: [n for n in pythia.layers if pythia.row(n).significant == "TRUE"],
            "the layers that the consolidated table calls significant",
        ),
    }


def paper_statements(evidence: Evidence) -> Rules:
    """What the text says of several layers or models."""
    return {
        **extent_statements(evidence),
        **late_statements(evidence),
        **category_statements(evidence),
        **exception_statements(evidence),
        **interval_statements(evidence),
    }


DOCUMENTS = {
    model: Document(partial(read_curve, model), {"": curve_statistics}, NOWHERE) for model in CURVES
} | {"paper": Document(None, {"": paper_statements})}
