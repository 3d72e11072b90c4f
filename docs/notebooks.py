"""The notebooks of examples/ with their outputs, so that a forge shows them: `make notebooks`.

Their model is tiny and random, made on the way; digits of its numbers differ between processors.
"""

import ast
import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
TINY = ROOT / "out" / "tiny"
RICH = {"_repr_html_": "text/html", "_repr_svg_": "image/svg+xml"}


def run_cells(cells: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the outputs of code cells, run one after the other in one namespace."""
    names: dict[str, Any] = {}
    return [run_cell("".join(cell["source"]), names) for cell in cells]


def run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a cell prints, and the value of its last line, as a notebook stores them."""
    statements = ast.parse(source).body
    last = statements[-1]
    value = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(statements[:-1], []), "cell", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        else:
            exec(compile(source, "cell", "exec"), names)
    outputs = []
    if text := printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines(text)})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        for method, kind in RICH.items():
            if shown := getattr(value, method, lambda: None)():
                data[kind] = lines(shown)
        outputs.append(
            {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}
        )
    return outputs


def lines(text: str) -> list[str]:
    """Return a text as a notebook stores it: its lines, with their ends."""
    return text.splitlines(keepends=True)


def main() -> None:
    """Run every notebook where it lies, and write its outputs into it."""
    if not TINY.exists():
        command = [sys.executable, "-m", "layerwise.models.twins", "pythia-70m", str(TINY)]
        subprocess.run(command, check=True)
    os.chdir(EXAMPLES)
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for number, (cell, outputs) in enumerate(zip(code, run_cells(code), strict=True), 1):
            cell["execution_count"] = number
            for output in outputs:
                if "execution_count" in output:
                    output["execution_count"] = number
            cell["outputs"] = outputs
        path.write_text(f"{json.dumps(notebook, indent=1, ensure_ascii=False)}\n", encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
