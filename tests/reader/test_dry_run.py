"""A dry run refuses what the run refuses, in the same words; both ask for all the room."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import layerwise
from fuzz import refusal
from layerwise.home import STATES
from layerwise.reader.plan import plan
from layerwise.reader.prepared import prepare_from_files, require_room_for
from layerwise.reader.request import request_of
from tiny_checkpoints import EXAMPLE, contents, twin_folder

TWIN = str(twin_folder("gpt_neox"))
TEXTS = [str(EXAMPLE[name]) for name in ("pairs", "prompts")]
AGAIN: dict[str, Any] = {"dtype": "bfloat16", "replicates": 2, "control": 2}
ASKED: dict[str, Any] = {
    **{"revision": None, "device": None, "layers": None, "seed": 42, "limit": None},
    **{"without": ["spectral"], "chat_template": False, "template_options": None},
    "keep_states": True,
    "private_texts": False,
    **AGAIN,
}


def a_file_as_parent(base: Path) -> Path:
    (base / "file").write_text("mine")
    return base / "file" / "out"


def a_link_to_nowhere(base: Path) -> Path:
    (base / "out").symlink_to("nowhere")
    return base / "out"


def link(name: str, target: str) -> Callable[[Path], Path]:
    def made(base: Path) -> Path:
        place = base / "out" / name
        place.parent.mkdir(parents=True)
        (base / "elsewhere").mkdir()
        (base / "out" / "validation.json").write_text("{}")  # of an earlier run
        place.symlink_to(base / target)
        return base / "out"

    made.__name__ = f"{name} -> {target}"
    return made


LINKS = [link(name, "elsewhere") for name in (STATES, f"{STATES}.partial", f"{STATES}_again")]
PLACES = [a_file_as_parent, a_link_to_nowhere, *LINKS]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_place_that_the_run_refuses_before_a_pass_the_dry_run_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Callable[[Path], Path]
) -> None:
    monkeypatch.delattr("layerwise.models.hidden_states.forward")
    out = place(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    run = refusal(lambda: layerwise.analyze(TWIN, *TEXTS, out=out, **ASKED))
    dry = refusal(lambda: plan(TWIN, *TEXTS, ASKED | {"out": out}))
    assert run is not None
    assert str(dry) == str(run)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.usefixtures("quick")
def test_the_room_that_is_asked_for_is_that_of_all_that_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With replicates and control; and no more of it once they are there."""
    out = tmp_path / "out"
    asked = ASKED | {"out": out}
    request = request_of(TWIN, *TEXTS, asked)
    _, checked = prepare_from_files(TWIN, request)
    assert checked.times == 5
    assert not out.exists()
    one_byte_less = SimpleNamespace(free=checked.written - 1)
    with monkeypatch.context() as patch:
        patch.delattr("layerwise.models.hidden_states.forward")
        patch.setattr(shutil, "disk_usage", lambda _: one_byte_less)
        for refused in (
            refusal(lambda: plan(TWIN, *TEXTS, asked)),
            refusal(lambda: layerwise.analyze(TWIN, *TEXTS, **asked)),
        ):
            assert "more on this disk" in str(refused)
    assert not out.exists()
    layerwise.analyze(TWIN, *TEXTS, **asked)
    sizes = {name: len(content) for name, content in contents(out).items()}
    states = sum(size for name, size in sizes.items() if name.startswith(STATES))
    assert 0.8 * checked.times * checked.states < states <= checked.times * checked.states
    assert sum(sizes.values()) <= checked.written
    monkeypatch.setattr(shutil, "disk_usage", lambda _: one_byte_less)
    require_room_for(checked)  # what is there is not written again
