"""One rule per question for print, weights and a reader's model; words; which cells print fills."""

import dataclasses
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from judged import DRAWS
from layerwise.engine.answer_words import MEANINGS, NO, NO_SPREAD, TOO_FEW, UNDECIDED, WORDS, YES
from layerwise.engine.answers import Answer, read_answers
from layerwise.engine.derivation import Derivation, derive, evidence_of
from layerwise.engine.evidence import Evidence
from layerwise.engine.measured import measured
from layerwise.engine.published import DATASET, PUBLISHED, NotMeasured, Published
from layerwise.engine.question import Range, word
from layerwise.errors import LayerwiseError
from layerwise.measuring.reduction import measure
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.across.answers import answers, answers_over_models, numbers_in_print
from layerwise.papers.across.questions import QUESTIONS, documents
from layerwise.papers.experiments import choices
from layerwise.papers.paper2.questions.curves import mean_over
from layerwise.papers.paper3.questions.samples import fisher_of_densities
from layerwise.papers.shared.published import tables_of_reader
from layerwise.papers.shared.result_files import CHOICES_FILE, SWEEP
from layerwise.papers.shared.rules import decisive_category
from layerwise.statistics.bootstrap import Draws
from layerwise.statistics.estimates import Estimate, correlation_estimate, difference_estimate
from random_states import results_of, some_pairs, write_states

FEW = Draws(150, 0.95, 42)
NAMES = ("ground_truth_numeric", "words", "technology", "lifestyle", "business", "scientific_facts")
Found = dict[tuple[str, str], Answer]


def answered(work: Derivation, question: str) -> Found:
    """The answers to a question, by model and choice."""
    by_model = read_answers({"questions": work.documents})[question]
    return {
        (model, choice): answer
        for model, by_choice in by_model.items()
        for choice, answer in by_choice.items()
    }


@pytest.fixture(scope="module")
def work(works: dict[str, Derivation]) -> Derivation:
    return works["questions"]


# --- words ----------------------------------------------------------------------------------------


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
    assert word(Estimate(value, low, high, n, "pairs", p), within) == expected
    assert set(MEANINGS) == set(WORDS)


def test_too_few_is_what_a_method_or_a_question_says_and_no_fixed_number() -> None:
    below = Range(below=0.0)
    four = Estimate(-0.85, -1.0, -0.2, 4, "models")
    assert word(four, below, fewest=4) == YES
    assert word(four, below, fewest=5) == TOO_FEW
    assert word(correlation_estimate(-0.99, 3, "models"), below) == TOO_FEW
    assert word(correlation_estimate(-0.99, 4, "models"), below) != TOO_FEW
    groups = np.array([1.0, 2.0, 3.0]), np.array([11.0, 12.0, 13.0, 14.0, 15.0])
    assert word(difference_estimate(*groups, "models"), below) == YES
    seven = difference_estimate(groups[0], groups[1][:4], "models")
    assert (word(seven, below), seven.fewest) == (TOO_FEW, 8)


def test_two_one_sided_tests_answer_where_there_is_to_be_no_effect() -> None:
    """By the narrow ends, which are also those that are drawn."""
    zone = Range(-0.1, 0.1)
    near = Estimate(0.0, -0.11, 0.11, 9, "pairs", narrow=(-0.09, 0.09))
    assert word(near, zone) == YES
    assert word(dataclasses.replace(near, narrow=(-0.105, 0.09)), zone) == UNDECIDED
    beyond = Estimate(0.2, 0.09, 0.31, 9, "pairs", narrow=(0.11, 0.29))
    assert word(beyond, zone) == NO
    assert word(dataclasses.replace(beyond, narrow=(0.095, 0.29)), zone) == UNDECIDED
    # what is significant lies against the claim, however near it is
    small = Estimate(-0.05, -0.08, -0.02, 9, "pairs", narrow=(-0.075, -0.025))
    assert word(small, Range(above=-0.17), against=Range(below=0.0)) == NO
    assert word(small, Range(above=-0.17)) == YES


def test_a_p_is_evidence_for_one_side_or_the_other_and_never_of_nothing() -> None:
    small = Range(below=0.05)
    for p, opposite, expected in (
        (0.04, 1.0, YES),
        (0.06, 1.0, UNDECIDED),
        (1.0, 0.06, UNDECIDED),
        (1.0, 0.04, NO),
    ):
        assert word(Estimate(p, p, p, 9, "models", opposite=opposite), small) == expected
    wide = Estimate(0.04, 0.04, 0.3, 9, "models", opposite=1.0)
    assert word(wide, small) == UNDECIDED


# --- print ----------------------------------------------------------------------------------------


