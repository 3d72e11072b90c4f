"""No name leads out of its folder: paths of a mirror, of models, and their slugs."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from hostile import PATHS
from layerwise.errors import LayerwiseError
from layerwise.inputs import upstream
from layerwise.inputs.mirrors import Pin, read
from layerwise.inputs.models import read_models
from layerwise.steps import measure


def registry(folder: Path, path: str, content: bytes, notebook: str = "n.ipynb") -> Path:
    folder.mkdir(parents=True)
    digest = hashlib.sha256(content).hexdigest()
    (folder / "registry.csv").write_text(
        f'path,sha256,bytes\n"{path}",{digest},{len(content)}\n', encoding="utf-8"
    )
    (folder / "prompt_sets.csv").write_text(
        f'study,notebook,sha256,variable\ns,"{notebook}",{digest},P\n', encoding="utf-8"
    )
    return folder


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "a//b", ".", "a\\b", "a\x1b"])
def test_a_pinned_path_that_leads_out_is_refused(tmp_path: Path, path: str) -> None:
    for name, places in (("one", (path, "n.ipynb")), ("two", ("x.json", path))):
        made = registry(tmp_path / name, places[0], b"[1]", places[1])
        with pytest.raises(LayerwiseError, match="relative to the upstream repository and without"):
            upstream.result_file("x.json", tmp_path, published=made)


def test_a_link_in_a_mirror_brings_pinned_bytes_or_none(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"key")
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "x.json").symlink_to(secret)
    made = registry(tmp_path / "published", "x.json", b"[1]")
    with pytest.raises(LayerwiseError, match=r"x\.json: wrong bytes") as raised:
        upstream.result_file("x.json", tmp_path / "mirror", published=made)
    assert "secret'" not in str(raised.value)
    secret.write_bytes(b"[1]")
    assert upstream.result_file("x.json", tmp_path / "mirror", published=made) == b"[1]"
    (tmp_path / "mirror" / "null").symlink_to("/dev/null")
    with pytest.raises(LayerwiseError, match="has no file null"):
        read(tmp_path / "mirror", "null", Pin("0" * 64), retries=0)


def test_fetching_writes_through_no_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link where a file will be is replaced; what it led to stays as it was."""
    (tmp_path / "mirror").mkdir()
    for name in upstream.DATA_FILES:
        (tmp_path / "mirror" / name).write_bytes(b"[1]")
    pin = Pin(hashlib.sha256(b"[1]").hexdigest(), 3)
    pins = upstream.Registry(dict.fromkeys(upstream.DATA_FILES, pin), ())
    monkeypatch.setattr(upstream, "read_registry", lambda folder: pins)
    (tmp_path / "data").mkdir()
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    for name in upstream.DATA_FILES:
        (tmp_path / "data" / name).symlink_to(victim)
    upstream.fetch(tmp_path / "data", tmp_path / "mirror")
    assert victim.read_bytes() == b"mine"
    assert {p.name: p.is_symlink() for p in (tmp_path / "data").iterdir()} == dict.fromkeys(
        upstream.DATA_FILES, False
    )


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "\x1b[2J"])
def test_a_name_that_no_table_has_is_refused(tmp_path: Path, root: Path, name: str) -> None:
    """It is looked up before it could become a path or a module."""
    with pytest.raises(LayerwiseError, match=re.escape(repr(name))):
        measure.run(name, tmp_path / "out", models=root / "models.yaml", data=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("slug", [*PATHS, "a.b", "A", "-a", "a\n"])
def test_a_slug_is_no_path(tmp_path: Path, slug: str) -> None:
    (tmp_path / "models.yaml").write_text(json.dumps({"models": {slug: {}}}))
    with pytest.raises(
        LayerwiseError, match="must have lower-case letters, digits and hyphens onl"
    ):
        read_models(tmp_path / "models.yaml")
