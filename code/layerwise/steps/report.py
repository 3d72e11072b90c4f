"""the report page <- ledger, statistics and figures."""

import ast
import csv
import importlib.metadata
import platform
from pathlib import Path
from typing import Any

import layerwise
from layerwise import figures as plots
from layerwise.errors import LayerwiseError
from layerwise.figures.papers import SHOWS as OF_THE_PAPERS
from layerwise.files import read_json, sha256_of, write_text
from layerwise.inputs.published import TYPED, Published, read_published
from layerwise.pages.records import Evidence, checked
from layerwise.pages.report import Drawn, page
from layerwise.steps.draw import FIGURES as OF_STATISTICS

NAME = "index.html"
FIGURES = {**OF_THE_PAPERS, **OF_STATISTICS}  # figure: the analysis whose claims it shows
PACKAGES = ("numpy", "scipy", "matplotlib", "torch", "transformers", "jinja2")


def run(
    source: str,
    claims: Path,
    statistics: Path,
    figures: Path,
    published: Path,
    templates: Path,
    out: Path,
) -> str:
    """Write `index.html`: one file that opens from disk and asks for nothing."""
    document = read_json(claims)
    records = checked(document, str(claims), source)
    drawn = read_figures(figures)
    evidence = Evidence(
        cells=input_cells(records, read_published(published), claims),
        files=file_hashes(records, document["inputs"], published, claims),
        statistics=statistics_hashes(document["statistics"], statistics),
        hashes={
            path.as_posix(): sha256_of(path)
            for path in (claims, *sorted(published.glob("*.csv")), *sorted(figures.glob("*.png")))
        },
        environment=environment(),
    )
    write_text(out / NAME, page(source, records, drawn, evidence, templates))
    return f"{len(records)} claims and {len(drawn)} figures in {out / NAME}"


def read_figures(folder: Path) -> list[Drawn]:
    """The folder's figures in the order of `FIGURES`; captions are their modules' first lines.

    Raises:
        LayerwiseError: if there is no figure, or one that no stage draws.
    """
    names = {path.stem for path in folder.glob("*.png")}
    if not names:
        raise LayerwiseError(f"{folder}: there are no figures (*.png) here; draw them first")
    unknown = sorted(names - set(FIGURES))
    if unknown:
        raise LayerwiseError(
            f"{folder / unknown[0]}.png: no stage draws this figure, they draw "
            f"{', '.join(FIGURES)}; remove the file, or add the figure to a draw stage"
        )
    return [
        Drawn(name, FIGURES[name], caption_of(name), (folder / f"{name}.png").read_bytes())
        for name in FIGURES
        if name in names
    ]


def caption_of(figure: str) -> str:
    """The first line of the module that draws the figure."""
    module = Path(plots.__path__[0]) / f"{figure}.py"
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or figure
    return text.splitlines()[0]


def input_cells(records: list[dict[str, Any]], published: Published, claims: Path) -> dict:
    """The published value of every cell that a recomputed number rests on.

    Raises:
        LayerwiseError: naming the claim, for a cell that is not published.
    """
    cells: dict[str, Any] = {}
    for record in records:
        for cell in record["provenance"]["inputs"]:
            if cell in cells:
                continue
            file, _, key = cell.partition("#")
            try:
                at = published.cells
                cells[cell] = at[file, key] if (file, key) in at else published.value(file, key)
            except LayerwiseError as error:
                raise LayerwiseError(f"{claims}: claim {record['id']}: {error}") from None
    return cells


def file_hashes(
    records: list[dict[str, Any]], judged: dict[str, str], published: Path, claims: Path
) -> dict[str, tuple[str, str]]:
    """SHA-256 of the published files that claims stand in or rest on, and the file that has it.

    What a notebook typed into its cells is held by a table of ours, and has that table's hash; a
    text that is neither (a paper) has none.

    Raises:
        LayerwiseError: if a file is pinned by another hash than when the claims were judged.
    """
    with (published / "registry.csv").open(newline="", encoding="utf-8") as handle:
        pinned = {row["path"]: (row["sha256"], row["path"]) for row in csv.DictReader(handle)}
    typed = (sha256_of(published / TYPED), (published / TYPED).as_posix())
    resting = {
        cell.partition("#")[0] for record in records for cell in record["provenance"]["inputs"]
    }
    printed = {record["provenance"]["file"] for record in records} - {None}
    hashes = {file: pinned.get(file, ("", "")) for file in printed - resting}
    hashes |= {file: pinned.get(file, typed) for file in resting}
    for file in sorted(resting):
        if judged.get(file) != hashes[file][0]:
            raise LayerwiseError(
                f"{claims}: {file} was judged with sha256 {judged.get(file)}, it is pinned as "
                f"{hashes[file][0]} now; judge the ledger again"
            )
    return dict(sorted(hashes.items()))


def statistics_hashes(judged: dict[str, str], folder: Path) -> dict[str, tuple[str, str]]:
    """Path and SHA-256 of every analysis's statistics.

    Raises:
        LayerwiseError: if a file is missing or is not the one that was judged.
    """
    hashes = {}
    for name, digest in sorted(judged.items()):
        path = folder / name
        if not path.is_file():
            raise LayerwiseError(f"{path}: the judged statistics are missing; run their stage")
        if sha256_of(path) != digest:
            raise LayerwiseError(
                f"{path}: these statistics are not the ones that were judged; judge again"
            )
        hashes[path.stem] = (path.as_posix(), digest)
    return hashes


def environment() -> dict[str, str]:
    """Versions, without what tells machines apart (the `+cpu` of torch)."""
    versions = {name: importlib.metadata.version(name).partition("+")[0] for name in PACKAGES}
    return {"layerwise": layerwise.__version__, "Python": platform.python_version()} | versions
