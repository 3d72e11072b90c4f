"""The title is the question: data that make it true hold, data that make it false fail.

Both are of the published shape and made from the title alone (`titles.py`). What lacks its units in
print stays open on either; these claims hold and fail on measured values, in
`test_questions_paper1.py` to `test_questions_paper3.py`.
"""

import pytest
from synthetic import ask_all
from titles import TITLES

from judged import changed
from layerwise.engine.answer_words import NEEDS_WEIGHTS, NO_CATEGORIES, TOO_FEW
from layerwise.engine.central import read_central
from layerwise.engine.marks import FAILS, HOLDS, OPEN, weigh

# Claims that no values of the published shape can show, and why they stay open.
UNSHOWN = {
    "p1.numeric": NEEDS_WEIGHTS,
    "p1.apertus_facts": NEEDS_WEIGHTS,
    "p1.business": NEEDS_WEIGHTS,
    "p2.early": NEEDS_WEIGHTS,
    "p2.late": NEEDS_WEIGHTS,
    "p2.three_of_four": NEEDS_WEIGHTS,
    "p2.transition": NEEDS_WEIGHTS,
    "p2.extremum": NEEDS_WEIGHTS,
    "p2.gemma": NEEDS_WEIGHTS,
    "p2.template": NEEDS_WEIGHTS,
    "p2.layers": NEEDS_WEIGHTS,
    "p3.anisotropy": NEEDS_WEIGHTS,
    "p3.bound": NO_CATEGORIES,  # the prompts of the survey
    "p3.trace": TOO_FEW,
    "p3.tuning": TOO_FEW,
    "p2.scaling": TOO_FEW,
}
# Of these one question is asked of what print has, and its no refutes the claim.
REFUTABLE = {"p1.business", "p2.layers", "p3.bound", "p3.tuning"}


@pytest.fixture(scope="module")
def entries(root):
    return {entry["id"]: entry for entry in read_central(root / "claims")}


def marked(published, entry, make):
    """The mark of a claim on other numbers of the published shape, and why it is open."""
    numbers = changed(published, make(published))
    weighed = weigh(entry["asks"], ask_all(numbers, {ask["question"] for ask in entry["asks"]}))
    return weighed.mark, weighed.why


def test_every_title_has_its_two_data_sets(entries):
    assert [entry["claim"] for entry in entries.values()] == list(TITLES)


@pytest.mark.parametrize(("title", "makes"), TITLES.items())
def test_a_title_holds_on_data_that_make_it_true_and_fails_on_others(
    title, makes, published, entries
):
    entry = next(entry for entry in entries.values() if entry["claim"] == title)
    unshown = UNSHOWN.get(entry["id"])
    is_refutable = unshown is None or entry["id"] in REFUTABLE
    true, false = (marked(published, entry, make) for make in makes)
    assert true == ((OPEN, unshown) if unshown else (HOLDS, ""))
    assert false == ((FAILS, "") if is_refutable else (OPEN, unshown))
