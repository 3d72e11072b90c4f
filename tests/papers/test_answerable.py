"""Every question can be answered: by published numbers that say yes, and by others that say no.

The numbers are of the published shape and size. Where no numbers of that size could answer, the
question says so, with the size that could.
"""

import re

import numpy as np
import pytest
from synthetic import (
    HUNTED,
    NEUTRAL,
    SWEPT,
    ask_as_published,
    depth,
    entries,
    heads_density,
    is_eleuther,
    jitter,
    matching,
    size,
    with_curve,
    with_gain,
    with_gains,
    with_rows,
    with_ua,
)

from judged import changed
from layerwise.engine.answer_words import NO, NO_SPREAD, TOO_FEW, YES
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.shared import result_files as files
from layerwise.papers.shared.names import FACTS, NUMERIC

TURNING = PYTHIA, LLAMA, APERTUS = "pythia-6p9b", "llama-3p1-8b", "apertus-8b"
PAPER_1 = tuple(files.PAPER1)
BUSINESS = "business"
SIZES = ("Pythia-410M", "Pythia-1.4B", "Pythia-6.9B", "Pythia-12B")


def neutral(value):
    """Asymmetries of one model around a value."""
    return lambda p: with_ua(
        p, "gemma", {name: value + 1e-4 * n for n, name in enumerate(NEUTRAL, start=-2)}
    )


def of_category(name, value, models=("gemma",)):
    """The asymmetry of a category in some models."""

    def make(p):
        cells = {}
        for n, model in enumerate(models):
            cells |= with_ua(p, model, {name: value + 0.001 * n})
        return cells

    return make


def one_curve(r, slug=PYTHIA):
    return lambda p: with_curve(p, slug, r)


def turning(layers):
    """Curves that turn from positive to negative behind a layer, by model."""

    def make(p):
        cells = {}
        for slug, turn in layers.items():
            cells |= with_curve(p, slug, lambda layer, turn=turn: 0.5 if layer < turn else -0.5)
        return cells

    return make


def falling(sign):
    return one_curve(lambda layer: sign * (0.5 - layer / 32))


def categories_r(r):
    """r over the categories at every layer of every Pythia size."""
    return lambda p: {
        (files.SCALING, key): r
        for key in matching(p, files.SCALING, r"/models/[^/]+/layer_results/\d+/correlation")
    }


def bins_r(r):
    def make(p):
        keys = matching(p, files.BINS, r"/bootstrap_results/\d+/(r|ci_lower|ci_upper)")
        ends = {"r": r, "ci_lower": r - 0.1, "ci_upper": r + 0.1}
        return {(files.BINS, key): ends[key.rpartition("/")[2]] for key in keys}

    return make


def gains(gain, *samples):
    """Gains of models by a function of published numbers, file and place."""
    return lambda p: with_gains(
        p,
        lambda file, place: gain(p, file, place) + jitter(place),
        samples=samples or (SWEPT, HUNTED),
    )


def one_gain(gain):
    (file, group) = SWEPT

    def make(p):
        place = next(iter(entries(p, file, group)))
        return with_gain(p, file, place, gain)

    return make


def by_lab(eleuther, others):
    return gains(lambda p, file, place: eleuther if is_eleuther(p, file, place) else others)


def by_density(dense, sparse):
    return gains(lambda p, file, place: dense if heads_density(p, file, place) >= 0.2 else sparse)


def along(number, sign, *samples):
    return gains(lambda p, file, place: 5 + sign * 0.1 * number(p, file, place), *samples)


def benchmark(gain):
    return lambda p: with_rows(p, files.BENCHMARK_ROWS, lambda row: gain[row["Model"]])


ORDERED = dict(
    zip(("Pythia-6.9B", "Mistral-7B", "LLaMA-3.1-8B", "Gemma-7B"), (1.5, 2, 3, 4), strict=True)
)
REVERSED = dict(zip(ORDERED, (4, 3, 2, 1.5), strict=True))


def tuned(gain):
    return lambda p: with_rows(
        p, files.TWIN_ROWS, lambda row: 2.0 if row["Variant"] == "base" else gain
    )


