"""The questions of Paper 2 on curves of r over the pairs by layer, and where they turn.

A pair's asymmetry and its preference are said to correlate. Pairs come in six categories, of which
one can make any r over all of them, so r within each category decides, combined over the
categories; print has r over all pairs alone, and no pairs. The papers' own r and interval are the
reading `PUBLISHED`, r over all pairs with an interval over the categories the reading `ALL_PAIRS`.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Evidence, by_layer
from layerwise.engine.published import DECIDES, PUBLISHED, NotMeasured
from layerwise.engine.question import FamilyOfTests, Question, Range
from layerwise.papers.paper2.rules.pairs import PairCurve, read_curve
from layerwise.papers.shared.names import Choice
from layerwise.papers.shared.questions import measured_choices, require_any
from layerwise.papers.shared.rules import categories, n_pairs
from layerwise.statistics import phases
from layerwise.statistics.by_category import (
    Correlations,
    jackknife_r,
    r_by_category,
    z_difference_by_category,
)
from layerwise.statistics.curves import fishers_z
from layerwise.statistics.estimates import (
    LEVEL,
    MEAN_BOOTSTRAP,
    WORST_CASE,
    Ends,
    Estimate,
    published_correlation,
)
from layerwise.statistics.extremes import crossing_distance, highest, lowest

# Llama's, in print the weakest r at a lowest late layer whose published interval excludes zero.
WEAKEST_INVERSION = 0.32
EXCEPTION = "gemma-2b"  # of the abstract
INVERTING = ("pythia-6p9b", "llama-3p1-8b", "apertus-8b")  # models that are said to invert
UNIT = "categories"
ABOVE, BELOW = Range(above=0.0), Range(below=0.0)

# --- curves over layers ---------------------------------------------------------------------------


def curves_by_model(evidence: Evidence) -> dict[str, PairCurve]:
    """Return the curve of every model and condition of Paper 2, or of the reader's model."""
    return {model: read_curve(model, evidence) for model in evidence.role("curves")}


def correlations(curve: PairCurve, states: Choice = Choice.PUBLISHED) -> dict[int, Correlations]:
    """Return r in each category and over all pairs, by sampled layer, in a reading of the states.

    Raises:
        NotMeasured: where the pairs are not there, as in print.
    """
    measured = measured_choices(curve.evidence, curve.model)
    if "curves" not in measured or states not in measured.curves:
        raise NotMeasured("r within the categories was not measured at three layers and the last")
    sizes = {name: n_pairs(curve.source, name) for name in categories(curve.source)}
    return {
        layer: Correlations(
            by_category={name: at.by_category[name] for name in at.by_category},
            sizes=sizes,
            over_all=at.r,
            without={name: at.without[name] for name in at.without},
        )
        for layer, at in by_layer(measured.curves[states]).items()
    }


require_layers = partial(require_any, missing="no sampled layer lies there")
Selector = Callable[[PairCurve], list[int]]


def phase_selector(name: str) -> Selector:
    """Return the selector of a phase: a third of the sampled layers, as in the notebooks."""
    return lambda curve: require_layers(curve.phase(name))


def depth_phase_selector(name: str) -> Selector:
    """Return the selector of the layers in a third of the depth."""
    return lambda curve: require_layers(curve.phase_by_depth(name))


def late_but_last(curve: PairCurve) -> list[int]:
    """Return the late layers before the final norm."""
    return require_layers([layer for layer in curve.phase("late") if layer != curve.layers[-1]])


def every_layer(curve: PairCurve) -> list[int]:
    """Return the sampled layers."""
    return curve.layers


def layers_in_words(layers: Sequence[int]) -> str:
    """Return layers in words."""
    return f"layers {phases.span(list(layers))}" if len(layers) > 1 else f"layer {layers[0]}"


def mean_r(curve: PairCurve, layers: Selector, states: Choice = Choice.PUBLISHED) -> Estimate:
    """Return the mean r of layers, within the categories."""
    at, chosen = correlations(curve, states), layers(curve)
    return r_by_category([at[layer] for layer in chosen], layers_in_words(chosen))


def r_at(curve: PairCurve, layer: int, states: Choice = Choice.PUBLISHED) -> Estimate:
    """Return r at a layer, within the categories."""
    return r_by_category([correlations(curve, states)[layer]], layers_in_words([layer]))


def lowest_r(curve: PairCurve, layers: Selector, states: Choice = Choice.PUBLISHED) -> Estimate:
    """Return the lowest r of some layers, within the categories."""
    return lowest([r_at(curve, layer, states) for layer in layers(curve)])


