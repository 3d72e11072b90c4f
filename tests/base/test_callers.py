"""What callers give: a place is a path of somebody's, and never the lack of one."""

from pathlib import Path

import pytest

from layerwise.errors import LayerwiseError
from layerwise.shapes import read_model, read_place


@pytest.mark.parametrize("read", [lambda given: read_place("out", given), read_model])
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_text_is_no_place(read, empty):
    """As of a variable of a shell that is not set: it would be the working folder."""
    with pytest.raises(LayerwiseError, match="must not be empty"):
        read(empty)


@pytest.mark.parametrize("kind", [str, Path])
def test_a_tilde_is_the_home_folder(monkeypatch, tmp_path, kind):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_place("out", kind("~/x")) == tmp_path / "x"
    assert read_model(kind("~/x")) == tmp_path / "x"
    assert read_place("out", kind("a/~/x")) == Path("a/~/x")
    with pytest.raises(LayerwiseError, match="home folder of a known user"):
        read_place("out", kind("~nobody-of-this-name/x"))


def test_what_is_no_path_stays_as_it_is():
    assert read_model("org/model") == "org/model"
    model = object()
    assert read_model(model) is model
    with pytest.raises(LayerwiseError, match="out: must be a path"):
        read_place("out", 3)
