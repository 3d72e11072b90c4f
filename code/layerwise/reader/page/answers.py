"""The answers of readers' models as the page and the tables show them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from layerwise.engine.answer_words import NO, OPEN_WORDS, YES
from layerwise.engine.answers import Answer
from layerwise.engine.published import DECIDES
from layerwise.engine.question import (
    DrawnNumbers,
    ModelAnswers,
    Question,
    Results,
    find_drawn,
    find_replicated,
)
from layerwise.engine.seen import equal_p
from layerwise.engine.words import in_words
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.across.together import PAPERS
from layerwise.present.csv_text import Value, csv_text
from layerwise.present.error_rates import error_rates
from layerwise.present.figures.picture import data_address
from layerwise.present.html import prose
from layerwise.present.range_picture import (
    RangePicture,
    RangeRow,
    Taken,
    draw_range,
    range_svg,
)
from layerwise.present.strip import FAILS, HOLDS, OPEN, SYMBOLS
from layerwise.present.strip_picture import svg_file
from layerwise.present.tables import Table, interval_decimals, significant
from layerwise.present.values import NOTHING, rounded, with_signs
from layerwise.reader.files import CONTROL, REPLICATES
from layerwise.reader.page.figures import display_name

OF_CSV = ("question", "choice", "value", "low", "high", "n", "unit", "word", "claim")
LISTED = 4  # models named beside a claim; more are folded
PLOT, ENDS = 200, 20  # pixels: the width of a claim's drawing, and what a file has beside it
# The marks of the papers' page whose colours mean the same.
MARKS = {YES: HOLDS, NO: FAILS, **dict.fromkeys(OPEN_WORDS, OPEN)}


@dataclass(frozen=True)
class ShownAnswer:
    """An answer as pages and tables show it.

    Attributes:
        printed: the papers' models with their numbers, the smallest first.
        number: the value, and what decides: the interval or the p.
        units: over how many units it is; `where`: what it is about more closely.
        mark, symbol: of the answer, as the papers' page has them.
        others: under other choices, (choice, word, number); `same`: whether these agree.
        strip: the drawing.
        noise: how far rounding moves it, replicates with the same word, and all of them.
        random: what random weights give; empty without draws.
        error_rate: how often such an answer is wrong.
    """

    question: Question
    asked: Answer
    printed: Sequence[str]
    number: tuple[str, str]
    units: str
    where: str
    mark: str
    symbol: str
    others: Sequence[tuple[str, str, tuple[str, str]]]
    same: str
    strip: Markup
    noise: tuple[str, int, int] | None
    random: str
    error_rate: str


@dataclass(frozen=True)
class ShownByModel:
    """A question with the answer of each model; None where a model was not asked."""

    question: Question
    answers: Mapping[str, ShownAnswer | None]


def answers_by_question(models: Mapping[str, Sequence[ModelAnswers]]) -> list[ShownByModel]:
    """Return a row per question that some model was asked."""
    by_model = {
        model: {answer.question.name: describe(answer, {}) for answer in answers}
        for model, answers in models.items()
    }
    return [
        ShownByModel(question, {model: answers.get(name) for model, answers in by_model.items()})
        for name, question in QUESTIONS.items()
        if any(name in answers for answers in by_model.values())
    ]


def claims_by_model(models: Mapping[str, Sequence[ModelAnswers]]) -> Table:
    """Return the same as a table: outcome, value and interval."""

    def cell(answer: ShownAnswer | None) -> str | None:
        if answer is None:
            return None
        text = f"{answer.asked.word}: {' '.join(answer.number)}"
        return f"{text} ({answer.where})" if answer.where else text

    rows: list[list[Value]] = [
        [f"{row.question.says} ({row.question.number})", *map(cell, row.answers.values())]
        for row in answers_by_question(models)
    ]
    caption = "The papers' claims on each model: outcome, number and the interval that decides."
    headings = {"the papers' claim": None, **dict.fromkeys(models)}
    return Table("claims-by-model", caption, headings, rows)


def describe(answer: ModelAnswers, beside: Results) -> ShownAnswer:
    """Return an answer as it is shown.

    Arguments:
        beside: the documents of replicates and of random weights.
    """
    name, asked = answer.question.name, answer.asked
    noise = find_replicated(beside.get(REPLICATES, {}), name)
    drawn = find_drawn(beside.get(CONTROL, {}), name, asked.value)
    places = decimals(asked)
    in_order = sorted(answer.printed.items(), key=lambda item: item[1].value)
    return ShownAnswer(
        question=answer.question,
        asked=asked,
        printed=[
            f"{display_name(model)} {spell_number(printed.value, places)}"
            for model, printed in in_order
        ],
        number=value_and_interval(asked),
        units=units(answer),
        where=in_words(asked.where),
        mark=MARKS[asked.word],
        symbol=SYMBOLS[MARKS[asked.word]],
        others=[
            (_reading_in_words(reading, other), other.word, value_and_interval(other))
            for reading, other in answer.others.items()
        ],
        same=describe_agreement(answer.n_same, len(answer.words)),
        strip=picture(answer, drawn.numbers if drawn else ()),
        noise=None if noise is None else (significant(noise.band, 2), noise.same, noise.n),
        random="" if drawn is None else describe_draws(drawn, places),
        error_rate=error_rates([name]),
    )


def describe_draws(drawn: DrawnNumbers, places: int | None) -> str:
    """Return the numbers of random weights, and how rare the model's own is among them."""
    ends = [spell_number(end, places) for end in (min(drawn.numbers), max(drawn.numbers))]
    numbers = ends[0] if ends[0] == ends[1] else " to ".join(ends)
    n = len(drawn.numbers)
    p = f"p {equal_p(drawn.p)}" if drawn.p is not None else "too few draws for a p"
    return f"random weights: {numbers}; {p} ({n} {'draw' if n == 1 else 'draws'})"