def highest_r(curve: PairCurve, layers: Selector, states: Choice = Choice.PUBLISHED) -> Estimate:
    """Return the highest r of some layers, within the categories."""
    return highest([r_at(curve, layer, states) for layer in layers(curve)])


def fall(curve: PairCurve, states: Choice = Choice.PUBLISHED) -> Estimate:
    """Return Fisher's z of the late layers less that of the early ones, within the categories."""
    at = correlations(curve, states)
    early, late = (phase_selector(name)(curve) for name in ("early", "late"))
    return z_difference_by_category([at[layer] for layer in late], [at[layer] for layer in early])


# --- over all pairs: as the papers take r, and with an interval over the categories ---


def published_at(curve: PairCurve, layer: int) -> Estimate:
    """Return r over all pairs at a layer with the papers' bootstrap interval."""
    (interval,) = curve.ends([layer]).values()
    return published_correlation(
        curve.r([layer])[layer], interval, curve.n_pairs, "pairs", layers_in_words([layer])
    )


def published_mean(curve: PairCurve, layers: Selector) -> Estimate:
    """Return the mean r over all pairs; its ends are the means of theirs, so not too near."""
    chosen = layers(curve)
    estimates = [published_at(curve, layer) for layer in chosen]

    def ends(level: float) -> Ends:
        low, high = np.mean([estimate.ends(level) for estimate in estimates], axis=0)
        return float(low), float(high)

    mean = phases.phase_mean(curve.r(chosen), chosen)
    return Estimate(
        mean,
        *ends(0.95),
        curve.n_pairs,
        "pairs",
        where=layers_in_words(chosen),
        method=MEAN_BOOTSTRAP,
        at_level=ends,
    )


def published_extreme(
    curve: PairCurve, layers: Selector, extreme: Callable[[Sequence[Estimate]], Estimate]
) -> Estimate:
    """Return the lowest, or highest, r over all pairs of some layers, with its own interval."""
    estimates = [published_at(curve, layer) for layer in layers(curve)]
    where_extreme = extreme(estimates).where
    return next(estimate for estimate in estimates if estimate.where == where_extreme)


def published_fall(curve: PairCurve) -> Estimate:
    """Return z of the late mean r less that of the early one, with ends of the worst case."""
    early, late = (published_mean(curve, phase_selector(name)) for name in ("early", "late"))
    return _worst_case(late.mapped(fishers_z), early.mapped(fishers_z))


def _worst_case(first: Estimate, second: Estimate) -> Estimate:
    """Return a difference of two numbers whose common error is not known.

    Its ends are as if both were wrong in opposite ways.
    """

    def ends(level: float) -> Ends:
        (low, high), (low_second, high_second) = first.ends(level), second.ends(level)
        return low - high_second, high - low_second

    low, high = ends(LEVEL)
    return Estimate(
        first.value - second.value,
        low,
        high,
        first.n,
        first.unit,
        method=WORST_CASE,
        at_level=ends,
    )


def all_pairs_at(curve: PairCurve, layers: Sequence[int]) -> Estimate:
    """Return the mean r over all pairs of layers with the interval of leaving out a category."""
    at = correlations(curve)
    names = list(at[layers[0]].without)
    if len(layers) == 1:
        only = at[layers[0]]
        return jackknife_r(
            only.over_all, [only.without[name] for name in names], layers_in_words(layers)
        )

    def mean_of(r: Sequence[float]) -> float:
        return math.tanh(float(np.mean([fishers_z(value) for value in r])))

    without = [mean_of([at[layer].without[name] for layer in layers]) for name in names]
    over_all = mean_of([at[layer].over_all for layer in layers])
    return jackknife_r(over_all, without, layers_in_words(layers))


def all_pairs_mean(curve: PairCurve, layers: Selector) -> Estimate:
    """Return the same of a selection of layers."""
    return all_pairs_at(curve, layers(curve))


def all_pairs_extreme(
    curve: PairCurve, layers: Selector, extreme: Callable[[Sequence[Estimate]], Estimate]
) -> Estimate:
    """Return the lowest, or highest, r over all pairs, each by leaving out a category."""
    return extreme([all_pairs_at(curve, [layer]) for layer in layers(curve)])


# --- early, late, and the fall between ---


def rules_by_states(rule: Callable[..., Estimate], *args: object) -> dict[str, Function]:
    """Return a rule for each other reading of the states."""
    return {
        states: lambda curve, states=states: rule(curve, *args, states=states)
        for states in (Choice.BEFORE_NORM, Choice.ALL_TOKENS)
    }


