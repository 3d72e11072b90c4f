"""One rule per question for print, weights and a reader's model; words; what print answers."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from judged import DRAWS
from layerwise.engine.answer_words import (
    MEANINGS,
    NO,
    NO_CATEGORIES,
    NO_SPREAD,
    OPEN_WORDS,
    TOO_FEW,
    UNDECIDED,
    WORDS,
    YES,
)
from layerwise.engine.answers import Answer, read_answers
from layerwise.engine.derivation import Derivation
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import DECIDES, PUBLISHED, NotMeasured, Published
from layerwise.engine.question import FamilyOfTests, Question, Range
from layerwise.errors import LayerwiseError
from layerwise.papers.across.answers import answers, answers_in_print, answers_over_models
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.paper2.questions.curves import require_layers
from layerwise.papers.shared.rules import decisive_category
from layerwise.statistics.estimates import Estimate, correlation_estimate, mean_estimate
from random_states import results_of

NAMES = ("ground_truth_numeric", "words", "technology", "lifestyle", "business", "scientific_facts")
Found = dict[tuple[str, str], Answer]


def answered(work: Derivation, question: str) -> Found:
    """The answers to a question, by model and reading."""
    by_model = read_answers({"questions": work.documents})[question]
    return {
        (model, reading): answer
        for model, by_reading in by_model.items()
        for reading, answer in by_reading.items()
    }


@pytest.fixture(scope="module")
def work(works: dict[str, Derivation]) -> Derivation:
    return works["questions"]


# --- words ----------------------------------------------------------------------------------------


def question(within: Range, **fields: Any) -> Question:
    about = ("q", 2, "So.", "number", "models", lambda _: {})
    return Question(*about, {DECIDES: lambda _: None}, within, **fields)


@pytest.mark.parametrize(
    ("numbers", "within", "expected"),
    [
        ((-0.85, -1.0, -0.2, 4, None), Range(below=0.0), YES),
        ((-0.85, -math.inf, math.inf, 1, None), Range(below=0.0), NO_SPREAD),
        ((-0.85, -math.inf, math.inf, 9, 0.03), Range(below=0.0), YES),  # a test without interval
        ((0.85, -math.inf, math.inf, 9, 0.03), Range(below=0.0), NO),
        ((0.85, -math.inf, math.inf, 9, 0.06), Range(below=0.0), UNDECIDED),
        ((-0.85, -1.0, -0.2, 6, 0.36), Range(below=0.0), UNDECIDED),  # few resampled points mislead
        ((-0.85, -1.0, -0.2, 6, 0.03), Range(below=0.0), YES),
        ((-0.85, -1.0, 0.1, 6, None), Range(below=0.0), UNDECIDED),
        ((0.85, 0.0, 1.0, 6, None), Range(below=0.0), NO),  # an end on the bound lies outside
        ((-0.2, -0.3, 0.0, 230, None), Range(below=0.0), UNDECIDED),
        ((-0.2, -math.inf, math.inf, 9, None), Range(below=0.0), UNDECIDED),
        ((0.0, -0.01, 0.01, 5, None), Range(-0.015, 0.015), YES),
        ((0.0, -0.4, 0.4, 5, None), Range(-0.015, 0.015), UNDECIDED),  # holding zero is no evidence
        ((0.1, 0.015, 0.4, 5, None), Range(-0.015, 0.015), NO),
    ],
)
def test_word(numbers: tuple[Any, ...], within: Range, expected: str) -> None:
    value, low, high, n, p = numbers
    assert question(within).word(estimate(value, low, high, n, p)) == expected
    assert set(MEANINGS) == set(WORDS)


def estimate(value: float, low: float, high: float, n: int, p: float | None = None) -> Estimate:
    """A number whose interval is the same at every level."""
    return Estimate(value, low, high, n, "pairs", p, at_level=lambda _: (low, high))


def test_too_few_is_what_a_method_or_a_question_says_and_no_fixed_number() -> None:
    below, four = Range(below=0.0), estimate(-0.85, -1.0, -0.2, 4)
    assert question(below, fewest=4).word(four) == YES
    assert question(below, fewest=5).word(four) == TOO_FEW
    for n, word in ((3, TOO_FEW), (4, YES)):
        assert question(below).word(correlation_estimate(-0.99, n, "models")) == word
    assert question(below).answer(correlation_estimate(-0.99, 3, "models")).fewest == 4


def test_units_of_no_category_decide_nothing_however_narrow_their_interval() -> None:
    clear = replace(estimate(-0.85, -1.0, -0.2, 200), uncategorised=True)
    assert question(Range(below=0.0)).word(clear) == NO_CATEGORIES


def test_two_one_sided_tests_answer_where_there_is_to_be_no_effect() -> None:
    """Yes by the 90% interval, and no by the 95% interval, wholly outside."""
    zone = question(Range(-0.1, 0.1))
    sample = np.array([-1.0, 1.0, -0.5, 0.5])
    for mean, word in ((0.0, YES), (0.05, UNDECIDED), (0.1, UNDECIDED), (0.3, NO)):
        at = mean_estimate(mean + sample * 0.08, "categories")
        two_tests = [
            stats.ttest_1samp(mean + sample * 0.08, border, alternative=side).pvalue
            for border, side in ((-0.1, "greater"), (0.1, "less"))
        ]
        assert (zone.word(at) == YES) == (max(two_tests) < 0.05)
        assert zone.word(at) == word


@pytest.mark.parametrize(
    ("family", "word"),
    [(FamilyOfTests(1, 9), YES), (FamilyOfTests(4, 1), YES), (FamilyOfTests(9, 1), UNDECIDED)],
)
def test_the_family_of_a_yes_is_that_of_a_yes(family: FamilyOfTests, word: str) -> None:
    """Of a p between 0.05 / 9 and 0.05 / 4."""
    values = np.array([0.9, 1.1, 0.2, 0.8, 1.6, 0.4])
    p = stats.ttest_1samp(values, 0.0).pvalue
    assert 0.05 / 9 < p < 0.05 / 4
    at = mean_estimate(values, "models")
    assert question(Range(above=0.0), family=family).word(at) == word
    turned = question(Range(below=0.0), family=FamilyOfTests(family.no, family.yes))
    assert turned.word(at) == {YES: NO}.get(word, word)
    assert question(Range(above=0.0), family=family).alone().word(at) == YES


def test_a_question_without_a_reading_that_decides_is_refused() -> None:
    about = ("q", 2, "So.", "number", "models", lambda _: {})
    with pytest.raises(LayerwiseError, match="must have a reading 'decides', found published"):
        Question(*about, {PUBLISHED: lambda _: None}, Range(above=0.0))


# --- print ----------------------------------------------------------------------------------------


def test_every_answer_has_an_interval_or_says_why_it_is_open(work: Derivation) -> None:
    for name in work.documents:
        for place, of in answered(work, name).items():
            assert of.unit
            assert of.method or of.word == NO_SPREAD, (name, place)
            if of.deciding is None:
                assert of.word in OPEN_WORDS or of.p is not None, (name, place)
            else:
                assert of.deciding.low <= of.value <= of.deciding.high, (name, place)
            if of.ends is not None:
                assert of.ends.low <= of.value <= of.ends.high, (name, place)


def test_the_interval_that_decides_lies_where_the_word_says(work: Derivation) -> None:
    """In the range for yes and for nothing else, wholly outside for no."""
    words = set()
    for name in work.documents:
        asked = QUESTIONS[name]
        for place, of in answered(work, name).items():
            if of.deciding is None or of.word not in (YES, NO, UNDECIDED):
                continue
            ends = of.deciding.low, of.deciding.high
            assert asked.within.holds(ends) == of.yes, (name, place)
            assert any(outside.holds(ends) for outside in asked.outside) == of.no, (name, place)
            words.add(of.word)
    assert words == {YES, NO, UNDECIDED}


def test_every_answer_names_the_cells_that_it_rests_on(work: Derivation) -> None:
    assert all(work.derived.values())
    for name in work.documents:
        n = len(answered(work, name))
        assert n == sum(place.startswith(f"{name}:") for place in work.derived)


def test_the_fewest_units_that_could_answer_are_those_of_the_theory(work: Derivation) -> None:
    """Families all of one kind put the exact interval of their share above a half from six on."""
    fewest = answered(work, "tuning_never")["all models", DECIDES].fewest
    half = [stats.binomtest(n, n).proportion_ci(0.95).low for n in (fewest - 1, fewest)]
    assert half[0] <= 0.5 < half[1]


def test_what_print_lacks_is_named_with_the_place_of_ours_that_would_have_it(
    work: Derivation,
) -> None:
    assert work.missing
    assert all(cell.startswith("beyond/") for cell in work.missing.values())


def test_print_has_a_number_for_every_question(work: Derivation) -> None:
    """That which decides, or that of the papers."""
    for name in QUESTIONS:
        assert {DECIDES, PUBLISHED} & {reading for _, reading in answered(work, name)}, name


# --- a reader's model -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def printed(published: Published) -> Any:
    """The answers of print beside which a reader's stand."""
    return answers_in_print(Evidence(published, DRAWS))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return dict(results_of(tmp_path_factory.mktemp("states"), NAMES))


