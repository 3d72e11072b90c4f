import json

import pytest

from layerwise.errors import LayerwiseError
from layerwise.papers.fetching.notebooks import (
    literal_in_notebook,
)


def notebook(*cells: str | list[str]) -> bytes:
    return json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]}).encode()


@pytest.mark.parametrize(
    "cells",
    [
        ('P = ["one", "two"]',),
        (["import torch\n", "P = [\n", '    "one",  # why\n', '    "t" "wo",\n', "]\n"],),
        ('!pip install -q x\n%matplotlib inline\nP: list[str] = ["one", "two"]\nprint(P)',),
        ('Q = P = ("one", "two")',),
        ("%%bash\nfor x in *; do echo; done", "P = [x for x in y]", "P = ['one', 'two']"),
        ("open('ran', 'w')\nP = ['one', 'two']",),
    ],
)
def test_literal(cells: tuple[str | list[str], ...], tmp_path, monkeypatch) -> None:
    """What is no other literal is passed over, and no code is run."""
    monkeypatch.chdir(tmp_path)
    assert list(literal_in_notebook(notebook(*cells), "P")) == ["one", "two"]
    assert list(tmp_path.iterdir()) == []


NONE = "no code cell assigns a literal to P"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("Q = ['one']",), NONE),
        (("P = f()",), NONE),
        (("def f():\n    P = ['one']",), NONE),
        (("P = ['one']", "P = ['two']"), "P is assigned 2 different literals"),
    ],
)
def test_literal_refused(cells: tuple[str, ...], message: str) -> None:
    with pytest.raises(LayerwiseError, match=message):
        literal_in_notebook(notebook(*cells), "P")


@pytest.mark.parametrize("content", [b"", b"[]", b'{"cells": [{}]}'])
def test_no_notebook(content: bytes) -> None:
    with pytest.raises(LayerwiseError, match=r"a\.ipynb: not a Jupyter notebook"):
        literal_in_notebook(content, "P", "a.ipynb")