ALL_THREE = FamilyOfTests(1, len(INVERTING), "said of all three models")


curves_question = partial(Question, paper=2, unit=UNIT, models=curves_by_model)


def phase_question(
    name: str, says: str, within: Range, edge: Selector, edge_choice: Choice
) -> Question:
    """Return the question whether the mean r of a phase lies on one side of zero.

    Arguments:
        edge: selects the first layer alone, or the last; `edge_choice` is the reading.
    """
    layers = phase_selector(name)
    return curves_question(
        name=name,
        says=says,
        number=f"mean correlation over the {name} layers, within the categories",
        readings={
            DECIDES: lambda curve: mean_r(curve, layers),
            PUBLISHED: lambda curve: published_mean(curve, layers),
            Choice.ALL_PAIRS: lambda curve: all_pairs_mean(curve, layers),
            edge_choice: lambda curve: mean_r(curve, edge),
            Choice.BY_DEPTH: lambda curve: mean_r(curve, depth_phase_selector(name)),
            **rules_by_states(mean_r, layers),
        },
        within=within,
        family=ALL_THREE,
    )


PHASE_QUESTIONS = (
    phase_question(
        "early",
        "In early layers a pair's asymmetry and preference correlate positively.",
        ABOVE,
        lambda curve: curve.layers[:1],
        Choice.FIRST_LAYER,
    ),
    phase_question(
        "late",
        "In late layers a pair's asymmetry and preference correlate negatively.",
        BELOW,
        lambda curve: curve.layers[-1:],
        Choice.LAST_LAYER,
    ),
    curves_question(
        name="sign_change",
        says="From early to late layers r falls.",
        number="Fisher's z of the late less the early correlation, within the categories",
        readings={DECIDES: fall, PUBLISHED: published_fall, **rules_by_states(fall)},
        within=BELOW,
    ),
)


# --- some layer, and every layer ---


def rules_of_extreme(
    rule: Callable[..., Estimate],
    extreme: Callable[[Sequence[Estimate]], Estimate],
    layers: Selector,
    others: Mapping[str, Function],
) -> dict[str, Function]:
    """Return the rules on the lowest, or the highest, r of some layers.

    Arguments:
        rule: of the curve and the layers, within the categories; `extreme` picks the same of any r.
        others: further readings.
    """
    return {
        DECIDES: lambda curve: rule(curve, layers),
        PUBLISHED: lambda curve: published_extreme(curve, layers, extreme),
        Choice.ALL_PAIRS: lambda curve: all_pairs_extreme(curve, layers, extreme),
        **others,
        **rules_by_states(rule, layers),
    }


def exception_curve(evidence: Evidence) -> dict[str, PairCurve]:
    """Return the curve that is said not to invert; a reader's model is not asked."""
    by_model = curves_by_model(evidence)
    return {EXCEPTION: by_model[EXCEPTION]} if EXCEPTION in by_model else {}


LATE = phase_selector("late")
lowest_late_question = partial(
    curves_question,
    number="lowest correlation at a late layer, within the categories",
    readings=rules_of_extreme(
        lowest_r,
        lowest,
        LATE,
        {
            Choice.PHASE_MEAN: lambda curve: mean_r(curve, LATE),
            Choice.WITHOUT_LAST: lambda curve: lowest_r(curve, late_but_last),
        },
    ),
)
EXTREME_QUESTIONS = (
    lowest_late_question(
        name="late_inversion",
        says="Some late layer has a negative r.",
        within=BELOW,
        family=FamilyOfTests(4, 4, "at least three of four models"),
    ),
    lowest_late_question(
        name="no_inversion",
        says=f"No late layer inverts: the lowest late r lies above -{WEAKEST_INVERSION}, the "
        "weakest whose published interval excludes zero.",
        models=exception_curve,
        within=Range(above=-WEAKEST_INVERSION),
        family=FamilyOfTests(
            because="one model, named as the exception before its layers were searched"
        ),
    ),
    curves_question(
        name="everywhere_negative",
        says="r is negative in every layer.",
        number="highest correlation of any layer, within the categories",
        readings=rules_of_extreme(highest_r, highest, every_layer, {}),
        within=BELOW,
        family=FamilyOfTests(because="one model; its layers are searched within the interval"),
    ),
)


# --- where r changes its sign ---------------------------------------------------------------------


def turning_curves(evidence: Evidence) -> dict[str, PairCurve]:
    """Return the papers' curves that are said to turn; a reader's model has none."""
    by_model = curves_by_model(evidence)
    return {model: by_model[model] for model in INVERTING if model in by_model}


TwoCurves = tuple[PairCurve, PairCurve]  # said to turn negative at different layers


