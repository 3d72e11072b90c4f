"""No name leads out of its folder: paths of a mirror, analyses, figures, slugs, prompt sets."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from hostile import PATHS
from layerwise.errors import LayerwiseError
from layerwise.extraction.store import open_states
from layerwise.inputs import upstream
from layerwise.inputs.mirrors import Pin, read
from layerwise.inputs.models import read_models
from layerwise.inputs.prompts import read_prompts
from layerwise.steps import measure

# --- the published files ------------------------------------------------------------------------


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


# --- names on the command line and in tables ----------------------------------------------------


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "..", "layerwise.cli", "style", "\x1b[2J"])
def test_a_name_that_no_table_has_is_refused(tmp_path: Path, root: Path, name: str) -> None:
    """It is looked up before it could become a path or a module."""
    with pytest.raises(LayerwiseError, match=re.escape(repr(name))):
        measure.run(name, tmp_path / "out", models=root / "models.yaml", data=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("slug", [*PATHS, "a.b", "a/b", "A", "-a", "a\n"])
def test_a_slug_is_no_path(tmp_path: Path, slug: str) -> None:
    (tmp_path / "models.yaml").write_text(json.dumps({"models": {slug: {}}}))
    if slug == "con":  # no path here, and a name like any other
        message = "display: missing"
    else:
        message = "must have lower-case letters, digits and hyphens only"
    with pytest.raises(LayerwiseError, match=message):
        read_models(tmp_path / "models.yaml")


@pytest.mark.parametrize("study", PATHS)
def test_a_set_of_prompts_is_looked_up_and_never_opened(tmp_path: Path, study: str) -> None:
    path = tmp_path / "prompts.json"
    path.write_text(json.dumps({study: {"prompts": ["a text"]}}))
    assert read_prompts(path, study) == ("a text",)
    with pytest.raises(LayerwiseError, match="expected a list of strings or an object with 'oth"):
        read_prompts(path, "other")
    assert list(tmp_path.iterdir()) == [path]


# --- arrays -------------------------------------------------------------------------------------


class Trap:
    """Unpickled, it leaves a file behind."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return (Path.touch, (self.place,))


def test_states_hold_numbers_and_no_objects(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "index.json").write_text('{"n_layers": 0, "n_prompts": 0, "n_batches": 1}')
    batch = tmp_path / "s" / "statements_00000.safetensors"
    batch.write_bytes(pickle.dumps(Trap(tmp_path / "hit")))
    with pytest.raises(LayerwiseError, match=r"found statements_00000\.safetensors missing or cut"):
        open_states(tmp_path / "s")
    assert not (tmp_path / "hit").exists()
    pickle.loads(batch.read_bytes())  # the trap is a trap
    assert (tmp_path / "hit").exists()
