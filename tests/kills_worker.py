"""A process that measures a twin, and forks runs of the stage that are killed.

    python kills_worker.py FOLDER     prints what it saw as JSON

A run dies at a named moment, then the same command goes on; what it ends with is compared, byte by
byte, with a run that nothing disturbed.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from faults_worker import ended, forked
from layerwise.measuring import registered_models
from layerwise.models import partial
from layerwise.models.registry import read_models
from layerwise.models.twins import build_twin
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from measured_twin import ROOT, SLUG, STAND_INS, patches, run_stage, write_inputs

BATCHES = 3  # that were saved before the one that dies


def prepare(work: Path) -> None:
    """Write what the stage reads, and put a twin where the hub would give the model."""
    model = read_models(ROOT / "models.yaml")[SLUG]
    statements = read_pairs(STAND_INS / "pairs.json").statements
    twin = build_twin(model, [*statements, *read_prompts(STAND_INS / "prompts.json")], work / SLUG)
    for patch in patches(twin):
        setattr(*patch)
    write_inputs(work, replicates=1)


def run(work: Path, out: Path) -> None:
    """Run the stage, which ends with everything measured."""
    _, code = run_stage(work, out / "models", out / "scratch")
    assert code == 0


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def after(module: Any, name: str, n: int = 1) -> Callable[[], None]:
    """Return what makes this process die behind the n-th call of a function."""
    calls = []

    def patch() -> None:
        called = getattr(module, name)

        def counted(*arguments: Any, **named: Any) -> Any:
            result = called(*arguments, **named)
            calls.append(name)
            if len(calls) == n:
                die()
            return result

        setattr(module, name, counted)

    return patch


def at_rename(part: str, *, behind: bool = False) -> Callable[[], None]:
    """Return what makes this process die before something gets a name with `part` in it.

    Arguments:
        behind: at the first change of the file system after it.
    """
    seen = []

    def hook(event: str, arguments: Any) -> None:
        if seen and event in ("os.rename", "os.remove", "os.rmdir", "open"):
            die()
        if event == "os.rename" and part in str(arguments[1]):
            if not behind:
                die()
            seen.append(part)

    return lambda: sys.addaudithook(hook)


MOMENTS: dict[str, Callable[[], None]] = {
    "the weights are here": after(registered_models, "fetch"),
    "batches are saved": after(partial, "save", BATCHES),
    "a result is kept": after(registered_models, "measure_experiment"),
    "a result is written": at_rename("kept"),
    "the document gets its name": at_rename("measured.json"),
    "the document has its name": at_rename("measured.json", behind=True),
}


def main(work: Path) -> dict[str, Any]:
    """Kill a run at each moment; return what was not as it should be."""
    prepare(work)
    assert ended(forked(lambda: run(work, work / "clean"))) == 0
    expected = (work / "clean" / "models" / "measured.json").read_bytes()
    seen = {}
    for number, (moment, patch) in enumerate(MOMENTS.items()):
        out = work / str(number)

        def killed(patch: Callable[[], None] = patch, out: Path = out) -> None:
            patch()
            run(work, out)

        code = ended(forked(killed))
        again = ended(forked(lambda out=out: run(work, out)))
        found = (out / "models" / "measured.json").read_bytes()
        left = sorted(path.name for path in (out / "models").iterdir())
        is_clean = left == ["measured.json"] and not (out / "scratch" / SLUG).exists()
        seen[moment] = [code, again, found == expected, is_clean]
    return seen


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(main(Path(sys.argv[1]))))
