"""What the Python interface gives of readers' models: documents, tables, figures, a page."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import escape
from rich.console import Group, RenderableType
from rich.text import Text

from layerwise.engine.answer_words import MEANINGS
from layerwise.errors import LayerwiseError, system_in_words
from layerwise.files import JsonObject, together, write_json
from layerwise.papers.across.figures.printing import print_possible
from layerwise.present.figures.numbers import Curves, Numbers
from layerwise.present.html import reveal_all
from layerwise.present.tables import Table
from layerwise.present.terminal import FAINT, OPEN, as_text, grid, line, prose, said, word
from layerwise.reader.files import ACROSS, ANSWERS, FILES, FILES_ACROSS, PART
from layerwise.reader.page import figures
from layerwise.reader.page.answers import answers_as_html, answers_in_lines, answers_table
from layerwise.reader.page.page import Own, write
from layerwise.reader.results_folder import (
    alone,
    check_comparison_folder,
    check_results_folder,
    remove_older,
)
from layerwise.shapes import read_place

if TYPE_CHECKING:  # matplotlib is for who looks at figures
    from layerwise.papers.across.figures.drawing import Drawn

# Where figures and tables are, and the page: of one model, of several.
OF_ONE = Path(), "index.html"
OF_SEVERAL = Path(PART), ACROSS
WIDEST = max(map(len, MEANINGS))  # letters of a word that answers


@dataclass(frozen=True, repr=False)
class Result:
    """What `analyze` found on a model, or `compare` on several; printed, it shows the answers.

    Attributes:
        documents: `{name: document}`, what `save` writes as NAME.json: of one model its analyses;
            of several `scaling`.
        models: `{model: {analysis: document}}`: what the result files of `analyze` hold, with the
            keys of the published ones.
        folder: where the files are; None: nowhere yet.
    """

    models: Mapping[str, Mapping[str, JsonObject]]
    documents: Mapping[str, JsonObject]
    _page: Own
    _beside: Curves
    folder: Path | None = None

    def __repr__(self) -> str:
        return as_text(self)

    def __rich__(self) -> RenderableType:
        """Return the answers, then the warnings; that weights are random is said first."""
        warned = [said(f"Warning: {caution}", OPEN) for caution in self.cautions]
        first = warned[: int(self._page.random_weights)]
        title = Text.assemble(said(self._page.display, "bold"), *(["\n"] if first else []), *first)
        return Group(title, self._answers, *warned[len(first) :])

    @property
    def _answers(self) -> RenderableType:
        """The answers, the words in their colours."""
        table = self.answers
        notes = [prose(said(note, FAINT)) for note in table.notes]
        return Group(prose(said(table.caption, "bold")), self._rows, *notes)

    @property
    def _rows(self) -> RenderableType:
        """The answers: of one model each in two lines, of several a column each."""
        table = self.answers
        if self._is_one:
            return Group(
                *(
                    row
                    for says, answer, numbers in answers_in_lines(self._page.answers)
                    for row in (
                        said(says),
                        Text.assemble(
                            "  ", word(answer, answer.ljust(WIDEST)), "  ", said(numbers)
                        ),
                    )
                )
            )
        rows = grid([*table.columns])
        for question, *cells in table.texts:
            rows.add_row(said(question), *map(word, cells))
        return rows

    @property
    def _is_one(self) -> bool:
        """Whether it is of one model, not of several."""
        return len(self.models) == 1

    @property
    def settings(self) -> dict[str, str]:
        """The settings: model, revision, dtype, pairs, first statement, layers, seed, versions."""
        return dict(self._page.settings)

    @property
    def cautions(self) -> list[str]:
        """The warnings to read before the numbers are believed, a sentence or two each."""
        return list(self._page.cautions)

    @property
    def absent(self) -> dict[str, str]:
        """`{analysis: why it is not there}`."""
        return dict(self._page.absent)

    @property
    def answers(self) -> Table:
        """The papers' questions: a row each with the answer, or of several models a column each."""
        own = self._page
        return own.matrix or answers_table(own.answers, own.pattern)

    @property
    def claims(self) -> Table:
        """The same questions under every choice of method, and the papers' models."""
        return self._table("claims")

    @property
    def categories(self) -> Table:
        """The uniformity, asymmetry (UA) and preference of every category."""
        return self._table("categories")

    @property
    def layers(self) -> Table:
        """The r of asymmetry and preference over the categories, by layer and by pooling."""
        return self._table("layers")

    @property
    def intervals(self) -> Table:
        """The same by layer with its interval."""
        return self._table("intervals")

    @property
    def pairs(self) -> Table:
        """The r of five measures of a pair and its preference, by layer, with intervals."""
        return self._table("pairs")

    @property
    def by_pair(self) -> Table:
        """A row per pair: NLL of both sides, preference, measures at the last layer."""
        return self._table("by-pair")

    def frame(self, name: str) -> Any:
        """Return a table, or `answers`, as a pandas DataFrame: `result.frame("layers")`.

        Raises:
            LayerwiseError: for another name, or where pandas is not installed.
        """
        return self._table(name).to_pandas()

    def _table(self, name: str) -> Table:
        tables = {"answers": self.answers, **self.tables}
        if not isinstance(name, str) or name not in tables:
            raise LayerwiseError(
                f"this result has no table {name!r:.80}, it has {', '.join(tables)}; take one of "
                "these"
            )
        return tables[name]

    @property
    def summary(self) -> str:
        """The text of the command line: the answers, the warnings, where the files are."""
        return as_text(self.said)

    @property
    def said(self) -> RenderableType:
        """The same text for a terminal, by rich."""
        return Group(self, "", *map(line, self._files))

    @property
    def _files(self) -> list[str]:
        """The places of the files, and which there are not."""
        (part, index), out = OF_ONE if self._is_one else OF_SEVERAL, self.folder
        whose = "" if self._is_one else f" of {', '.join(self.models)}"
        files = f"{', '.join(f'{name}.json' for name in self.documents)}{whose}"
        lines = [f"{files}, saved nowhere yet"]
        if out is not None:
            tables, drawn = f"{out / part}/tables", out / part / "figures"
            figures = f"; figures: {drawn}" if drawn.is_dir() else ""
            lines = [
                f"{f'{ANSWERS}, ' if self._is_one and self._page.answers else ''}{files} in {out}",
                f"the page: {out / index}; tables: {tables}{figures}",
            ]
        left_out = self._page.left_out.items()
        return [*lines, *(f"no {files}: {reason}" for reason, files in left_out)]

    @cached_property
    def tables(self) -> dict[str, Table]:
        """Every table of the page, by its name there: `.records`, `.to_pandas()`, `.csv`."""
        return {table.name: table for table in self._page.tables}

    @cached_property
    def figures(self) -> "dict[str, Drawn]":
        """Every figure that the documents allow, by name: `.figure` is matplotlib's."""
        from layerwise.papers.across.figures.drawing import draw_all

        drawn = draw_all(self._numbers, self._figures)
        return {figure.name: figure for figure in drawn if figure.figure is not None}

    @system_in_words()
    def save(self, folder: str | Path) -> "Result":
        """Write the result files; draw the figures, write them, tables and page, all or none.

        Numbers are there whatever becomes of the drawing. A figure whose process ends is left out.

        Returns:
            The same result, with its folder.

        Raises:
            LayerwiseError: if the package is installed without its tables, another process
                writes to the folder, or it has files of the results' names that no earlier run
                wrote.
        """
        place = read_place("save: folder", folder)
        part, index = OF_ONE if self._is_one else OF_SEVERAL
        check = check_results_folder if self._is_one else check_comparison_folder
        check(place)
        with alone(place):
            with self._written_into(place):
                pass  # an earlier page goes: it shows other numbers
            with self._written_into(place) as new:
                drawn = print_possible(self._numbers, self._figures)
                write(self._page, drawn, new, part, index)
        return replace(self, folder=place)

    @contextlib.contextmanager
    def _written_into(self, place: Path) -> Iterator[Path]:
        """Yield a folder with the documents, whose files go into `place` in place of older ones."""
        with together(place, merges=True) as new:
            for name, document in self.documents.items():
                write_json(new / f"{name}.json", document)
            yield new
            written = {path.relative_to(new).as_posix() for path in new.rglob("*")}
        remove_older(place, FILES if self._is_one else FILES_ACROSS, written)

    @property
    def _numbers(self) -> Numbers:
        """The numbers that the figures read."""
        by_pair = {self._page.display: self._page.pair_numbers} if self._page.pair_numbers else {}
        return figures.numbers_of(
            self.models,
            random_weights=self._page.random_weights,
            beside=self._beside,
            by_pair=by_pair,
        )

    @property
    def _figures(self) -> Sequence[str]:
        return figures.OF_ONE if self._is_one else figures.ACROSS

    def _repr_html_(self) -> str:
        """Return the answers, then the warnings."""
        warned = [f"<p>{escape(reveal_all(caution))}</p>" for caution in self.cautions]
        first = int(self._page.random_weights)
        title = f"<h3>{escape(reveal_all(self._page.display))}</h3>"
        own = self._page
        answers = answers_as_html(own.answers, own.beside, own.pattern) if self._is_one else None
        shown = answers or self.answers._repr_html_()
        parts = [title, *warned[:first], shown, *warned[first:]]
        return "".join(parts)
