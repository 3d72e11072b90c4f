"""What would settle an open claim: synthetic claims that the models named settle, or cannot."""

import itertools
import math

import pytest
import scipy.stats

from judged import everything
from layerwise.engine.central import read_central
from layerwise.engine.prospects import Means, conjunction, models_of, quantified, settle
from layerwise.engine.published import OVER_MODELS, answers_by_model
from layerwise.engine.question import Question, Range
from layerwise.engine.settling import (
    MeasuredBy,
    settling_first,
    targets,
    tell_settling,
    units_text,
)
from layerwise.models import needs
from layerwise.models.registry import Model, read_models
from layerwise.papers.across.measured_by import MEASURED_BY
from layerwise.papers.across.together import PAPERS
from layerwise.statistics.estimates import (
    Estimate,
    mean_estimate_from_moments,
    share_estimate,
    with_narrow_mean,
)

CHOSEN = {"replicates": 5, "control": 2}
SHAPE = {"n_layers": 2, "hidden_size": 64, "n_heads": 2, "adds_bos": True}


def model(slug, parameters, **fields):
    about = {"slug": slug, "display": slug.upper(), "lab": "Lab", "family": "gpt2"}
    about |= {"parameters": parameters, "hub": f"lab/{slug}", "revision": "0" * 40, "shape": SHAPE}
    return Model.model_validate(about | fields)


REGISTRY = {
    "small": model("small", 0.5, experiments={"gains": "float16", "other": "float32"}),
    "large": model("large", 7.0, experiments={"gains": "bfloat16"}),
    "apart": model("apart", 1.0, experiments={"other": "float32"}),
}


def question(name="q", within=None, **fields):
    within = within or Range(above=0.0)
    return Question(
        name, 1, "It is.", "x", "prompts", lambda _: {}, {"published": None}, within, **fields
    )


def settled(answers, asked=None, ask=(), by=None, trained=(), registry=REGISTRY):
    """What would settle a claim that asks one question, by its answers, {model: estimate}."""
    asked = asked or question()
    cells = {model: {"published": asked.answer(given)} for model, given in answers.items()}
    documents = {"questions": {asked.name: {"models": cells}}}
    asks = [{"question": asked.name, **dict(ask)}]
    measured_by = {asked.name: by or MeasuredBy(("gains",))}
    means = Means(registry, CHOSEN, dict(trained))
    return settle(asks, documents, {asked.name: asked}, measured_by, means)


def students(mean, sd, n):
    """A mean with Student's interval; `sd` is the sample's deviation."""
    return mean_estimate_from_moments(mean, sd * math.sqrt((n - 1) / n), n, "prompts")


def chance_above_zero(mean, sd, n):
    """The chance that Student's interval of n values lies above zero, or below it, by textbook."""
    quantile, shift = scipy.stats.t.ppf(0.975, n - 1), mean / sd * math.sqrt(n)
    return scipy.stats.nct.sf(quantile, n - 1, shift) + scipy.stats.nct.cdf(-quantile, n - 1, shift)


# --- that the models named can settle -------------------------------------------------------------


def single(value):
    """A number that is printed without a spread."""
    return Estimate(value, -math.inf, math.inf, 1, "prompts")


def test_a_single_number_gets_an_interval_by_the_spread_of_the_small_models():
    cells = {sd: question().answer(students(0.1, sd, 16)) for sd in (0.3, 0.5)}
    trained = {"narrow": {"q": cells[0.3]}, "wide": {"q": cells[0.5]}}
    given = settled(
        {OVER_MODELS: single(0.4)}, by=MeasuredBy(("gains",), units=25), trained=trained
    )
    (part,) = given["questions"]
    half = scipy.stats.t.ppf(0.975, 24) * 0.5 / 5
    assert part["half_width"] == pytest.approx(half, rel=1e-5)
    assert part["spread_of"] == ["wide"]
    assert (part["n"], part["units"], part["again"]) == (1, 25, False)
    assert given["chance"] == pytest.approx(chance_above_zero(0.4, 0.5, 25), abs=1e-3)
    assert given["chance"] > 0.9
    assert "wide" in tell_settling(given)
    assert f"{given['chance']:.0%}" in tell_settling(given)


