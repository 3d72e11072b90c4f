"""The title is the question: data that make it true hold, data that make it false fail.

Both are made from the title alone (`titles.py`). Where the published numbers have too few units for
a yes, the mark stays open on the first, and still falls by a counterexample on the second.
"""

import pytest
from synthetic import ask_again
from titles import TITLES

from judged import changed, statistics_of
from layerwise.engine.central import read_central
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, OPEN, weigh
from layerwise.engine.question import base
from layerwise.papers.across.questions import QUESTIONS

# What so few units leave open, however they turn out: the mark of the data that make it true.
TOO_FEW = {
    "Instruction tuning never turns damping into expansion or back",
    "The sheaf trace separates expanding from damping models",
}
# Nor can these fail: a trace is a single number of a model, so no counterexample has an interval.
SINGLE_NUMBERS = {"The sheaf trace separates expanding from damping models"}


@pytest.fixture(scope="module")
def entries(root):
    return {entry["claim"]: entry for entry in read_central(root / "claims")}


@pytest.fixture(scope="module")
def places(works):
    """{question: {(model, choice)}}: what print answers."""
    given = statistics_of(works).answers
    return {
        name: {
            (model, base(choice))
            for model, by_choice in given.get(name, {}).items()
            for choice in by_choice
        }
        for name in QUESTIONS
    }


def marked(published, places, entry, make):
    """The mark of a claim on other numbers of the published shape."""
    asked = {ask["question"] for ask in entry["asks"]}
    numbers = changed(published, make(published))
    answers = ask_again(numbers, {name: places[name] for name in asked})
    weighed = weigh(entry["asks"], answers)
    return weighed.mark, weighed.why


def test_every_title_has_its_two_data_sets(entries):
    assert list(entries) == list(TITLES)


@pytest.mark.parametrize("title", TITLES)
def test_a_title_holds_on_data_that_make_it_true(title, published, places, entries):
    expected = (OPEN, "too few") if title in TOO_FEW else (HOLDS, "")
    assert marked(published, places, entries[title], TITLES[title][0]) == expected


@pytest.mark.parametrize("title", [title for title in TITLES if title not in SINGLE_NUMBERS])
def test_a_title_fails_on_data_that_make_it_false(title, published, places, entries):
    assert marked(published, places, entries[title], TITLES[title][1])[0] in (FAILS, IN_PART)
