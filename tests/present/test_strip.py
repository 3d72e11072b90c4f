"""The strip: that its rows alone answer, and are the estimates of the graded questions."""

import itertools
import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_records import central_claim, made_central, point
from layerwise.engine.answer_words import NEEDS_WEIGHTS, OPPOSITE
from layerwise.engine.central import Central, Point, read_central
from layerwise.engine.marks import OPENNESS, QuestionPart
from layerwise.engine.published import DECIDES, PUBLISHED
from layerwise.engine.records import read_judged
from layerwise.engine.words import names_here
from layerwise.files import read_json
from layerwise.present.elements import Circle, Polygon, Segment, Text
from layerwise.present.range_picture import RangePicture, RangeRow, Scale, Taken, draw_range
from layerwise.present.records import central_in_words
from layerwise.present.strip import (
    deciding_text,
    estimate_text,
    methods_text,
    picture,
    readings_text,
    row_text,
    rows_text,
)
from layerwise.present.strip_picture import (
    PHONE,
    PRINTED,
    STACKED,
    TEXT_LETTER,
    WIDE,
    repeat_picture,
    row_picture,
    strip_pdf,
    strip_svg,
)


@pytest.fixture(scope="module")
def judged(results):
    return read_judged(results / "published" / "claims.json", "published")


@pytest.fixture(scope="module")
def answers(results):
    """The answers to the papers' questions, as they were analysed."""
    documents = read_json(results / "published" / "statistics" / "questions.json")["documents"]
    return {name: document.get("models", {}) for name, document in documents.items()}


@pytest.fixture(scope="module")
def central(judged):
    return central_in_words(judged.central, names_here())


def test_a_claim_shows_the_answers_to_its_questions(judged, answers, root) -> None:
    """Each estimate is that of an answer, and its word the answer's, seen from the claim's side.

    What the source lacks has no number, and the word for it; so is what its paper takes.
    """
    entries = {entry["id"]: entry for entry in read_central(root / "claims")}
    for claim in judged.central:
        decided, taken = [(None, NEEDS_WEIGHTS)], []
        for shown in entries[claim.id].get("shows", entries[claim.id]["asks"]):
            exchanged = {} if shown.get("answer", "yes") == "yes" else OPPOSITE
            of_question = answers[shown["question"]]
            for model in shown.get("of", of_question):
                for reading, answer in of_question[model].items():
                    word = exchanged.get(answer.get("word"), answer.get("word"))
                    told = (answer.get("value"), word)
                    decided += [told] * (reading == DECIDES)
                    taken += [told] * (reading in (DECIDES, PUBLISHED))
        for one in claim.points:
            assert (one.value, one.word) in decided, claim.id
            assert (one.published["value"], one.published["word"]) in taken, claim.id
            if one.word == "yes" and one.low is not None:
                assert one.above is None or one.low > one.above, claim.id
                assert one.below is None or one.high < one.below, claim.id


def test_a_row_says_every_estimate_with_its_word(central) -> None:
    for claim in central:
        groups = deciding_text(claim).partition(": ")[2].split("; ")
        for one, row in zip(claim.points, picture(claim).rows, strict=True):
            number = row.number.partition(" (")[0]
            said = [group for group in groups if f"{row.label} {number}".strip() in group]
            shown = one.word if one.word in ("yes", "no") else f"open ({one.word})"
            assert any(group.endswith(shown) for group in said), claim.id
            taken = f": {one.published['word']} as published, {shown}"
            is_told = any(group.endswith(taken) for group in said)
            assert is_told == (one.value is None), claim.id


def test_every_central_claim_has_estimates_and_reasons(central) -> None:
    assert [claim.id for claim in central if not claim.points] == []
    assert [claim.id for claim in central if not (claim.says and claim.reason)] == []
    assert 6 <= sum(claim.front for claim in central) <= 8
    assert [claim.claim for claim in central if len(claim.claim.split()) > 12] == []


