"""A reader's own models as one HTML page, LaTeX tables, figures and CSV files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from markupsafe import Markup

from layerwise.engine.answer_words import MEANINGS, NEEDS_WEIGHTS
from layerwise.engine.measured import group_by_reason
from layerwise.engine.question import ModelAnswers, Results
from layerwise.files import write_text
from layerwise.present.figures.picture import Picture
from layerwise.present.html import TEMPLATES, HeldFiles, fill, inlined, policy
from layerwise.present.tables import Table
from layerwise.reader.files import ANSWERS, CONTROL
from layerwise.reader.page import HELD, HTML, SCRIPTS, STYLES
from layerwise.reader.page.answers import (
    LISTED,
    answers_by_question,
    answers_csv,
    claims_by_model,
    claims_table,
    describe,
)
from layerwise.reader.page.sections import Section
from layerwise.reader.page.statements import PairNumbers, PairView

# Of the words that answer; that it needs the weights is said of print alone.
WORDS = {word: meaning for word, meaning in MEANINGS.items() if word != NEEDS_WEIGHTS}


@dataclass(frozen=True)
class Own:
    """All that the page and the files beside it say.

    Attributes:
        settings: what was measured and how, as (name, value).
        absent: {analysis: why it is not there}.
        beside: the documents of replicates and of random weights.
        answers_by_model: of several models, the answers of each.
        further: tables that are CSV files only.
        head: what the page says first of the model, a sentence each.
        by_pair: the view by statement; None of several models.
        pair_numbers: what the scatter of the pairs draws; None also without preferences.
    """

    display: str
    settings: Sequence[tuple[str, str]]
    cautions: Sequence[str]
    absent: Mapping[str, str]
    sections: Mapping[Section, Sequence[Table]]
    answers: Sequence[ModelAnswers] = ()
    beside: Results = field(default_factory=dict)
    answers_by_model: Mapping[str, Sequence[ModelAnswers]] = field(default_factory=dict)
    further: Sequence[Table] = field(default=())
    head: Sequence[str] = ()
    by_pair: PairView | None = None
    pair_numbers: PairNumbers | None = None
    random_weights: bool = False
    lead: str = (
        "The analyses of the three papers on the dynamics of transformers, measured on one model. "
        "Grey: the papers' models, from the numbers published with them."
    )

    @property
    def pattern(self) -> str:
        """What the model shows, in one sentence."""
        return self.head[0] if self.head else ""

    @property
    def matrix(self) -> Table | None:
        """The claims by model, where there are several."""
        by_model = self.answers_by_model
        return claims_by_model(by_model) if any(by_model.values()) else None

    @property
    def left_out(self) -> dict[str, str]:
        """The files that are not there, by the reason."""
        return {
            reason: ", ".join(f"{name}.json" for name in names)
            for reason, names in group_by_reason(self.absent).items()
        }

    @property
    def tables(self) -> list[Table]:
        """The tables of the page, and those beside it."""
        of_page = [table for tables in self.sections.values() for table in tables]
        claims = [claims_table(self.answers)] if self.answers else []
        claims += [self.matrix] if self.matrix else []
        return [*claims, *of_page, *self.further]


def write(own: Own, figures: Iterable[Picture], folder: Path, part: Path, index: str) -> None:
    """Write the page, its figures and its tables into `folder`.

    Arguments:
        part: the folder of figures and tables below it, itself perhaps.
        index: name of the page's file.

    Raises:
        LayerwiseError: for a broken template.
    """
    pictures = []
    for figure in figures:
        if figure.svg:
            figure.save(folder / part / "figures")
            pictures.append(figure)
    if own.answers and not own.answers_by_model:
        write_text(folder / ANSWERS, answers_csv(own.answers))
    for table in own.tables:
        write_text(folder / part / "tables" / f"{table.name}.csv", table.csv)
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes().decode("utf-8")
        for path in folder.rglob("*")
        if path.suffix in HELD
    }
    write_text(folder / index, html(own, pictures, part.as_posix(), files))


def html(
    own: Own,
    pictures: Sequence[Picture],
    part: str = ".",
    files: Mapping[str, str] = MappingProxyType({}),
    templates: Path = TEMPLATES,
) -> str:
    """Return the page: one text that opens from disk and asks for nothing.

    Arguments:
        part: the folder of figures and tables, seen from the page.
        files: what the page offers to save, by the path beside it; it holds them itself.

    Raises:
        LayerwiseError: for a broken template, or a figure that is not a whole SVG.
    """
    css = "\n".join(inlined(templates / name) for name in STYLES)
    script = "\n".join(inlined(templates / name) for name in SCRIPTS)
    context = {
        "own": own,
        "answers": [describe(answer, own.beside) for answer in own.answers],
        "listed": LISTED,
        "by_model": answers_by_question(own.answers_by_model),
        "drawn": bool(own.beside.get(CONTROL)),
        "meanings": WORDS,
        "pictures": pictures,
        "at": "" if part == "." else f"{part}/",
        "files": HeldFiles(files),
        "style": Markup(css),
        "script": Markup(script),
        "policy": policy(css, script),
    }
    return fill([templates / "own_model", templates / "page"], HTML, context)
