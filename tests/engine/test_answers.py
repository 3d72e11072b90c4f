"""An answer as documents hold it: read as it was written, and refused where it is another's."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layerwise.engine.answer_words import WORDS
from layerwise.engine.answers import (
    Answer,
    AnswerRecord,
    Interval,
    answer_of,
    read_answers,
    read_rows,
    rows_of,
)
from layerwise.errors import LayerwiseError
from layerwise.papers.across.answers import answers
from made_answers import answer, statistics

numbers = st.floats(allow_nan=False, allow_infinity=False)
intervals = st.none() | st.builds(Interval, numbers, numbers)
counts = st.integers(0, 10**6)
made = st.builds(
    Answer,
    value=numbers,
    word=st.sampled_from(WORDS),
    ends=intervals,
    narrow=intervals,
    p=st.none() | st.floats(0, 1),
    n=counts,
    unit=st.text(),
    method=st.text(),
    where=st.text(),
    in_range=st.booleans(),
    fewest=counts,
    groups=st.just(()) | st.tuples(st.tuples(counts, counts), st.tuples(counts, counts)),
)
names = st.text(min_size=1).filter(lambda name: "/" not in name)


@given(made)
def test_an_answer_is_read_as_it_was_written(one: Answer) -> None:
    record = one.record()
    assert answer_of(record) == one
    assert answer_of(json.loads(json.dumps(record))) == one


@given(st.dictionaries(names, made, max_size=3))
def test_the_answers_of_a_readers_model_are_read_as_they_were_written(by_choice) -> None:
    rows = json.loads(json.dumps([*rows_of("late", by_choice)]))
    assert read_rows(rows, "") == ({"late": by_choice} if by_choice else {})


@given(st.dictionaries(names, made, max_size=3), st.dictionaries(names, made, max_size=3))
def test_the_answers_of_a_source_are_read_as_they_were_written(whole, parts) -> None:
    """What leaves a part out is a choice of its own."""
    source = statistics({"late": {"m": whole | {"left out": parts}}})
    documents = json.loads(json.dumps(source.documents))
    flat = whole | {f"left out/{part}": one for part, one in parts.items()}
    assert read_answers(documents) == source.answers == {"late": {"m": flat}}


FIELDS = [name for name in AnswerRecord.__annotations__ if name != "groups"]


def rows_with(**fields):
    return [{"question": "late", "choice": "published", **answer().record(), **fields}]


@pytest.mark.parametrize("name", ["question", "choice", *FIELDS])
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
    [{"word": "maybe"}, {"narrow": [0.1]}, {"value": "0.5"}, {"groups": [[1, 2, 3]]}],
    ids=str,
)
def test_what_is_no_answer_is_refused(fields) -> None:
    rows = rows_with(**fields)
    with pytest.raises(LayerwiseError, match=r"`layerwise analyze`"):
        answers({"sensitivity": {"rows": rows}}, {})
    question = {"models": {"m": {"published": {**answer().record(), **fields}}}}
    with pytest.raises(LayerwiseError, match=r"statistics of the questions: .*; analyse again"):
        read_answers({"questions": {"late": question}})


def test_what_decides_is_the_narrow_interval_or_the_p() -> None:
    """Of a p that is not below 5% the word is undecided wherever the interval lies."""
    both = answer(narrow=(0.2, 0.8))
    assert (both.deciding, both.level, both.deciding_p) == (both.narrow, 0.9, None)
    wide = answer(p=0.01)
    assert (wide.deciding, wide.level, wide.deciding_p) == (wide.ends, 0.95, None)
    held_back = answer("undecided", p=0.36)
    assert (held_back.deciding, held_back.deciding_p) == (None, 0.36)
    alone = dataclasses.replace(wide, ends=None)
    assert (alone.deciding, alone.deciding_p) == (None, 0.01)