def test_a_printed_value_is_drawn_where_it_lies_and_said_where_it_differs() -> None:
    points = [
        Point(**point("a", printed=-0.5, as_printed=False)),
        Point(**point("b", printed=0.5, as_printed=True)),
        Point(**point("c", low=None, high=None, p=0.03)),
    ]
    claim = Central(**central_claim("p2.r") | {"points": points})
    assert [row.printed for row in picture(claim).rows] == [-0.5, 0.5, None]
    assert picture(claim).axis().first < -0.5
    wide, phone = row_picture(claim).split("</svg>")[:2]
    assert wide.count('class="printed"') == phone.count('class="printed"') == 2
    a, b, c = "+0.25 to +0.75, printed −0.50", "+0.25 to +0.75", "p = 0.030"
    assert deciding_text(claim) == f"r: a +0.50 ({a}), b +0.50 ({b}), c +0.50 ({c}): yes"
    for as_printed in (True, None):  # None: nobody says whether it is
        of_one = {"points": [Point(**point("d", printed=-0.5, as_printed=as_printed))]}
        assert "printed" not in deciding_text(Central(**central_claim("p2.r") | of_one))


def test_a_count_above_a_table_is_that_of_its_rows(central) -> None:
    told = [(claim, re.findall(r"\d+", rows_text(claim))) for claim in central if claim.compared]
    assert any(len(claim.printed) > claim.compared for claim, _ in told)
    for claim, (as_printed, compared, *others) in told:
        assert (int(as_printed), int(compared)) == (claim.as_printed, claim.compared)
        assert int(compared) + sum(map(int, others)) == len(claim.printed), claim.id


def test_the_printed_value_hides_nothing() -> None:
    """It stands clear of the estimate below it, and within its own row."""
    row = RangeRow("m", "1", "yes", Taken(1.0, "yes", 0.5, 1.5), 0.0, math.inf, printed=1.0)
    drawn = [*draw_range(RangePicture([row, row]))]
    diamonds = [one.points for one in drawn if isinstance(one, Polygon)]
    dots = [one for one in drawn if isinstance(one, Circle)]
    before = 0.0
    for corners, dot in zip(diamonds, dots, strict=True):
        assert before < min(y for _, y in corners)
        assert max(y for _, y in corners) < dot.y - dot.radius
        before = dot.y + dot.radius


def test_names_and_numbers_of_a_phone_stand_clear_of_each_other(central) -> None:
    """On a screen of 390 pixels, at their own size."""
    assert PHONE.width <= 390 - 2 * 16
    for claim in central:
        for row in picture(claim).rows:
            assert TEXT_LETTER * len(row.label + row.number) < STACKED, claim.id


def test_what_decides_nothing_is_drawn_small(central) -> None:
    """Another question, and the claim's own of another model."""
    places = ["asked:/models/m~1n", "asked:/models/m", "else:/models/m~1n"]
    points = [Point(**point(place, statistic=f"questions:{place}")) for place in places]
    parts = [QuestionPart("asked", "m/n", "yes")]
    asked = {"parts": parts, "points": points}
    claim = Central(**central_claim("p2.r") | asked)
    drawn = picture(claim)
    assert [row.decides for row in drawn.rows] == [True, False, False]
    first, *others = (one for one in draw_range(drawn) if isinstance(one, Circle))
    assert max(one.radius for one in others) < first.radius
    assert [claim.id for claim in central if not any(r.decides for r in picture(claim).rows)] == []


def kinds_of(claim: Central) -> list[str]:
    return [one.kind for one in draw_range(picture(claim)) if isinstance(one, Segment | Circle)]


def test_two_intervals_stand_where_another_than_the_published_decides() -> None:
    """Thick in the colour of its word what the paper takes, thin what decides; once if equal."""
    taken = point("m")["published"] | {"word": "no"}
    estimates = {
        "alike": point("m"),
        "other": point("m", "undecided", low=-0.1, high=1.1, published=taken),
        "lacking": point("m", NEEDS_WEIGHTS, value=None, low=None, high=None, published=taken),
    }
    drawn = {
        name: kinds_of(Central(**central_claim("p2.r") | {"points": [Point(**one)]}))
        for name, one in estimates.items()
    }
    lines = {name: [kind for kind in kinds if "thi" in kind] for name, kinds in drawn.items()}
    assert lines["alike"] == ["yes thick"]
    assert lines["other"] == ["no thick", *["open thin"] * 3]  # the line and its caps
    assert lines["lacking"] == ["no thick"]
    dots = {
        name: [kind for kind in kinds if kind in ("yes", "no", "open")]
        for name, kinds in drawn.items()
    }
    assert dots == {"alike": ["yes"], "other": ["open"], "lacking": ["no"]}


