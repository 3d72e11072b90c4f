"""What the Python interface gives of readers' models: documents, tables, figures, a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import escape

from layerwise.analyses.depth_curves import Curves
from layerwise.figures.numbers import Numbers
from layerwise.files import dated, together, write_json
from layerwise.pages.html import reveal_all
from layerwise.pages.own_model import figures
from layerwise.pages.own_model.page import Own, answer, write
from layerwise.pages.tables import Table

if TYPE_CHECKING:  # matplotlib is for who looks at figures
    from layerwise.figures.drawing import Drawn

Document = Mapping[str, Any]
# Where figures and tables are, and the page.
ONE = Path(), "index.html"
ACROSS = Path("scaling"), "scaling.html"


@dataclass(frozen=True)
class Result:
    """What `analyze` found on a model, or `compare` on several.

    Attributes:
        models: `{model: {analysis: document}}`: what the result files of `analyze` hold, with the
            keys of the published ones.
        documents: `{name: document}`, what `save` writes as NAME.json: of one model its analyses;
            of several `scaling`.
        page: what the page says: `settings` (what was measured and how), `cautions`, `answers` (the
            papers' claims on this model), `absent` (`{analysis: why there is none}`).
        folder: where the files are; None: nowhere yet.
    """

    models: Mapping[str, Mapping[str, Document]] = field(repr=False)
    documents: Mapping[str, Document] = field(repr=False)
    page: Own = field(repr=False)
    beside: Curves = field(repr=False)
    folder: Path | None = None

    @property
    def is_one(self) -> bool:
        """Of one model, not of several."""
        return len(self.models) == 1

    @property
    def summary(self) -> str:
        """What the command line says of what was saved, and where."""
        (part, index), out = ONE if self.is_one else ACROSS, self.folder
        of = "" if self.is_one else f" of {', '.join(self.models)}"
        files = f"{', '.join(f'{name}.json' for name in self.documents)}{of}"
        lines = [f"{files}, saved nowhere yet"]
        if out is not None:
            lines = [
                f"{files} in {out}",
                f"the page: {out / index}; tables: {out / part}/tables, {out / part}/tables.tex; "
                f"figures: {out / part}/figures",
            ]
        lines += [f"warning: {caution}" for caution in self.page.cautions]
        lines += [f"no {name}.json: {reason}" for name, reason in self.page.absent.items()]
        return "\n".join(lines)

    @cached_property
    def tables(self) -> dict[str, Table]:
        """Every table of the page, and `by-pair`, by name: `.records`, `.to_pandas()`, `.csv`."""
        return {table.name: table for table in self.page.tables}

    @cached_property
    def figures(self) -> "dict[str, Drawn]":
        """Every figure that the documents allow, by name: `.figure` is matplotlib's."""
        from layerwise.figures.drawing import draw_all

        drawn = draw_all(self._numbers, self._figures)
        return {one.name: one for one in drawn if one.figure is not None}

    def save(self, folder: str | Path) -> "Result":
        """Draw the figures; write the result files, figures, tables and page, all or none of them.

        Returns:
            The same result, with its folder.

        Raises:
            LayerwiseError: if the package is installed without its repository.
        """
        from layerwise.figures.drawing import print_all

        folder = Path(folder)
        part, index = ONE if self.is_one else ACROSS
        with together(folder) as new:
            for name, document in self.documents.items():
                write_json(new / f"{name}.json", dated(dict(document)))
            write(self.page, print_all(self._numbers, self._figures), new, part, index)
        for name in self.page.absent:  # an earlier run may have had them
            (folder / f"{name}.json").unlink(missing_ok=True)
        return replace(self, folder=folder)

    @property
    def _numbers(self) -> Numbers:
        """What the figures read."""
        return figures.numbers_of(
            self.models, random_weights=self.page.random_weights, beside=self.beside
        )

    @property
    def _figures(self) -> Sequence[str]:
        return figures.OF_ONE if self.is_one else figures.ACROSS

    def _repr_html_(self) -> str:
        """What came out, then what to know of it."""
        first = self.page.matrix or self.tables.get("claims")
        lines = [answer(self.page.answers), *self.page.cautions]
        said = "".join(f"<p>{escape(reveal_all(line))}</p>" for line in lines if line)
        title = f"<h3>{escape(reveal_all(self.page.display))}</h3>"
        return f"{title}{said}{first._repr_html_() if first else ''}"
