"""The rule of marks: three-valued logic over answers, and the laws that it keeps."""

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from layerwise.engine.answer_words import NEEDS_WEIGHTS, NO, OPEN_WORDS, UNDECIDED, WORDS, YES
from layerwise.engine.answers import Answer, Interval
from layerwise.engine.marks import (
    DEPENDS,
    FAILS,
    HOLDS,
    IN_PART,
    MARKS,
    OPEN,
    OPENNESS,
    mark,
    quantified,
    weigh,
)
from layerwise.engine.published import DECIDES, OVER_MODELS, PUBLISHED
from layerwise.engine.question import FamilyOfTests, Question, Range
from layerwise.errors import LayerwiseError
from layerwise.papers.across.questions import QUESTIONS
from layerwise.statistics.estimates import Estimate

RANKS = {FAILS: 0, OPEN: 1, IN_PART: 2, HOLDS: 3}
STEPS = {NO: 0, **dict.fromkeys(OPEN_WORDS, 1), YES: 2}  # of a word, towards the claim


def test_every_word_and_every_mark_has_its_place() -> None:
    assert set(RANKS) == set(MARKS)
    assert set(STEPS) == set(WORDS)
    assert set(OPENNESS) == {*OPEN_WORDS, DEPENDS}


# --- words, and how many of them it takes ---------------------------------------------------------

word = st.sampled_from([YES, YES, NO, UNDECIDED, *WORDS])  # so that each mark is met often
parts = st.lists(word, min_size=1, max_size=4)
asks = st.lists(
    parts.flatmap(
        lambda words: st.tuples(
            st.just(words), st.sampled_from([len(words), *range(1, len(words) + 1)])
        )
    ),
    min_size=1,
    max_size=3,
)
readings = st.lists(word, max_size=3)


def possible(words: list[str], need: int) -> set[bool]:
    """Whether enough parts are right, in every world in which each open part is right or wrong."""
    worlds = itertools.product(*({YES: [1], NO: [0]}.get(word, [0, 1]) for word in words))
    return {sum(world) >= need for world in worlds}


@given(parts, st.data())
def test_an_ask_is_answered_where_no_open_part_could_change_it(words, data) -> None:
    need = data.draw(st.integers(1, len(words)))
    expected = {(True,): YES, (False,): NO}.get(tuple(possible(words, need)), OPEN)
    found = quantified(words, need)
    assert (found if found in (YES, NO) else OPEN) == expected
    if expected == OPEN:
        assert found == min(filter(OPEN_WORDS.__contains__, words), key=OPEN_WORDS.index)


@given(asks)
def test_a_claim_is_the_conjunction_of_its_asks(asked) -> None:
    """It holds in every world, or in none; else it is open, or holds in part."""
    worlds = {all(one) for one in itertools.product(*(possible(*ask) for ask in asked))}
    given_mark, why = mark(asked)
    assert (given_mark == HOLDS) == (worlds == {True})
    assert (given_mark == FAILS) == (worlds == {False})
    assert (why != "") == (given_mark == OPEN)


@pytest.mark.parametrize(
    ("asked", "by_readings", "expected"),
    [
        ([([YES, UNDECIDED], 2)], [], (IN_PART, "")),
        ([([YES, YES, UNDECIDED], 3)], [], (IN_PART, "")),
        ([([YES, NO], 2)], [], (FAILS, "")),
        ([([UNDECIDED, UNDECIDED], 2)], [], (OPEN, UNDECIDED)),
        ([([YES, UNDECIDED], 2), ([YES], 1)], [], (IN_PART, "")),
        # a statement that is not shown: what some models show is no part of it
        ([([YES, UNDECIDED], 2), ([NEEDS_WEIGHTS], 1)], [], (OPEN, NEEDS_WEIGHTS)),
        ([([YES], 1), ([UNDECIDED], 1)], [], (OPEN, UNDECIDED)),
        ([([YES], 1)], [NO], (OPEN, DEPENDS)),
        ([([YES, UNDECIDED], 2)], [UNDECIDED, NO], (OPEN, DEPENDS)),
        ([([NO], 1)], [YES], (FAILS, "")),
        ([([UNDECIDED], 1)], [YES], (OPEN, UNDECIDED)),
    ],
)
def test_marks(asked, by_readings, expected) -> None:
    assert mark(asked, by_readings) == expected


# --- laws -----------------------------------------------------------------------------------------