def estimate_of(answer: Answer) -> Estimate:
    """The estimate that gave an answer: its interval at 95%, and that which decides."""
    ends, deciding = answer.ends, answer.deciding
    return Estimate(
        answer.value,
        -math.inf if ends is None else ends.low,
        math.inf if ends is None else ends.high,
        answer.n,
        answer.unit,
        answer.p,
        fewest=answer.fewest,
        uncategorised=answer.word == NO_CATEGORIES,
        at_level=None if deciding is None else lambda _: (deciding.low, deciding.high),
    )


def test_a_reader_is_asked_the_same_questions(results: Any, printed: Any) -> None:
    rows = results["sensitivity"]["rows"]
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    found = {one.question.name: one for one in answers(results, printed)}
    # of the papers' own layers, sizes and models
    of_print = {"facts_above_models", "business_mean", "business_lowest", "turns", "turn_apart"}
    of_print |= {"below_others", "mid_bins", "category_mid", "peak_shift", "no_inversion"}
    of_pairs = [name for name, of in QUESTIONS.items() if of.paper < 3 and name not in of_print]
    assert list(found) == [*of_pairs, "bell"]
    late = results["pairs"]["results"]
    r = {layer: late[layer]["centroid_asymmetry"]["r"] for layer in ("8", "10")}
    inversion = found["late_inversion"]
    assert inversion.others[PUBLISHED].value == min(r.values())
    assert {"before_norm", "all_tokens", "all_pairs"} <= set(inversion.others)
    assert found["category_inversion"].printed["pythia-6p9b"].value == pytest.approx(
        -0.874, abs=5e-4
    )
    for one in found.values():
        assert one.asked.family == (1, 1)
        assert one.asked.word == one.question.alone().word(estimate_of(one.asked))


