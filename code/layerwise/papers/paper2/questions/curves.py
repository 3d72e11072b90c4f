"""The questions of Paper 2 on curves of r over the pairs by layer, and where they turn."""

from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence, by_layer
from layerwise.engine.published import PUBLISHED, NotMeasured
from layerwise.engine.question import OF_R, Question, Range
from layerwise.papers.paper2.rules.pairs import PairCurve, read_curve
from layerwise.papers.shared.names import Choice
from layerwise.papers.shared.questions import measured_choices, transform_estimates
from layerwise.papers.shared.result_files import METRIC
from layerwise.papers.shared.rules import ends, n_categories
from layerwise.statistics import phases
from layerwise.statistics.estimates import (
    BOOTSTRAP,
    WORST_CASE,
    Estimate,
    widened_r,
    with_narrow_r,
)

WEAKEST_INVERSION = 0.17  # |r|: the printed weak end of what the abstract calls a late inversion
N_PHASES = 3  # early, mid and late

# --- curves over layers ---------------------------------------------------------------------------


def curves_by_model(evidence: Evidence) -> dict[str, PairCurve]:
    """Return the curve of every model and condition of Paper 2, or of the reader's model."""
    return {model: read_curve(model, evidence) for model in evidence.role("curves")}


def measured_curve(curve: PairCurve, choice: Choice) -> Entry:
    """Return the curve as measured under a choice.

    Raises:
        NotMeasured: where there is none.
    """
    measured = measured_choices(curve.evidence, curve.model)
    if "curves" not in measured:
        raise NotMeasured("a curve needs three sampled layers with the last among them")
    return measured.curves[choice]


def n_of_unit(curve: PairCurve, unit: str) -> int:
    """Return the number of pairs, or of categories, behind every r."""
    return curve.n_pairs if unit == "pairs" else n_categories(curve.source)


def mean_over(curve: PairCurve, layers: list[int]) -> Estimate:
    """Return the mean r of layers; its ends are the means of theirs, no nearer than its own."""
    if not layers:
        raise NotMeasured("no sampled layer lies there")
    r, intervals = curve.r(layers), curve.ends(layers)
    low, high = (
        float(np.mean([interval[side] for interval in intervals.values()])) for side in (0, 1)
    )
    where = f"layers {phases.span(layers)}" if len(layers) > 1 else f"layer {layers[0]}"
    mean = phases.phase_mean(r, layers)
    return Estimate(mean, low, high, curve.n_pairs, "pairs", where=where, method=BOOTSTRAP)


def mean_by_category(curve: PairCurve, phase: str) -> Estimate:
    """Return the mean r of a phase with intervals in which whole categories are drawn."""
    layers = curve.phase(phase)
    tests = [
        measured_choices(curve.evidence, curve.model).pairs_by_category[layer][METRIC]
        for layer in layers
    ]
    r, low, high = (
        float(np.mean([test[key] for test in tests])) for key in ("r", "ci_lower", "ci_upper")
    )
    n = n_categories(curve.source)
    where = f"layers {phases.span(layers)}"
    return Estimate(r, low, high, n, "categories", where=where, method=BOOTSTRAP)


def fall_of_r(curve: PairCurve) -> Estimate:
    """Return late minus early mean r; ends as if both means were wrong in opposite ways."""
    early, late = (mean_over(curve, curve.phase(name)) for name in ("early", "late"))
    low, high = late.low - early.high, late.high - early.low
    return Estimate(late.value - early.value, low, high, curve.n_pairs, "pairs", method=WORST_CASE)


def measured_fall(curve: PairCurve, choice: Choice, unit: str = "pairs") -> Estimate:
    """Return late minus early mean r under a choice, all layers resampled at once."""
    measured = measured_curve(curve, choice)
    r, parts = by_layer(measured.r), phases.thirds_of_list(list(by_layer(measured.r)))
    early, late = (phases.phase_mean(r, parts[name]) for name in ("early", "late"))
    n = n_of_unit(curve, unit)
    return Estimate(late - early, *ends(measured.fall), n, unit, method=BOOTSTRAP)


def extreme_layer(curve: PairCurve, layers: list[int], lowest: bool = True) -> Estimate:
    """Return r of the layer where it is lowest (or highest)."""
    r = curve.r(layers)
    layer = (min if lowest else max)(r, key=r.__getitem__)
    return r_at_layer(curve, layer)


def r_at_layer(curve: PairCurve, layer: int) -> Estimate:
    """Return r at a layer with its interval."""
    (interval,) = curve.ends([layer]).values()
    r = curve.r([layer])[layer]
    where = f"layer {layer}"
    return Estimate(r, *interval, curve.n_pairs, "pairs", where=where, method=BOOTSTRAP)