@settings(max_examples=400)
@given(asks, readings, st.data())
def test_a_word_nearer_to_the_claim_never_lowers_a_mark(asked, by_readings, data) -> None:
    """Read from the other end, a word farther from it never raises one."""
    ask = data.draw(st.integers(0, len(asked) - 1))
    part = data.draw(st.integers(0, len(asked[ask][0]) - 1))
    before = asked[ask][0][part]
    after = data.draw(st.sampled_from([word for word in WORDS if STEPS[word] >= STEPS[before]]))
    words, need = asked[ask]
    moved = [*asked]
    moved[ask] = [*words[:part], after, *words[part + 1 :]], need
    assert RANKS[mark(moved, by_readings)[0]] >= RANKS[mark(asked, by_readings)[0]]


@given(asks, readings, word)
def test_another_reading_never_raises_a_mark(asked, by_readings, further) -> None:
    before = RANKS[mark(asked, by_readings)[0]]
    after = RANKS[mark(asked, [*by_readings, further])[0]]
    assert after <= before
    assert further == NO or after == before


numbers = st.floats(-2, 2).map(lambda value: round(value, 3))
errors = st.floats(0.01, 1).map(lambda value: round(value, 3))
families = st.builds(FamilyOfTests, st.integers(1, 6), st.integers(1, 6))
one_sided = st.one_of(
    numbers.map(lambda end: Range(above=end)), numbers.map(lambda end: Range(below=end))
)


def estimate(value: float, error: float) -> Estimate:
    """A number with the normal interval of a standard error, at any level."""

    def ends(level: float) -> tuple[float, float]:
        half = float(stats.norm.isf((1 - level) / 2)) * error
        return value - half, value + half

    return Estimate(value, *ends(0.95), 9, "models", at_level=ends)


def question(within: Range, family: FamilyOfTests, against: Range | None = None) -> Question:
    readings = {DECIDES: lambda _: None}
    about = ("q", 2, "So.", "number", "models", lambda _: {})
    return Question(*about, readings, within, against, family)


@given(numbers, errors, st.floats(0, 3), one_sided, families)
def test_a_number_moved_towards_the_claim_never_lowers_its_word(
    value, error, distance, within, family
) -> None:
    asked = question(within, family)
    towards = distance if math.isinf(within.below) else -distance
    before, after = (asked.word(estimate(at, error)) for at in (value, value + towards))
    assert STEPS[after] >= STEPS[before]


ranges = st.one_of(
    one_sided,
    st.tuples(numbers, numbers)
    .map(sorted)
    .filter(lambda ends: ends[1] - ends[0] > 0.01)
    .map(lambda ends: Range(*ends)),
)


@given(numbers, errors, st.floats(1, 5), ranges, families)
def test_a_wider_interval_moves_a_word_to_open_alone(value, error, factor, within, family) -> None:
    asked = question(within, family)
    before, after = (asked.word(estimate(value, width)) for width in (error, error * factor))
    assert after in (before, UNDECIDED)


@given(numbers, errors, st.floats(-1, 1), ranges, families)
def test_a_number_moved_within_its_own_interval_moves_its_word_by_one_step(
    value, error, share, within, family
) -> None:
    asked, at = question(within, family), estimate(value, error)
    moved = estimate(value + share * (at.high - value), error)
    assert abs(STEPS[asked.word(moved)] - STEPS[asked.word(at)]) <= 1


@given(st.floats(1.5, 3), st.sampled_from([-1, 1]), errors, numbers, families)
def test_the_opposite_asked_with_exchanged_families_is_answered_the_opposite(
    distance, side, error, border, family
) -> None:
    """Of numbers so far from the border that one family may show it and another not."""
    exchanged = FamilyOfTests(family.no, family.yes)
    above, below = question(Range(above=border), family), question(Range(below=border), exchanged)
    at = estimate(border + side * distance * error, error)
    assume(border not in at.ends(above.levels[0]) + at.ends(above.levels[1]))
    of_above, of_below = ({"q": {"m": {DECIDES: one.answer(at)}}} for one in (above, below))
    ask = {"question": "q", "of": ["m"]}
    opposite = {**ask, "answer": "no"}
    for given_ask, turned in ((ask, opposite), (opposite, ask)):
        first, second = weigh([given_ask], of_above), weigh([turned], of_below)
        assert (first.mark, first.why, first.word) == (second.mark, second.why, second.word)
    answered = weigh([ask], of_above).word
    assert weigh([ask], of_below).word == {YES: NO, NO: YES}.get(answered, answered)