def test_what_a_row_says_beside_its_estimates() -> None:
    def text(given: str = "holds", **fields) -> str:
        return row_text(made_central("p2.r", given, **fields))

    assert text() == ""
    words = ("yes", "no", "undecided", "too few")
    parts = [QuestionPart("q", word, word) for word in words]
    counts = {"yes": 1, "no": 1, "open": 2}
    assert text(parts=parts, counts=counts) == "models: 1 yes, 1 no, 2 open"
    asked = [replace(part, question=part.word) for part in parts]
    assert text(parts=asked, counts=counts).startswith("statements: ")
    assert text(parts=[*parts, *asked], counts=counts).startswith("parts: ")
    readings = [
        {"reading": word, "text": word, "word": word} for word in ("yes", "no", "undecided")
    ]
    assert text(readings=readings) == "computed in 3 other ways: 1 yes, 1 no, 1 open"
    assert text("fails", readings=readings[:1]) == "computed in 1 other way: 1 yes"
    told = f"{OPENNESS['undecided']}; computed in 1 other way: 1 open"
    assert text("undecided", readings=readings[2:]) == told
    taken = point("m", "no")["published"]
    lacking = {"value": None, "low": None, "high": None}
    points = [point("m", NEEDS_WEIGHTS, published=taken, **lacking)]
    assert text(points=points) == "as published no"
    points.append(point("n", "undecided", published=taken | {"word": "yes"}))
    assert text(points=points) == "as published 1 yes, 1 no"
    words = {"yes": "yes", "lower": "undecided", "open": "undecided"}  # here two of three say yes
    points = [
        point(name, "undecided" if name == "open" else "yes", published=taken | {"word": word})
        for name, word in words.items()
    ]
    assert text(points=points) == "as published 1 yes, 2 undecided"


def test_each_interval_is_told_over_its_own_units() -> None:
    taken = point("m")["published"] | {"method": "another", "n": 230, "unit": "pairs"}
    shown = point("m", method="Student's t", n=6, unit="categories", published=taken)
    claim = Central(**central_claim("p2.r") | {"points": [Point(**shown)]})
    assert methods_text(claim) == (
        "Intervals by Student's t over 6 categories. As published: intervals by another over 230 "
        "pairs."
    )


def test_every_other_reading_stands_with_its_word() -> None:
    words = ("yes", "no", "yes", "undecided")
    readings = [
        {"reading": str(n), "text": f"by {n}", "word": word} for n, word in enumerate(words)
    ]
    claim = Central(**central_claim("p2.r") | {"readings": readings})
    assert readings_text(claim) == "Other readings. Yes: by 0; by 2. No: by 1. Undecided: by 3."
    assert readings_text(Central(**central_claim("p2.r"))) == ""


numbers = st.floats(-50, 50, allow_nan=False).map(lambda x: round(x, 6))


rows = st.tuples(numbers, numbers, numbers).map(sorted)


@given(st.lists(rows, min_size=1, max_size=4), st.sampled_from([-math.inf, -3.0, 0.0]), numbers)
def test_a_picture_keeps_the_order_of_its_numbers(triples, above, other) -> None:
    drawn = RangePicture(
        [
            RangeRow("m", "1", "yes", Taken(value, "yes", low, high), above, math.inf)
            for low, value, high in triples
        ],
        beside=[(other, "another model")],
    )
    scale = drawn.axis()
    for low, value, high in triples:
        places = [0.0, *map(scale.place, (low, value, high)), 1.0]
        assert places == sorted(places)
        assert places[1] > 0 or low == -math.inf
        if math.isfinite(above):
            assert (places[1] > scale.place(above)) == (low > above) or low == pytest.approx(above)
    assert 0 < scale.place(other) < 1