def extreme_at_once(
    curve: PairCurve, layers: list[int], n_tests: int, lowest: bool = True
) -> Estimate:
    """Return r of that layer with its interval at the level of a whole family of tests."""
    return widened_r(extreme_layer(curve, layers, lowest), n_tests)


def n_tests_of_curve(curve: PairCurve) -> int:
    """Return the number of tests, layers times measures, of a file with several measures."""
    place = curve.place
    if place.metric is None:
        raise NotMeasured("the file has one measure")
    return sum(len(measures) for measures in curve.source.of(place.file)[place.group].values())


def measured_lowest(curve: PairCurve, choice: Choice, unit: str = "pairs") -> Estimate:
    """Return r of the lowest late layer under a choice."""
    measured = measured_curve(curve, choice)
    r, late = by_layer(measured.r), by_layer(measured.late)
    layer = min(late, key=r.__getitem__)
    where, n = f"layer {layer}", n_of_unit(curve, unit)
    return Estimate(r[layer], *ends(late[layer]), n, unit, where=where, method=BOOTSTRAP)


def late_layers_but_last(curve: PairCurve) -> list[int]:
    """Return the late layers before the final norm."""
    layers = [layer for layer in curve.phase("late") if layer != curve.layers[-1]]
    if not layers:
        raise NotMeasured("the last layer is the only late one")
    return layers


def phase_question(name: str, says: str, within: Range, edge: Choice) -> Question:
    """Return the question whether the mean r of a phase lies on one side of zero.

    Arguments:
        edge: the choice of the first layer alone, or of the last.
    """
    layer = 0 if edge is Choice.FIRST_LAYER else -1
    return Question(
        name=name,
        paper=2,
        says=says,
        number=f"mean r of the {name} third",
        unit="pairs",
        models=curves_by_model,
        choices={
            PUBLISHED: lambda curve: mean_over(curve, curve.phase(name)),
            edge: lambda curve: r_at_layer(curve, curve.layers[layer]),
            Choice.BY_DEPTH: lambda curve: mean_over(curve, curve.phase_by_depth(name)),
            Choice.PHASES_AT_ONCE: lambda curve: widened_r(
                mean_over(curve, curve.phase(name)), N_PHASES
            ),
            Choice.CLUSTERS: lambda curve: mean_by_category(curve, name),
        },
        within=within,
        effect=OF_R,
    )


# r of the late layers, by choice; a family of tests has no narrow interval.
LATE_RULES: dict[str, Function] = {
    PUBLISHED: lambda curve: extreme_layer(curve, curve.phase("late")),
    Choice.PHASE_MEAN: lambda curve: mean_over(curve, curve.phase("late")),
    Choice.WITHOUT_LAST: lambda curve: extreme_layer(curve, late_layers_but_last(curve)),
}
MEASURED_LATE_RULES: dict[str, Function] = {
    Choice.BEFORE_NORM: partial(measured_lowest, choice=Choice.BEFORE_NORM),
    Choice.ALL_TOKENS: partial(measured_lowest, choice=Choice.ALL_TOKENS),
    Choice.CLUSTERS: partial(measured_lowest, choice=Choice.CLUSTERS, unit="categories"),
}
INVERTED = Question(
    name="late_inversion",
    paper=2,
    says="Some late layer has a negative r.",
    number="r of the lowest late layer",
    unit="pairs",
    models=curves_by_model,
    choices={
        **LATE_RULES,
        Choice.LAYERS_AT_ONCE: lambda curve: extreme_at_once(
            curve, curve.phase("late"), len(curve.layers)
        ),
        Choice.TESTS_AT_ONCE: lambda curve: extreme_at_once(
            curve, curve.phase("late"), n_tests_of_curve(curve)
        ),
        **MEASURED_LATE_RULES,
    },
    within=Range(below=0.0),
    effect=OF_R,
)
CURVE_QUESTIONS = (
    phase_question(
        "early",
        "In early layers a pair's asymmetry and preference correlate positively.",
        Range(above=0.0),
        Choice.FIRST_LAYER,
    ),
    phase_question(
        "late",
        "In late layers a pair's asymmetry and preference correlate negatively.",
        Range(below=0.0),
        Choice.LAST_LAYER,
    ),
    Question(
        name="sign_change",
        paper=2,
        says="From early to late layers r falls.",
        number="late minus early mean r",
        unit="pairs",
        models=curves_by_model,
        choices={
            PUBLISHED: fall_of_r,
            Choice.PAIRED: partial(measured_fall, choice=Choice.PUBLISHED),
            Choice.BEFORE_NORM: partial(measured_fall, choice=Choice.BEFORE_NORM),
            Choice.ALL_TOKENS: partial(measured_fall, choice=Choice.ALL_TOKENS),
            Choice.CLUSTERS: partial(measured_fall, choice=Choice.CLUSTERS, unit="categories"),
        },
        within=Range(below=0.0),
    ),
    INVERTED,
    Question(
        name="no_inversion",
        paper=2,
        says="No late layer inverts: the lowest late r lies above -0.17, the paper's weakest "
        "inversion, and is not significantly negative.",
        number="r of the lowest late layer",
        unit="pairs",
        models=curves_by_model,
        choices=transform_estimates(with_narrow_r, {**LATE_RULES, **MEASURED_LATE_RULES}),
        within=Range(above=-WEAKEST_INVERSION),
        against=INVERTED.within,
    ),
    Question(
        name="everywhere_negative",
        paper=2,
        says="r is negative in every layer.",
        number="r of the highest layer",
        unit="pairs",
        models=curves_by_model,
        choices={
            PUBLISHED: lambda curve: extreme_layer(curve, curve.layers, lowest=False),
            Choice.LAYERS_AT_ONCE: lambda curve: extreme_at_once(
                curve, curve.layers, len(curve.layers), lowest=False
            ),
        },
        within=Range(below=0.0),
        effect=OF_R,
    ),
)


