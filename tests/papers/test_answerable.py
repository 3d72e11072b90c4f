"""Every question can be answered: by published numbers that say yes, and by others that say no.

The numbers are of the published shape and size. Where what decides was not published, the papers'
own reading answers; where no numbers of that size could, the question says so, with the size that
could.
"""

import numpy as np
import pytest
from synthetic import (
    HUNTED,
    NEUTRAL,
    SWEPT,
    ask_all,
    ask_deciding,
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
from titles import over_categories

from judged import changed
from layerwise.engine.answer_words import NO, NO_SPREAD, TOO_FEW, YES
from layerwise.engine.published import DECIDES, PUBLISHED
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.shared import result_files as files

TURNING = PYTHIA, LLAMA, APERTUS = "pythia-6p9b", "llama-3p1-8b", "apertus-8b"
GEMMA = "gemma-2b"
PAPER_1 = tuple(files.PAPER1)
BUSINESS = "business"


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


ANSWERS = {
    "calibration": (neutral(0.0), neutral(0.1)),
    "positive_on_neutral": (neutral(0.1), neutral(-0.1)),
    "business_mean": (
        of_category(BUSINESS, 0.5, PAPER_1),
        of_category(BUSINESS, -0.5, PAPER_1),
    ),
    "mid_bins": (bins_r(0.8), bins_r(-0.8)),
    "category_inversion": (over_categories(0.0, -0.97), over_categories(0.0, 0.97)),
    "damping": (one_gain(0.5), one_gain(2.0)),
    "bound": (one_gain(0.5), one_gain(20.0)),
    "expansion": (benchmark(dict.fromkeys(ORDERED, 2.0)), benchmark(dict.fromkeys(ORDERED, 0.5))),
    "gain_order": (benchmark(ORDERED), benchmark(REVERSED)),
    "last_damping": (
        benchmark(dict.fromkeys(ORDERED, 0.5)),
        benchmark(dict.fromkeys(ORDERED, 2.0)),
    ),
    "sides_kept": (tuned(2.5), tuned(0.5)),
    "depth_gain": (along(depth, -1, SWEPT), along(depth, 1, SWEPT)),
    "depth_gain_of_survey": (along(depth, -1, HUNTED), along(depth, 1, HUNTED)),
    "heritage": (by_lab(0.5, 2.0), by_lab(2.0, 0.5)),
    "crowding": (by_density(0.5, 2.0), by_density(2.0, 0.5)),
    "heritage_over_geometry": (by_lab(0.5, 2.0), along(heads_density, 1)),
    "geometry_over_scale": (along(heads_density, 1), along(size, 1)),
    "spectral_predicts": (norms(lambda gain: 5 - gain), norms(lambda gain: 5 + gain)),
    "lstar": (critical(lambda formula, _: formula), critical(lambda _, half: half)),
}
# What decides these was not published; the papers' own reading of print answers both ways.
AS_PUBLISHED = {
    "early": (one_curve(lambda _: 0.5), one_curve(lambda _: -0.5)),
    "late": (one_curve(lambda _: -0.5), one_curve(lambda _: 0.5)),
    "sign_change": (falling(0.9), falling(-0.9)),
    "late_inversion": (one_curve(lambda _: -0.5), one_curve(lambda _: 0.5)),
    "no_inversion": (one_curve(lambda _: -0.01, GEMMA), one_curve(lambda _: -0.5, GEMMA)),
    "everywhere_negative": (one_curve(lambda _: -0.5), one_curve(lambda _: 0.5)),
    "turns": (turning(dict.fromkeys(TURNING, 14)), one_curve(lambda _: -0.5)),
    "turn_apart": (
        turning({PYTHIA: 26, LLAMA: 6, APERTUS: 14}),
        turning(dict.fromkeys(TURNING, 14)),
    ),
    "below_others": (
        one_curve(lambda layer: -0.5 if layer == 28 else 0.1, APERTUS),
        one_curve(lambda layer: 0.5 if layer == 28 else -0.1, APERTUS),
    ),
    "category_mid": (categories_r(0.95), categories_r(-0.95)),
}
# Questions of which single numbers were published, without an interval.
SINGLE = ("numeric", "facts_above_models", "facts_largest", "business", "business_lowest", "bell")
# Questions that no numbers of the published size could answer, and the size that could.
UNANSWERABLE = {"tuning_never": 6, "trace": 8, "peak_shift": 5}


def words(numbers, name, reading):
    """The words of every model by a reading."""
    by_model = ask_all(numbers, [name], [reading])[name]
    return {model: answers[reading].word for model, answers in by_model.items()}


def test_no_question_is_left_out():
    assert sorted([*ANSWERS, *AS_PUBLISHED, *SINGLE, *UNANSWERABLE]) == sorted(QUESTIONS)


@pytest.mark.parametrize(
    ("name", "makes", "reading"),
    [
        *((name, makes, DECIDES) for name, makes in ANSWERS.items()),
        *((name, makes, PUBLISHED) for name, makes in AS_PUBLISHED.items()),
    ],
)
def test_a_question_is_answered_yes_by_some_numbers_and_no_by_others(
    name, makes, reading, published
):
    before = words(published, name, reading)
    for make, expected in zip(makes, (YES, NO), strict=True):
        after = words(changed(published, make(published)), name, reading)
        assert set(after) == set(before)  # of the published shape
        assert expected in after.values(), after


@pytest.mark.parametrize("name", [*AS_PUBLISHED, *SINGLE])
def test_what_would_decide_was_not_published(name, published):
    assert ask_deciding(published, name) == {}


@pytest.mark.parametrize("name", SINGLE)
def test_a_single_number_answers_nothing(name, published):
    assert set(words(published, name, PUBLISHED).values()) == {NO_SPREAD}


@pytest.mark.parametrize("name", UNANSWERABLE)
def test_a_question_that_no_numbers_could_answer_says_how_many_could(name, published):
    answers = ask_deciding(published, name).values()
    assert answers
    for answer in answers:
        assert (answer.word, answer.fewest) == (TOO_FEW, UNANSWERABLE[name])
        assert answer.n < answer.fewest
