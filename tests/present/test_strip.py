"""The strip: that its rows alone answer, and are the estimates of the graded questions."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_records import headline
from layerwise.engine.headlines import GRADES, Headline
from layerwise.engine.strip import read_strip, strip_rows
from layerwise.engine.words import names_here
from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.papers.across.questions import QUESTIONS
from layerwise.present.claim_list import strip_as_text
from layerwise.present.strip import HOLDS, MARKS, bars, estimate_text, strip_lines
from layerwise.present.strip_picture import row_picture, strip_svg
from layerwise.present.terminal import UNFOLDED, as_text

SAID = re.compile(r"([^,;:()]+) ([−+]?\d\S*)(?: \(([−+]?\S+) to ([−+]?[^)]+)\))?(?=[,;:])")


@pytest.fixture(scope="module")
def judged(results):
    return read_json(results / "published" / "claims.json")


@pytest.fixture(scope="module")
def answers(results):
    """The answers to the papers' questions, as they were analysed."""
    documents = read_json(results / "published" / "statistics" / "questions.json")["documents"]
    return {name: document.get("models", {}) for name, document in documents.items()}


@pytest.fixture(scope="module")
def told(judged):
    """What a reader of `layerwise headlines` sees: mark and estimates, by the claim's words."""
    found = {}
    for line in as_text(strip_as_text(judged, None, reasons=False), UNFOLDED).splitlines():
        mark, _, rest = line.partition("  ")
        if mark in MARKS.values():
            claim, _, deciding = rest.strip().removesuffix(")").partition(" (")
            found[claim] = mark, read_estimates(deciding)
    return found


def read_estimates(text):
    """{model: (value, low, high, word)} of "number: A 1 (0 to 2), B 3: yes; C 4: open"."""
    _, _, groups = text.partition(": ")
    found = {}
    for group in groups.split("; "):
        *_, word = group.rpartition(": ")
        for model, *numbers in SAID.findall(group):
            ends = [float(number.replace("−", "-")) for number in numbers if number]
            found[model.strip()] = (*ends, word)
    return found


def row_of(told, words):
    """The one row whose claim has these words."""
    (row,) = [row for claim, row in told.items() if words in claim]
    return row


def test_it_says_which_models_invert_late(told, answers) -> None:
    _, estimates = row_of(told, "Late layers")
    late = answers["late"]
    for name, model in {
        "Pythia-6.9B": "pythia-6p9b",
        "Llama-3.1-8B": "llama-3p1-8b",
        "Apertus-8B": "apertus-8b",
    }.items():
        value, low, high, word = estimates[name]
        asked = late[model]["published"]
        assert (value, low, high) == pytest.approx(
            [asked[end] for end in ("value", "low", "high")], abs=0.006
        )
        assert (word == "yes") == (asked["high"] < 0), name
    assert estimates["Pythia-6.9B"][0] > 0 > estimates["Llama-3.1-8B"][2]


def test_it_says_which_laws_survive_and_in_which_direction(told, answers) -> None:
    mark, estimates = row_of(told, "First law")
    family = next(found for name, found in estimates.items() if "Pythia" in name)
    survey = next(found for name, found in estimates.items() if "survey" in name)
    asked = {
        name: answers[name]["all models"]["published"]["word"]
        for name in ("depth_gain", "depth_gain_of_survey")
    }
    assert family[2] < 0
    assert (family[-1] == "yes") == (asked["depth_gain"] == "yes") == (mark == HOLDS)
    assert (survey[-1] == "yes") == (asked["depth_gain_of_survey"] == "yes")
    assert "Pythia" in next(claim for claim in told if "First law" in claim)
    for law, question in {"Second law": "heritage", "Third law": "spectral_predicts"}.items():
        mark, estimates = row_of(told, law)
        ((*_, word),) = estimates.values()
        assert (word == "yes") == (answers[question]["all models"]["published"]["word"] == "yes")
        assert mark != HOLDS or word == "yes"


def test_it_says_whether_the_calibration_can_be_trusted(told, answers) -> None:
    mark, estimates = row_of(told, "near zero")
    words = [found[-1] for found in estimates.values()]
    asked = [answers["calibration"][model]["published"]["word"] for model in answers["calibration"]]
    assert words.count("yes") == asked.count("yes")
    assert (mark == HOLDS) <= (words.count("yes") > len(words) / 2)


def test_every_headline_has_a_row_with_estimates(judged) -> None:
    rows = judged["strip"]
    assert [row["id"] for row in rows] == [one["id"] for one in judged["headlines"]]
    assert [row["id"] for row in rows if not row["points"]] == []
    assert 6 <= sum(row["front"] for row in rows) <= 8
    assert [row["claim"] for row in rows if len(row["claim"].split()) > 12] == []


def test_every_grade_has_a_mark() -> None:
    assert set(GRADES) <= set(MARKS)


def test_a_headline_without_an_entry_and_an_entry_without_a_headline_are_refused(root) -> None:
    entries = read_strip(root / "claims")
    graded = [Headline(**headline(entry["id"])) for entry in entries]
    new = Headline(**headline("p9.new"))
    with pytest.raises(LayerwiseError, match=r"every headline needs an entry, p9\.new has none"):
        strip_rows([*graded, new], [], {}, QUESTIONS, entries)
    with pytest.raises(LayerwiseError, match=rf"{entries[0]['id']} is none; remove the entry"):
        strip_rows(graded[1:], [], {}, QUESTIONS, entries)


numbers = st.floats(-50, 50, allow_nan=False).map(lambda x: round(x, 6))


@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=4), st.booleans())
def test_a_picture_keeps_the_order_of_its_numbers(triples, has_end) -> None:
    points = [
        {
            "model": "m",
            "value": value,
            "low": low,
            "high": high,
            "word": "yes",
            "above": None,
            "below": 0.0 if has_end else None,
        }
        for low, value, high in map(sorted, triples)
    ]
    drawn = bars(points, 2)
    for bar, point in zip(drawn, points, strict=True):
        places = [0.0, bar.low, bar.at, bar.high, 1.0]
        assert places == sorted(places)
        if has_end:
            assert (bar.high < bar.end) == (point["high"] < 0) or bar.high == pytest.approx(bar.end)


@given(numbers.filter(bool), st.integers(0, 3))
def test_no_number_is_rounded_to_zero(value, decimals) -> None:
    shown = float(estimate_text(value, decimals, sign=True).replace("−", "-"))
    assert shown * value > 0
    assert shown == pytest.approx(value, abs=0.5 * 10**-decimals + 1e-9)


def test_its_pictures_are_whole_and_name_every_model(judged) -> None:
    lines = strip_lines(judged["strip"], names_here())
    whole = "".join(ElementTree.fromstring(strip_svg(lines)).itertext())
    for line in lines:
        picture = "".join(ElementTree.fromstring(row_picture(line)).itertext())
        for bar in line.bars:
            assert bar.label in picture
            assert bar.label in whole
            assert bar.number in picture
