"""The questions of Paper 2: r over pairs, layers and categories."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence, by_layer
from layerwise.engine.published import NotMeasured
from layerwise.engine.questions.question import OF_R, PUBLISHED, Question, Range
from layerwise.papers.paper2.rules.bins import n_bins
from layerwise.papers.paper2.rules.pair_curves import CURVES, OWN_CURVE, PairCurve
from layerwise.papers.shared.names.curves import METRIC
from layerwise.papers.shared.names.models import READER
from layerwise.papers.shared.questions.choices import measured_choices
from layerwise.papers.shared.questions.states import STATES
from layerwise.papers.shared.rules.categories import (
    asymmetry,
    categories,
    ends,
    n_categories,
    r_over_categories,
)
from layerwise.statistics import curves, phases
from layerwise.statistics.correlation import MIN_POINTS, pearson_p
from layerwise.statistics.estimates import (
    Estimate,
    correlation_estimate,
    deviation_estimate,
    family_level,
    pearson_estimate,
    spearman_estimate,
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
        return self.pairs.n_pairs

    def choices(self) -> Entry:
        """What was measured under the choices."""
        return measured_choices(_evidence(self.pairs.source), self.name)

    def under(self, choice: str) -> Entry:
        """The curve as measured under a choice."""
        found = self.choices()
        if "curves" not in found:
            raise NotMeasured("a curve needs three sampled layers with the last among them")
        return found.curves[choice]


def _evidence(source: Entry | Evidence) -> Evidence:
    return source if isinstance(source, Evidence) else source.evidence


def curves_of(e: Evidence) -> dict[str, Curve]:
    """Of every model and condition of Paper 2, or of the reader's model."""
    places = {**CURVES, READER: OWN_CURVE}
    return {model: Curve(model, places[model].of(e)) for model in e.role("curves")}


def mean_over(curve: Curve, layers: list[int]) -> Estimate:
    """Mean r of layers; its ends are the means of theirs, no nearer than the mean's own."""
    if not layers:
        raise NotMeasured("no sampled layer lies there")
    r, intervals = curve.pairs.r(layers), curve.pairs.ends(layers)
    low, high = (float(np.mean([one[side] for one in intervals.values()])) for side in (0, 1))
    where = f"layers {phases.span(layers)}" if len(layers) > 1 else f"layer {layers[0]}"
    return Estimate(phases.phase_mean(r, layers), low, high, curve.n, "pairs", where=where)


def mean_by_category(curve: Curve, phase: str) -> Estimate:
    """The same with intervals in which whole categories are drawn."""
    layers = curve.pairs.phase(phase)
    tests = [curve.choices().pairs_by_category[layer][METRIC] for layer in layers]
    r, low, high = (
        float(np.mean([test[key] for test in tests])) for key in ("r", "ci_lower", "ci_upper")
    )
    n = n_categories(curve.pairs.source)
    return Estimate(r, low, high, n, "categories", where=f"layers {phases.span(layers)}")


def fall(curve: Curve) -> Estimate:
    """Late minus early mean r; ends as if both were wrong the same way, so never too near."""
    early, late = (mean_over(curve, curve.pairs.phase(name)) for name in ("early", "late"))
    low, high = late.low - early.high, late.high - early.low
    return Estimate(late.value - early.value, low, high, curve.n, "pairs")


def measured_fall(choice: str, unit: str = "pairs") -> Function:
    """The same under a choice, from resamples of all layers at once."""

    def rule(curve: Curve) -> Estimate:
        found = curve.under(choice)
        r, parts = by_layer(found.r), phases.thirds_of_list(list(by_layer(found.r)))
        early, late = (phases.phase_mean(r, parts[name]) for name in ("early", "late"))
        n = curve.n if unit == "pairs" else n_categories(curve.pairs.source)
        return Estimate(late - early, *ends(found.fall), n, unit)

    return rule


def extreme_layer(curve: Curve, layers: list[int], lowest: bool = True) -> Estimate:
    """r of the layer where it is lowest (or highest)."""
    r = curve.pairs.r(layers)
    layer = (min if lowest else max)(r, key=r.__getitem__)
    return at_layer(curve, layer)