def test_a_single_number_near_the_border_takes_more_units_than_a_measurement_gives():
    trained = {"small": {"q": question().answer(students(0.1, 0.5, 16))}}
    given = settled(
        {OVER_MODELS: single(0.1)}, by=MeasuredBy(("gains",), units=25), trained=trained
    )
    (part,) = given["questions"]
    assert given["chance"] == pytest.approx(chance_above_zero(0.1, 0.5, 25), abs=1e-3)
    naive = next(n for n in itertools.count(2) if chance_above_zero(0.1, 0.5, n) >= 0.8)
    assert part["needed"] == pytest.approx(naive, abs=1)
    assert given["answer"] == "yes"


# --- that they cannot -----------------------------------------------------------------------------


def test_the_same_units_give_the_same_interval_and_more_are_counted():
    given = settled({OVER_MODELS: students(0.3, 0.5, 5)})
    (part,) = given["questions"]
    assert part["again"]
    assert given["chance"] == 0.0
    naive = next(n for n in itertools.count(2) if chance_above_zero(0.3, 0.5, n) >= 0.8)
    assert part["needed"] == naive
    half = scipy.stats.t.ppf(0.975, naive - 1) * 0.5 / math.sqrt(naive)
    assert part["needed_half_width"] == pytest.approx(half, rel=1e-5)
    assert f"{naive} prompts" in tell_settling(given)


def test_too_few_units_take_as_many_as_the_method_needs():
    asked = question(within=Range(above=0.5), fewest=6)
    given = settled({OVER_MODELS: share_estimate([True] * 3, "prompts")}, asked)
    assert given["chance"] == 0.0
    assert given["questions"][0]["needed"] == 6
    assert given["answer"] == "yes"
    without = Estimate(1.2, -math.inf, math.inf, 4, "prompts", fewest=8)
    given = settled({OVER_MODELS: without})
    assert (given["questions"][0]["needed"], given["questions"][0]["law"]) == (8, "")
    assert "8 prompts" in tell_settling(given)


def test_what_lies_on_the_border_is_never_answered():
    given = settled({OVER_MODELS: students(0.0, 0.5, 5)})
    assert given["questions"][0]["needed"] is None
    assert given["answer"] == ""


@pytest.mark.parametrize(
    ("n", "text"),
    [(6, "6"), (20, "20"), (34, "about 34"), (442, "about 450"), (7001, "about 7100")],
)
def test_many_units_are_told_by_two_digits(n, text):
    assert units_text(n) == text


# --- several answers ------------------------------------------------------------------------------


@pytest.mark.parametrize("need", [1, 2, 3])
def test_a_quantifier_counts_every_outcome(need):
    chances = [(0.5, 0.2), (0.1, 0.6), (1.0, 0.0)]
    naive = {"yes": 0.0, "no": 0.0}
    for words in itertools.product(["yes", "no", "open"], repeat=3):
        shares = [
            {"yes": yes, "no": no, "open": 1 - yes - no}[word]
            for word, (yes, no) in zip(words, chances, strict=True)
        ]
        naive["yes"] += math.prod(shares) * (words.count("yes") >= need)
        naive["no"] += math.prod(shares) * (3 - words.count("no") < need)
    assert quantified(chances, need) == pytest.approx((naive["yes"], naive["no"]))


def test_one_quantifier_that_says_no_is_enough():
    assert conjunction([(0.5, 0.2), (0.4, 0.5)]) == pytest.approx((0.2, 1 - 0.8 * 0.5))


def test_an_equivalence_that_one_model_denies_is_settled_by_that_model():
    zone = question(within=Range(-0.1, 0.1))
    outside, inside = students(0.2, 0.15, 5), students(0.0, 0.3, 5)
    answers = {"small": with_narrow_mean(outside), "large": with_narrow_mean(inside)}
    given = settled(
        answers, zone, ask={"of": ["small", "large"]}, by=MeasuredBy(("gains",), of_each=True)
    )
    (part,) = given["questions"]
    assert given["answer"] == "no"
    assert part["deciding"] == "SMALL"
    assert sorted(model["model"] for model in given["measure"]) == ["large", "small"]


