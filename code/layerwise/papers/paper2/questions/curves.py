"""The questions of Paper 2 on curves of r over the pairs by layer, and where they turn."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence, by_layer
from layerwise.engine.published import PUBLISHED, NotMeasured
from layerwise.engine.questions.question import OF_R, Question, Range
from layerwise.papers.paper2.rules.pair_curves import CURVES, OWN_CURVE, PairCurve
from layerwise.papers.shared.names.choices import Choice
from layerwise.papers.shared.names.curves import METRIC
from layerwise.papers.shared.names.models import READER
from layerwise.papers.shared.questions.choices import measured_choices
from layerwise.papers.shared.rules.categories import ends, n_categories
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


@dataclass(frozen=True)
class Curve:
    """A curve of r over layers, and the name of its model."""

    name: str
    pairs: PairCurve

    @property
    def n(self) -> int:
        """Return the number of pairs behind every r."""
        return self.pairs.n_pairs

    def choices(self) -> Entry:
        """Return what was measured of the model under the choices."""
        return measured_choices(_evidence(self.pairs.source), self.name)

    def under(self, choice: Choice) -> Entry:
        """Return the curve as measured under a choice."""
        measured = self.choices()
        if "curves" not in measured:
            raise NotMeasured("a curve needs three sampled layers with the last among them")
        return measured.curves[choice]


def _evidence(source: Entry | Evidence) -> Evidence:
    return source if isinstance(source, Evidence) else source.evidence


def curves_by_model(evidence: Evidence) -> dict[str, Curve]:
    """Return the curve of every model and condition of Paper 2, or of the reader's model."""
    places = {**CURVES, READER: OWN_CURVE}
    return {model: Curve(model, places[model].of(evidence)) for model in evidence.role("curves")}


def mean_over(curve: Curve, layers: list[int]) -> Estimate:
    """Return the mean r of layers; its ends are the means of theirs, no nearer than its own."""
    if not layers:
        raise NotMeasured("no sampled layer lies there")
    r, intervals = curve.pairs.r(layers), curve.pairs.ends(layers)
    low, high = (
        float(np.mean([interval[side] for interval in intervals.values()])) for side in (0, 1)
    )
    where = f"layers {phases.span(layers)}" if len(layers) > 1 else f"layer {layers[0]}"
    mean = phases.phase_mean(r, layers)
    return Estimate(mean, low, high, curve.n, "pairs", where=where, method=BOOTSTRAP)


def mean_by_category(curve: Curve, phase: str) -> Estimate:
    """Return the mean r of a phase with intervals in which whole categories are drawn."""
    layers = curve.pairs.phase(phase)
    tests = [curve.choices().pairs_by_category[layer][METRIC] for layer in layers]
    r, low, high = (
        float(np.mean([test[key] for test in tests])) for key in ("r", "ci_lower", "ci_upper")
    )
    n = n_categories(curve.pairs.source)
    where = f"layers {phases.span(layers)}"
    return Estimate(r, low, high, n, "categories", where=where, method=BOOTSTRAP)


def fall_of_r(curve: Curve) -> Estimate:
    """Return late minus early mean r; ends as if both means were wrong in opposite ways."""
    early, late = (mean_over(curve, curve.pairs.phase(name)) for name in ("early", "late"))
    low, high = late.low - early.high, late.high - early.low
    return Estimate(late.value - early.value, low, high, curve.n, "pairs", method=WORST_CASE)


def fall_rule(choice: Choice, unit: str = "pairs") -> Function:
    """Return the rule for late minus early mean r under a choice, all layers resampled at once."""

    def rule(curve: Curve) -> Estimate:
        measured = curve.under(choice)
        r, parts = by_layer(measured.r), phases.thirds_of_list(list(by_layer(measured.r)))
        early, late = (phases.phase_mean(r, parts[name]) for name in ("early", "late"))
        n = curve.n if unit == "pairs" else n_categories(curve.pairs.source)
        return Estimate(late - early, *ends(measured.fall), n, unit, method=BOOTSTRAP)

    return rule


def extreme_layer(curve: Curve, layers: list[int], lowest: bool = True) -> Estimate:
    """Return r of the layer where it is lowest (or highest)."""
    r = curve.pairs.r(layers)
    layer = (min if lowest else max)(r, key=r.__getitem__)
    return r_at_layer(curve, layer)


def r_at_layer(curve: Curve, layer: int) -> Estimate:
    """Return r at a layer with its interval."""
    (interval,) = curve.pairs.ends([layer]).values()
    r = curve.pairs.r([layer])[layer]
    where = f"layer {layer}"
    return Estimate(r, *interval, curve.n, "pairs", where=where, method=BOOTSTRAP)


def extreme_at_once(curve: Curve, layers: list[int], n_tests: int, lowest: bool = True) -> Estimate:
    """Return r of that layer with its interval at the level of a whole family of tests."""
    return widened_r(extreme_layer(curve, layers, lowest), n_tests)


def n_tests_of_pairs(curve: Curve) -> int:
    """Return the number of tests, layers times measures, of a file with several measures."""
    pairs = curve.pairs
    if pairs.metric is None:
        raise NotMeasured("the file has one measure")
    return sum(len(measures) for measures in pairs.source.of(pairs.file)[pairs.group].values())