def at_layer(curve: Curve, layer: int) -> Estimate:
    (interval,) = curve.pairs.ends([layer]).values()
    r = curve.pairs.r([layer])[layer]
    return Estimate(r, *interval, curve.n, "pairs", where=f"layer {layer}")


def at_once(curve: Curve, layers: list[int], n_tests: int, lowest: bool = True) -> Estimate:
    """The same layer with its interval at the level of a whole family of tests."""
    return widened_r(extreme_layer(curve, layers, lowest), n_tests)


def n_tests_of_pairs(curve: Curve) -> int:
    """Layers times measures, of a file that tests several."""
    pairs = curve.pairs
    if pairs.metric is None:
        raise NotMeasured("the file has one measure")
    return sum(len(measures) for measures in pairs.source.of(pairs.file)[pairs.group].values())


def measured_lowest(choice: str, unit: str = "pairs") -> Function:
    """The late layer where r is lowest, under a choice."""

    def rule(curve: Curve) -> Estimate:
        found = curve.under(choice)
        r, late = by_layer(found.r), by_layer(found.late)
        layer = min(late, key=r.__getitem__)
        n = curve.n if unit == "pairs" else n_categories(curve.pairs.source)
        return Estimate(r[layer], *ends(late[layer]), n, unit, where=f"layer {layer}")

    return rule


def narrow_lowest(choice: str, unit: str = "pairs") -> Function:
    """The same with the ends by which it can be shown to be near zero."""
    rule = measured_lowest(choice, unit)
    return lambda curve: with_narrow_r(rule(curve))


def late_layers_but_last(curve: Curve) -> list[int]:
    """Late layers in front of the final norm."""
    layers = [layer for layer in curve.pairs.phase("late") if layer != curve.pairs.layers[-1]]
    if not layers:
        raise NotMeasured("the last layer is the only late one")
    return layers


def phase_question(name: str, says: str, within: Range, end: str) -> Question:
    """Is the mean r of a phase on one side of zero?"""
    first = f"{end}_layer"
    layer = 0 if end == "first" else -1
    return Question(
        name,
        2,
        says,
        f"mean r of the {name} third",
        "pairs",
        curves_of,
        {
            PUBLISHED: lambda c: mean_over(c, c.pairs.phase(name)),
            first: lambda c: at_layer(c, c.pairs.layers[layer]),
            "by_depth": lambda c: mean_over(c, c.pairs.phase_by_depth(name)),
            "clusters": lambda c: mean_by_category(c, name),
        },
        within,
        OF_R,
    )


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
        "sign_change",
        2,
        "From early to late layers r falls.",
        "late minus early mean r",
        "pairs",
        curves_of,
        {
            PUBLISHED: fall,
            "paired": measured_fall("published"),
            "before_norm": measured_fall("before_norm"),
            "all_tokens": measured_fall("all_tokens"),
            "clusters": measured_fall("clusters", "categories"),
        },
        Range(below=0.0),
    ),
    Question(
        "late_inversion",
        2,
        "Some late layer has a negative r.",
        "r of the lowest late layer",
        "pairs",
        curves_of,
        {
            PUBLISHED: lambda c: extreme_layer(c, c.pairs.phase("late")),
            "phase_mean": lambda c: mean_over(c, c.pairs.phase("late")),
            "without_last": lambda c: extreme_layer(c, late_layers_but_last(c)),
            "layers_at_once": lambda c: at_once(c, c.pairs.phase("late"), len(c.pairs.layers)),
            "tests_at_once": lambda c: at_once(c, c.pairs.phase("late"), n_tests_of_pairs(c)),
            "before_norm": measured_lowest("before_norm"),
            "all_tokens": measured_lowest("all_tokens"),
            "clusters": measured_lowest("clusters", "categories"),
        },
        Range(below=0.0),
        OF_R,
    ),
    Question(
        "no_inversion",
        2,
        "No late layer inverts: the lowest late r is nearer to zero than 0.17, the paper's weakest "
        "inversion.",
        "r of the lowest late layer",
        "pairs",
        curves_of,
        {
            PUBLISHED: lambda c: with_narrow_r(extreme_layer(c, c.pairs.phase("late"))),
            "phase_mean": lambda c: with_narrow_r(mean_over(c, c.pairs.phase("late"))),
            "without_last": lambda c: with_narrow_r(extreme_layer(c, late_layers_but_last(c))),
            "before_norm": narrow_lowest("before_norm"),
            "all_tokens": narrow_lowest("all_tokens"),
            "clusters": narrow_lowest("clusters", "categories"),
        },
        Range(-WEAKEST_INVERSION, WEAKEST_INVERSION),
        OF_R,
    ),
    Question(
        "everywhere_negative",
        2,
        "r is negative in every layer.",
        "r of the highest layer",
        "pairs",
        curves_of,
        {
            PUBLISHED: lambda c: extreme_layer(c, c.pairs.layers, lowest=False),
            "layers_at_once": lambda c: at_once(
                c, c.pairs.layers, len(c.pairs.layers), lowest=False
            ),
        },
        Range(below=0.0),
        OF_R,
    ),
)


