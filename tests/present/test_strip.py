"""The strip: that its rows alone answer, and are the estimates of the graded questions."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_records import central_claim
from layerwise.engine.central import Central, Point, read_central
from layerwise.engine.published import PUBLISHED
from layerwise.engine.questions.words import OPPOSITE
from layerwise.engine.words import names_here
from layerwise.files import read_json
from layerwise.present.records import central_claims
from layerwise.present.strip import bars, deciding_text, estimate_text
from layerwise.present.strip_picture import row_picture, strip_svg


@pytest.fixture(scope="module")
def judged(results):
    return read_json(results / "published" / "claims.json")


@pytest.fixture(scope="module")
def answers(results):
    """The answers to the papers' questions, as they were analysed."""
    documents = read_json(results / "published" / "statistics" / "questions.json")["documents"]
    return {name: document.get("models", {}) for name, document in documents.items()}


@pytest.fixture(scope="module")
def central(judged):
    return central_claims(judged, names_here())


def test_a_claim_shows_the_answers_to_its_questions(judged, answers, root) -> None:
    """Each estimate is that of an answer, and its word the answer's, seen from the claim's side."""
    entries = {entry["id"]: entry for entry in read_central(root / "claims")}
    for claim in judged["central"]:
        asked = []
        for shown in entries[claim["id"]].get("shows", entries[claim["id"]]["asks"]):
            choice = shown.get("choice", PUBLISHED)
            of_question = answers[shown["question"]]
            for model in shown.get("of", of_question):
                answer = of_question[model].get(choice)
                if answer is not None:
                    word = answer["word"]
                    claimed = shown.get("answer", "yes") == "yes"
                    asked.append((answer["value"], word if claimed else OPPOSITE.get(word, word)))
        told = {(point["value"], point["word"]) for point in claim["points"]}
        assert told <= set(asked), claim["id"]
        for point in claim["points"]:
            if point["word"] == "yes" and point["low"] is not None:
                assert point["above"] is None or point["low"] > point["above"], claim["id"]
                assert point["below"] is None or point["high"] < point["below"], claim["id"]


def test_a_row_says_every_estimate_with_its_word(central) -> None:
    for claim in central:
        groups = deciding_text(claim).partition(": ")[2].split("; ")
        for point, bar in zip(claim.points, bars(claim), strict=True):
            said = [group for group in groups if f"{bar.label} {bar.number}".strip() in group]
            assert any(group.endswith(f": {point.word}") for group in said), claim.id


def test_every_central_claim_has_estimates_and_reasons(central) -> None:
    assert [claim.id for claim in central if not claim.points] == []
    assert [claim.id for claim in central if not (claim.says and claim.reason)] == []
    assert 6 <= sum(claim.front for claim in central) <= 8
    assert [claim.claim for claim in central if len(claim.claim.split()) > 12] == []


def test_a_printed_value_is_drawn_where_it_lies_and_said_where_it_differs() -> None:
    about = {"word": "yes", "above": None, "below": None, "n": 9, "unit": "pairs", "method": "t"}
    ends = {"value": 0.5, "low": 0.25, "high": 0.75}
    points = [
        Point("a", **ends, **about, printed=-0.5, as_printed=False),
        Point("b", **ends, **about, printed=0.5, as_printed=True),
        Point("c", **ends | {"low": None}, **about, p=0.03),
    ]
    claim = Central(**central_claim("p2.r") | {"points": points})
    first, second, third = bars(claim)
    assert 0 < first.printed < first.low < second.printed == second.at < 1
    assert third.printed is None
    assert row_picture(claim).count('class="printed"') == 2
    a, b, c = "+0.25 to +0.75, printed −0.50", "+0.25 to +0.75", "p = 0.030"
    assert deciding_text(claim) == f"r: a +0.50 ({a}), b +0.50 ({b}), c +0.50 ({c}): yes"


numbers = st.floats(-50, 50, allow_nan=False).map(lambda x: round(x, 6))


@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=4), st.booleans())
def test_a_picture_keeps_the_order_of_its_numbers(triples, has_end) -> None:
    points = [
        Point("m", value, low, high, "yes", None, 0.0 if has_end else None, 9, "pairs", "t")
        for low, value, high in map(sorted, triples)
    ]
    claim = Central(**central_claim("p2.r") | {"points": points})
    for bar, point in zip(bars(claim), points, strict=True):
        places = [0.0, bar.low, bar.at, bar.high, 1.0]
        assert places == sorted(places)
        if has_end:
            assert (bar.high < bar.end) == (point.high < 0) or bar.high == pytest.approx(bar.end)


@given(numbers.filter(bool), st.integers(0, 3))
def test_no_number_is_rounded_to_zero(value, decimals) -> None:
    shown = float(estimate_text(value, decimals, sign=True).replace("−", "-"))
    assert shown * value > 0
    assert shown == pytest.approx(value, abs=0.5 * 10**-decimals + 1e-9)


def test_its_pictures_are_whole_and_name_every_model(central) -> None:
    whole = "".join(ElementTree.fromstring(strip_svg(central)).itertext())
    for claim in central:
        picture = "".join(ElementTree.fromstring(row_picture(claim)).itertext())
        for bar in bars(claim):
            assert bar.label in picture
            assert bar.label in whole
            assert bar.number in picture
