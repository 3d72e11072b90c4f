"""Variables that a shell, a container or a scheduler sets: one that is empty is as one that is not.

Files name them so where they have nothing to say (`ENV NAME=` of an image cannot unset one).
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.text import Text

from layerwise.files import LATEST, from_environment, is_first_process, n_processes
from layerwise.models import kernels
from layerwise.models.devices import default_device
from layerwise.papers.fetching import upstream
from layerwise.papers.fetching.mirrors import MIRROR_VARIABLE
from layerwise.present import terminal
from layerwise.run.doctor import measuring
from layerwise.run.rehearsal import running


def mirror() -> str:
    """Where upstream's data are looked for."""
    return measuring.data(Path("nowhere"))


def width() -> str:
    """What a line of 200 letters becomes where nobody looks."""
    return terminal.show(Text("a " * 100)) or ""


def kernel() -> dict[str, Any]:
    kernels.require_exact("cuda")
    return kernels.settings(torch.device("cuda"))


READ: dict[str, Callable[[], Any]] = {
    MIRROR_VARIABLE: mirror,
    "COLUMNS": width,
    "LOCAL_RANK": default_device,
    "WORLD_SIZE": n_processes,
    "RANK": is_first_process,
    "SOURCE_DATE_EPOCH": lambda: from_environment("SOURCE_DATE_EPOCH", 0, LATEST),
    "PATH": lambda: running.copy_environment(Path("copy"))["PATH"],
    kernels.FORCED: kernel,
    kernels.WORKSPACE: kernel,
}


@pytest.mark.parametrize("variable", READ)
def test_an_empty_variable_is_as_none(
    variable: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(upstream, "result_file", lambda *given, **how: b"")
    for name in READ.keys() - {"PATH"}:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv(variable, raising=False)
    found = READ[variable](), capsys.readouterr().out
    monkeypatch.setenv(variable, "")
    assert (READ[variable](), capsys.readouterr().out) == found


def test_without_a_path_no_program_is_looked_for_where_it_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As an empty part of PATH would have it."""
    monkeypatch.setenv("PATH", "")
    assert "" not in running.copy_environment(Path("copy"))["PATH"].split(os.pathsep)