def test_every_answer_has_an_interval_or_says_that_it_is_too_few(work: Derivation) -> None:
    for name in work.documents:
        for (model, choice), of in answered(work, name).items():
            assert of.unit
            if of.ends is None:
                is_open = of.word in (UNDECIDED, NO_SPREAD, TOO_FEW)
                assert is_open or of.p < 0.05, (name, model)
            else:
                assert of.ends.low <= of.value <= of.ends.high, (name, model, choice)
            assert of.in_range or not of.yes
            assert of.method or of.word == NO_SPREAD, (name, model, choice)


def test_every_answer_names_the_cells_that_it_rests_on(work: Derivation) -> None:
    assert all(work.derived.values())
    for name in work.documents:
        n = len(answered(work, name))
        assert n == sum(place.startswith(f"{name}:") for place in work.derived)


def test_the_fewest_units_that_could_answer_are_those_of_the_theory(work: Derivation) -> None:
    """With so many categories an effect of zero could be shown to lie within the bound of 0.3."""
    fewest = answered(work, "calibration_effect")["llama", PUBLISHED].fewest
    half = [stats.norm.ppf(0.95) / math.sqrt(n - 1) for n in (fewest - 1, fewest)]
    assert half[0] > 0.3 > half[1]


def test_published_curves_tested_at_once(work: Derivation) -> None:
    late = answered(work, "late_inversion")
    words = {model: of.word for (model, choice), of in late.items() if choice == "layers_at_once"}
    assert Counter(words.values()) == {YES: 5, UNDECIDED: 1}
    found = answered(work, "category_inversion")["pythia-6p9b", "layers_at_once"]
    assert found.undecided
    # each of Pythia's late layers keeps its own interval, widened on z by the ratio of quantiles
    own, wide = late["pythia-6p9b", PUBLISHED], late["pythia-6p9b", "layers_at_once"]
    for end in ("low", "high"):
        widths = [np.arctanh(getattr(of.ends, end)) - np.arctanh(of.value) for of in (own, wide)]
        assert widths[1] / widths[0] == pytest.approx(stats.norm.isf(0.05 / 18) / 1.959964)
    without = answered(work, "category_inversion")[
        "pythia-6p9b", "category_out/ground_truth_numeric"
    ]
    assert without.value == pytest.approx(-0.6043, abs=5e-5)
    assert answered(work, "late_inversion")["pythia-6p9b", "without_last"].undecided


def test_print_fills_every_cell_that_needs_no_weights(work: Derivation) -> None:
    """What is missing over print is named, with the place of ours that would have it."""
    filled = sum(len(answered(work, name)) for name in work.documents)
    assert filled > 500
    assert all(cell.startswith("beyond/") for cell in work.missing.values())
    needing = {key.split("/")[-1] for key in work.missing}
    assert needing <= {
        *("before_norm", "all_tokens", "last_token", "first_token", "clusters", "paired"),
        "correct_slices",
    }


# --- weights --------------------------------------------------------------------------------------


def test_measured_curves_fill_what_print_leaves_open(tmp_path: Path, published: Published) -> None:
    pairs = some_pairs(categories=NAMES)
    bins: dict[str, Any] = {"layer_step": 2, "k_values": (5,), "n_permutations": 1, "k_stable": 5}
    values = measure(write_states(tmp_path / "states", hidden=8), pairs, **bins)
    sizes = np.bincount(pairs.category_of_pair).tolist()
    fragments = {
        DATASET: {"": {name: {"n_pairs": n} for name, n in zip(NAMES, sizes, strict=True)}},
        CHOICES_FILE: {"/gemma-2b": choices.document(values, FEW)},
        "beyond/aniso": {"/gemma-2b": {"last_share_before_norm": 0.95}},
    }
    evidence = evidence_of(measured(published, fragments), FEW, TABLES)
    found = answered(derive(documents, evidence), "late_inversion")
    assert {choice for model, choice in found if model == "gemma-2b"} >= {
        "before_norm",
        "all_tokens",
        "clusters",
    }
    metric = values.pair_metrics_all_tokens[-2:, 0]
    r = [stats.pearsonr(x, values.preferences).statistic for x in metric]
    assert found["gemma-2b", "all_tokens"].value == pytest.approx(min(r))
    assert found["gemma-2b", "clusters"].n == len(NAMES)
    none = {model for model, _ in found} - {"gemma-2b"}
    assert none == set()  # nothing of print answers for a model that was not measured


def test_every_definition_of_the_gain_is_a_choice(published: Published) -> None:
    readings = {name: [1.2, 1.1, 1.3, 1.2, 1.15] for name in ("penultimate", "token")}
    readings["sequence"] = [0.5, 0.6, 0.5, 0.55, 0.6]
    entry = {"all_layer_gains": [1.0, 2.0, 1.1, 0.9], "residual_gain_all": readings["penultimate"]}
    fragments = {
        "beyond/sweep": {"/pythia-70m": {"gains": readings}},
        SWEEP: {f"/models/0/{name}": value for name, value in entry.items()},
    }
    evidence = Evidence(measured(published, fragments), DRAWS)
    question = QUESTIONS["damping"]
    rules = question.rules(question.models(evidence)["pythia-70m"])
    assert rules[PUBLISHED]()["word"] == rules["token"]()["word"] == NO
    assert rules["sequence"]()["word"] == YES
    with pytest.raises(LayerwiseError, match="was not measured"):
        rules["last_block"]()


