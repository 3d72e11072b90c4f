"""Prompts out of the papers' notebooks: a literal is parsed, no code of a notebook is run."""

import ast
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from layerwise.errors import LayerwiseError

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