# --- where r changes its sign ---------------------------------------------------------------------

# The layers between which r turns negative, in the abstract. For Apertus it names the second one.
PRINTED_TRANSITIONS = {"pythia-6p9b": (28, 32), "llama-3p1-8b": (4, 8), "apertus-8b": (8, 12)}


def turning_curves(evidence: Evidence) -> dict[str, PairCurve]:
    """Return the papers' curves with a printed transition; a reader's model has none."""
    by_model = curves_by_model(evidence)
    return {model: by_model[model] for model in PRINTED_TRANSITIONS if model in by_model}


def layer_before(curve: PairCurve) -> int:
    """Return the last layer before the printed transition."""
    return PRINTED_TRANSITIONS[curve.model][0]


def layer_after(curve: PairCurve) -> int:
    """Return the first layer behind the printed transition."""
    return PRINTED_TRANSITIONS[curve.model][1]


TwoCurves = tuple[PairCurve, PairCurve]  # said to turn negative at different layers


def turning_pairs(evidence: Evidence) -> dict[str, TwoCurves]:
    """Return every two of the papers' curves that are said to turn; a reader's model has none."""
    return {
        f"{first.model} and {second.model}": (first, second)
        for first, second in combinations(turning_curves(evidence).values(), 2)
    }


def opposite_signs(pair: TwoCurves, *, at_once: bool = False) -> Estimate:
    """Return the nearer to zero of two r of opposite signs, at the layer where it is largest.

    It is positive where at some layer one model correlates positively and the other negatively;
    its ends are those of that one of the two intervals that is nearer to zero.
    """
    first_curve, second_curve = pair
    layers = [layer for layer in first_curve.layers if layer in set(second_curve.layers)]
    n_tests = len(layers) if at_once else 1
    by_layer = {}
    for layer in layers:
        first, second = (widened_r(r_at_layer(curve, layer), n_tests) for curve in pair)
        positive_first = weaker_of(first, opposite_of(second)), first_curve.model
        positive_second = weaker_of(opposite_of(first), second), second_curve.model
        by_layer[layer] = max(positive_first, positive_second, key=lambda way: way[0].value)
    layer = max(by_layer, key=lambda layer: by_layer[layer][0].value)
    estimate, positive = by_layer[layer]
    return replace(estimate, where=f"layer {layer}, where r is positive in {positive}")


def opposite_of(estimate: Estimate) -> Estimate:
    """Return a number with the other sign."""
    return replace(estimate, value=-estimate.value, low=-estimate.high, high=-estimate.low)


def weaker_of(first: Estimate, second: Estimate) -> Estimate:
    """Return the smaller of two numbers, with the smaller ends of their intervals."""
    ends = min(first.low, second.low), min(first.high, second.high)
    return replace(first, value=min(first.value, second.value), low=ends[0], high=ends[1])


