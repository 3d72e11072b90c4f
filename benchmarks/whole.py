"""Where the time of `layerwise analyze` goes, from the command to the page, and what was estimated.

    python benchmarks/whole.py [MODEL [--pairs FILE] [--prompts FILE]] [--quick]

MODEL is a checkpoint folder, e.g. a trained model's, with the papers' pairs and prompts; without
it, random weights in the shape of Pythia-160M (`--quick`: of a tiny one), 230 pairs in six
categories, 16 prompts. float32 on a CPU. Prints for every part the seconds on the clock and of
this process's cores, the whole, its ratio to the forward passes, what `--dry-run` says of it, the
peak memory of a process, the size of the page and that of all files.
On a machine that others use too, look at the cores, with OMP_NUM_THREADS=1.
"""

import argparse
import functools
import importlib
import importlib.abc
import importlib.machinery
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil

from layerwise.workers import usable_cores

# The parts: functions that are timed, none inside another, where they are called by this name.
PARTS = {
    "load the model": "layerwise.models.load:load_model",
    "forward passes": "layerwise.reader.measurement:extract",
    "measures of states": "layerwise.reader.measurement:measure",
    "intervals": "layerwise.papers.experiments.reader:result_files",
    "gains": "layerwise.papers.experiments.own_weights:file_of_gains",
    "wait for spectral norms": "layerwise.papers.experiments.own_weights:file_of_norms",
    "figures, page, tables": "layerwise.reader.result:write",
}
PASSES, START = "forward passes", "interpreter, imports, checks"
HERE = Path(__file__).parent
Spent = dict[str, tuple[float, float]]  # on the clock, of this process's cores


def now() -> tuple[float, float]:
    """Seconds on the clock since this process began, and of its cores."""
    return time.time() - psutil.Process().create_time(), time.process_time()


class Timed(importlib.abc.MetaPathFinder):
    """Wraps the functions of `PARTS` when their modules are imported, and not before."""

    def __init__(self) -> None:
        self.spent: Spent = {}
        self.begun: tuple[float, float] | None = None

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> Any:
        """A module of `PARTS` is loaded as ever, then wrapped."""
        functions = [(part, at) for part, at in PARTS.items() if at.startswith(f"{name}:")]
        if not functions:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        assert spec is not None
        assert spec.loader is not None
        load = spec.loader.exec_module

        def load_and_wrap(module: ModuleType) -> None:
            load(module)
            for part, at in functions:
                function = at.partition(":")[2]
                setattr(module, function, self.wrapped(part, getattr(module, function)))

        spec.loader.exec_module = load_and_wrap  # type: ignore[method-assign]
        return spec

    def wrapped(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function; its time goes to the part."""

        @functools.wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            start = now()
            self.begun = self.begun or start
            try:
                return function(*arguments, **options)
            finally:
                self.spent[part] = tuple(b - a for a, b in zip(start, now(), strict=True))

        return run


def stand_in(folder: Path, shape: str) -> list[str]:
    """Random weights, pairs and prompts in a folder; by a process whose imports are not ours."""
    code = f"import whole; whole.write_stand_in({str(folder)!r}, {shape!r})"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=HERE)
    return [str(folder / name) for name in ("model", "pairs.json", "prompts.json")]


def write_stand_in(folder: str, shape: str) -> None:
    """In that process."""
    import extraction

    checkpoint = extraction.random_weights(shape)
    texts = extraction.synthetic(230, extraction.SHAPES[shape][-1])
    pairs = [list(pair) for pair in zip(texts[:230], texts[230:], strict=True)]
    checkpoint.model.save_pretrained(Path(folder, "model"))
    checkpoint.tokenizer.save_pretrained(Path(folder, "model"))
    categories = {f"c{n}": {"pairs": pairs[n::6]} for n in range(6)}
    Path(folder, "pairs.json").write_text(json.dumps(categories))
    Path(folder, "prompts.json").write_text(json.dumps(texts[:16]))


def estimated(given: Sequence[str], out: str) -> str:
    """The line of `--dry-run` on time."""
    names = zip(("--model", "--pairs", "--prompts"), given, strict=True)
    command = [sys.executable, "-m", "layerwise.run.cli", "analyze", "--out", out, "--dry-run"]
    command += [word for pair in names for word in pair]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return next(line for line in said.splitlines() if line.startswith("time"))


def measured(given: Sequence[str], out: str) -> tuple[Spent, tuple[float, float]]:
    """Seconds of every part, and of the whole, all its processes counted."""
    timed = Timed()
    sys.meta_path.insert(0, timed)
    import layerwise
    from layerwise import workers

    model, pairs, prompts = given
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    layerwise.analyze(model, pairs, prompts, out=out)
    seconds, cores = now()
    workers.end()  # what they took is known then
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    others = sum(getattr(after, of) - getattr(before, of) for of in ("ru_utime", "ru_stime"))
    assert timed.begun is not None
    spent = {START: timed.begun, **timed.spent}
    rest = tuple(
        all_ - sum(part)
        for all_, part in zip((seconds, cores), zip(*spent.values(), strict=True), strict=True)
    )
    return {**spent, "rest": rest, "other processes": (0.0, others)}, (seconds, cores + others)


def main() -> None:
    """Measure and print; the run itself is a process of its own, begun when all is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", help="a checkpoint folder")
    parser.add_argument("--pairs", default="papers")
    parser.add_argument("--prompts", default="papers")
    parser.add_argument("--quick", action="store_true", help="a tiny shape")
    parser.add_argument("--out", help=argparse.SUPPRESS)  # of the run itself
    arguments = parser.parse_args()
    given = [arguments.model, arguments.pairs, arguments.prompts]
    if arguments.out:
        show(*measured(given, arguments.out))
        return
    with tempfile.TemporaryDirectory() as folder:
        if arguments.model is None:
            given = stand_in(Path(folder), "tiny" if arguments.quick else "pythia-160m")
        out = str(Path(folder, "out"))
        command = [sys.executable, __file__, given[0], "--pairs", given[1], "--prompts", given[2]]
        print(f"{usable_cores()} cores; estimated: {estimated(given, out)}", flush=True)
        subprocess.run([*command, "--out", out], check=True)
        print("the page has {:,.0f} KiB, all files {:,.1f} MiB".format(*sizes(Path(out))))


def sizes(out: Path) -> tuple[float, float]:
    """Of the page in KiB, of all files in MiB."""
    files = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    return (out / "index.html").stat().st_size / 2**10, files / 2**20


def show(spent: Spent, whole: tuple[float, float]) -> None:
    """The table."""
    print(f"{'':<30} {'clock':>9} {'cores':>10}")
    for name, (seconds, cores) in {**spent, "all": whole}.items():
        print(f"{name:<30} {seconds:7.2f} s {cores:8.2f} s {seconds / whole[0]:6.1%}")
    ratios = [all_ / part for all_, part in zip(whole, spent[PASSES], strict=True)]
    print("the whole is {:.2f} times the passes on the clock, {:.2f} of cores".format(*ratios))
    peaks = [
        resource.getrusage(of).ru_maxrss for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    print(
        "peak memory {:,.0f} MiB, of its largest worker {:,.0f} MiB".format(
            *(k / 2**10 for k in peaks)
        )
    )


if __name__ == "__main__":
    main()
