import json

import pytest

from layerwise.errors import LayerwiseError
from layerwise.inputs.notebooks import NotebookPrompts, literal_in_notebook, prompts_document


def notebook(*cells: str | list[str]) -> bytes:
    return json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]}).encode()


@pytest.mark.parametrize(
    "source",
    [
        'P = ["one", "two"]',
        ["import torch\n", "P = [\n", '    "one",  # why\n', '    "t" "wo",\n', "]\n"],
        '!pip install -q x\n%matplotlib inline\nP: list[str] = ["one", "two"]\nprint(P)',
        'Q = P = ("one", "two")',
    ],
)
def test_literal(source: str | list[str]) -> None:
    assert list(literal_in_notebook(notebook(source), "P")) == ["one", "two"]


def test_code_is_not_run(tmp_path) -> None:
    target = tmp_path / "ran"
    cell = f"open({str(target)!r}, 'w')\nP = ['one']"
    assert literal_in_notebook(notebook(cell), "P") == ["one"]
    assert not target.exists()


@pytest.mark.parametrize(
    "cells",
    [
        ("%%bash\nfor x in *; do echo; done", "P = [x for x in y]", "Q = ['no']", "P = ['one']"),
        ("P = ['one']", "P = ['one']"),
    ],
)
def test_what_is_no_other_literal_is_passed_over(cells: tuple[str, ...]) -> None:
    assert literal_in_notebook(notebook(*cells), "P") == ["one"]


@pytest.mark.parametrize(
    "cell", ["Q = ['one']", "P = f()", "P: list[str]", "P[0] = 'one'", "def f():\n    P = ['one']"]
)
def test_no_literal_iv(cell: str) -> None:
    with pytest.raises(LayerwiseError, match="no code cell assigns a literal to P"):
        literal_in_notebook(notebook(cell), "P")


def test_two_literals_iv() -> None:
    with pytest.raises(LayerwiseError, match="P is assigned 2 different literals"):
        literal_in_notebook(notebook("P = ['one']", "P = ['two']"), "P")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"cells": [{}]}', b"\xff\xfe"])
def test_no_notebook(content: bytes) -> None:
    with pytest.raises(LayerwiseError, match=r"a\.ipynb: not a Jupyter notebook"):
        literal_in_notebook(content, "P", "a.ipynb")


def test_document_is_canonical() -> None:
    sets = [
        NotebookPrompts("b", "b.ipynb", "1" * 64, "P"),
        NotebookPrompts("a", "a", "2" * 64, "Q"),
    ]
    cells = {"b": "P = ['Grüße']", "a": "Q = {'z': 1, 'y': 2}"}
    content = prompts_document(sets, lambda entry: notebook(cells[entry.study]))
    assert content.decode() == (
        '{\n "a": {\n  "notebook": "a",\n  "notebook_sha256": "' + "2" * 64 + '",\n'
        '  "prompts": {\n   "y": 2,\n   "z": 1\n  },\n  "variable": "Q"\n },\n'
        ' "b": {\n  "notebook": "b.ipynb",\n  "notebook_sha256": "' + "1" * 64 + '",\n'
        '  "prompts": [\n   "Grüße"\n  ],\n  "variable": "P"\n }\n}'
    )
