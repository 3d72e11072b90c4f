"""Small trained models measured on a CPU: what they answer, beside the papers' models.

`examples/measured` holds a folder of result files for each, as `layerwise analyze` wrote them, with
draws of random weights. They are no verdict on the papers' models.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from layerwise.engine.answers import Answer, read_answer_rows
from layerwise.engine.measured import CONTROL
from layerwise.engine.published import DECIDES, PUBLISHED
from layerwise.engine.question import DrawnNumbers, Question, find_drawn
from layerwise.engine.seen import equal_p
from layerwise.engine.words import in_words
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject, read_json
from layerwise.present.range_picture import RangePicture, RangeRow, Taken
from layerwise.present.strip_picture import row_svg
from layerwise.present.tables import interval_decimals, significant_decimals
from layerwise.present.values import NOTHING, rounded, with_signs

FOLDER = Path("examples/measured")
IN_STRIP = ("early", "late", "numeric", "damping")  # the questions that are drawn
AGAIN = "measure the small models again, as examples/measured says"
LATE, ALL_PAIRS = "late", "all_pairs"  # the question that the paragraph names, a reading of it
ALPHA = 0.05  # a p that one draw in twenty reaches


@dataclass(frozen=True)
class SmallAnswer:
    """An answer of a small model.

    Attributes:
        drawn: the number in draws of random weights.
    """

    answer: Answer
    drawn: DrawnNumbers

    @property
    def value(self) -> float:
        """The number."""
        return self.answer.value

    @property
    def word(self) -> str:
        """The word that answers."""
        return self.answer.word

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval that decides; None where there is none."""
        deciding = self.answer.deciding
        return None if deciding is None else (deciding.low, deciding.high)

    @property
    def _places(self) -> int:
        """Decimals that show two digits of the interval, or three of the number."""
        places = None if self.ends is None else interval_decimals(*self.ends)
        return significant_decimals(self.value, 3) if places is None else places

    @property
    def numbers(self) -> tuple[float, float | None, float | None, str, str]:
        """The number, its interval, the answer, and the number in each draw of random weights."""
        return (
            self.value,
            *(self.ends or (None, None)),
            self.word,
            ", ".join(map(str, self.drawn.numbers)),
        )

    def spell(self, value: float) -> str:
        """Return such a number with as many decimals."""
        return rounded(value, self._places)

    @property
    def number(self) -> str:
        """The number with the interval that decides, or the p."""
        return self.with_interval(sign=False)

    def with_interval(self, *, sign: bool) -> str:
        """Return the number with the interval that decides, or the p."""
        number = rounded(self.value, self._places, sign=sign)
        if self.ends is None:
            return number if self.answer.p is None else f"{number} (p {equal_p(self.answer.p)})"
        low, high = (rounded(end, self._places, sign=sign) for end in self.ends)
        return f"{number} ({low} to {high})"

    @property
    def random(self) -> str:
        """The range of the number in random weights, and how rare the model's is among them."""
        ends = min(self.drawn.numbers), max(self.drawn.numbers)
        low, high = (rounded(end, self._places) for end in ends)
        p = "" if self.drawn.p is None else f", p {equal_p(self.drawn.p)}"
        return f"{low} to {high}{p}"

    @property
    def text(self) -> str:
        """Number, answer, and what random weights give."""
        return f"{self.number}: {self.word}; random weights {self.random}"


@dataclass(frozen=True)
class SmallModel:
    """The answers of a small trained model.

    Attributes:
        name: of the checkpoint.
        answers: by the name of the question.
        published: the same as the papers take them.
        late_over_all: the mean r of the late layers over all pairs.
    """

    name: str
    answers: Mapping[str, SmallAnswer]
    published: Mapping[str, Answer]
    late_over_all: float

    @property
    def p_of_draws(self) -> list[float]:
        """How rare its numbers are among those of random weights, where draws can tell."""
        ranked = (answer.drawn.p for answer in self.answers.values())
        return [p for p in ranked if p is not None]

    @property
    def short(self) -> str:
        """The name as a column's heading has it."""
        return in_words(self.name)


@dataclass(frozen=True)
class SmallRow:
    """A question, and each small model's answer; None where a model was not asked."""

    question: Question
    answers: Sequence[SmallAnswer | None]

    @property
    def cells(self) -> list[str]:
        """A text for each model."""
        return [NOTHING if answer is None else answer.text for answer in self.answers]