def profile(shares):
    def make(p):
        keys = matching(p, files.ANISOTROPY, r"/intrinsic_dim_ratio/\d+")
        layers = {key: int(key.rpartition("/")[2]) for key in keys}
        return {(files.ANISOTROPY, key): shares(layer, len(keys)) for key, layer in layers.items()}

    return make


def norms(value):
    """Spectral norms of W_V of every block, by the model's gain; those of W_O are 1."""

    def make(p):
        gained = {}
        for file, group in (HUNTED, SWEPT):
            for place, name in entries(p, file, group).items():
                last = depth(p, file, place) - 2
                prompts = [*matching(p, file, rf"{place}/residual_gain_all/\d+").values()]
                gained[name] = (
                    float(np.mean(prompts))
                    if prompts
                    else p.cells[file, f"{place}/all_layer_gains/{last}"]
                )
        cells = {}
        for place, name in entries(p, files.SPECTRAL, "/results").items():
            for key in matching(p, files.SPECTRAL, rf"{place}/W_[VO]_spectral_norm/\d+"):
                wobble = 1 + 1e-3 * (int(key.rpartition("/")[2]) % 3)
                cells[files.SPECTRAL, key] = wobble * (
                    value(gained.get(name, 1.0)) if "W_V" in key else 1.0
                )
        return cells

    return make


def critical(shift):
    """L* of a model: what the formula gives, or L/2, but for a little of its own."""

    def make(p):
        cells = {}
        for place in entries(p, files.CROSS, "/results"):
            at = {key: p.cells[files.CROSS, f"{place}/{key}"] for key in ("L", "H")}
            formula = at["L"] * (0.11 + 0.012 * at["L"] + 4.9 / at["H"])
            cells[files.CROSS, f"{place}/L_star_empirical"] = shift(formula, at["L"] / 2)
        return cells

    return make


def peaks(depth_of):
    """The depth of the highest r over the categories, by size."""

    def make(p):
        cells = {}
        for n, name in enumerate(SIZES):
            pattern = rf"/models/{re.escape(name)}/layer_results/(\d+)/correlation"
            keys = [*matching(p, files.SCALING, pattern)]
            highest = keys[round(depth_of(n) * (len(keys) - 1))]
            cells |= {(files.SCALING, key): 0.9 if key == highest else 0.0 for key in keys}
        return cells

    return make