# --- where r changes its sign ---------------------------------------------------------------------

# The layers between which the abstract has r turn negative. Of Apertus it names one: the layer
# sampled before it was the last that is positive.
PRINTED_TRANSITIONS = {"pythia-6p9b": (28, 32), "llama-3p1-8b": (4, 8), "apertus-8b": (8, 12)}


@dataclass(frozen=True)
class Transition:
    """A curve, and the sampled layers between which it is said to turn negative."""

    curve: Curve
    before: int
    after: int

    def up_to(self) -> list[int]:
        return [layer for layer in self.curve.pairs.layers if layer <= self.before]

    def on(self) -> list[int]:
        return [layer for layer in self.curve.pairs.layers if layer >= self.after]


def transitions(e: Evidence) -> dict[str, Transition]:
    """Of the papers' curves; nobody has printed a reader's."""
    by_model = curves_of(e)
    return {
        slug: Transition(by_model[slug], *layers)
        for slug, layers in PRINTED_TRANSITIONS.items()
        if slug in by_model
    }


TRANSITIONS = (
    Question(
        "positive_before",
        2,
        "Up to the printed transition r is positive.",
        "r of the last layer before it",
        "pairs",
        transitions,
        {
            PUBLISHED: lambda t: at_layer(t.curve, t.before),
            "every_layer": lambda t: extreme_layer(t.curve, t.up_to()),
            "layers_at_once": lambda t: at_once(t.curve, [t.before], len(t.curve.pairs.layers)),
        },
        Range(above=0.0),
        OF_R,
    ),
    Question(
        "negative_after",
        2,
        "From the printed transition on r is negative.",
        "r of the first layer from there on",
        "pairs",
        transitions,
        {
            PUBLISHED: lambda t: at_layer(t.curve, t.after),
            "every_layer": lambda t: extreme_layer(t.curve, t.on(), lowest=False),
            "layers_at_once": lambda t: at_once(t.curve, [t.after], len(t.curve.pairs.layers)),
        },
        Range(below=0.0),
        OF_R,
    ),
)


# --- the layer of the strongest r -----------------------------------------------------------------

PRINTED_EXTREMUM = {"apertus-8b": 28}  # of the abstract: "rather than the final layer"


@dataclass(frozen=True)
class Extremum:
    """A curve, and the layer at which it is said to be the most negative."""

    curve: Curve
    layer: int


def extrema(e: Evidence) -> dict[str, Extremum]:
    """Of the papers' curves; nobody has printed a reader's."""
    by_model = curves_of(e)
    return {
        slug: Extremum(by_model[slug], layer)
        for slug, layer in PRINTED_EXTREMUM.items()
        if slug in by_model
    }


def below_last(extremum: Extremum) -> Estimate:
    """r of the layer less r of the last one; ends as if both were wrong in opposite ways."""
    curve = extremum.curve
    there, last = (at_layer(curve, at) for at in (extremum.layer, curve.pairs.layers[-1]))
    where = f"{there.where} less {last.where}"
    low, high = there.low - last.high, there.high - last.low
    return Estimate(there.value - last.value, low, high, curve.n, "pairs", where=where)


