"""The questions of Paper 2 on measured pairs: against naive loops, and both ways for every row.

The pairs are synthetic, with a chosen r in each category at each layer; the stages' own code makes
of them what is stored, and the questions read that.
"""

import math
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from layerwise.engine.answers import read_answers
from layerwise.engine.derivation import derive
from layerwise.engine.marks import FAILS, HOLDS, OPEN, weigh
from layerwise.engine.published import DECIDES
from layerwise.engine.question import documents_of_questions
from layerwise.papers.paper2.questions import curves
from layerwise.papers.shared.names import Choice
from layerwise.shapes import read_yaml

SIZES = {"a": 30, "b": 20, "c": 50, "d": 50, "e": 50, "f": 30}
QUESTIONS = {question.name: question for question in curves.QUESTIONS}
PYTHIA, LLAMA, APERTUS, GEMMA = "pythia-6p9b", "llama-3p1-8b", "apertus-8b", "gemma-2b"
TEMPLATED = "llama-3p1-8b-instruct-template"
SPREAD = np.array([-0.1, -0.06, -0.02, 0.02, 0.06, 0.1])  # of r between the categories


BENCH = runpy.run_path(
    str(Path(__file__).parents[2] / "benchmarks" / "calibration.py"), run_name="calibration"
)
layers_of = BENCH["sampled_layers"]


def some_pairs(by_layer, seed=7, shift=1.0):
    """Values of pairs whose r in each category is as asked: {layer: r by category}."""
    rng = np.random.default_rng(seed)
    category = np.repeat(np.arange(len(SIZES)), list(SIZES.values()))
    preferences, series = np.empty(len(category)), np.empty((len(by_layer), len(category)))
    for number in range(len(SIZES)):
        inside = category == number
        y = scipy.stats.zscore(rng.normal(size=inside.sum()))
        preferences[inside] = (number + 1) * y + shift * number
        for row, r in enumerate(by_layer.values()):
            noise = rng.normal(size=inside.sum())
            noise -= noise.mean() + y * (noise @ y) / (y @ y)
            at = r[number]
            series[row, inside] = at * y + math.sqrt(1 - at**2) * scipy.stats.zscore(noise)
            series[row, inside] += (
                3 * shift * number
            )  # what one category shifts moves r over all pairs
    values = BENCH["values_of_pairs"]([*by_layer], series, preferences, category, [*SIZES])
    return replace(values, pair_metrics_all_tokens=values.pair_metrics)


def answers_of(published, models, shift=1.0):
    """The answers of models that were measured: {slug: {layer: r by category}}."""
    by_model = {slug: some_pairs(by_layer, shift=shift) for slug, by_layer in models.items()}
    return answers_of_values(published, by_model)


def answers_of_values(published, by_model):
    evidence = BENCH["evidence_of_values"](published, by_model)
    derivation = derive(lambda read: documents_of_questions(QUESTIONS, read), evidence)
    assert not derivation.undefined
    return read_answers({"questions": derivation.documents})


def flat(published, slug, value):
    """The same r at every layer, a little apart between the categories."""
    return turning(published, slug, lambda _: value)


def turning(published, slug, r_of):
    return {
        layer: np.clip(r_of(layer) + SPREAD, -0.95, 0.95) for layer in layers_of(published, slug)
    }


# --- values, units and intervals, against a loop --------------------------------------------------


def loop_over_categories(values, layers, level):
    """r within the categories, the mean over layers: value and interval."""
    z = []
    for number in range(len(SIZES)):
        inside = values.category_of_pair == number
        rows = [values.layers.index(layer) for layer in layers]
        r = [
            np.corrcoef(values.pair_metrics[row, 0, inside], values.preferences[inside])[0, 1]
            for row in rows
        ]
        z.append(np.mean(np.arctanh(r)))
    n = len(z)
    wide = scipy.stats.t.ppf((1 + level) / 2, n - 1) * np.std(z, ddof=1) / math.sqrt(n)
    alike = scipy.stats.norm.ppf((1 + level) / 2) * math.sqrt(
        sum(1 / (size - 3) for size in SIZES.values())
    )
    half = max(wide, alike / n)
    return np.tanh([np.mean(z), np.mean(z) - half, np.mean(z) + half])


@pytest.fixture(scope="module")
def random_curve(published):
    rng = np.random.default_rng(11)
    return {
        layer: np.tanh(rng.normal(0.1, 0.4, len(SIZES))) for layer in layers_of(published, PYTHIA)
    }


@pytest.fixture(scope="module")
def random_answers(published, random_curve):
    models = dict.fromkeys((PYTHIA, LLAMA, APERTUS), random_curve)
    return answers_of(published, models)