# --- a reader's model -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def printed(published: Published) -> Any:
    """The answers of print beside which a reader's stand."""
    return numbers_in_print(Evidence(published, DRAWS))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return dict(results_of(tmp_path_factory.mktemp("states"), NAMES))


def estimate_of(answer: Answer) -> Estimate:
    """The estimate that gave an answer."""
    ends, narrow = answer.ends, answer.narrow
    return Estimate(
        answer.value,
        -math.inf if ends is None else ends.low,
        math.inf if ends is None else ends.high,
        answer.n,
        answer.unit,
        answer.p,
        narrow=None if narrow is None else (narrow.low, narrow.high),
        fewest=answer.fewest,
    )


def test_a_reader_is_asked_the_same_questions(results: Any, printed: Any) -> None:
    rows = results["sensitivity"]["rows"]
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    found = {one.question.name: one for one in answers(results, printed)}
    # of the papers' own layers and sizes
    of_print = {
        "positive_before",
        "negative_after",
        "turn_apart",
        "below_other",
        "mid_bins",
        "category_mid",
    }
    of_print |= {"peak_shift", "facts_above_models", "business_mean", "business_below_models"}
    of_pairs = [name for name, of in QUESTIONS.items() if of.paper < 3 and name not in of_print]
    assert list(found) == [*of_pairs, "bell"]
    late = results["pairs"]["results"]
    r = {layer: late[layer]["centroid_asymmetry"]["r"] for layer in ("8", "10")}
    assert found["late_inversion"].asked.value == min(r.values())
    assert {"clusters", "before_norm", "all_tokens"} <= set(found["late_inversion"].others)
    assert found["category_inversion"].printed["pythia-6p9b"] == pytest.approx(-0.874, abs=5e-4)
    for one in found.values():
        assert one.asked.word == one.question.word(estimate_of(one.asked))


def test_old_result_files_are_refused() -> None:
    old = {"sensitivity": {"rows": [{"claim": "bell", "choice": "before_norm"}]}}
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
    assert asked.others["final_norm"].undecided  # r of 1 has no interval
    of_sweep = works["depth_gain"].documents["family"]["depth_gain"]["depth"]["r"]
    assert asked.printed == {"the papers' models": pytest.approx(of_sweep)}
    assert answers_over_models(dict(list(models.items())[:2]), printed) == []
    assert answers_over_models({"no gains": {}}, printed) == []


def test_the_papers_models_beside_a_reader_are_the_printed_answers(
    printed: Any, work: Derivation
) -> None:
    for name in QUESTIONS:
        expected = {m: of.value for (m, c), of in answered(work, name).items() if c == PUBLISHED}
        assert list(printed[name].values()) == list(expected.values())


@dataclasses.dataclass(frozen=True)
class Surveyed:
    """A model of some heads of width 20, whose gain has a narrow interval."""

    entry: Any
    gain: float

    def reading(self, name: str) -> Estimate:
        return Estimate(self.gain, self.gain - 0.01, self.gain + 0.01, 9, "prompts")


@pytest.mark.parametrize("limit", [0, 1])
def test_a_density_at_the_limit_counts_as_dense(limit: int) -> None:
    """Heads of width 20: four of them have the critical density itself, 0.2; three have less."""
    dense, sparse = ({"n_heads": n, "d_model": 20 * n} for n in (4, 3))
    sides = (0.9, 1.1) if limit == 0 else (1.1, 0.9)
    groups = [(dense, sides[0])] * 4 + [(sparse, sides[1])] * 4
    tables = tables_of_reader({str(n): shape for n, (shape, _) in enumerate(groups)})
    evidence = Evidence(tables, DRAWS)
    found = {str(n): Surveyed(evidence[str(n)], gain) for n, (_, gain) in enumerate(groups)}
    estimate = fisher_of_densities(found)  # type: ignore[arg-type]
    p = stats.fisher_exact([[4, 0], [0, 4]]).pvalue
    assert estimate.low == estimate.value == estimate.high
    assert estimate.value == pytest.approx(p if limit == 0 else 1.0)
    assert estimate.opposite == pytest.approx(1.0 if limit == 0 else p)
    assert QUESTIONS["crowding"].word(estimate) == (YES if limit == 0 else NO)


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
    nothing: Any = None
    with pytest.raises(NotMeasured, match="no sampled layer lies there"):
        mean_over(nothing, [])
