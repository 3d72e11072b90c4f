"""What can run here <- this machine, its packages, the repository, the network."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from layerwise.doctor import FULL, REPRODUCE, TARGETS, Check, as_document, as_text, look, obstacles
from layerwise.doctor import checks_here as here
from layerwise.doctor import checks_of_full as full
from layerwise.doctor import look_at_sources as sources
from layerwise.errors import LayerwiseError

# The outputs of the sources published and mini are 82 MB (dvc.lock), and DVC keeps them once more;
# the rest is for what lies there while they are made.
OFFLINE_BYTES = 0.5e9
ROOM = "make room, or put it on another disk"


def run(as_json: bool, root: Path = Path()) -> tuple[str, int]:
    """All checks for the repository in `root`; exit code 2 if its offline part cannot run."""
    checks = [*_here(root), *_of_full(root)]
    text = json.dumps(as_document(checks), indent=1) if as_json else as_text(checks)
    return text, 2 if obstacles(checks)[REPRODUCE] else 0


def _here(root: Path) -> Iterator[Check]:
    version = sys.version_info
    yield here.python((version.major, version.minor, version.micro))
    yield from _asked(
        "locked packages",
        lambda: here.packages(look.locked(root / "requirements"), look.installed()),
    )
    yield here.imports(look.broken_imports())
    missing = [name for name in look.NEEDED if not (root / name).exists()]
    yield here.repository(missing, (root / ".git").exists(), look.without_scm(root))
    yield here.writable(look.not_writable(root))
    free = look.free_bytes(root / "results")
    yield here.disk("disk of results", "results/", free, OFFLINE_BYTES, TARGETS, ROOM)
    yield from _asked("memory", lambda: here.memory(look.free_memory(), os.cpu_count() or 1))
    yield from _asked("DVC", lambda: here.dvc_cache(*look.outputs(root)))
    yield from _asked("LaTeX", lambda: _latex(root))
    yield here.browser(look.missing_programs("chromium", "chromedriver", "pdftoppm"))


def _of_full(root: Path) -> Iterator[Check]:
    gpus = look.gpus()
    yield full.gpu(gpus, *look.torch_build())
    yield from _asked(
        "upstream's data",
        lambda: full.data(sources.data_problem(root / "data"), *sources.source_of_data()),
    )
    try:
        wanted, n_left_out = sources.models(root)
    except (ImportError, LayerwiseError, OSError, KeyError) as error:
        yield _not_asked("models", error)
        return
    yield full.registry(len(wanted), n_left_out, [m.slug for m in wanted if m.revision is None])
    if not wanted:
        return
    yield from _asked("disk of full", lambda: _states(root, wanted))
    yield from _asked("memory of full", lambda: _weights(wanted))
    if gpus is not None and gpus.memory:
        yield from _asked("memory of the GPU", lambda: _on_gpu(max(gpus.memory), wanted))
    yield from _asked_all("hub", lambda: _hub([m for m in wanted if m.revision is not None]))


def _latex(root: Path) -> Check:
    if look.missing_programs("latexmk"):
        return here.latex(False, [])
    return here.latex(True, look.missing_latex(root / "paper" / "main.tex.j2"))


def _states(root: Path, wanted: list[Any]) -> Check:
    """Hidden states exist twice: in the workspace and in DVC's cache, where links cannot be."""
    free, needed = look.free_bytes(root / "results"), 2 * sources.states_bytes(wanted)
    return here.disk("disk of full", "results/", free, needed, (FULL,), ROOM)


def _weights(wanted: list[Any]) -> Check:
    """A model passes through the machine's memory on its way to the GPU."""
    return full.room_for_models("memory of full", look.all_memory(), sources.weights(wanted))


def _on_gpu(there: int, wanted: list[Any]) -> Check:
    return full.room_for_models("memory of the GPU", there, sources.needs_of(wanted))


def _hub(wanted: list[Any]) -> Iterator[Check]:
    absent = sources.not_cached(wanted)
    names = {model.slug for model in absent}
    offline, address, token, cache = sources.hub_settings()
    reached = None if offline or not absent else look.reach(address)
    yield full.hub(offline, reached, [m.slug for m in wanted if m.slug not in names], sorted(names))
    gated = [model for model in absent if model.gated]
    asked = sources.refusals(gated) if token and gated and reached is None and not offline else None
    yield full.gates([model.slug for model in gated], token, asked)
    needed = sum(sources.weights(absent).values())
    fix = "make room, or set HF_HOME to a folder on another disk"
    yield here.disk("disk of the hub", str(cache), look.free_bytes(cache), needed, (FULL,), fix)


def _asked(name: str, check: Callable[[], Check]) -> Iterable[Check]:
    return _asked_all(name, lambda: [check()])


def _asked_all(name: str, checks: Callable[[], Iterable[Check]]) -> Iterable[Check]:
    """The checks, or that they could not be made: a package or a file of them is missing."""
    try:
        return list(checks())
    except (ImportError, LayerwiseError, OSError) as error:
        return [_not_asked(name, error)]


def _not_asked(name: str, error: Exception) -> Check:
    found = f"could not be looked at ({type(error).__name__}: {error})"
    return Check(name, found, "mend what FAIL stands at first, then ask again", (FULL,))
