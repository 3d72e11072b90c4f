"""The questions of Paper 2 on curves of r over the pairs by layer, and where they turn."""

from dataclasses import dataclass

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence, by_layer
from layerwise.engine.published import NotMeasured
from layerwise.engine.questions.question import OF_R, Question, Range
from layerwise.engine.questions.words import PUBLISHED
from layerwise.papers.paper2.rules.pair_curves import CURVES, OWN_CURVE, PairCurve
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

WEAKEST_INVERSION = 0.17  # |r|: the weak end of what the abstract calls a late inversion

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

    def under(self, choice: str) -> Entry:
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


def fall_rule(choice: str, unit: str = "pairs") -> Function:
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


def lowest_rule(choice: str, unit: str = "pairs") -> Function:
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


def phase_question(name: str, says: str, within: Range, end: str) -> Question:
    """Return the question whether the mean r of a phase lies on one side of zero."""
    first = f"{end}_layer"
    layer = 0 if end == "first" else -1
    return Question(
        name=name,
        paper=2,
        says=says,
        number=f"mean r of the {name} third",
        unit="pairs",
        models=curves_by_model,
        choices={
            PUBLISHED: lambda curve: mean_over(curve, curve.pairs.phase(name)),
            first: lambda curve: r_at_layer(curve, curve.pairs.layers[layer]),
            "by_depth": lambda curve: mean_over(curve, curve.pairs.phase_by_depth(name)),
            "clusters": lambda curve: mean_by_category(curve, name),
        },
        within=within,
        effect=OF_R,
    )


# r of the late layers, by choice; a family of tests has no narrow interval.
LATE_RULES: dict[str, Function] = {
    PUBLISHED: lambda curve: extreme_layer(curve, curve.pairs.phase("late")),
    "phase_mean": lambda curve: mean_over(curve, curve.pairs.phase("late")),
    "without_last": lambda curve: extreme_layer(curve, late_layers_but_last(curve)),
}
MEASURED_LATE_RULES = {
    "before_norm": lowest_rule("before_norm"),
    "all_tokens": lowest_rule("all_tokens"),
    "clusters": lowest_rule("clusters", "categories"),
}
CURVE_QUESTIONS = (
    phase_question(
        "early",
        "In early layers a pair's asymmetry and preference correlate positively.",
        Range(above=0.0),
        "first",
    ),
    phase_question(
        "late",
        "In late layers a pair's asymmetry and preference correlate negatively.",
        Range(below=0.0),
        "last",
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
            "paired": fall_rule("published"),
            "before_norm": fall_rule("before_norm"),
            "all_tokens": fall_rule("all_tokens"),
            "clusters": fall_rule("clusters", "categories"),
        },
        within=Range(below=0.0),
    ),
    Question(
        name="late_inversion",
        paper=2,
        says="Some late layer has a negative r.",
        number="r of the lowest late layer",
        unit="pairs",
        models=curves_by_model,
        choices={
            **LATE_RULES,
            "layers_at_once": lambda curve: extreme_at_once(
                curve, curve.pairs.phase("late"), len(curve.pairs.layers)
            ),
            "tests_at_once": lambda curve: extreme_at_once(
                curve, curve.pairs.phase("late"), n_tests_of_pairs(curve)
            ),
            **MEASURED_LATE_RULES,
        },
        within=Range(below=0.0),
        effect=OF_R,
    ),
    Question(
        name="no_inversion",
        paper=2,
        says="No late layer inverts: the lowest late r is nearer to zero than 0.17, the paper's "
        "weakest inversion.",
        number="r of the lowest late layer",
        unit="pairs",
        models=curves_by_model,
        choices={
            choice: narrowed(rule) for choice, rule in {**LATE_RULES, **MEASURED_LATE_RULES}.items()
        },
        within=Range(-WEAKEST_INVERSION, WEAKEST_INVERSION),
        effect=OF_R,
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
            "layers_at_once": lambda curve: extreme_at_once(
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


TRANSITION_QUESTIONS = (
    Question(
        name="positive_before",
        paper=2,
        says="Up to the printed transition r is positive.",
        number="r of the last layer before it",
        unit="pairs",
        models=printed_transitions,
        choices={
            PUBLISHED: lambda transition: r_at_layer(transition.curve, transition.before),
            "every_layer": lambda transition: extreme_layer(transition.curve, transition.up_to()),
            "layers_at_once": lambda transition: extreme_at_once(
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
            "every_layer": lambda transition: extreme_layer(
                transition.curve, transition.on(), lowest=False
            ),
            "layers_at_once": lambda transition: extreme_at_once(
                transition.curve, [transition.after], len(transition.curve.pairs.layers)
            ),
        },
        within=Range(below=0.0),
        effect=OF_R,
    ),
)


# --- the layer of the strongest r -----------------------------------------------------------------

PRINTED_EXTREMUM = {"apertus-8b": 28}  # of the abstract: "rather than the final layer"


@dataclass(frozen=True)
class Extremum:
    """A curve, and the layer at which it is said to be the most negative."""

    curve: Curve
    layer: int


def printed_extrema(evidence: Evidence) -> dict[str, Extremum]:
    """Return the printed extrema of the papers' curves; a reader's model has none."""
    by_model = curves_by_model(evidence)
    return {
        slug: Extremum(by_model[slug], layer)
        for slug, layer in PRINTED_EXTREMUM.items()
        if slug in by_model
    }


def difference_to_last(extremum: Extremum) -> Estimate:
    """Return r of the layer less r of the last; ends as if both were wrong in opposite ways."""
    curve = extremum.curve
    at_extremum = r_at_layer(curve, extremum.layer)
    last = r_at_layer(curve, curve.pairs.layers[-1])
    where = f"{at_extremum.where} less {last.where}"
    low, high = at_extremum.low - last.high, at_extremum.high - last.low
    value = at_extremum.value - last.value
    return Estimate(value, low, high, curve.n, "pairs", where=where, method=WORST_CASE)


def below_last_rule(choice: str) -> Function:
    """Return the rule for r of the printed layer less r of the last, under a choice."""

    def rule(extremum: Extremum) -> Estimate:
        measured = extremum.curve.under(choice)
        r, late = by_layer(measured.r), by_layer(measured.late)
        (low, high), (low_last, high_last) = ends(late[extremum.layer]), ends(late[max(late)])
        value = r[extremum.layer] - r[max(late)]
        worst = low - high_last, high - low_last
        return Estimate(value, *worst, extremum.curve.n, "pairs", method=WORST_CASE)

    return rule


EXTREMUM_QUESTIONS = (
    Question(
        name="below_last",
        paper=2,
        says="At the printed layer r is lower than at the last.",
        number="r of that layer less r of the last",
        unit="pairs",
        models=printed_extrema,
        choices={
            PUBLISHED: difference_to_last,
            "before_norm": below_last_rule("before_norm"),
            "all_tokens": below_last_rule("all_tokens"),
        },
        within=Range(below=0.0),
    ),
)


QUESTIONS = (*CURVE_QUESTIONS, *TRANSITION_QUESTIONS, *EXTREMUM_QUESTIONS)