def describe_agreement(same: int, n: int) -> str:
    """Return under how many of n other readings the answer is the same, in words."""
    if not n:
        return "the same number"
    if same == n:
        return "the same answer" if n == 1 else f"the same answer under all {n}"
    return "another answer" if n == 1 else f"another answer under {n - same} of {n}"


def _reading_in_words(reading: str, answer: Answer) -> str:
    """Return a reading, and where its number stands."""
    words = PAPERS.reading_in_words(reading)
    return f"{words} ({answer.where})" if answer.where else words


def units(answer: ModelAnswers) -> str:
    """Return over how many units the number is: `1 category`, `24 pairs`."""
    n, unit = answer.asked.n, answer.asked.unit
    return f"{n} {singular(unit) if n == 1 else unit}"


def singular(units: str) -> str:
    """Return the word for one of them: `category` for `categories`, `pair` for `pairs`."""
    return f"{units[:-3]}y" if units.endswith("ies") else units.removesuffix("s")


def decimals(answer: Answer) -> int | None:
    """Return the decimals that show two digits of the interval's width; None without interval."""
    ends = answer.deciding
    return None if ends is None else interval_decimals(ends.low, ends.high)


def spell_number(value: float, places: int | None) -> str:
    """Return a number with so many decimals, or with three digits that count."""
    return significant(value, 3) if places is None else rounded(float(value), places)


def value_and_interval(answer: Answer) -> tuple[str, str]:
    """Return the value, and the interval that decides, [low, high]; else its p, or nothing."""
    value = spell_number(answer.value, decimals(answer))
    if ends := interval_ends(answer):
        return value, f"[{', '.join(ends)}]"
    return value, "" if answer.deciding_p is None else f"p {equal_p(answer.deciding_p)}"


def interval_ends(answer: Answer) -> list[str]:
    """Return low and high of the interval that decides; nothing where there is none."""
    ends, places = answer.deciding, decimals(answer)
    return [] if ends is None else [spell_number(end, places) for end in (ends.low, ends.high)]


def ends_or_none(answer: Answer) -> tuple[float | None, float | None]:
    """Return low and high of the interval that decides as numbers."""
    ends = answer.deciding
    return (None, None) if ends is None else (ends.low, ends.high)


def picture(answer: ModelAnswers, drawn: Sequence[float] = ()) -> Markup:
    """Return the row of an answer as a part of a page, which has its style."""
    shown = row_of(answer, drawn)
    return Markup(range_svg(shown, plot=PLOT))


def picture_file(answer: ModelAnswers, drawn: Sequence[float] = ()) -> str:
    """Return the same as an SVG file with its own style, with room for the numbers at both ends."""
    shown = row_of(answer, drawn)
    elements = draw_range(shown, plot=PLOT, left=ENDS)
    about = f"{answer.question.says} {' '.join(value_and_interval(answer.asked))}"
    return svg_file(elements, PLOT + 2 * ENDS, shown.height(), about)


def row_of(answer: ModelAnswers, drawn: Sequence[float] = ()) -> RangePicture:
    """Return the row of an answer: the estimate, its range, the papers' models beside it.

    Arguments:
        drawn: the same number in draws of random weights.
    """
    question, asked = answer.question, answer.asked
    low, high = ends_or_none(asked)
    row = RangeRow(
        label="",
        number="",
        word=asked.word,
        thick=Taken(asked.value, asked.word, low, high),
        above=question.above,
        below=question.below,
    )
    places = decimals(asked)
    printed = {model: theirs.value for model, theirs in answer.printed.items()}
    beside = [
        (value, with_signs(f"{display_name(model)} {spell_number(value, places)}"))
        for model, value in printed.items()
    ]
    draws = [
        (value, with_signs(f"random weights {spell_number(value, places)}")) for value in drawn
    ]
    return RangePicture([row], beside=beside, drawn=draws)