@given(st.lists(rows, min_size=1, max_size=4), st.sampled_from([-math.inf, -3.0, 0.0]))
def test_an_axis_says_where_its_border_or_zero_lies(triples, above) -> None:
    """Each number on it stands where it says, none runs into another, and one of two is there."""
    rows = [
        RangeRow("m", "1", "yes", Taken(value, "yes", low, high), above, 99)
        for low, value, high in triples
    ]
    drawn = RangePicture(rows)
    scale = drawn.axis()
    ticks = scale.ticks(drawn.borders, 200)
    texts = [element for element in draw_range(drawn) if isinstance(element, Text)]
    shown = {text.text: text.x for text in texts if text.kind == "tick"}
    assert len(ticks) >= 2
    for value, text in ticks:
        assert float(text.replace("−", "-")) == pytest.approx(value, rel=1e-5, abs=1e-9)
        assert shown[text] == pytest.approx(200 * scale.place(value), abs=0.06)
    places = [scale.place(value) for value, _ in ticks]
    assert min(b - a for a, b in itertools.pairwise(places)) * 200 > 12
    assert {0.0, above, 99.0} & {value for value, _ in ticks}


def test_settings_of_the_user_move_no_tick() -> None:
    """As from a matplotlibrc."""
    expected = Scale(-0.06, 0.534).ticks([], 200)
    with mpl.rc_context({"axes.autolimit_mode": "round_numbers"}):
        assert Scale(-0.06, 0.534).ticks([], 200) == expected


def test_an_interval_without_end_reaches_the_end_of_the_axis() -> None:
    shown = Taken(0.5, "undecided", -math.inf, 0.75)
    row = RangeRow("m", "", "undecided", shown, above=0.0, below=math.inf)
    drawn = [*draw_range(RangePicture([row]), plot=200)]
    (ends,) = [element for element in drawn if element.kind == "open thick"]
    assert ends.x == 0 < ends.x_end < 200


@given(numbers.filter(bool), st.integers(0, 3))
def test_no_number_is_rounded_to_zero(value, decimals) -> None:
    shown = float(estimate_text(value, decimals, sign=True).replace("−", "-"))
    assert shown * value > 0
    assert shown == pytest.approx(value, abs=0.5 * 10**-decimals + 1e-9)


@pytest.mark.parametrize("layout", [WIDE, PHONE, PRINTED])
def test_its_pictures_are_whole_and_name_every_model(central, layout) -> None:
    whole = "".join(ElementTree.fromstring(strip_svg(central, layout)).itertext())
    for claim in central:
        wide, phone = ElementTree.fromstring(row_picture(claim))
        for row in picture(claim).rows:
            assert row.label in whole
            for drawn in (wide, phone):
                assert {row.label, row.number} - {""} <= {*drawn.itertext()}


def test_a_repeated_picture_is_one_that_the_page_has(central) -> None:
    for claim in central:
        drawn = ElementTree.fromstring(row_picture(claim))
        ids = {part.get("id") for part in drawn.iter()}
        again = ElementTree.fromstring(repeat_picture(claim))
        (used,) = again.iter("use")
        assert used.get("href", "#").removeprefix("#") in ids
        assert again.get("aria-labelledby") == drawn.get("id")
        (repeated,) = again
        assert repeated.get("viewBox") == drawn[1].get("viewBox")


def test_no_row_contradicts_the_legend(central) -> None:
    """What has neither interval nor p is grey: a value alone decides nothing."""
    for claim in central:
        for one in claim.points:
            if one.low is None and one.p is None:
                assert one.word not in ("yes", "no"), claim.id
                assert one.value is None or one.published["word"] not in ("yes", "no"), claim.id


def test_on_paper_it_is_a_page_of_the_same_text(central, tmp_path) -> None:
    front = [claim for claim in central if claim.front]
    assert strip_pdf(front) == strip_pdf(front)
    assert strip_pdf(front).startswith(b"%PDF")
