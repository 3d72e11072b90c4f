"""The strip: that its rows alone answer, and are the estimates of the graded questions."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_records import headline
from layerwise.engine.headlines import OPPOSITE, PUBLISHED, Headline
from layerwise.engine.strip import read_strip, strip_rows
from layerwise.engine.words import names_here
from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.papers.across.questions import QUESTIONS
from layerwise.present.strip import WORDS, bars, estimate_text, strip_lines
from layerwise.present.strip_picture import row_picture, strip_svg


@pytest.fixture(scope="module")
def judged(results):
    return read_json(results / "published" / "claims.json")


@pytest.fixture(scope="module")
def answers(results):
    """The answers to the papers' questions, as they were analysed."""
    documents = read_json(results / "published" / "statistics" / "questions.json")["documents"]
    return {name: document.get("models", {}) for name, document in documents.items()}


def test_a_row_shows_the_answers_to_its_questions(judged, answers, root) -> None:
    """Each estimate is that of an answer, and its word the answer's, seen from the claim's side."""
    entries = {entry["id"]: entry for entry in read_strip(root / "claims")}
    for row in judged["strip"]:
        asked = []
        for shown in entries[row["id"]]["shows"]:
            choice = shown.get("choice", PUBLISHED)
            of_question = answers[shown["question"]]
            for model in shown.get("of", of_question):
                answer = of_question[model].get(choice)
                if answer is not None:
                    word = answer["word"]
                    claimed = shown.get("answer", "yes") == "yes"
                    asked.append((answer["value"], word if claimed else OPPOSITE.get(word, word)))
        assert {(point["value"], point["word"]) for point in row["points"]} <= set(asked), row["id"]
        for point in row["points"]:
            if point["word"] == "yes" and point["low"] is not None:
                assert point["above"] is None or point["low"] > point["above"], row["id"]
                assert point["below"] is None or point["high"] < point["below"], row["id"]


def test_a_line_says_every_estimate_with_its_word(judged) -> None:
    for row, line in zip(judged["strip"], strip_lines(judged["strip"], names_here()), strict=True):
        groups = line.decides.partition(": ")[2].split("; ")
        for point, bar in zip(row["points"], line.bars, strict=True):
            said = [group for group in groups if f"{bar.label} {bar.number}".strip() in group]
            assert any(group.endswith(f": {WORDS[point['word']]}") for group in said), row["id"]


def test_every_headline_has_a_row_with_estimates(judged) -> None:
    rows = judged["strip"]
    assert [row["id"] for row in rows] == [headline["id"] for headline in judged["headlines"]]
    assert [row["id"] for row in rows if not row["points"]] == []
    assert 6 <= sum(row["front"] for row in rows) <= 8
    assert [row["claim"] for row in rows if len(row["claim"].split()) > 12] == []


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
