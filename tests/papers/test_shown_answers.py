"""What stands beside a word is what gave it, on every surface that shows an answer.

The interval lies in the question's range where the word is yes, and nowhere else: of every answer
that was recorded, and of made ones, among them those of a family of tests, whose interval is wider
than that at 95%, and those that show no effect, by a narrower one. Where there is no interval a yes
or no has its p.
"""

import csv
import io
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html import unescape
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claim_records import made_central
from layerwise.engine.answer_words import NO, UNDECIDED, YES
from layerwise.engine.answers import Answer, read_answer_rows, read_answers
from layerwise.engine.central import points
from layerwise.engine.published import DECIDES, OVER_MODELS
from layerwise.engine.question import DrawnNumbers, Question
from layerwise.files import read_json
from layerwise.papers.across.figures.drawing import draw
from layerwise.papers.across.questions import QUESTIONS
from layerwise.present.figures.numbers import Numbers
from layerwise.present.small_models import FOLDER, SmallAnswer, SmallModel, SmallRow, strip_row
from layerwise.present.strip import deciding_text, picture
from layerwise.reader.page import answers as own
from layerwise.statistics.estimates import Estimate, two_sided_quantile, without_interval
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
    entry = {"shows": [{"question": question.name, "of": ["m"]}]}
    answers = {question.name: {"m": {DECIDES: answer}}}
    (point,) = points(entry, answers, {question.name: question}, {})
    yield exact(point.low, point.high)
    claim = replace(made_central("p2.x"), points=[point], decimals=9)
    (row,) = picture(claim).rows
    drawn = row.thick if row.thin is None else row.thin
    yield exact(drawn.low, drawn.high)
    for text in (row.number, deciding_text(claim)):
        yield in_text(text)
        yield text


def beside_small_models(question: Question, answer: Answer) -> Iterator[Shown | str | None]:
    small = SmallAnswer(answer, DrawnNumbers(answer.value, (answer.value,)))
    _, low, high, *_ = small.numbers
    yield exact(low, high)
    row = SmallRow(question, [small])
    model = SmallModel("m", {question.name: small}, {}, answer.value)
    drawn = strip_row(question, model, small)
    yield exact(drawn.thick.low, drawn.thick.high)
    for text in (*row.cells, drawn.number):
        yield in_text(text)
        yield text


def on_an_own_page(question: Question, answer: Answer) -> Iterator[Shown | str | None]:
    asked = replace(model_answers(answer, {"spearman": answer}), question=question)
    shown = own.describe(asked, {})
    (_, _, other), *_ = shown.others
    (row,) = own.row_of(asked).rows
    yield exact(row.thick.low, row.thick.high)
    for number in (own.value_and_interval(answer), shown.number, other):
        yield in_text(" ".join(number), "[{}]")
        yield " ".join(number)
    file = unescape(own.picture_file(asked))
    yield in_text(file, "[{}]")
    yield file


def in_tables_of_an_own_page(question: Question, answer: Answer) -> Iterator[Shown | str | None]:
    asked = replace(model_answers(answer, {"spearman": answer}), question=question)
    table = own.answers_table([asked], "")
    for record in (*table.records, *own.claims_table([asked]).records):
        yield exact(record["low"], record["high"])  # type: ignore[arg-type]
    (texts,) = table.texts
    _, _, _, low, high, *_ = texts
    yield in_text(f"({low} to {high})")
    ((_, cell),) = own.claims_by_model({"m": [asked]}).rows
    yield in_text(str(cell), "[{}]")
    yield str(cell)
    cells = unescape(own.answers_as_html([asked], {}, ""))
    yield in_text(cells, "[{}]")
    yield cells


def in_the_file_for_programs(question: Question, answer: Answer) -> Iterator[Shown | str | None]:
    asked = replace(model_answers(answer, {"spearman": answer}), question=question)
    rows = [*csv.DictReader(io.StringIO(own.answers_csv([asked])))]
    assert [row["choice"] for row in rows] == ["", "spearman"]
    for row in rows:
        assert (row["word"], float(row["value"])) == (answer.word, answer.value)
        assert (int(row["n"]), row["unit"]) == (answer.n, answer.unit)
        yield exact(*(float(row[end]) if row[end] else None for end in ("low", "high")))