@dataclass(frozen=True)
class SmallModels:
    """The small models beside each other: `headings` over the `cells` of every row."""

    models: Sequence[SmallModel]
    rows: Sequence[SmallRow]

    @property
    def headings(self) -> list[str]:
        """The models' names."""
        return [model.short for model in self.models]

    @property
    def strip(self) -> list[tuple[Question, str, Markup]]:
        """The questions `IN_STRIP`, each with how many answer what, and the estimates drawn."""
        drawn = []
        for row in self.rows:
            if row.question.name in IN_STRIP:
                words = Counter(answer.word for answer in row.answers if answer is not None)
                counts = ", ".join(f"{n} {word}" for word, n in words.items())
                drawn.append((row.question, counts, Markup(self._picture(row))))
        return drawn

    def _picture(self, row: SmallRow) -> str:
        """Return the estimates of a question, one below the other, as those of a claim."""
        name, rows, told = row.question.name, [], []
        for model, answer in zip(self.models, row.answers, strict=True):
            if answer is not None:
                rows.append(strip_row(row.question, model, answer))
                told.append(f"{model.short} {answer.number}: {answer.word}")
        return row_svg(RangePicture(rows), f"small-{name}", "; ".join(told))

    @property
    def about(self) -> str:
        """What they are, and what they are not."""
        return (
            f"{' and '.join(model.short for model in self.models)} were measured on a CPU, from "
            "weights in 4 bits. They are no verdict on the papers' models, of which most are far "
            "larger; they show what the method says of trained weights."
        )

    @property
    def of_draws(self) -> str:
        """How many of their numbers lie beyond those of random weights."""
        rarest = "; ".join(
            f"{len(rare)} of {len(ranked)} questions for {model.short}"
            for model in self.models
            for ranked in [model.p_of_draws]
            for rare in [[p for p in ranked if p <= ALPHA]]
        )
        return (
            "Beside each stand draws of random weights. The trained number lies farther out than "
            f"all of them (p 0.05) in {rarest}; chance gives that in one question of twenty, so "
            "that none is told as a finding."
        )

    @property
    def text(self) -> str:
        """The paragraph on what they say, for those who do not see it drawn."""
        late = "; ".join(
            f"{answer.number} within the categories and {answer.spell(model.late_over_all)} over "
            f"all pairs in {model.short}"
            for model in self.models
            for answer in [model.answers[LATE]]
        )
        return (
            f"{self.about} Their pairs show what print lacks: the mean correlation of asymmetry "
            f"and preference over the late layers is {late}. {self.of_draws}"
        )


def strip_row(question: Question, model: SmallModel, answer: SmallAnswer) -> RangeRow:
    """Return a model's estimate: thick as the papers take it, thin as it is decided."""
    low, high = answer.ends or (None, None)
    thick = decides = Taken(answer.value, answer.word, low, high)
    if (published := model.published.get(question.name)) and published.deciding:
        ends = published.deciding
        thick = Taken(published.value, published.word, ends.low, ends.high)
    return RangeRow(
        label=model.short,
        number=with_signs(answer.with_interval(sign=0 in (question.above, question.below))),
        word=answer.word,
        thick=thick,
        above=question.above,
        below=question.below,
        thin=None if thick == decides else decides,
    )


def read_small_models(folder: Path, questions: Mapping[str, Question]) -> SmallModels:
    """Return the small models that were measured, and a row for every question they answer.

    Arguments:
        folder: with a folder of result files for each, `FOLDER` of the repository.
        questions: by name, in the papers' order.

    Raises:
        LayerwiseError: if no model is there.
    """
    models = [_read_model(path.parent) for path in sorted(folder.glob("*/layers.json"))]
    if not models:
        raise LayerwiseError(
            f"{folder}: must hold a folder of result files for each small model, found none; "
            "measure them as its README says"
        )
    rows = [
        SmallRow(question, [model.answers.get(name) for model in models])
        for name, question in questions.items()
        if any(name in model.answers for model in models)
    ]
    return SmallModels(models, rows)


def _read_model(folder: Path) -> SmallModel:
    answered = read_answer_rows(read_json(folder / "sensitivity.json")["rows"], AGAIN)
    control: JsonObject = read_json(folder / f"{CONTROL}.json")
    answers = {
        question: SmallAnswer(answer, drawn)
        for question, by_reading in answered.items()
        if (answer := by_reading.get(DECIDES)) is not None
        and (drawn := find_drawn(control, question, answer.value)) is not None
    }
    published = {
        question: by_reading[PUBLISHED]
        for question, by_reading in answered.items()
        if PUBLISHED in by_reading
    }
    over_all = answered[LATE][ALL_PAIRS].value
    return SmallModel(read_json(folder / "layers.json")["model"], answers, published, over_all)