def turning_pairs(evidence: Evidence) -> dict[str, TwoCurves]:
    """Return every two of the papers' curves that are said to turn; a reader's model has none."""
    return {
        f"{first.model} and {second.model}": (first, second)
        for first, second in combinations(turning_curves(evidence).values(), 2)
    }


def turn(first: Estimate, last: Estimate) -> Estimate:
    """Return the nearer to zero of a first r and of minus a last one.

    It lies above zero where r is positive first and negative last, which both ends must show.
    """
    return lowest([first, last.mapped(operator.neg)])


def turn_of(curve: PairCurve, states: Choice = Choice.PUBLISHED) -> Estimate:
    """Return it of the first and the last sampled layer, within the categories."""
    first, last = curve.layers[0], curve.layers[-1]
    return turn(r_at(curve, first, states), r_at(curve, last, states))


def published_turn(curve: PairCurve) -> Estimate:
    """Return it of r over all pairs."""
    return turn(published_at(curve, curve.layers[0]), published_at(curve, curve.layers[-1]))


def distance_of_turns(pair: TwoCurves, states: Choice = Choice.PUBLISHED) -> Estimate:
    """Return the steps between two crossings, within the categories."""
    first, second = (
        {layer: r_at(curve, layer, states) for layer in curve.layers} for curve in pair
    )
    return crossing_distance(first, second)


def published_distance(pair: TwoCurves) -> Estimate:
    """Return the steps between two crossings of r over all pairs."""
    first, second = (
        {layer: published_at(curve, layer) for layer in curve.layers} for curve in pair
    )
    return crossing_distance(first, second)


TRANSITION_QUESTIONS = (
    curves_question(
        name="turns",
        says="r is positive in the first layer and negative in the last.",
        number="nearer to zero of the first correlation and minus the last, within the categories",
        models=turning_curves,
        readings={DECIDES: turn_of, PUBLISHED: published_turn, **rules_by_states(turn_of)},
        within=ABOVE,
        family=ALL_THREE,
    ),
    curves_question(
        name="turn_apart",
        says="The two models turn negative at different layers.",
        number="number of sampled layers between the two crossings, within the categories",
        models=turning_pairs,
        readings={
            DECIDES: distance_of_turns,
            PUBLISHED: published_distance,
            **rules_by_states(distance_of_turns),
        },
        within=ABOVE,
        family=FamilyOfTests(1, 3, "said of all three pairs of models"),
    ),
)


# --- the layer of the strongest r -----------------------------------------------------------------

LOWEST_MODEL, LOWEST_LAYER = "apertus-8b", 28  # of the abstract: "rather than the final layer"


def curve_with_extremum(evidence: Evidence) -> dict[str, PairCurve]:
    """Return the curve whose lowest layer is printed; a reader's model has none."""
    by_model = curves_by_model(evidence)
    return {LOWEST_MODEL: by_model[LOWEST_MODEL]} if LOWEST_MODEL in by_model else {}


def lowest_less_others(curve: PairCurve, states: Choice = Choice.PUBLISHED) -> Estimate:
    """Return z of the printed layer less that of the other layer that comes nearest."""
    at = correlations(curve, states)
    if LOWEST_LAYER not in at:
        raise NotMeasured(f"layer {LOWEST_LAYER} was not sampled")
    return highest(
        [
            z_difference_by_category([at[LOWEST_LAYER]], [other], f"against layer {layer}")
            for layer, other in at.items()
            if layer != LOWEST_LAYER
        ]
    )


def published_lowest_less_others(curve: PairCurve) -> Estimate:
    """Return z of the printed layer less that of the nearest other, with ends of the worst case."""
    z = {layer: published_at(curve, layer).mapped(fishers_z) for layer in curve.layers}
    printed = z.pop(LOWEST_LAYER)
    return highest([_worst_case(printed, other) for other in z.values()])


EXTREMUM_QUESTIONS = (
    curves_question(
        name="below_others",
        says="At the printed layer r is lower than at every other layer.",
        number="Fisher's z at layer 28 less the nearest of the other layers, within the categories",
        models=curve_with_extremum,
        readings={
            DECIDES: lowest_less_others,
            PUBLISHED: published_lowest_less_others,
            **rules_by_states(lowest_less_others),
        },
        within=BELOW,
        family=FamilyOfTests(because="one statement on one layer, which its paper names"),
    ),
)


QUESTIONS = (*PHASE_QUESTIONS, *EXTREME_QUESTIONS, *TRANSITION_QUESTIONS, *EXTREMUM_QUESTIONS)