def test_a_claim_that_says_no_is_settled_by_the_other_side():
    straight = settled({OVER_MODELS: students(0.3, 0.5, 5)})
    turned = settled({OVER_MODELS: students(0.3, 0.5, 5)}, ask={"answer": "no"})
    assert (straight["answer"], turned["answer"]) == ("yes", "no")
    assert straight["questions"] == turned["questions"]


# --- models and their cost ------------------------------------------------------------------------


def test_the_models_are_those_of_the_experiment_at_the_cost_of_their_stages():
    given = settled({OVER_MODELS: students(0.3, 0.5, 5)})
    assert targets(given) == ["measure@small", "measure@large"]
    assert [model["dtypes"] for model in given["measure"]] == [["float16"], ["bfloat16"]]
    seconds = sum(
        needs.seconds(REGISTRY[slug], "cuda", replicates=5, control=2)
        for slug in ("small", "large")
    )
    assert given["minutes"] == pytest.approx(seconds / 60, abs=0.1)
    largest = needs.memory(REGISTRY["large"], "bfloat16")
    assert given["gigabytes"] == pytest.approx(largest / 1e9, abs=0.05)
    of_one = settled({"large": students(0.3, 0.5, 5)}, by=MeasuredBy(("gains",), of_each=True))
    assert targets(of_one) == ["measure@large"]


def test_a_model_that_is_not_measured_leaves_no_answer():
    registry = REGISTRY | {
        "large": model("large", 7.0, skip="too dear", experiments={"gains": "float16"})
    }
    given = settled({OVER_MODELS: students(0.3, 0.5, 5)}, registry=registry)
    assert given["left_out"] == {"LARGE": "too dear"}
    assert targets(given) == ["measure@small"]
    assert "LARGE" in tell_settling(given)


# --- the papers' ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def documents(published):
    return {name: work.documents for name, work in everything(published).items()}


def test_every_question_names_what_measures_it(root, documents):
    registry = read_models(root / "models.yaml")
    known = {name for model in registry.values() for some in model.dtypes.values() for name in some}
    asked = {ask["question"] for entry in read_central(root / "claims") for ask in entry["asks"]}
    assert asked <= MEASURED_BY.keys() <= PAPERS.questions.keys()
    for name, by in MEASURED_BY.items():
        assert known.issuperset(by.experiments), name
        assert registry.keys() >= set(by.models), name
        cells = [model["published"] for model in answers_by_model(documents, name).values()]
        counts = {cell["n"] for cell in cells if cell["n"] > 1}
        assert not by.units or counts <= {by.units}, name


# How many models stand behind an answer, of what counts something else than all of them.
BEHIND = {"business_below_models": 4, "facts_above_models": 4, "tuned_families": 6}


def test_as_many_models_are_measured_as_an_answer_counts(root, documents):
    registry = read_models(root / "models.yaml")
    for name, by in MEASURED_BY.items():
        if PAPERS.questions[name].unit in ("models", "families"):
            answers = answers_by_model(documents, name)
            (n,) = {model["published"]["n"] for model in answers.values()}
            assert len(models_of(by, answers, registry)) == BEHIND.get(name, n), name


def to_settle(chance, left_out=(), **minutes):
    measure = [{"model": slug, "minutes": float(n)} for slug, n in minutes.items()]
    return {"measure": measure, "left_out": dict.fromkeys(left_out, "why"), "chance": chance}


@pytest.mark.parametrize(
    ("settlings", "order"),
    [
        ([to_settle(0.9, a=90), to_settle(0.5, b=10)], ["b", "a"]),
        ([to_settle(None, a=1), to_settle(0.1, b=50), to_settle(0.0, c=0.5)], ["b", "c", "a"]),
        # what another claim has measured costs nothing more
        (
            [to_settle(0.35, c=20), to_settle(0.4, a=10, b=15), to_settle(0.9, a=10)],
            ["a", "b", "c"],
        ),
        ([to_settle(0.9, ["x"], a=1), to_settle(0.1, b=9)], ["b", "a"]),
        ([to_settle(0.9)], []),
    ],
)
def test_what_settles_most_for_a_minute_is_measured_first(settlings, order):
    assert settling_first(settlings) == order
