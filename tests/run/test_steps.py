"""A step reads, calls one noun and writes; what is more than that is the noun's."""

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

MOST = 40  # lines of code: without imports, docstrings, comments and blank lines
LONGER = ("run",)  # it follows DVC's output line by line
STEPS = Path(__file__).parents[2] / "code" / "layerwise" / "run" / "steps"


def code_lines(source: str) -> int:
    """Lines that hold code, but for imports and docstrings."""
    tree = ast.parse(source)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    blank = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines = {
        line
        for token in tokens
        if token.type not in (*blank, tokenize.ENDMARKER)
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - left_out)


@pytest.mark.parametrize(
    "step", sorted({path.stem for path in STEPS.glob("*.py")} - {"__init__", *LONGER})
)
def test_a_step_is_short(step: str) -> None:
    found = code_lines((STEPS / f"{step}.py").read_text(encoding="utf-8"))
    assert found <= MOST, f"{step} has {found} lines; what it computes is a noun's"


SOURCE = '''"""A text

of three lines."""

import os

# why
X = """a
b"""


def f(
    a,
):
    """Says."""
    return a  # it
'''


def test_lines_of_code_are_counted_as_by_hand() -> None:
    """X takes two, the signature three, what is returned one."""
    assert code_lines(SOURCE) == 2 + 3 + 1


def test_the_help_of_a_step_is_for_who_types_it() -> None:
    """What it raises is said in docstrings, to who calls it."""
    step = "small"
    assert "Raises:" in (STEPS / f"{step}.py").read_text(encoding="utf-8")
    command = [sys.executable, "-m", f"layerwise.run.steps.{step}", "--help"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Measure the models that fit here" in said
    assert "Raises" not in said
