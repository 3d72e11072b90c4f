"""What stands beside a word is what gave it, on every surface that shows an answer.

The interval lies in the question's range where the word is yes, and nowhere else: of every answer
that was recorded, and of made ones, among them those that show no effect by the narrower interval
of two one-sided tests. Where there is no interval a yes or no has its p.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html import unescape
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from claim_records import central_claim
from judged import statistics_of
from layerwise.engine.answers import Answer, read_rows
from layerwise.engine.central import Central, points
from layerwise.engine.published import OVER_MODELS, PUBLISHED
from layerwise.engine.question import Question
from layerwise.files import read_json
from layerwise.papers.across.figures.drawing import draw
from layerwise.papers.across.questions import QUESTIONS
from layerwise.present.figures.numbers import Numbers
from layerwise.present.small_models import FOLDER, SmallAnswer, SmallRow
from layerwise.present.strip import deciding_text, picture
from layerwise.reader.page import answers as own
from layerwise.statistics.estimates import Estimate, without_interval
from made_answers import model_answers

NUMBER = r"[-+\u2212]?\d+(?:\.\d+)?(?:e-?\d+)?"
ENDS = re.compile(rf"({NUMBER})(?: to |, )({NUMBER})")
P = re.compile(r"\bp [=<] \d")


@dataclass(frozen=True)
class Shown:
    """An interval as some surface shows it, and how far rounding may have moved its ends."""

    low: float
    high: float
    rounding: float = 0.0

    def lies_in(self, question: Question, *, rounded: int) -> bool:
        """Whether it lies in the range: with its ends moved inwards (1) or outwards (-1)."""
        moved = rounded * self.rounding
        return question.above < self.low + moved and self.high - moved < question.below


def exact(low: float | None, high: float | None) -> Shown | None:
    assert (low is None) == (high is None)
    return None if low is None or high is None else Shown(low, high)


def in_text(text: str, form: str = "({})") -> Shown | None:
    """The interval in a text; where there is none, a p or nothing."""
    opening, closing = map(re.escape, form.split("{}"))
    found = re.search(f"{opening}{ENDS.pattern}{closing}", text)
    if found is None:
        return None
    low, high = (end.replace("\u2212", "-") for end in found.groups())
    decimals = min(len(end.partition(".")[2]) for end in (low, high))
    return Shown(float(low), float(high), (0.5 + 1e-6) * 10**-decimals)


# --- surfaces: each gives the intervals that it shows, and its texts ---


def on_the_strip(question: Question, answer: Answer) -> Iterator[Shown | str | None]:
    shown = {"question": question.name, "of": ["m"]}
    (point,) = points(
        shown, {question.name: {"m": {PUBLISHED: answer}}}, {question.name: question}, {}
    )
    yield exact(point.low, point.high)
    claim = Central(**central_claim("p2.x") | {"points": [point], "decimals": 9})
    (row,) = picture(claim).rows
    yield exact(row.low, row.high)
    for text in (row.number, deciding_text(claim)):
        yield in_text(text)
        yield text


def beside_small_models(question: Question, answer: Answer) -> Iterator[Shown | str | None]:
    small = SmallAnswer(answer, (answer.value,), 1)
    _, low, high, *_ = small.numbers
    yield exact(low, high)
    row = SmallRow(question, [small])
    (cell,), ((_, told),) = row.cells, row.pictures
    for text in (cell, told):
        yield in_text(text)
        yield text


def on_an_own_page(question: Question, answer: Answer) -> Iterator[Shown | str | None]:
    asked = replace(model_answers(answer, {"spearman": answer}), question=question)
    shown = own.describe(asked, {})
    (_, _, other), *_ = shown.others
    (row,) = own.row_of(asked).rows
    yield exact(row.low, row.high)
    for number in (own.value_and_interval(answer), shown.number, other):
        yield in_text(" ".join(number), "[{}]")
        yield " ".join(number)
    file = unescape(own.picture_file(asked))
    yield in_text(file, "[{}]")
    yield file


def in_tables_of_an_own_page(question: Question, answer: Answer) -> Iterator[Shown | str | None]:
    asked = replace(model_answers(answer, {"spearman": answer}), question=question)
    table = own.answers_table([asked])
    for record in (*table.records, *own.claims_table([asked]).records):
        yield exact(record["low"], record["high"])  # type: ignore[arg-type]
    (texts,) = table.texts
    _, _, _, low, high, *_ = texts
    yield in_text(f"({low} to {high})")
    ((_, cell),) = own.claims_by_model({"m": [asked]}).rows
    yield in_text(str(cell), "[{}]")
    yield str(cell)
    cells = unescape(own.answers_as_html([asked], {}))
    yield in_text(cells, "[{}]")
    yield cells


SURFACES = [on_the_strip, beside_small_models, on_an_own_page, in_tables_of_an_own_page]
Surface = Callable[[Question, Answer], Iterator[Shown | str | None]]
each_surface = pytest.mark.parametrize("surface", SURFACES)


def require_interval(interval: Shown, question: Question, answer: Answer) -> None:
    """An interval lies in the range where the word is yes, and nowhere else."""
    assert interval.lies_in(question, rounded=1) or not answer.yes
    assert not interval.lies_in(question, rounded=-1) or answer.yes


def require_agreement(surface: Surface, question: Question, answer: Answer) -> None:
    """Whether an interval is shown must not differ within a surface, nor what it says."""
    parts = [*surface(question, answer)]
    intervals = [part for part in parts if not isinstance(part, str)]
    assert len({interval is None for interval in intervals}) == 1
    for interval in filter(None, intervals):
        require_interval(interval, question, answer)
    if intervals[0] is None and (answer.yes or answer.no):
        assert all(P.search(part) for part in parts if isinstance(part, str))


# --- recorded answers ---


@pytest.fixture(scope="module")
def recorded(works: Any, root: Any) -> list[tuple[Question, Answer]]:
    """Every answer of print, and of the small models."""
    printed = statistics_of(works).answers
    measured = [
        read_rows(read_json(path)["rows"], "")
        for path in sorted((root / FOLDER).glob("*/sensitivity.json"))
    ]
    by_choice = [(name, each) for name, models in printed.items() for each in models.values()]
    by_choice += [(name, each) for rows in measured for name, each in rows.items()]
    return [(QUESTIONS[name], answer) for name, each in by_choice for answer in each.values()]


@each_surface
def test_every_recorded_answer_stands_beside_what_gave_it(surface: Surface, recorded: Any) -> None:
    assert len(recorded) > 700
    assert sum(answer.narrow is not None for _, answer in recorded) > 25
    for question, answer in recorded:
        require_agreement(surface, question, answer)


# --- made answers ---

shares = st.floats(0.5, 1.0)


@st.composite
def made(draw: Any) -> tuple[Question, Answer]:
    """An answer to some question, near an end of its range: by the interval of one level or of two,
    by a p beside it or alone, or by nothing.
    """
    question = QUESTIONS[draw(st.sampled_from(sorted(QUESTIONS)))]
    ends = [end for end in (question.above, question.below) if math.isfinite(end)]
    width = abs(ends[0] - ends[-1]) or 0.5
    half = width * draw(st.floats(0.02, 0.6))
    value = draw(st.sampled_from(ends)) + half * draw(st.floats(-1.5, 1.5))
    p = draw(st.none() | st.floats(0.001, 0.9))
    if draw(st.integers(0, 3)) == 0:
        estimate = replace(without_interval(value, 99, "pairs"), p=p)
    else:
        low, high = value - half * draw(shares), value + half * draw(shares)
        inner = draw(st.none() | st.floats(0.1, 0.9))
        narrow = inner and tuple(value + inner * (end - value) for end in (low, high))
        estimate = Estimate(value, low, high, 99, "pairs", p, narrow=narrow)
    answer = question.answer(estimate)
    # what is significantly on the side of the denial is denied, wherever else it lies
    assume(question.against is None or not answer.no)
    return question, answer


@each_surface
@settings(max_examples=100)
@given(made())
def test_every_made_answer_stands_beside_what_gave_it(surface: Surface, one: Any) -> None:
    require_agreement(surface, *one)


# --- titles of figures ---

# What stands in the titles: by question the text around the interval.
TITLES = {
    "depth_gain": {
        "depth_gain": r"gain is \S+ \({}\)",
        "depth_gain_of_survey": r"sizes, \S+ \({}\)",
    },
    "lab_heritage": {"heritage": r"p = \S+ \({} as"},
    "spectral_norms": {"spectral_predicts": r"correlation is \S+ \({}\)"},
    "critical_layer": {"lstar": r"difference {}\)"},
}
STEPS = {"heritage": 0.04, "lstar": 20}  # of a p, and of percent; 0.4 elsewhere, of an r


def yes_by_the_narrow_interval(name: str) -> Answer:
    """An answer that the 95% interval would leave open."""
    question, step = QUESTIONS[name], STEPS.get(name, 0.4)
    is_above = math.isfinite(question.above)
    value = question.above + 0.7 * step if is_above else question.below - 0.7 * step
    ends, narrow = ((value - half, value + half) for half in (step, 0.5 * step))
    answer = question.answer(Estimate(value, *ends, 99, "models", narrow=narrow))
    assert answer.yes
    return answer


@pytest.mark.parametrize("is_made", [False, True])
@pytest.mark.parametrize("figure", TITLES)
def test_a_title_has_the_interval_that_decides(figure: str, is_made: bool, works: Any) -> None:
    documents = {analysis: dict(work.documents) for analysis, work in works.items()}
    answers = {
        name: yes_by_the_narrow_interval(name)
        if is_made
        else statistics_of(works).answers[name][OVER_MODELS][PUBLISHED]
        for name in TITLES[figure]
    }
    for name, answer in answers.items():
        asked = {"models": {OVER_MODELS: {PUBLISHED: answer.record()}}}
        documents["questions"][name] = asked
    title = draw(figure, Numbers("published", documents, {})).title
    for name, around in TITLES[figure].items():
        found = re.search(around.format(ENDS.pattern), title)
        assert found is not None, title
        interval = in_text(f"({found[1]} to {found[2]})")
        assert interval is not None
        require_interval(interval, QUESTIONS[name], answers[name])