def lowest_rule(choice: Choice, unit: str = "pairs") -> Function:
    """Return the rule for r of the lowest late layer under a choice."""

    def rule(curve: Curve) -> Estimate:
        measured = curve.under(choice)
        r, late = by_layer(measured.r), by_layer(measured.late)
        layer = min(late, key=r.__getitem__)
        n = curve.n if unit == "pairs" else n_categories(curve.pairs.source)
        where = f"layer {layer}"
        return Estimate(r[layer], *ends(late[layer]), n, unit, where=where, method=BOOTSTRAP)

    return rule


def narrowed(rule: Function) -> Function:
    """Return the rule with the narrow interval of an equivalence test."""
    return lambda curve: with_narrow_r(rule(curve))


def late_layers_but_last(curve: Curve) -> list[int]:
    """Return the late layers before the final norm."""
    layers = [layer for layer in curve.pairs.phase("late") if layer != curve.pairs.layers[-1]]
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
            PUBLISHED: lambda curve: mean_over(curve, curve.pairs.phase(name)),
            edge: lambda curve: r_at_layer(curve, curve.pairs.layers[layer]),
            Choice.BY_DEPTH: lambda curve: mean_over(curve, curve.pairs.phase_by_depth(name)),
            Choice.PHASES_AT_ONCE: lambda curve: widened_r(
                mean_over(curve, curve.pairs.phase(name)), N_PHASES
            ),
            Choice.CLUSTERS: lambda curve: mean_by_category(curve, name),
        },
        within=within,
        effect=OF_R,
    )


# r of the late layers, by choice; a family of tests has no narrow interval.
LATE_RULES: dict[str, Function] = {
    PUBLISHED: lambda curve: extreme_layer(curve, curve.pairs.phase("late")),
    Choice.PHASE_MEAN: lambda curve: mean_over(curve, curve.pairs.phase("late")),
    Choice.WITHOUT_LAST: lambda curve: extreme_layer(curve, late_layers_but_last(curve)),
}
MEASURED_LATE_RULES: dict[str, Function] = {
    Choice.BEFORE_NORM: lowest_rule(Choice.BEFORE_NORM),
    Choice.ALL_TOKENS: lowest_rule(Choice.ALL_TOKENS),
    Choice.CLUSTERS: lowest_rule(Choice.CLUSTERS, "categories"),
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
            curve, curve.pairs.phase("late"), len(curve.pairs.layers)
        ),
        Choice.TESTS_AT_ONCE: lambda curve: extreme_at_once(
            curve, curve.pairs.phase("late"), n_tests_of_pairs(curve)
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
            Choice.PAIRED: fall_rule(Choice.PUBLISHED),
            Choice.BEFORE_NORM: fall_rule(Choice.BEFORE_NORM),
            Choice.ALL_TOKENS: fall_rule(Choice.ALL_TOKENS),
            Choice.CLUSTERS: fall_rule(Choice.CLUSTERS, "categories"),
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
        choices={
            choice: narrowed(rule) for choice, rule in {**LATE_RULES, **MEASURED_LATE_RULES}.items()
        },
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
            PUBLISHED: lambda curve: extreme_layer(curve, curve.pairs.layers, lowest=False),
            Choice.LAYERS_AT_ONCE: lambda curve: extreme_at_once(
                curve, curve.pairs.layers, len(curve.pairs.layers), lowest=False
            ),
        },
        within=Range(below=0.0),
        effect=OF_R,
    ),
)


# --- where r changes its sign ---------------------------------------------------------------------

# The layers between which r turns negative, in the abstract. For Apertus it names the second one.
PRINTED_TRANSITIONS = {"pythia-6p9b": (28, 32), "llama-3p1-8b": (4, 8), "apertus-8b": (8, 12)}


@dataclass(frozen=True)
class Transition:
    """A curve, and the sampled layers between which it is said to turn negative."""

    curve: Curve
    before: int
    after: int

    def up_to(self) -> list[int]:
        """Return the sampled layers up to the transition."""
        return [layer for layer in self.curve.pairs.layers if layer <= self.before]

    def on(self) -> list[int]:
        """Return the sampled layers from the transition on."""
        return [layer for layer in self.curve.pairs.layers if layer >= self.after]


def printed_transitions(evidence: Evidence) -> dict[str, Transition]:
    """Return the printed transitions of the papers' curves; a reader's model has none."""
    by_model = curves_by_model(evidence)
    return {
        slug: Transition(by_model[slug], *layers)
        for slug, layers in PRINTED_TRANSITIONS.items()
        if slug in by_model
    }


@dataclass(frozen=True)
class Pair:
    """Two curves that are said to turn negative at different layers."""

    first: Curve
    second: Curve

    def layers(self) -> list[int]:
        """Return the layers that were sampled of both."""
        return [
            layer for layer in self.first.pairs.layers if layer in set(self.second.pairs.layers)
        ]