TRANSITION_QUESTIONS = (
    Question(
        name="turn_apart",
        paper=2,
        says="At some layer r is positive in the one model and negative in the other.",
        number="the nearer to zero of two r of opposite signs",
        unit="pairs",
        models=turning_pairs,
        choices={
            PUBLISHED: opposite_signs,
            Choice.LAYERS_AT_ONCE: partial(opposite_signs, at_once=True),
        },
        within=Range(above=0.0),
    ),
    Question(
        name="positive_before",
        paper=2,
        says="Up to the printed transition r is positive.",
        number="r of the last layer before it",
        unit="pairs",
        models=turning_curves,
        choices={
            PUBLISHED: lambda curve: r_at_layer(curve, layer_before(curve)),
            Choice.EVERY_LAYER: lambda curve: extreme_layer(
                curve, [layer for layer in curve.layers if layer <= layer_before(curve)]
            ),
            Choice.LAYERS_AT_ONCE: lambda curve: extreme_at_once(
                curve, [layer_before(curve)], len(curve.layers)
            ),
        },
        within=Range(above=0.0),
        effect=OF_R,
    ),
    Question(
        name="negative_after",
        paper=2,
        says="From the printed transition on r is negative.",
        number="r of the first layer from there on",
        unit="pairs",
        models=turning_curves,
        choices={
            PUBLISHED: lambda curve: r_at_layer(curve, layer_after(curve)),
            Choice.EVERY_LAYER: lambda curve: extreme_layer(
                curve,
                [layer for layer in curve.layers if layer >= layer_after(curve)],
                lowest=False,
            ),
            Choice.LAYERS_AT_ONCE: lambda curve: extreme_at_once(
                curve, [layer_after(curve)], len(curve.layers)
            ),
        },
        within=Range(below=0.0),
        effect=OF_R,
    ),
)


# --- the layer of the strongest r -----------------------------------------------------------------

LOWEST_MODEL, LOWEST_LAYER = "apertus-8b", 28  # of the abstract: "rather than the final layer"
CurveAndLayer = tuple[PairCurve, int]  # that curve, and a layer other than its lowest in print


def layers_beside_lowest(evidence: Evidence) -> dict[str, CurveAndLayer]:
    """Return the curve with each layer but the printed extremum; a reader's model has none."""
    by_model = curves_by_model(evidence)
    if LOWEST_MODEL not in by_model:
        return {}
    curve = by_model[LOWEST_MODEL]
    return {f"layer {layer}": (curve, layer) for layer in curve.layers if layer != LOWEST_LAYER}


def lowest_less_other(beside: CurveAndLayer, *, at_once: bool = False) -> Estimate:
    """Return r of the printed layer less r of the other; ends as if both were wrong oppositely."""
    curve, layer = beside
    n_tests = len(curve.layers) if at_once else 1
    lowest, other = (
        widened_r(r_at_layer(curve, sampled), n_tests) for sampled in (LOWEST_LAYER, layer)
    )
    where = f"{lowest.where} less {other.where}"
    ends = lowest.low - other.high, lowest.high - other.low
    value = lowest.value - other.value
    return Estimate(value, *ends, curve.n_pairs, "pairs", where=where, method=WORST_CASE)


def measured_lowest_less_other(beside: CurveAndLayer, choice: Choice) -> Estimate:
    """Return r of the printed layer less r of another late one, under a choice."""
    curve, layer = beside
    measured = measured_curve(curve, choice)
    r, late = by_layer(measured.r), by_layer(measured.late)
    if layer not in late:
        raise NotMeasured("only the late layers have an interval under this choice")
    (low, high), (low_other, high_other) = (
        ends(late[sampled]) for sampled in (LOWEST_LAYER, layer)
    )
    worst = low - high_other, high - low_other
    return Estimate(r[LOWEST_LAYER] - r[layer], *worst, curve.n_pairs, "pairs", method=WORST_CASE)


EXTREMUM_QUESTIONS = (
    Question(
        name="below_other",
        paper=2,
        says="At the printed layer r is lower than at the other layer.",
        number="r of that layer less r of the other",
        unit="pairs",
        models=layers_beside_lowest,
        choices={
            PUBLISHED: lowest_less_other,
            Choice.LAYERS_AT_ONCE: partial(lowest_less_other, at_once=True),
            Choice.BEFORE_NORM: partial(measured_lowest_less_other, choice=Choice.BEFORE_NORM),
            Choice.ALL_TOKENS: partial(measured_lowest_less_other, choice=Choice.ALL_TOKENS),
        },
        within=Range(below=0.0),
    ),
)


QUESTIONS = (*CURVE_QUESTIONS, *TRANSITION_QUESTIONS, *EXTREMUM_QUESTIONS)