SURFACES = [
    on_the_strip,
    beside_small_models,
    on_an_own_page,
    in_tables_of_an_own_page,
    in_the_file_for_programs,
]
Surface = Callable[[Question, Answer], Iterator[Shown | str | None]]
each_surface = pytest.mark.parametrize("surface", SURFACES)


def require_interval(interval: Shown, question: Question, answer: Answer) -> None:
    """An interval lies in the range where the word is yes, and nowhere else."""
    assert interval.lies_in(question, rounded=1) or not answer.yes
    decides = answer.word in (YES, NO, UNDECIDED)  # and not open by the number, or kind, of units
    assert not interval.lies_in(question, rounded=-1) or answer.yes or not decides


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
    printed = read_answers({"questions": works["questions"].documents})
    measured = [
        read_answer_rows(read_json(path)["rows"], "")
        for path in sorted((root / FOLDER).glob("*/sensitivity.json"))
    ]
    by_reading = [(name, each) for name, models in printed.items() for each in models.values()]
    by_reading += [(name, each) for rows in measured for name, each in rows.items()]
    return [(QUESTIONS[name], answer) for name, each in by_reading for answer in each.values()]


@each_surface
def test_every_recorded_answer_stands_beside_what_gave_it(surface: Surface, recorded: Any) -> None:
    assert len(recorded) > 400
    assert sum(answer.deciding != answer.ends for _, answer in recorded) > 25
    for question, answer in recorded:
        require_agreement(surface, question, answer)


# --- made answers ---


@st.composite
def made(draw: Any) -> tuple[Question, Answer]:
    """An answer to some question, near an end of its range: by an interval, by a p beside it or
    alone, or by nothing.
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
        estimate = at_any_level(value, half, p)
    return question, question.answer(estimate)


def at_any_level(value: float, half: float, p: float | None = None) -> Estimate:
    """A number with a normal interval, `half` wide on either side at 95%."""

    def ends(level: float) -> tuple[float, float]:
        wide = half * two_sided_quantile(level) / two_sided_quantile()
        return value - wide, value + wide

    return Estimate(value, *ends(0.95), 99, "pairs", p, at_level=ends)


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
    "lab_heritage": {"heritage": r"differ by \S+ \({}\)"},
    "spectral_norms": {"spectral_predicts": r"correlation is \S+ \({}\)"},
    "critical_layer": {"lstar": r"difference {}\)"},
}
STEPS = {"lstar": 20}  # percent of the depth; 0.4 of an r, or a share, elsewhere


def clear_at_95(name: str) -> Answer:
    """An answer whose 95% interval lies in the range, and that of its family does not."""
    question, step = QUESTIONS[name], STEPS.get(name, 0.4)
    border = question.above if math.isfinite(question.above) else question.below
    inwards = 1 if border == question.above else -1
    half = 0.95 * step  # at 98.3%, of three tests, 1.16 steps
    answer = question.answer(at_any_level(border + inwards * step, half))
    assert answer.yes == (question.family.yes == 1)
    return answer


@pytest.mark.parametrize("is_made", [False, True])
@pytest.mark.parametrize("figure", TITLES)
def test_a_title_has_the_interval_that_decides(figure: str, is_made: bool, works: Any) -> None:
    documents = {analysis: dict(work.documents) for analysis, work in works.items()}
    answers = {
        name: clear_at_95(name) if is_made else read_answers(documents)[name][OVER_MODELS][DECIDES]
        for name in TITLES[figure]
    }
    for name, answer in answers.items():
        asked = {"models": {OVER_MODELS: {DECIDES: answer.record()}}}
        documents["questions"][name] = asked
    title = draw(figure, Numbers("published", documents, {})).title
    for name, around in TITLES[figure].items():
        found = re.search(around.format(ENDS.pattern), title)
        assert found is not None, title
        interval = in_text(f"({found[1]} to {found[2]})")
        assert interval is not None
        require_interval(interval, QUESTIONS[name], answers[name])