ANSWERS = {
    "calibration": (neutral(0.0), neutral(0.1)),
    "positive_on_neutral": (neutral(0.1), neutral(-0.1)),
    "numeric": (
        of_category(NUMERIC, -0.5),
        of_category(NUMERIC, 0.5),
    ),
    "facts_above_models": (
        of_category(FACTS, 0.5),
        of_category(FACTS, -0.5),
    ),
    "business_mean": (
        of_category(BUSINESS, 0.5, PAPER_1),
        of_category(BUSINESS, -0.5, PAPER_1),
    ),
    "business_below_models": (of_category(BUSINESS, -0.5), of_category(BUSINESS, 0.5)),
    "early": (one_curve(lambda _: 0.5), one_curve(lambda _: -0.5)),
    "late": (one_curve(lambda _: -0.5), one_curve(lambda _: 0.5)),
    "sign_change": (falling(0.9), falling(-0.9)),
    "late_inversion": (one_curve(lambda _: -0.5), one_curve(lambda _: 0.5)),
    "no_inversion": (one_curve(lambda _: -0.01), one_curve(lambda _: -0.5)),
    "everywhere_negative": (one_curve(lambda _: -0.5), one_curve(lambda _: 0.5)),
    "positive_before": (one_curve(lambda _: 0.5), one_curve(lambda _: -0.5)),
    "negative_after": (one_curve(lambda _: -0.5), one_curve(lambda _: 0.5)),
    "turn_apart": (
        turning({PYTHIA: 26, LLAMA: 6, APERTUS: 14}),
        turning(dict.fromkeys(TURNING, 14)),
    ),
    "below_other": (
        one_curve(lambda layer: -0.5 if layer == 28 else 0.1, APERTUS),
        one_curve(lambda layer: 0.5 if layer == 28 else -0.1, APERTUS),
    ),
    "mid_bins": (bins_r(0.8), bins_r(-0.8)),
    "category_mid": (categories_r(0.95), categories_r(-0.95)),
    "peak_shift": (peaks(lambda n: n % 2), peaks(lambda _: 0)),
    "category_inversion": (categories_r(-0.95), categories_r(0.95)),
    "damping": (one_gain(0.5), one_gain(2.0)),
    "bound": (one_gain(0.5), one_gain(20.0)),
    "expansion": (benchmark(dict.fromkeys(ORDERED, 2.0)), benchmark(dict.fromkeys(ORDERED, 0.5))),
    "gain_order": (benchmark(ORDERED), benchmark(REVERSED)),
    "side_kept": (tuned(2.5), tuned(0.5)),
    "depth_gain": (along(depth, -1, SWEPT), along(depth, 1, SWEPT)),
    "depth_gain_of_survey": (along(depth, -1, HUNTED), along(depth, 1, HUNTED)),
    "heritage": (by_lab(0.5, 2.0), by_lab(2.0, 0.5)),
    "lab_difference": (by_lab(0.5, 2.0), by_lab(2.0, 0.5)),
    "others_expand": (by_lab(0.5, 2.0), by_lab(2.0, 0.5)),
    "crowding": (by_density(0.5, 2.0), by_density(2.0, 0.5)),
    "density_gain": (along(heads_density, -1, SWEPT), along(heads_density, 1, SWEPT)),
    "heritage_over_geometry": (by_lab(0.5, 2.0), along(heads_density, 1)),
    "geometry_over_scale": (along(heads_density, 1), along(size, 1)),
    "bell": (
        profile(lambda layer, n: 0.1 + 0.02 * min(layer, n - layer)),
        profile(lambda layer, n: 0.9 if layer == 2 else 0.1 + layer * 0.01),
    ),
    "spectral_norms": (norms(lambda _: 10.0), norms(lambda _: 0.1)),
    "spectral_predicts": (norms(lambda gain: 5 - gain), norms(lambda gain: 5 + gain)),
    "lstar": (critical(lambda formula, _: formula), critical(lambda _, half: half)),
}
# Questions of which a single number was published.
SINGLE = ("facts_largest", "business")
# Questions that no published numbers of that size could answer: the word, and the size that could.
UNANSWERABLE = {
    "calibration_effect": (TOO_FEW, 32),
    "tuned_families": (TOO_FEW, 6),
    "eleuther_damps": (TOO_FEW, 6),
    "spectral_labs": (TOO_FEW, 8),
    "trace": (TOO_FEW, 8),
}


def words(numbers, name):
    """The words as the papers asked, of every model."""
    return {model: answer.word for model, answer in ask_as_published(numbers, name).items()}


def test_no_question_is_left_out():
    assert sorted([*ANSWERS, *SINGLE, *UNANSWERABLE]) == sorted(QUESTIONS)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_question_is_answered_yes_by_some_numbers_and_no_by_others(name, published):
    before = words(published, name)
    for make, expected in zip(ANSWERS[name], (YES, NO), strict=True):
        after = words(changed(published, make(published)), name)
        assert set(after) == set(before)  # of the published shape
        assert expected in after.values(), after


@pytest.mark.parametrize("name", SINGLE)
def test_a_single_number_answers_nothing(name, published):
    assert {answer.word for answer in ask_as_published(published, name).values()} == {NO_SPREAD}


@pytest.mark.parametrize("name", UNANSWERABLE)
def test_a_question_that_no_numbers_could_answer_says_how_many_could(name, published):
    answers = ask_as_published(published, name).values()
    word, fewest = UNANSWERABLE[name]
    assert {answer.word for answer in answers} == {word}
    assert {answer.fewest for answer in answers} == {fewest}
    assert all(answer.n < fewest for answer in answers)