def turning_pairs(evidence: Evidence) -> dict[str, Pair]:
    """Return every two of the papers' curves that are said to turn; a reader's model has none."""
    curves = [transition.curve for transition in printed_transitions(evidence).values()]
    return {
        f"{first.name} and {second.name}": Pair(first, second)
        for first, second in combinations(curves, 2)
    }


def opposite_signs(pair: Pair, *, at_once: bool = False) -> Estimate:
    """Return the nearer to zero of two r of opposite signs, at the layer where it is largest.

    It is positive where at some layer one model correlates positively and the other negatively;
    its ends are those of that one of the two intervals that is nearer to zero.
    """
    layers = pair.layers()
    n_tests = len(layers) if at_once else 1
    by_layer = {}
    for layer in layers:
        first, second = (
            widened_r(r_at_layer(curve, layer), n_tests) for curve in (pair.first, pair.second)
        )
        positive_first = weaker_of(first, opposite_of(second)), pair.first.name
        positive_second = weaker_of(opposite_of(first), second), pair.second.name
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
            Choice.LAYERS_AT_ONCE: lambda pair: opposite_signs(pair, at_once=True),
        },
        within=Range(above=0.0),
    ),
    Question(
        name="positive_before",
        paper=2,
        says="Up to the printed transition r is positive.",
        number="r of the last layer before it",
        unit="pairs",
        models=printed_transitions,
        choices={
            PUBLISHED: lambda transition: r_at_layer(transition.curve, transition.before),
            Choice.EVERY_LAYER: lambda transition: extreme_layer(
                transition.curve, transition.up_to()
            ),
            Choice.LAYERS_AT_ONCE: lambda transition: extreme_at_once(
                transition.curve, [transition.before], len(transition.curve.pairs.layers)
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
        models=printed_transitions,
        choices={
            PUBLISHED: lambda transition: r_at_layer(transition.curve, transition.after),
            Choice.EVERY_LAYER: lambda transition: extreme_layer(
                transition.curve, transition.on(), lowest=False
            ),
            Choice.LAYERS_AT_ONCE: lambda transition: extreme_at_once(
                transition.curve, [transition.after], len(transition.curve.pairs.layers)
            ),
        },
        within=Range(below=0.0),
        effect=OF_R,
    ),
)


# --- the layer of the strongest r -----------------------------------------------------------------

PRINTED_EXTREMUM = "apertus-8b", 28  # of the abstract: "rather than the final layer"


@dataclass(frozen=True)
class Extremum:
    """A curve, the layer at which it is said to be the most negative, and another layer."""

    curve: Curve
    layer: int
    other: int


def layers_beside_extremum(evidence: Evidence) -> dict[str, Extremum]:
    """Return the printed extremum beside each other layer; a reader's model has none."""
    slug, printed = PRINTED_EXTREMUM
    by_model = curves_by_model(evidence)
    if slug not in by_model:
        return {}
    curve = by_model[slug]
    return {
        f"layer {other}": Extremum(curve, printed, other)
        for other in curve.pairs.layers
        if other != printed
    }


def difference_to_other(extremum: Extremum, *, at_once: bool = False) -> Estimate:
    """Return r of the layer less r of the other; ends as if both were wrong in opposite ways."""
    curve = extremum.curve
    n_tests = len(curve.pairs.layers) if at_once else 1
    lowest, other = (
        widened_r(r_at_layer(curve, layer), n_tests) for layer in (extremum.layer, extremum.other)
    )
    where = f"{lowest.where} less {other.where}"
    ends = lowest.low - other.high, lowest.high - other.low
    value = lowest.value - other.value
    return Estimate(value, *ends, curve.n, "pairs", where=where, method=WORST_CASE)


def below_other_rule(choice: Choice) -> Function:
    """Return the rule for r of the printed layer less r of another late one, under a choice."""

    def rule(extremum: Extremum) -> Estimate:
        measured = extremum.curve.under(choice)
        r, late = by_layer(measured.r), by_layer(measured.late)
        if extremum.other not in late:
            raise NotMeasured("only the late layers have an interval under this choice")
        (low, high), (low_other, high_other) = (
            ends(late[layer]) for layer in (extremum.layer, extremum.other)
        )
        value = r[extremum.layer] - r[extremum.other]
        worst = low - high_other, high - low_other
        return Estimate(value, *worst, extremum.curve.n, "pairs", method=WORST_CASE)

    return rule


EXTREMUM_QUESTIONS = (
    Question(
        name="below_other",
        paper=2,
        says="At the printed layer r is lower than at the other layer.",
        number="r of that layer less r of the other",
        unit="pairs",
        models=layers_beside_extremum,
        choices={
            PUBLISHED: difference_to_other,
            Choice.LAYERS_AT_ONCE: lambda extremum: difference_to_other(extremum, at_once=True),
            Choice.BEFORE_NORM: below_other_rule(Choice.BEFORE_NORM),
            Choice.ALL_TOKENS: below_other_rule(Choice.ALL_TOKENS),
        },
        within=Range(below=0.0),
    ),
)


QUESTIONS = (*CURVE_QUESTIONS, *TRANSITION_QUESTIONS, *EXTREMUM_QUESTIONS)
