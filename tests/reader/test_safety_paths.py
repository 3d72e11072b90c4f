"""No name leads out of its folder: paths of a mirror, of models, and their slugs."""

import hashlib
import re
from pathlib import Path

import pytest

from layerwise.errors import LayerwiseError
from layerwise.papers.fetching import upstream
from layerwise.papers.fetching.mirrors import Pin, read
from layerwise.run.steps import measure


def test_links_are_read_and_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link in a mirror brings pinned bytes or none; where a file will be, it is replaced."""
    for folder, content in (("mirror", b"[1]"), ("data", b"mine")):
        (tmp_path / folder).mkdir()
        (tmp_path / f"of-{folder}").write_bytes(content)
        for name in upstream.DATA_FILES:
            (tmp_path / folder / name).symlink_to(tmp_path / f"of-{folder}")
    pin = Pin(hashlib.sha256(b"[1]").hexdigest(), 3)
    pins = upstream.Registry(dict.fromkeys(upstream.DATA_FILES, pin), ())
    monkeypatch.setattr(upstream, "read_registry", lambda folder: pins)
    upstream.fetch(tmp_path / "data", tmp_path / "mirror")
    assert (tmp_path / "of-data").read_bytes() == b"mine"
    assert not any(path.is_symlink() for path in (tmp_path / "data").iterdir())
    (tmp_path / "mirror" / "null").symlink_to("/dev/null")
    with pytest.raises(LayerwiseError, match="has no file null"):
        read(tmp_path / "mirror", "null", pin, retries=0)


def test_a_name_that_no_table_has_is_refused(tmp_path: Path, root: Path) -> None:
    """It is looked up before it could become a path or a module."""
    with pytest.raises(LayerwiseError, match=re.escape("'../../x'")):
        measure.run("../../x", tmp_path / "out", models=root / "models.yaml", data=tmp_path)
    assert list(tmp_path.iterdir()) == []