def test_old_result_files_are_refused() -> None:
    old = {"sensitivity": {"rows": [{"question": "bell", "choice": "before_norm"}]}}
    with pytest.raises(LayerwiseError, match=r"sensitivity\.json: rows.*analyze. for this model"):
        answers(old, {})


def test_depth_and_gain_over_readers_models(printed: Any, works: Any) -> None:

    def model(n_layers: int, gain: float) -> dict[str, Any]:
        gains = [1.0] * (n_layers - 2) + [gain, 2 + n_layers / 10]
        return {"gains": {"residual_gain_all": [gain] * 3, "all_layer_gains": gains}}

    sizes = {6: 1.2, 12: 1.16, 16: 1.1, 24: 0.98, 32: 0.97}
    models = {f"model {n}": model(n, gain) for n, gain in sizes.items()}
    (asked,) = answers_over_models(models, printed)
    r = stats.pearsonr(list(sizes), list(sizes.values())).statistic
    assert asked.asked.value == pytest.approx(r)
    assert asked.asked.yes
    of_sweep = works["depth_gain"].documents["family"]["depth_gain"]["depth"]["r"]
    assert asked.printed["the papers' models"].value == pytest.approx(of_sweep)
    assert answers_over_models(dict(list(models.items())[:2]), printed) == []
    assert answers_over_models({"no gains": {}}, printed) == []


def test_the_papers_models_beside_a_reader_are_the_printed_answers(
    printed: Any, work: Derivation
) -> None:
    """That which decides; where print lacks it, that of the papers."""
    for name in QUESTIONS:
        found = answered(work, name)
        expected = {
            model: found.get((model, DECIDES)) or found[model, PUBLISHED]
            for model in {model: None for model, _ in found}
            if {(model, DECIDES), (model, PUBLISHED)} & {*found}
        }
        assert printed[name] == expected or [*printed[name].values()] == [*expected.values()]


def test_the_category_that_makes_r_is_named():
    """As in the trained model of `make real`: five points without a trend and one far from them."""
    rng = np.random.default_rng(3)
    points = {name: rng.uniform(-0.02, 0.02, 2).tolist() for name in "abcde"}

    def validation(**more):
        of = points | more
        x, y = np.array(list(of.values())).T
        return {
            **{name: {"asymmetry": at[0], "output_preference": at[1]} for name, at in of.items()},
            "_global_stats": {"ua_output_correlation": stats.pearsonr(x, y)[0]},
        }

    assert decisive_category(validation(far=[-0.3, -5.0])) == "far"
    line = {name: [at[0], 2 * at[0]] for name, at in points.items()}
    assert decisive_category(validation(**line)) is None


def test_a_third_without_sampled_layers_is_not_measured() -> None:
    """As of `--layers 4,5,6`, which has no layer in the first third of the depth."""
    with pytest.raises(NotMeasured, match="no sampled layer lies there"):
        require_layers([])
