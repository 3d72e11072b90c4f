"""The questions of Paper 2 on r over the categories and over random bins."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from layerwise.engine.evidence import Entry, Evidence, by_layer
from layerwise.engine.published import DECIDES, PUBLISHED, NotMeasured
from layerwise.engine.question import FamilyOfTests, Question, Range
from layerwise.models.registry import slug_of
from layerwise.papers.paper2.rules.bins import n_bins, p_over_bins
from layerwise.papers.shared.names import STATES, Choice
from layerwise.papers.shared.questions import measured_choices
from layerwise.papers.shared.rules import (
    asymmetry,
    categories,
    n_categories,
    r_over_categories,
    read_ends,
)
from layerwise.statistics import curves
from layerwise.statistics.by_category import FEWEST_FOR_JACKKNIFE, JACKKNIFE, jackknife_r
from layerwise.statistics.correlation import pearson_p, pearson_r
from layerwise.statistics.estimates import (
    PERMUTATIONS,
    Estimate,
    correlation_estimate,
    published_correlation,
    spearman_estimate,
    without_interval,
)
from layerwise.statistics.extremes import highest, lowest


@dataclass(frozen=True)
class LastLayer:
    """The r over the categories at the last layer, and its points, where a file has them.

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
        """Return the categories.

        Raises:
            NotMeasured: where no file has their points.
        """
        if self.points is None:
            raise NotMeasured("asymmetry and preference by category were not published")
        return categories(self.points)

    def series(self, names: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return UA and preference of these categories."""
        entries = [self.points[name] for name in names] if self.points is not None else []
        preferences = [entry.output_preference for entry in entries]
        return np.array([asymmetry(entry) for entry in entries]), np.array(preferences)


def last_layers_by_model(evidence: Evidence) -> dict[str, LastLayer]:
    """Return the Pythia sizes of Paper 2, by slug, or the reader's model.

    A reader's layers may be sampled without the last one, so its r is read from the points.
    """
    points, last = evidence.role("preferences"), sizes_in_print(evidence)
    for model, file in evidence.role("category_bootstrap").items():
        if model not in last:
            r = partial(r_over_categories, points[model])
            last[model] = LastLayer(model, r, file.layer_results, points[model])
    return last


def last_r(model: Entry) -> float:
    """Return r of the last sampled layer."""
    return float(list(by_layer(model.layer_results).values())[-1].correlation)


def r_at_last_layer(model: LastLayer) -> Estimate:
    """Return r over the categories at the last layer, leaving out one category in turn."""
    return jackknife_of_series(*model.series(model.names()))


def jackknife_of_series(x: np.ndarray, y: np.ndarray) -> Estimate:
    """Return r over categories with the interval of leaving out one of them in turn."""
    n, fewest = len(x), FEWEST_FOR_JACKKNIFE
    if n < fewest:
        return without_interval(pearson_r(x, y), n, "categories", method=JACKKNIFE, fewest=fewest)
    kept = [np.arange(n) != number for number in range(n)]
    return jackknife_r(pearson_r(x, y), [pearson_r(x[others], y[others]) for others in kept])


def exact_r(model: LastLayer) -> Estimate:
    """Return r over the categories at the last layer by the exact law of normal series."""
    return correlation_estimate(model.r(), model.n, "categories")


def rank_correlation(model: LastLayer) -> Estimate:
    """Return Spearman's r over the categories."""
    return spearman_estimate(*model.series(model.names()), "categories")


def drawn_tests(model: LastLayer, role: str, group: str) -> dict[int, Entry]:
    """Return the tests by layer of a file that was made for one model, ascending.

    Raises:
        NotMeasured: for any other model.
    """
    files = model.evidence.role(role)
    if model.name not in files:
        raise NotMeasured("it was drawn for one model")
    return by_layer(files[model.name][group])


def last_test(model: LastLayer, role: str, group: str) -> Entry:
    """Return the last layer's test in a file on one model's layers."""
    return list(drawn_tests(model, role, group).values())[-1]


def bootstrapped_r(model: LastLayer) -> Estimate:
    """Return r with the notebook's bootstrap interval; resamples of few points need a p as well."""
    test = last_test(model, "category_bootstrap", "layer_results")
    p = float(pearson_p(test.r, model.n))
    return published_correlation(test.r, read_ends(test), model.n, "categories", p=p)


def bins_estimate(test: Entry, where: str = "") -> Estimate:
    """Return r of a test over the bins; the resamples of few bins need a p as well."""
    p = p_over_bins(test)
    return published_correlation(test.r, read_ends(test), n_bins(test), "bins", where, p)


def r_over_bins(model: LastLayer) -> Estimate:
    """Return r over the bins at the last layer."""
    return bins_estimate(last_test(model, "bins", "bootstrap_results"))


def measured_r(model: LastLayer, states: Choice) -> Estimate:
    """Return r over the categories in another reading of the last layer's states."""
    tests = measured_choices(model.evidence, model.name).categories
    if states not in tests:
        raise NotMeasured(f"the reading {states} is the same in every category")
    test = tests[states]
    return jackknife_r(test.r, [test.without[name] for name in test.without])


def r_over_mid_bins(model: LastLayer) -> Estimate:
    """Return the lower r over the bins of the two layers that the notebook calls the middle."""
    tests = drawn_tests(model, "bins", "bootstrap_results")
    return lowest([bins_estimate(tests[layer], f"layer {layer}") for layer in curves.MID_LAYERS])


def r_over_mid_categories(model: LastLayer) -> Estimate:
    """Return the higher r over the categories of these two layers, by leaving out a category."""
    tests = measured_choices(model.evidence, model.name).by_layer
    at = {layer: tests[layer] for layer in curves.MID_LAYERS}
    return highest(
        [
            jackknife_r(test.r, [test.without[name] for name in test.without], f"layer {layer}")
            for layer, test in at.items()
        ]
    )


def exact_mid_r(model: LastLayer) -> Estimate:
    """Return the higher r over the categories of these two layers, by the exact law."""
    tests = by_layer(model.tests)
    return highest(
        [
            correlation_estimate(
                r_of_test(tests[layer]), model.n, "categories", where=f"layer {layer}"
            )
            for layer in curves.MID_LAYERS
        ]
    )


def r_of_test(test: Entry) -> float:
    """Return r of a layer, which two files call by two names."""
    return float(test.r if "r" in test else test.correlation)


def sizes_in_print(evidence: Evidence) -> dict[str, LastLayer]:
    """The Pythia sizes, by slug; the notebook's middle layers say nothing of a reader's model."""
    points, sizes = evidence.role("preferences"), {}
    for models in evidence.role("sizes").values():
        for name, model in models.items():
            slug = slug_of(name)
            r = partial(last_r, model)
            sizes[slug] = LastLayer(slug, r, model.layer_results, points.get(slug))
    return sizes


def size_families(evidence: Evidence) -> dict[str, Entry]:
    """The Pythia sizes of Paper 2 together; a reader's single model has none."""
    return evidence.role("sizes")


def spread_of_peaks(models: Entry) -> Estimate:
    """Return the population SD of the depths of the largest r, percent.

    It has no interval: each depth is where the largest of several noisy r lies, so that sizes with
    one curve seem to differ. What could tell is a trend with size, by the orders of the sizes.
    """
    depths = []
    for model in models.values():
        r = {layer: r_of_test(test) for layer, test in by_layer(model.layer_results).items()}
        depths.append(100 * max(r, key=r.__getitem__) / model.n_layers)
    sd, n = float(np.std(depths)), len(depths)
    return without_interval(sd, n, "sizes", method=PERMUTATIONS, fewest=FEWEST_SIZES)


# Sizes whose orders reach a two-sided p under 0.05: 2/4! is 0.083, 2/5! is 0.017.
FEWEST_SIZES = 5
STABLE = 10.0  # percent of depth, the bound of notebook 002
N_SAMPLED = 9  # layers of Pythia-6.9B, of which the notebook picked the middle ones by their result

QUESTIONS = (
    Question(
        name="mid_bins",
        paper=2,
        says="Over random bins asymmetry and preference correlate positively at the middle layers.",
        number="lower correlation of the two middle layers, over the bins",
        unit="bins",
        models=sizes_in_print,
        readings={DECIDES: r_over_mid_bins},
        within=Range(above=0.0),
        family=FamilyOfTests(N_SAMPLED, N_SAMPLED, "layers that stand out among nine"),
    ),
    Question(
        name="category_mid",
        paper=2,
        says="Over the categories asymmetry and preference correlate positively at some middle "
        "layer.",
        number="higher correlation of the two middle layers, over the categories",
        unit="categories",
        models=sizes_in_print,
        readings={DECIDES: r_over_mid_categories, PUBLISHED: exact_mid_r},
        within=Range(above=0.0),
    ),
    Question(
        name="peak_shift",
        paper=2,
        says="The depth of the largest r over the categories differs between the sizes.",
        number="spread between the sizes of the depth at which r is highest, percent",
        unit="sizes",
        models=size_families,
        readings={DECIDES: spread_of_peaks},
        within=Range(above=STABLE),
        fewest=FEWEST_SIZES,
    ),
    Question(
        name="category_inversion",
        paper=2,
        says="Over the categories asymmetry and preference correlate negatively at the last layer.",
        number="correlation at the last layer, over the categories",
        unit="categories",
        models=last_layers_by_model,
        readings={
            DECIDES: r_at_last_layer,
            PUBLISHED: exact_r,
            Choice.BOOTSTRAP: bootstrapped_r,
            Choice.SPEARMAN: rank_correlation,
            Choice.RANDOM_BINS: r_over_bins,
            **{states: partial(measured_r, states=states) for states in STATES},
        },
        within=Range(below=0.0),
    ),
)