def chosen_layers(layers, name):
    third = math.ceil(len(layers) / 3)
    return {
        ("early", DECIDES): layers[: len(layers) // 3] or layers[:third],
        ("early", Choice.FIRST_LAYER): layers[:1],
        ("late", Choice.LAST_LAYER): layers[-1:],
    }[name]


@pytest.mark.parametrize(
    ("name", "reading", "states"),
    [
        ("early", DECIDES, None),
        ("early", DECIDES, Choice.ALL_TOKENS),
        ("early", Choice.FIRST_LAYER, None),
        ("late", Choice.LAST_LAYER, None),
    ],
)
def test_a_mean_over_layers_is_that_of_a_loop(random_answers, random_curve, name, reading, states):
    values = some_pairs(random_curve)
    answer = random_answers[name][PYTHIA][states or reading]
    layers = chosen_layers(list(random_curve), (name, reading))
    value, low, high = loop_over_categories(values, layers, 0.95)
    assert (answer.value, answer.n, answer.unit) == (pytest.approx(value), 6, "categories")
    assert (answer.ends.low, answer.ends.high) == pytest.approx((low, high))


@pytest.mark.parametrize("name", ["early", "late"])
def test_a_third_of_the_depth_is_another_than_a_third_of_the_list(published, name):
    """Where layers are not sampled evenly, which no printed curve is."""
    layers = [0, 2, 4, 6, 8, 10, 20, 30, 40]
    rng = np.random.default_rng(5)
    curve = {layer: np.tanh(rng.normal(0.1, 0.4, len(SIZES))) for layer in layers}
    answers = answers_of(published, {PYTHIA: curve})[name][PYTHIA]
    thirds = {"early": lambda layer: layer < 40 / 3, "late": lambda layer: layer >= 2 * 40 / 3}
    chosen = [layer for layer in layers if thirds[name](layer)]
    value, low, high = loop_over_categories(some_pairs(curve), chosen, 0.95)
    answer = answers[Choice.BY_DEPTH]
    assert (answer.value, answer.ends.low, answer.ends.high) == pytest.approx((value, low, high))
    assert answer.value != pytest.approx(answers[DECIDES].value)


@pytest.mark.parametrize("states", [Choice.BEFORE_NORM, Choice.ALL_TOKENS])
def test_states_that_change_places_change_the_answers_of_their_readings(published, states):
    """What decides on the one is what the other reading gives, by every question on any curve."""
    rng = np.random.default_rng(12)
    given, exchanged = {}, {}
    for slug in (PYTHIA, LLAMA, APERTUS, GEMMA):
        layers = layers_of(published, slug)
        values, others = (
            some_pairs({layer: np.tanh(rng.normal(0.1, 0.4, len(SIZES))) for layer in layers})
            for _ in range(2)
        )
        first, second = values.pair_metrics, others.pair_metrics
        if states == Choice.BEFORE_NORM:  # of the last layer alone
            second = np.concatenate([first[:-1], second[-1:]])
        for by_model, decides, other in ((given, first, second), (exchanged, second, first)):
            by_model[slug] = replace(
                values,
                pair_metrics=decides,
                pair_metrics_before_norm=other[-1],
                pair_metrics_all_tokens=other,
            )
    one, turned = (answers_of_values(published, by_model) for by_model in (given, exchanged))
    for name, by_model in one.items():
        for model, answers in by_model.items():
            assert answers[states] == turned[name][model][DECIDES], (name, model)
            assert answers[DECIDES] == turned[name][model][states], (name, model)
    assert one["late"][PYTHIA][states].value != one["late"][PYTHIA][DECIDES].value


def test_some_late_layer_pays_for_the_search(random_answers, random_curve):
    values, layers = some_pairs(random_curve), list(random_curve)[-3:]
    answer = random_answers["late_inversion"][PYTHIA][DECIDES]
    assert answer.family == (4, 4)
    level = 1 - 0.05 / 4
    alone = [loop_over_categories(values, [layer], level) for layer in layers]
    at_once = [loop_over_categories(values, [layer], 1 - 0.05 / 4 / 3) for layer in layers]
    assert answer.value == pytest.approx(min(value for value, _, _ in alone))
    ends = min(low for _, low, _ in alone), min(high for _, _, high in at_once)
    assert (answer.deciding.low, answer.deciding.high) == pytest.approx(ends)


def test_other_readings_of_the_late_layers_are_the_others_of_them_and_their_mean(
    random_answers, random_curve
):
    values, layers = some_pairs(random_curve), list(random_curve)[-3:]
    answers = random_answers["late_inversion"][PYTHIA]
    lowest = min(loop_over_categories(values, [layer], 0.95)[0] for layer in layers[:-1])
    assert answers[Choice.WITHOUT_LAST].value == pytest.approx(lowest)
    mean = loop_over_categories(values, layers, 0.95)[0]
    assert answers[Choice.PHASE_MEAN].value == pytest.approx(mean)


def test_r_over_all_pairs_leaves_out_one_category_in_turn(random_answers, random_curve):
    values = some_pairs(random_curve)
    x, y, category = values.pair_metrics[-1, 0], values.preferences, values.category_of_pair
    without = [
        math.atanh(np.corrcoef(x[category != k], y[category != k])[0, 1]) for k in range(len(SIZES))
    ]
    n = len(without)
    error = math.sqrt((n - 1) / n * np.sum((np.array(without) - np.mean(without)) ** 2))
    z = math.atanh(np.corrcoef(x, y)[0, 1])
    half = scipy.stats.t.ppf(0.975, n - 1) * error
    answer = random_answers["late"][PYTHIA][Choice.ALL_PAIRS]
    found = curves.jackknife_r(math.tanh(z), [math.tanh(other) for other in without])
    assert (found.low, found.high) == pytest.approx(np.tanh([z - half, z + half]))
    assert (answer.n, answer.unit) == (n, "categories")


def test_what_is_over_bins_is_over_bins(works):
    """Of the one question that has both, on the published numbers."""
    by_model = read_answers({"questions": works["questions"].documents})["category_inversion"]
    answered = [answers for answers in by_model.values() if Choice.RANDOM_BINS in answers]
    units = {DECIDES: "categories", Choice.BOOTSTRAP: "categories", Choice.RANDOM_BINS: "bins"}
    assert answered
    for answers in answered:
        assert {reading: answers[reading].unit for reading in units} == units


@pytest.mark.parametrize("reading", [Choice.BOOTSTRAP, Choice.RANDOM_BINS])
def test_resamples_of_few_points_need_the_p_of_r_too(works, reading):
    by_model = read_answers({"questions": works["questions"].documents})["category_inversion"]
    answered = [answers[reading] for answers in by_model.values() if reading in answers]
    assert answered
    for answer in answered:
        t = answer.value * math.sqrt((answer.n - 2) / (1 - answer.value**2))
        assert answer.p == pytest.approx(2 * scipy.stats.t.sf(abs(t), answer.n - 2))


def entry_of(root, claim):
    """The registered half of a central claim."""
    entries = read_yaml(root / "claims" / "central.yaml")["central"]
    return next(entry for entry in entries if entry["id"] == claim)


# --- every row both ways --------------------------------------------------------------------------


def rising(layer):
    return -0.6 if layer < 16 else 0.6


def falling(layer):
    return 0.6 if layer < 16 else -0.6


def falling_late(layer):
    return 0.6 if layer < 28 else -0.6


def falling_at(layer_of_turn):
    return lambda layer: 0.6 if layer < layer_of_turn else -0.6


THREE = (PYTHIA, LLAMA, APERTUS)
HELD = {
    "p2.early": dict.fromkeys(THREE, falling),
    "p2.late": dict.fromkeys(THREE, falling),
    "p2.three_of_four": {PYTHIA: falling, LLAMA: falling, APERTUS: falling, GEMMA: lambda _: 0.4},
    "p2.transition": {
        PYTHIA: falling_at(28),
        LLAMA: falling_at(8),
        APERTUS: falling_at(16),
    },
    "p2.extremum": {APERTUS: lambda layer: -0.9 if layer == 28 else 0.1},
    "p2.gemma": {GEMMA: lambda _: 0.3},
    "p2.template": {TEMPLATED: lambda _: -0.6},
}
FAILED = {
    "p2.early": {PYTHIA: falling, LLAMA: rising, APERTUS: falling},
    "p2.late": {PYTHIA: rising, LLAMA: falling, APERTUS: falling},
    "p2.three_of_four": {PYTHIA: rising, LLAMA: rising, APERTUS: falling, GEMMA: lambda _: 0.4},
    "p2.transition": {slug: falling_at(16) for slug in THREE},
    "p2.extremum": {APERTUS: lambda layer: 0.6 if layer == 28 else -0.6},
    "p2.gemma": {GEMMA: lambda _: -0.7},
    "p2.template": {TEMPLATED: lambda layer: 0.6 if layer == 8 else -0.6},
}


@pytest.mark.parametrize("claim", HELD)
@pytest.mark.parametrize(("mark", "models"), [(HOLDS, HELD), (FAILS, FAILED)])
def test_from_the_weights_a_row_may_hold_or_fail(root, published, claim, mark, models):
    entry = entry_of(root, claim)
    answers = answers_of(
        published, {slug: turning(published, slug, r) for slug, r in models[claim].items()}
    )
    assert weigh(entry["asks"], answers).mark == mark


def test_a_model_that_never_turns_refutes_that_each_does(root, published):
    entry = entry_of(root, "p2.transition")
    models = {PYTHIA: lambda _: 0.6, LLAMA: falling_at(8), APERTUS: falling_at(16)}
    curves_of = {slug: turning(published, slug, r) for slug, r in models.items()}
    assert weigh(entry["asks"], answers_of(published, curves_of)).mark == FAILS


def test_what_all_pairs_say_otherwise_opens_a_claim(root, published):
    """Negative within every category, positive over all pairs: a difference between categories."""
    entry = entry_of(root, "p2.template")
    by_layer = flat(published, TEMPLATED, -0.3)
    weighed = weigh(entry["asks"], answers_of(published, {TEMPLATED: by_layer}, shift=20.0))
    assert weighed.words == ["yes"]
    assert weighed.readings[Choice.ALL_PAIRS] == "no"
    assert (weighed.mark, weighed.why) == (OPEN, "depends on the reading")