def answers_as_html(answers: Sequence[ModelAnswers], beside: Results, pattern: str) -> str:
    """Return the rows of the page for a notebook: each with its drawing, as an image.

    Arguments:
        beside: the documents of replicates and of random weights.
        pattern: what the model shows, in a sentence.
    """
    rows = []
    for answer in answers:
        shown = describe(answer, beside)
        drawn = find_drawn(beside.get(CONTROL, {}), answer.question.name, answer.asked.value)
        image = data_address(picture_file(answer, drawn.numbers if drawn else ()))
        cells = (
            prose(answer.question.says),
            Markup('<span style="white-space: nowrap"><b>{}</b> {}<br>n = {}</span>').format(
                *map(prose, shown.number), shown.units
            ),
            Markup('<img src="{}" alt="">').format(image),
            f"{shown.symbol} {answer.asked.word}",
            shown.same if shown.others else NOTHING,
        )
        rows.append(Markup("<tr>{}</tr>").format(_cells("td", cells)))
    head = ("question", "this model", "", "answer", "under other readings")
    caption = escape(pattern)
    return Markup("<table><caption>{}</caption><tr>{}</tr>{}</table>").format(
        caption, _cells("th", head), Markup("").join(rows)
    )


def _cells(tag: str, texts: Sequence[str]) -> Markup:
    """Return texts as the cells of a row, to the left as words are read."""
    cell = Markup(f'<{tag} style="text-align: left">{{}}</{tag}>')
    return Markup("").join(cell.format(text) for text in texts)


def answers_in_lines(answers: Sequence[ModelAnswers]) -> Iterator[tuple[str, str, str]]:
    """Yield every question with its answer, and the numbers behind it in a line of a terminal."""
    for answer in answers:
        value, _ = value_and_interval(answer.asked)
        low_high = " to ".join(interval_ends(answer.asked))
        number = f"{value} ({low_high})" if low_high else value
        same = f"; same {answer.n_same} of {len(answer.words)}" if answer.words else ""
        yield answer.question.says, answer.asked.word, f"{number}, {units(answer)}{same}"


def answers_table(answers: Sequence[ModelAnswers], pattern: str) -> Table:
    """Return a row per question: the answer, its number, and whether other readings agree.

    Arguments:
        pattern: what the model shows, in a sentence.
    """
    rows: list[list[Value]] = []
    shown: list[list[str]] = []
    for answer in answers:
        asked, says = answer.asked, answer.question.says
        counts = asked.n, answer.n_same, len(answer.words)
        rows.append([says, asked.word, asked.value, *ends_or_none(asked), *counts])
        value, _ = value_and_interval(asked)
        numbers = value, *(interval_ends(asked) or [NOTHING, NOTHING]), *map(str, counts)
        shown.append([says, asked.word, *numbers])
    columns = ("question", "answer", "value", "low", "high", "n", "same", "of")
    note = (
        "The number that the question is about, with the interval that decides, and over what it "
        "is taken. Same: of the other ways to compute it, those that give the same answer; leaving "
        "units out is one."
    )
    return Table("answers", pattern, dict.fromkeys(columns), rows, [note], shown)


def answers_csv(answers: Sequence[ModelAnswers]) -> str:
    """Return every answer as CSV, a row a question, and one for each other choice of method.

    Low and high are the interval that decides. Question and choice are keys, as in
    sensitivity.json; without a choice it is the answer.
    """
    rows: list[list[Value]] = []
    for answer in answers:
        question = answer.question
        for choice, other in {"": answer.asked, **answer.others}.items():
            numbers = other.value, *ends_or_none(other), other.n, other.unit
            rows.append([question.name, choice, *numbers, other.word, question.says])
    return csv_text(OF_CSV, rows)


def claims_table(answers: Sequence[ModelAnswers]) -> Table:
    """Return every claim with what decides it, by other readings, and on the papers' models."""
    rows: list[list[Value]] = []
    for answer in answers:
        says = answer.question.says
        for reading, other in {DECIDES: answer.asked, **answer.others}.items():
            how = PAPERS.reading_in_words(reading)
            rows.append([says, how, other.value, *ends_or_none(other), other.n, other.word])
        for model, theirs in answer.printed.items():
            rows.append([says, f"papers: {display_name(model)}", theirs.value, *[None] * 4])
    columns = ("claim", "reading", "value", "low", "high", "n", "outcome")
    caption = (
        "The papers' claims: the number a claim is about, the interval that decides, what follows."
    )
    return Table("claims", caption, dict.fromkeys(columns), rows)