def measured_below_last(choice: str) -> Function:
    """The same under a choice."""

    def rule(extremum: Extremum) -> Estimate:
        found = extremum.curve.under(choice)
        r, late = by_layer(found.r), by_layer(found.late)
        (low, high), (low_last, high_last) = ends(late[extremum.layer]), ends(late[max(late)])
        value = r[extremum.layer] - r[max(late)]
        return Estimate(value, low - high_last, high - low_last, extremum.curve.n, "pairs")

    return rule


EXTREMUM = (
    Question(
        "below_last",
        2,
        "At the printed layer r is lower than at the last.",
        "r of that layer less r of the last",
        "pairs",
        extrema,
        {
            PUBLISHED: below_last,
            "before_norm": measured_below_last("before_norm"),
            "all_tokens": measured_below_last("all_tokens"),
        },
        Range(below=0.0),
    ),
)


# --- r over the categories ------------------------------------------------------------------------


@dataclass(frozen=True)
class LastLayer:
    """r over the categories at the last layer, and its points, where a file has them.

    Attributes:
        r: reads it.
        tests: the tests of all sampled layers, in the order of depth.
        points: the file of cosines and preferences by category.
    """

    name: str
    r: Callable[[], float]
    tests: Entry
    points: Entry | None

    @property
    def evidence(self) -> Evidence:
        return self.tests.evidence

    @property
    def n(self) -> int:
        return n_categories(self.tests)

    def names(self) -> list[str]:
        """The categories."""
        if self.points is None:
            raise NotMeasured("asymmetry and preference by category were not published")
        return categories(self.points)

    def series(self, names: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
        """UA and preference of these categories."""
        found = [self.points[name] for name in names] if self.points is not None else []
        return np.array([asymmetry(of) for of in found]), np.array(
            [of.output_preference for of in found]
        )


def last_layers(e: Evidence) -> dict[str, LastLayer]:
    """The Pythia sizes of Paper 2, by slug, or the reader's model.

    A reader's layers may be sampled without the last one, so its r is read from the points.
    """
    points, last = e.role("preferences"), papers_sizes(e)
    for model, file in e.role("category_bootstrap").items():
        if model not in last:
            r = partial(r_over_categories, points[model])
            last[model] = LastLayer(model, r, file.layer_results, points[model])
    return last


def last_r(m: Entry) -> float:
    """r of the last sampled layer."""
    return float(list(by_layer(m.layer_results).values())[-1].correlation)


def over_categories(m: LastLayer, n_tests: int = 1) -> Estimate:
    return correlation_estimate(m.r(), m.n, "categories", family_level(n_tests))


def without_a_category(m: LastLayer) -> dict[str, Function]:
    """r of the other categories, without each in turn."""
    names = m.names()
    if len(names) <= MIN_POINTS:
        raise NotMeasured(f"{len(names)} categories leave too few when one goes")

    def without(left_out: str) -> Estimate:
        x, y = m.series([name for name in names if name != left_out])
        return pearson_estimate(x, y, "categories")

    return {name: partial(without, name) for name in names}


def by_rank(m: LastLayer) -> Estimate:
    return spearman_estimate(*m.series(m.names()), "categories")


def drawn_tests(m: LastLayer, role: str, group: str) -> dict[int, Entry]:
    """The tests by layer in a file that was drawn for one model, ascending.

    Raises:
        NotMeasured: for any other model.
    """
    files = m.evidence.role(role)
    if m.name not in files:
        raise NotMeasured("it was drawn for one model")
    return by_layer(files[m.name][group])


def last_test(m: LastLayer, role: str, group: str) -> Entry:
    """The last layer's test in a file on one model's layers."""
    return list(drawn_tests(m, role, group).values())[-1]


def last_resampled(m: LastLayer) -> Estimate:
    """With the notebook's bootstrap interval; the resamples of few points need a p as well."""
    test = last_test(m, "category_bootstrap", "layer_results")
    p = float(pearson_p(test.r, m.n))
    return Estimate(test.r, *ends(test), m.n, "categories", p)


def over_bins(m: LastLayer) -> Estimate:
    test = last_test(m, "bins", "bootstrap_results")
    n = n_bins(test)
    p = float(pearson_p(test.r, n)) if n >= MIN_POINTS else 1.0
    return Estimate(test.r, *ends(test), n, "bins", p)


def categories_under(choice: str) -> Function:
    """r in another reading of the last layer's states."""

    def rule(m: LastLayer) -> Estimate:
        tests = measured_choices(m.evidence, m.name).categories
        if choice not in tests:
            raise NotMeasured(f"the reading {choice} is the same in every category")
        return correlation_estimate(tests[choice].r, m.n, "categories")

    return rule


def over_mid_bins(model: LastLayer) -> Estimate:
    """The lower of r over the bins at the two layers that the notebook calls the middle."""
    tests = drawn_tests(model, "bins", "bootstrap_results")
    layer = min(curves.MID_LAYERS, key=lambda at: tests[at].r)
    test, n = tests[layer], n_bins(tests[layer])
    p = float(pearson_p(test.r, n)) if n >= MIN_POINTS else 1.0
    return Estimate(test.r, *ends(test), n, "bins", p, f"layer {layer}")


def over_mid_categories(model: LastLayer) -> Estimate:
    """The higher of r over the categories at these two layers."""
    tests = by_layer(model.tests)
    r = {layer: r_of_test(tests[layer]) for layer in curves.MID_LAYERS}
    layer = max(r, key=r.__getitem__)
    return correlation_estimate(r[layer], model.n, "categories", where=f"layer {layer}")


def r_of_test(test: Entry) -> float:
    """r of a layer, which two files call by two names."""
    return float(test.r if "r" in test else test.correlation)


def papers_sizes(e: Evidence) -> dict[str, LastLayer]:
    """The Pythia sizes, by slug; the notebook's middle layers say nothing of a reader's model."""
    points, sizes = e.role("preferences"), {}
    for models in e.role("sizes").values():
        for name, model in models.items():
            slug = name.lower().replace(".", "p")
            r = partial(last_r, model)
            sizes[slug] = LastLayer(slug, r, model.layer_results, points.get(slug))
    return sizes


def scaled(e: Evidence) -> dict[str, Entry]:
    """The Pythia sizes of Paper 2 together; a reader's single model has none."""
    return e.role("sizes")


def spread_of_peaks(models: Entry) -> Estimate:
    """Population deviation of the depth of the largest r, percent, with its chi-square interval."""
    depths = []
    for model in models.values():
        r = {layer: r_of_test(test) for layer, test in by_layer(model.layer_results).items()}
        depths.append(100 * max(r, key=r.__getitem__) / model.n_layers)
    return deviation_estimate(depths, "models")


STABLE = 10.0  # percent of depth, the bound of notebook 002

OVER_CATEGORIES = (
    Question(
        "mid_bins",
        2,
        "Over random bins asymmetry and preference correlate positively at the middle layers.",
        "r over the bins",
        "bins",
        papers_sizes,
        {PUBLISHED: over_mid_bins},
        Range(above=0.0),
    ),
    Question(
        "category_mid",
        2,
        "Over the categories asymmetry and preference correlate positively at some middle layer.",
        "r over the categories",
        "categories",
        papers_sizes,
        {PUBLISHED: over_mid_categories},
        Range(above=0.0),
        OF_R,
    ),
    Question(
        "peak_shift",
        2,
        "The depth of the largest r over the categories differs between the sizes.",
        "deviation of that depth, percent",
        "models",
        scaled,
        {PUBLISHED: spread_of_peaks},
        Range(above=STABLE),
    ),
    Question(
        "category_inversion",
        2,
        "Over the categories asymmetry and preference correlate negatively at the last layer.",
        "r over the categories",
        "categories",
        last_layers,
        {
            PUBLISHED: over_categories,
            "bootstrap": last_resampled,
            "category_out": without_a_category,
            "spearman": by_rank,
            "layers_at_once": lambda m: over_categories(m, len(m.tests)),
            "random_bins": over_bins,
            **{choice: categories_under(choice) for choice in STATES},
        },
        Range(below=0.0),
        OF_R,
    ),
)


QUESTIONS = (*CURVE_QUESTIONS, *TRANSITIONS, *EXTREMUM, *OVER_CATEGORIES)
