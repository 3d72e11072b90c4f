"""Upstream's files as ours: results as the tidy tables of `published/`, prompts out of notebooks.

A literal of a notebook is parsed; none of its code is run.
"""

import ast
import csv
import io
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from layerwise.engine.published import DATASET, HEADER, PROMPTS, Value, leaves, pointer
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.result_files import TABLES


def transcribe(read_file: Callable[[str], bytes]) -> dict[str, str]:
    """Return the text of every table of `TABLES`, from upstream's files by their paths."""
    tables = {}
    for table, files in TABLES.items():
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(HEADER)
        for file in files:
            for key, value in _facts(file, _parse_file(file, read_file(file))):
                writer.writerow([file, key, json.dumps(value)])
        tables[table] = text.getvalue()
    return tables


def check_tables(folder: Path, tables: Mapping[str, str]) -> None:
    """Compare the committed tables with freshly transcribed ones, number by number."""
    for name, text in tables.items():
        committed = (folder / name).read_text(encoding="utf-8").splitlines()
        pairs = itertools.zip_longest(committed, text.splitlines())
        for line, (have, want) in enumerate(pairs, start=1):
            if have != want:
                raise LayerwiseError(
                    f"{folder / name}, line {line}: the table says {have!r}, upstream's file "
                    f"says {want!r}; transcribe it again"
                )


def _parse_file(file: str, content: bytes) -> Any:
    """Return JSON as it is, CSV as a list of rows by column name, numbers and booleans parsed."""
    if not file.endswith(".csv"):
        return json.loads(content)

    def cell(text: str) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return {"True": True, "False": False}.get(text, text)

    rows = csv.DictReader(io.StringIO(content.decode("utf-8")))
    return [{name: cell(text) for name, text in row.items()} for row in rows]


def _facts(file: str, document: Any) -> Iterator[tuple[str, Value]]:
    if file == DATASET:
        for category, entry in document.items():
            yield pointer(category, "n_pairs"), len(entry["pairs"])
    elif file == PROMPTS:
        for study, entry in document.items():
            yield pointer(study, "n_prompts"), len(entry["prompts"])
    else:
        yield from leaves("", document)


# --- prompts out of notebooks ---


_SHELL = ("!", "%")  # IPython's own lines are no Python


class NotebookPrompts(NamedTuple):
    """The place of the prompts of one study: a variable of a notebook with this sha256."""

    study: str
    notebook: str
    sha256: str
    variable: str


def prompts_document(
    sets: Iterable[NotebookPrompts], read: Callable[[NotebookPrompts], bytes]
) -> bytes:
    """Return `prompts.json` in its canonical form: keys sorted, indent 1, no final line break."""
    document = {
        entry.study: {
            "notebook": entry.notebook,
            "notebook_sha256": entry.sha256,
            "variable": entry.variable,
            "prompts": literal_in_notebook(read(entry), entry.variable, entry.notebook),
        }
        for entry in sets
    }
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False).encode()


def literal_in_notebook(notebook: bytes, variable: str, name: str = "notebook") -> Any:
    """Return the literal (text, list or object of texts) that a code cell assigns to `variable`.

    Raises:
        LayerwiseError: if this is no notebook, no cell assigns a literal to the variable, or two
            cells assign different ones.
    """
    literals: list[Any] = []
    for node in _assigned(notebook, variable, name):
        try:
            value = ast.literal_eval(node)
        except ValueError:
            continue  # computed from other variables: not where the prompts are written down
        if value not in literals:
            literals.append(value)
    if not literals:
        raise LayerwiseError(
            f"{name}: no code cell assigns a literal to {variable}; check the notebook and the "
            "variable in published/prompt_sets.csv"
        )
    if len(literals) > 1:
        raise LayerwiseError(
            f"{name}: {variable} is assigned {len(literals)} different literals, so the prompts "
            "are ambiguous; name another variable in published/prompt_sets.csv"
        )
    return literals[0]


def _assigned(notebook: bytes, variable: str, name: str) -> Iterator[ast.expr]:
    """Yield what code cells assign to the variable."""
    try:
        cells = json.loads(notebook)["cells"]
        # "source" is one text or a list of lines
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as error:
        raise LayerwiseError(
            f"{name}: not a Jupyter notebook ({type(error).__name__}: {error}); "
            "the file may be cut off"
        ) from None
    for cell in code:
        lines = ["pass" if line.lstrip().startswith(_SHELL) else line for line in cell.splitlines()]
        try:
            tree = ast.parse("\n".join(lines))
        except SyntaxError:
            continue  # a cell for another shell, such as %%bash
        for node in tree.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(
                    isinstance(target, ast.Name) and target.id == variable for target in targets
                ):
                    yield node.value
