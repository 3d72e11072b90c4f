"""An answer as documents hold it: read as it was written, and refused where it is another's."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layerwise.engine.answer_words import WORDS
from layerwise.engine.answers import (
    Answer,
    AnswerRecord,
    Interval,
    answer_of,
    read_answer_rows,
    read_answers,
    rows_of,
)
from layerwise.engine.question import FamilyOfTests, Question, Range
from layerwise.errors import LayerwiseError
from layerwise.papers.across.answers import answers
from layerwise.statistics.estimates import Estimate, without_interval
from made_answers import answer, statistics

numbers = st.floats(allow_nan=False, allow_infinity=False)
intervals = st.none() | st.builds(Interval, numbers, numbers)
counts = st.integers(0, 10**6)
made = st.builds(
    Answer,
    value=numbers,
    word=st.sampled_from(WORDS),
    ends=intervals,
    deciding=intervals,
    level=st.none() | st.floats(0.5, 1),
    p=st.none() | st.floats(0, 1),
    n=counts,
    unit=st.text(),
    family=st.tuples(counts, counts),
    method=st.text(),
    where=st.text(),
    fewest=counts,
)
names = st.text(min_size=1).filter(lambda name: "/" not in name)


@given(made)
def test_an_answer_is_read_as_it_was_written(one: Answer) -> None:
    record = one.record()
    assert answer_of(record) == one
    assert answer_of(json.loads(json.dumps(record))) == one


@given(st.dictionaries(names, made, max_size=3))
def test_the_answers_of_a_readers_model_are_read_as_they_were_written(by_reading) -> None:
    rows = json.loads(json.dumps([*rows_of("late", by_reading)]))
    assert read_answer_rows(rows, "") == ({"late": by_reading} if by_reading else {})


@given(st.dictionaries(names, made, max_size=3), st.dictionaries(names, made, max_size=3))
def test_the_answers_of_a_source_are_read_as_they_were_written(whole, parts) -> None:
    """Each part that a reading leaves out has a name of its own."""
    source = statistics({"late": {"m": whole | {"left out": parts}}})
    documents = json.loads(json.dumps(source.documents))
    flat = whole | {f"left out/{part}": one for part, one in parts.items()}
    assert read_answers(documents) == source.answers == {"late": {"m": flat}}


def rows_with(**fields):
    return [{"question": "late", "reading": "decides", **answer().record(), **fields}]


@pytest.mark.parametrize("name", ["question", "reading", *AnswerRecord.__annotations__])
def test_a_folder_of_another_version_is_refused(name) -> None:
    (row,) = rows_with()
    old = {key: value for key, value in row.items() if key != name}
    with pytest.raises(LayerwiseError) as refused:
        answers({"sensitivity": {"rows": [row, old]}}, {})
    said = str(refused.value)
    assert f"1.{name}: missing" in said
    assert "`layerwise analyze`" in said
    assert len(said.splitlines()) == said.count("; ") == 1


@pytest.mark.parametrize(
    "fields",
    [{"word": "maybe"}, {"ends": [0.1]}, {"deciding": [1, 2, 3]}, {"value": "0.5"}, {"family": []}],
    ids=str,
)
def test_what_is_no_answer_is_refused(fields) -> None:
    rows = rows_with(**fields)
    with pytest.raises(LayerwiseError, match=r"`layerwise analyze`"):
        answers({"sensitivity": {"rows": rows}}, {})
    question = {"models": {"m": {"decides": {**answer().record(), **fields}}}}
    with pytest.raises(LayerwiseError, match=r"statistics of the questions: .*; analyse again"):
        read_answers({"questions": {"late": question}})


# --- what decides ---------------------------------------------------------------------------------


def estimate(value: float, half: float, p: float | None = None) -> Estimate:
    """A number whose interval is `half` wide on either side at 95%, wider at higher levels."""

    def ends(level: float) -> tuple[float, float]:
        wide = half * level / 0.95
        return value - wide, value + wide

    return Estimate(value, *ends(0.95), 9, "models", p, at_level=ends)


def question(within: Range, family: FamilyOfTests) -> Question:
    about = ("q", 2, "So.", "number", "models", lambda _: {})
    return Question(*about, {"decides": lambda _: None}, within, None, family)


@pytest.mark.parametrize(
    ("within", "value", "half", "level"),
    [
        (Range(above=0), 0.5, 0.3, 0.95),  # yes, of which one test is asked for
        (Range(above=0), -0.5, 0.3, 1 - 0.05 / 4),  # no, of which any of four may err
        (Range(above=0), 0.1, 0.3, 1 - 0.05 / 4),  # open: the wider one, which takes more to leave
        (Range(-1, 1), 0.1, 0.3, 0.90),  # no effect, by two tests at 5%
        (Range(-1, 1), 0.9, 0.3, 1 - 0.05 / 4),
    ],
)
def test_the_interval_that_decides_is_at_the_level_of_its_word(within, value, half, level) -> None:
    at = estimate(value, half)
    given_answer = question(within, FamilyOfTests(1, 4)).answer(at)
    assert given_answer.level == pytest.approx(level)
    assert given_answer.deciding == Interval(*at.ends(given_answer.level))
    assert given_answer.ends == Interval(at.low, at.high)
    assert (given_answer.family, given_answer.deciding_p) == ((1, 4), None)


def test_a_p_decides_where_it_leaves_open_what_the_interval_would_answer() -> None:
    asked = question(Range(above=0), FamilyOfTests())
    clear = asked.answer(estimate(0.5, 0.3, p=0.01))
    assert (clear.word, clear.deciding, clear.deciding_p) == ("yes", clear.ends, None)
    held_back = asked.answer(estimate(0.5, 0.3, p=0.36))
    assert (held_back.word, held_back.deciding, held_back.level) == ("undecided", None, None)
    assert (held_back.deciding_p, held_back.ends) == (0.36, Interval(0.2, 0.8))
    across = asked.answer(estimate(0.1, 0.3, p=0.36))
    assert (across.word, across.deciding, across.deciding_p) == ("undecided", across.ends, None)
    alone = asked.answer(replace(without_interval(0.5, 9, "models"), p=0.01))
    assert (alone.word, alone.deciding, alone.level, alone.deciding_p) == ("yes", None, None, 0.01)
