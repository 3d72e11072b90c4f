"""Phases, stars, transitions and labels of every curve, and what Paper 2's text says of them.

A statement is the text in print where its rule holds, and its negation elsewhere.
"""

from collections.abc import Callable, Collection, Iterable
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
    covers_zero,
    join_sections,
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


def inversion_statistics(curve: PairCurve) -> Rules:
    """The words for a late inversion of a curve, by several meanings (tables of phases)."""

    def begins_above_and(ends_below: Callable[[], bool]) -> str:
        return "Yes" if all_of([curve.mean("early") > 0, ends_below()]) else "No"

    def is_structured(mean: Callable[[str], float]) -> str:
        return phases.structured(mean("early"), mean("late"), has_late_inversion(curve))

    return {
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
    }


def layer_statistics(curve: PairCurve) -> Rules:
    """The layers at which a curve turns, and the stars of each (tables of transitions)."""

    def spans() -> str:
        return ", ".join(phases.span(curve.phase(phase)) for phase in phases.PHASES)

    return {
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


def curve_statistics(curve: PairCurve) -> Rules:
    """Phases and labels of one curve (tables of phases and transitions)."""
    by_phase = {phase: phase_statistics(curve, phase) for phase in phases.PHASES}
    names = by_phase[phases.PHASES[0]]
    return {
        "n_layers": Rule(lambda: curve.layers[-1], "the blocks of the model"),
        **inversion_statistics(curve),
        **layer_statistics(curve),
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


def read_curves(evidence: Evidence, models: Iterable[str]) -> list[PairCurve]:
    """Return the curves of several models."""
    return [read_curve(model, evidence) for model in models]


def measured_statements(evidence: Evidence) -> Rules:
    """The models of the figure of all curves."""
    four = read_curves(evidence, FOUR)

    def measured_late_means() -> list[float]:
        measured = measured_among(
            {curve.model: curve for curve in four}, lambda curve: curve.mean("late")
        )
        return [curve.mean("late") for curve in measured.values()]

    return {
        "drawn/n_models": Rule(lambda: len(measured_late_means()), "the measured models"),
        "drawn/n_negative_late": Rule(
            lambda: sum(mean < 0 for mean in measured_late_means()),
            "the measured models whose late mean is negative",
        ),
    }


def interval_settings(evidence: Evidence) -> Rules:
    """The settings of the intervals."""
    return {
        "settings/n_resamples": Rule(
            lambda: shared_value([evidence[file].n_bootstrap for file in RESAMPLED]),
            "n_bootstrap, as all of these files hold it",
        ),
        "settings/level": Rule(
            lambda: f"{evidence[BOOTSTRAP].ci_level:.0%}",
            "the level of the intervals that the file states",
        ),
    }


def sign_statements(evidence: Evidence) -> Rules:
    """The signs of r: of Pythia by layer, and of all models at layer 0."""
    pythia, four = read_curve(PYTHIA_CURVE, evidence), read_curves(evidence, FOUR)

    def reversed_layers() -> int:
        """Return the number of layers at which r over categories and over pairs differ in sign."""
        over_categories = evidence[BOOTSTRAP].layer_results
        return sum(r * over_categories[layer].r < 0 for layer, r in pythia.r().items())

    def count_negative_layers() -> str:
        """Say whether r is negative at a single sampled layer or at several."""
        negative = [layer for layer, r in pythia.r().items() if r < 0]
        return "a single layer" if len(negative) == 1 else f"{len(negative)} layers"

    def negative_at_the_start() -> str:
        """Return the folders of the four models whose r is negative at layer 0."""
        negative = [curve for curve in four if curve.tests[0].r < 0]
        return ", ".join(curve.place.file.split("/")[1] for curve in negative)

    return {
        "reversed": Rule(
            lambda: "some" if reversed_layers() else "none",
            "whether some layer has the other sign",
        ),
        "reversed_layers": reversed_layers,
        "negative_at_the_start": negative_at_the_start,
        "pythia_inversion": count_negative_layers,
    }


def sample_statements(evidence: Evidence) -> Rules:
    """The models, pairs, categories and layers behind the curves (methods, table 1)."""

    def models_in_table() -> int:
        rows = [row for row in evidence[CONSOLIDATED] if "Instruct" not in row.model]
        return count(rows, lambda row: row.r, named=lambda row: row.model)

    def gemma_step() -> int:
        layers = read_curve(GEMMA_CURVE, evidence).layers
        return shared_value([int(step) for step in np.diff(layers)])

    return {
        "gemma_step": Rule(gemma_step, "the step between Gemma's sampled layers"),
        "n_pairs": Rule(lambda: total_pairs(evidence), "the number of statement pairs"),
        "n_categories": Rule(
            lambda: n_categories(evidence), "the number of categories of the statement pairs"
        ),
        "n_models": Rule(
            models_in_table,
            "the number of models of the consolidated table, base and instruction-tuned as one",
        ),
    }


def inverted_models(evidence: Evidence) -> Rules:
    """The number of models that invert in late layers, by several meanings (abstract, table 2)."""
    four = read_curves(evidence, FOUR)

    def how_many(inverts: Callable[[PairCurve], bool], says: str) -> Rule:
        return Rule(lambda: f"{sum(map(inverts, four))}/{len(four)}", f"the models {says}")

    return {
        "inverted_models": how_many(
            has_late_inversion, "in which some late layer has an interval below zero"
        ),
        "inverted_models_by_any": how_many(
            lambda curve: lowest_late_r(curve) < 0, "in which some late r is negative"
        ),
        "inverted_models_by_printed": how_many(
            lambda curve: curve.printed_mean("late") < -phases.BOUND,
            "whose printed late mean is below -0.1",
        ),
        "inverted_models_by_bound": how_many(
            lambda curve: curve.mean("late") < -phases.BOUND, "whose late mean is below -0.1"
        ),
        "inverted_models_by_sign": how_many(
            lambda curve: curve.mean("late") < 0, "whose late mean is negative"
        ),
    }


def late_statements(evidence: Evidence) -> Rules:
    """The p and the intervals of the late layers (abstract, table 2)."""
    three = read_curves(evidence, THREE)
    pythia = three[0]

    def hold_in_all(holds: Callable[[PairCurve], bool], says: str) -> Rule:
        return Rule(lambda: LATE[0] if all_of(map(holds, three)) else LATE[1], says)

    def p_bound(*r: float) -> str:
        return p_bound_text(r, pythia.n_pairs)

    def interval_of_mean() -> str:
        interval = phases.fisher_interval(pythia.mean("late"), pythia.n_pairs)
        return LATE[curves.includes_zero(interval)]

    return {
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
            lambda: p_bound(*map(lowest_late_r, three)),
            "the bound that the p of the smallest late r of each model stays under",
        ),
        "late_interval": hold_in_all(
            has_late_inversion, "whether some late layer has an interval below zero"
        ),
        "late_interval_of_every_layer": hold_in_all(
            lambda curve: all_inverted(curve, curve.phase("late")),
            "whether every late layer has an interval below zero",
        ),
    }


def p_bound_text(correlations: Iterable[float], n_pairs: int) -> str:
    """Return the smallest customary bound above the p of each of these r over all pairs."""
    largest = max(float(pearson_p(r, n_pairs)) for r in correlations)
    return curves.word_below(largest, {p: f"p < {p}" for p in STARS}, f"p >= {SIGNIFICANT}")


def lowest_late_r(curve: PairCurve) -> float:
    """Return the lowest r of a late layer."""
    return min(curve.r(curve.phase("late")).values())


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
                evidence[BOOTSTRAP].layer_results, lambda test: not covers_zero(test)
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


def gemma_statements(evidence: Evidence) -> Rules:
    """The layers of Gemma, the exception (key observations)."""
    gemma = read_curve(GEMMA_CURVE, evidence)

    def covers_zero(first: int) -> bool:
        """Return whether every interval from a layer on includes zero."""
        layers = [layer for layer in gemma.layers if layer >= first]
        return all_of(map(curves.includes_zero, gemma.ends(layers).values()))

    def mid_signs() -> str:
        """Say whether r is positive at every layer of the middle third of the depth."""
        lowest = min(gemma.r(gemma.phase_by_depth("mid")).values())
        return "positive mid-layers" if lowest > 0 else "mid-layers of both signs"

    def zero_from_last_mid_layer() -> str:
        """Say whether every interval from the last layer of the middle third on includes zero."""
        covered = covers_zero(gemma.phase_by_depth("mid")[-1])
        return "all overlap zero" if covered else "not all overlap zero"

    return {
        "gemma_mid": mid_signs,
        "gemma_from_12": zero_from_last_mid_layer,
        "gemma_last": Rule(
            lambda: f"CI {'overlaps' if covers_zero(gemma.layers[-1]) else 'excludes'} zero",
            "whether the interval of the last layer includes zero",
        ),
        "gemma_late": Rule(
            lambda: (
                f"{'a' if has_late_inversion(gemma) else 'no'} significant late-layer inversion"
            ),
            "whether some late layer's r is negative with an interval that excludes zero",
        ),
    }


def template_statements(evidence: Evidence) -> Rules:
    """The effect of the chat template on Llama (key observations)."""
    templated = read_curve(WITH, evidence)

    def inverts_everywhere() -> bool:
        return all_inverted(templated, templated.layers)

    def is_like_base() -> bool:
        base, bare = (read_curve(model, evidence).r() for model in (LLAMA_CURVE, WITHOUT))
        return phases.equal_signs(base, bare) == len(bare)

    return {
        "template_uniform": Rule(
            lambda: "uniformly negative" if inverts_everywhere() else "not all negative",
            "whether every layer inverts under the chat template",
        ),
        "template_layers": Rule(
            lambda: "all layers" if inverts_everywhere() else "some layers",
            "at which layers r inverts under the chat template",
        ),
        "like_base": Rule(
            lambda: "similar to base" if is_like_base() else "unlike base",
            "whether Llama's curve without the template is like the base model's",
        ),
    }


def mid_statements(evidence: Evidence) -> Rules:
    """The mid phases of the models that invert (discussion)."""
    three = read_curves(evidence, THREE)

    def mid_transitions(bound: float | None = None) -> str:
        """Say how many |mid means| are below a bound, by default |early mean|, or change sign."""
        n = 0
        for curve in three:
            early, mid, _ = curve.means()
            n += early * mid < 0 or abs(mid) < (abs(early) if bound is None else bound)
        return MID if n == len(three) else f"{MID} in {n} of {len(three)} models"

    return {
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


PAPER_STATEMENTS = join_sections(
    measured_statements,
    interval_settings,
    sign_statements,
    sample_statements,
    inverted_models,
    late_statements,
    category_statements,
    gemma_statements,
    template_statements,
    mid_statements,
    interval_statements,
)
DOCUMENTS = {
    model: Document(partial(read_curve, model), {"": curve_statistics}, NOWHERE) for model in CURVES
} | {"paper": Document(None, {"": PAPER_STATEMENTS})}