@given(ranges, ranges)
def test_no_number_is_both_where_the_claim_says_and_where_its_opposite_does(first, second) -> None:
    """A question whose two ranges share a number is refused."""
    low, high = max(first.above, second.above), min(first.below, second.below)
    if low < high:
        with pytest.raises(LayerwiseError, match="part them"):
            question(first, FamilyOfTests(), second)
    else:
        assert not share_a_number(question(first, FamilyOfTests(), second))


def share_a_number(asked: Question) -> bool:
    """Whether a float lies both where the claim says and outside; a border lies outside alone."""
    inside = asked.within
    return any(
        math.nextafter(max(inside.above, outside.above), math.inf)
        < min(inside.below, outside.below)
        for outside in asked.outside
    )


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_papers_questions_have_two_ranges_apart(name) -> None:
    assert not share_a_number(QUESTIONS[name])


# --- the answers of a source ----------------------------------------------------------------------


def answer(given_word: str, value: float = 0.5) -> Answer:
    return Answer(value, given_word, Interval(value - 1, value + 1), None, None, None, 9, "models")


def answers(**models: str) -> dict:
    return {"q": {model: {DECIDES: answer(one)} for model, one in models.items()}}


named = st.dictionaries(st.sampled_from("abcd"), word, min_size=1)


@given(named, word, st.data())
def test_a_model_that_no_ask_names_changes_nothing(models, further, data) -> None:
    of = data.draw(st.lists(st.sampled_from(sorted(models)), min_size=1, unique=True))
    ask = {"question": "q", "of": of}
    assert weigh([ask], answers(**models)) == weigh([ask], answers(**models, another=further))


@given(named, word, st.data())
def test_another_reading_of_a_source_never_raises(models, further, data) -> None:
    model = data.draw(st.sampled_from(sorted(models)))
    ask = {"question": "q", "of": sorted(models)}
    before = answers(**models)
    after = {"q": {**before["q"], model: {**before["q"][model], "ranks": answer(further, 0.4)}}}
    assert RANKS[weigh([ask], after).mark] <= RANKS[weigh([ask], before).mark]
    assert set(weigh([ask], after).readings) == {"ranks"}


def test_a_part_that_nobody_measured_needs_the_weights() -> None:
    whole = {"question": "q"}
    assert weigh([whole], {}).why == NEEDS_WEIGHTS
    assert [part.model for part in weigh([whole], {}).parts[0]] == [OVER_MODELS]
    named_one = weigh([{"question": "q", "of": ["a", "b"]}], answers(a=YES))
    assert (named_one.mark, named_one.word, named_one.counts) == (
        IN_PART,
        NEEDS_WEIGHTS,
        {YES: 1, NO: 0, OPEN: 1},
    )


def test_readings_that_say_nothing_of_their_own_are_not_counted() -> None:
    """The same number with the same interval, and the paper's own, which is shown beside."""
    by_reading = {DECIDES: answer(YES), PUBLISHED: answer(NO, 0.4), "same": answer(YES)}
    weighed = weigh([{"question": "q"}], {"q": {"m": by_reading}})
    assert (weighed.mark, weighed.readings) == (HOLDS, {})


def test_leaving_units_out_is_one_reading_with_the_word_that_all_parts_share() -> None:
    def out(*words: str) -> dict:
        parts_left = {f"out/{n}": answer(one, 0.1 * n) for n, one in enumerate(words)}
        return {"q": {"m": {DECIDES: answer(YES), **parts_left}}}

    ask = [{"question": "q"}]
    assert weigh(ask, out(NO, NO)).readings == {"out": NO}
    assert weigh(ask, out(NO, NO)).why == DEPENDS
    assert weigh(ask, out(NO, YES)).readings == {"out": UNDECIDED}
    assert weigh(ask, out(NO, YES)).mark == HOLDS


def test_a_reading_runs_through_all_asks_and_keeps_the_word_of_those_that_lack_it() -> None:
    first = {"a": {DECIDES: answer(YES), "ranks": answer(NO, 0.4)}}
    given_answers = {"q": first, "other": {"a": {DECIDES: answer(YES)}}}
    both = [{"question": "q", "of": ["a"]}, {"question": "other", "of": ["a"]}]
    assert weigh(both, given_answers).readings == {"ranks": NO}
    missing = replace(answer(YES), value=0.4)
    second = {**given_answers, "q": {"a": {DECIDES: answer(YES), "ranks": missing}}}
    assert weigh(both, second).readings == {"ranks": YES}
