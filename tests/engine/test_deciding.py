"""What would decide an open claim: synthetic answers, against the formula written naively."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from layerwise.engine.answer_words import NO_CATEGORIES
from layerwise.engine.deciding import what_would_decide
from layerwise.engine.marks import DEPENDS, weigh
from layerwise.engine.published import DECIDES
from layerwise.engine.question import FamilyOfTests, Question, Range
from layerwise.papers.paper2.questions.categories import jackknife_of_series
from layerwise.statistics.by_category import Correlations, r_by_category
from layerwise.statistics.estimates import (
    Estimate,
    correlation_estimate,
    family_level,
    mean_estimate,
    share_estimate,
    without_interval,
)

Z, Z_POWER = stats.norm.ppf([0.975, 0.8])
POWER = "so many would show so much"


def question(name="q", within=None, unit="prompts", **fields):
    within = within or Range(above=0.0)
    says = f"The {name} is as claimed."
    return Question(name, 1, says, "x", unit, lambda _: {}, {DECIDES: None}, within, **fields)


def decide(*asked, ask=None):
    """What is said of a claim that asks these questions: (question, {model: estimate})."""
    answers = {
        one.name: {
            model: {} if estimate is None else {DECIDES: one.answer(estimate)}
            for model, estimate in estimates.items()
        }
        for one, estimates in asked
    }
    asks = [{"question": one.name, "power": POWER, **(ask or {})} for one, _ in asked]
    questions = {one.name: one for one, _ in asked}
    return what_would_decide(asks, weigh(asks, answers), answers, questions)


def told(n):
    """A number of units as it is told: over 20 by two digits, rounded up."""
    n = math.ceil(n)
    digit = 1 if n <= 20 else 10 ** (len(str(n)) - 2)
    return math.ceil(n / digit) * digit


def fewest(effect, tail=0.025):
    """The fewest units whose t test of an effect, in deviations, has 80% power."""
    n = np.arange(2, 1000)
    power = stats.nct.sf(stats.t.isf(tail, n - 1), n - 1, effect * np.sqrt(n))
    large = ((stats.norm.isf(tail) + Z_POWER) / effect) ** 2  # where t is normal
    return n[np.argmax(power >= 0.8)] if large < 900 else large


def number_in(sentence):
    (number,) = re.findall(r"[Aa]bout ([\d,]+) ", sentence)
    return int(number.replace(",", ""))


def values(mean, sd, n):
    """n values with this mean and this unbiased standard deviation."""
    drawn = np.random.default_rng(n).normal(size=n)
    return mean + sd * (drawn - drawn.mean()) / drawn.std(ddof=1)


@pytest.mark.parametrize(("mean", "n"), [(0.3, 6), (-0.2, 8), (0.01, 12), (1.55, 4)])
def test_a_mean_takes_what_its_unbiased_deviation_says(mean, n):
    """Of those that are there, one more at least."""
    sentence = decide((question(), {"a": mean_estimate(values(mean, 1.0, n), "prompts")}))
    assert number_in(sentence) == told(max(fewest(abs(mean)), n + 1))
    assert "prompts" in sentence
    assert "The q is as claimed" in sentence


@pytest.mark.parametrize(("r", "border", "n"), [(0.2, 0.0, 30), (-0.1, 0.1, 50)])
def test_an_r_is_taken_on_fishers_z(r, border, n):
    asked = question(within=Range(above=border))
    sentence = decide((asked, {"a": correlation_estimate(r, n, "prompts")}))
    distance = abs(np.arctanh(r) - np.arctanh(border))
    assert number_in(sentence) == told(3 + ((Z + Z_POWER) / distance) ** 2)


def test_an_r_of_few_points_is_taken_on_fishers_z_by_its_exact_interval():
    found = correlation_estimate(0.5, 8, "prompts")
    error = (np.arctanh(found.high) - np.arctanh(found.low)) / 2 / Z
    units = 3 + (8 - 3) * ((Z + Z_POWER) * error / np.arctanh(0.5)) ** 2
    assert number_in(decide((question(), {"a": found}))) == told(units)


@pytest.mark.parametrize("mean", [0.02, -0.07, 0.13])
def test_a_value_between_two_bounds_is_asked_by_the_interval_of_two_one_sided_tests(mean):
    """Outside of them by its own, as nothing else is then said."""
    estimate = mean_estimate(values(mean, 0.2, 9), "prompts")
    sentence = decide((question(within=Range(-0.1, 0.1)), {"a": estimate}))
    distance = min(abs(mean - border) for border in (-0.1, 0.1))
    tail = 0.05 if abs(mean) < 0.1 else 0.025
    assert number_in(sentence) == told(max(fewest(distance / 0.2, tail), 10))


@pytest.mark.parametrize(("mean", "n_tests"), [(0.3, 2), (-0.3, 5)])
def test_an_answer_of_a_family_takes_its_wider_interval(mean, n_tests):
    asked = question(family=FamilyOfTests(2, 5))
    sentence = decide((asked, {"a": mean_estimate(values(mean, 1.0, 6), "prompts")}))
    assert number_in(sentence) == told(fewest(abs(mean), (1 - family_level(n_tests)) / 2))


@pytest.mark.parametrize(("mean", "border"), [(0.9, 0.5), (-0.4, 0.0), (0.3, None)])
def test_what_has_a_range_of_its_own_for_no_is_asked_by_the_border_of_its_side(mean, border):
    """Between the two ranges nothing would be an answer."""
    asked = question(within=Range(above=0.5), against=Range(below=0.0))
    sentence = decide((asked, {"a": mean_estimate(values(mean, 1.0, 6), "prompts")}))
    if border is None:
        assert sentence.startswith("No number of prompts")
    else:
        assert number_in(sentence) == told(fewest(abs(mean - border)))


def test_an_r_by_the_jackknife_is_taken_on_fishers_z_by_students_t():
    points = np.random.default_rng(4).normal(size=(2, 7))
    found = jackknife_of_series(*points)
    assert found.low < 0 < found.high
    error = (np.arctanh(found.high) - np.arctanh(found.low)) / 2 / stats.t.isf(0.025, 6)
    effect = abs(np.arctanh(found.value)) / error / math.sqrt(7)
    asked = question(unit="categories")
    assert number_in(decide((asked, {"a": found}))) == told(max(fewest(effect), 8))


def test_a_claim_that_another_reading_refutes_waits_for_no_units():
    vague, no = (mean_estimate(values(mean, 1.0, 8), "prompts") for mean in (0.3, -3.0))
    asked = question()
    answers = {asked.name: {"a": {DECIDES: asked.answer(vague), "other": asked.answer(no)}}}
    yes = asked.answer(mean_estimate(values(3.0, 1.0, 8), "prompts"))
    ask = [{"question": asked.name, "power": POWER}]
    for answer in (answers["q"]["a"][DECIDES], yes):
        answers["q"]["a"][DECIDES] = answer
        weighed = weigh(ask, answers)
        sentence = what_would_decide(ask, weighed, answers, {asked.name: asked})
        assert ("reading" in sentence) == (weighed.why == DEPENDS)
    assert weighed.why == DEPENDS


def test_no_more_models_are_asked_for_than_there_are():
    far, near = (mean_estimate(values(mean, 1.0, 8), "models") for mean in (0.3, 0.2))
    asked = question(unit="models")
    assert number_in(decide((asked, {"a": far}))) == told(fewest(0.3))
    assert decide((asked, {"a": near})).startswith("No number of existing models")
    assert number_in(decide((question(), {"a": near}))) == 200  # of prompts there are more


def test_what_lies_on_the_border_is_decided_by_no_number():
    on = Estimate(0.0, -1.0, 1.0, 9, "prompts")
    assert decide((question(), {"a": on})).startswith("No number of prompts")


def test_too_few_units_take_as_many_as_the_method_needs():
    asked = question(within=Range(above=0.5), unit="families", fewest=6)
    sentence = decide((asked, {"a": share_estimate([True] * 3, "families")}))
    assert re.findall(r"[Aa]t least (\d+) families", sentence) == ["6"]


@pytest.mark.parametrize("ask", [{"of": ["a"]}, {}])
def test_what_was_not_published_takes_the_weights_and_shows_what_was_registered(ask):
    sentence = decide((question(), {}), ask=ask)
    assert "weights" in sentence
    assert POWER in sentence
    assert decide((question(), {"a": None}), ask={"of": ["a"]}) == sentence


def test_single_numbers_take_more_of_them():
    sentence = decide((question(), {"a": without_interval(0.4, 1, "prompts")}))
    assert "single numbers" in sentence


def test_units_of_one_category_take_several():
    pairs = Correlations({"facts": 0.9}, {"facts": 30}, 0.9, {})
    asked = question(unit="categories")
    answered = asked.answer(r_by_category([pairs]))
    assert answered.word == NO_CATEGORIES
    assert "several categories" in decide((asked, {"a": r_by_category([pairs])}))


def test_each_open_question_has_a_clause_and_the_answered_have_none():
    clear, vague = (mean_estimate(values(mean, 1.0, 8), "prompts") for mean in (3.0, 0.3))
    first, second, third = (question(name) for name in ("first", "second", "third"))
    assert decide((first, {"a": clear})) == ""
    sentence = decide((first, {"a": clear}), (second, {"a": vague}), (third, {"a": None}))
    clauses = sentence.split("; ")
    assert len(clauses) == 2
    assert "The second is" in clauses[0]
    assert "The third is" in clauses[1]


@pytest.mark.parametrize(
    ("at_least", "answer", "deciding"),
    [(1, "yes", 0.5), (2, "yes", 0.3), (3, "yes", -0.4), (2, "no", 0.3), (1, "no", -0.4)],
)
def test_a_quantifier_takes_what_answers_as_many_models_as_it_asks_for(at_least, answer, deciding):
    """Of 0.5, -0.4 and 0.3: three of three cannot be yes once the second says no, and so on."""
    means = {f"{mean}": mean_estimate(values(mean, 1.0, 6), "prompts") for mean in (0.5, -0.4, 0.3)}
    sentence = decide((question(), means), ask={"at_least": at_least, "answer": answer})
    assert number_in(sentence) == told(fewest(abs(deciding)))


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_a_quantifier_that_some_models_answer_asks_nothing_of_the_others(answer):
    means = {f"{mean}": mean_estimate(values(mean, 1.0, 8), "prompts") for mean in (3.0, -3.0, 0.1)}
    said = {
        at_least: decide((question(), means), ask={"at_least": at_least, "answer": answer})
        for at_least in (1, 2, 3)
    }
    assert said[1] == said[3] == ""
    assert said[2]
