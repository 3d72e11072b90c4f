"""What can be asked of `analyze`, or happen while it or the stage of a model runs.

Every class runs it on a tiny model, with few resamples and two of its figures.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from claim_records import SVG
from fuzz import DEFAULTS, Attempt, Kind

TEXTS = (
    "The river rises in the north",
    "The river rises in the far south",
    "An owl",
    "Two cats sat",
    "Water boils",
    "Water boils at 100 degrees",
    "Prices fell in the spring",
    "An owl sat",
    "Light travels fast",
    "Light travels slow in glass",
    "A quiet street",
    "Prices rose",
)
PAIRS = {
    name: {"pairs": [[TEXTS[n], TEXTS[n + 1]], [TEXTS[n + 2], TEXTS[n + 3]]]}
    for name, n in (("a", 0), ("b", 4), ("c", 8))
}
PROMPTS = TEXTS[:3]
RESAMPLES = 400


def prepare(folder: Path) -> Path:
    """A checkpoint, and the results on it, which two runs give alike; what they import."""
    import layerwise.papers.across.figures.drawing as drawing
    from layerwise.reader import of_checkpoint
    from layerwise.reader.page import figures
    from tiny_checkpoints import twin_folder

    of_checkpoint.N_RESAMPLES = RESAMPLES
    figures.OF_ONE = ("layers", "pairs")
    drawing.as_files = laid_out
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(twin_folder("gpt_neox"), folder / "model")
    analyzed(folder, folder / "results")
    return folder


def laid_out(figure: Any, name: str) -> tuple[bytes, str]:
    """A figure is drawn, and not written: that takes most of its time."""
    figure.draw_without_rendering()
    figure.clear()
    return b"%PDF", SVG


def analyzed(folder: Path, out: Path | None, **asked: Any) -> Any:
    """What `analyze` finds on the checkpoint that was prepared."""
    import layerwise

    given = {"pairs": PAIRS, "prompts": PROMPTS, **asked}
    return layerwise.analyze(folder / "model", out=out, **given)


def planned(folder: Path, out: Path, **asked: Any) -> str:
    """What the dry run says of the same."""
    from layerwise.reader.plan import plan

    given = {"pairs": PAIRS, "prompts": PROMPTS, **asked}
    texts = given.pop("pairs"), given.pop("prompts")
    return plan(str(folder / "model"), *texts, DEFAULTS | given | {"out": out})


def contents(folder: Path) -> dict[str, bytes]:
    """Every file by its name, links apart; states that wait beside them too."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def require_equal(files: dict[str, bytes], expected: dict[str, bytes]) -> None:
    names = files.keys() ^ expected.keys()
    assert not names, f"only in one of them: {names}"
    other = [name for name in files if files[name] != expected[name]]
    assert not other, f"others: {other}"


def forked(do: Callable[[], object]) -> int:
    """A process that does something; its exit code is that of the command line."""
    child = os.fork()
    if child:
        return child
    code = 3
    with contextlib.suppress(BaseException):
        try:
            do()
            code = 0
        except KeyboardInterrupt:
            code = 130
        except SystemExit as ended:
            code = int(ended.code or 0)
    os._exit(code)


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# --- requests -----------------------------------------------------------------------------------


def odd_pairs(rng: random.Random) -> dict[str, Any]:
    """Categories of which some are equal, constant, turned round, or begin with the same words."""
    categories = {}
    for n in range(rng.choice([3, 3, 4, 5])):
        pairs = [rng.sample(TEXTS, 2) for _ in range(rng.choice([2, 2, 3, 5]))]
        kind = rng.choice(["", "", "constant", "equal", "turned", "one pair", "same word", "twice"])
        earlier = [category["pairs"] for category in categories.values()]
        if kind == "constant":
            pairs = [[a, a] for a, _ in pairs]
        elif kind == "equal" and earlier:
            pairs = rng.choice(earlier)
        elif kind == "turned" and earlier:
            pairs = [[b, a] for a, b in rng.choice(earlier)]
        elif kind == "one pair":
            pairs = pairs[:1] * 2
        elif kind == "same word":
            pairs = [[f"An {a}", f"An {b}"] for a, b in pairs]
        elif kind == "twice":
            pairs = pairs + pairs
        categories[f"category {n}"] = {"pairs": pairs}
    return categories


def odd_request(rng: random.Random) -> dict[str, Any]:
    """All that `analyze` may be asked, in odd mixtures."""
    layers = rng.sample(range(4), rng.choice([1, 1, 2, 3]))
    asked = {
        "pairs": odd_pairs(rng),
        "prompts": rng.choice(
            [None, ["An owl"], ["a"], ["An owl"] * 3, list(TEXTS[:4]), ["a"] * 2]
        ),
        "layers": rng.choice([None, layers, layers, [layers[0]] * 2, [9], []]),
        "without": rng.choice([(), ("gains",), ("spectral",), ("gains", "spectral")]),
        "seed": rng.choice([0, 42, 2**32 - 1]),
    }
    if rng.random() < 0.3:
        asked |= {"dtype": rng.choice(["bfloat16", "float16"]), "replicates": rng.choice([0, 1])}
    if rng.random() < 0.2:
        asked["control"] = 1
    if rng.random() < 0.1:
        next(iter(asked["pairs"].values()))["pairs"][0][0] = "a" * rng.choice([10**4, 10**7])
    return asked


def requests(rng: random.Random, folder: Path) -> Iterator[Attempt]:
    """It runs to the page, or is refused before any pass; the dry run decides the same."""
    while True:
        asked = odd_request(rng)
        yield Attempt(f"{asked!r:.600}", partial(request, folder, asked))


def request(folder: Path, asked: dict[str, Any], work: Path) -> None:
    """One of them."""
    import layerwise.models.hidden_states as module
    from fuzz import refusal

    passes, forward = [], module.forward
    module.forward = lambda *given: passes.append(1) or forward(*given)
    dry = refusal(lambda: planned(folder, work / "out", **asked))
    run = refusal(lambda: analyzed(folder, work / "out", **asked))
    assert not passes or run is None, f"refused after {len(passes)} passes: {run}"
    assert (dry is None) == (run is None), f"dry run: {dry}\nrun: {run}"
    if run is not None:
        assert not (work / "out").exists(), "something was left"
        raise run
    assert (work / "out" / "index.html").is_file()


# --- kills, signals -----------------------------------------------------------------------------


def kills(rng: random.Random, folder: Path) -> Iterator[Attempt]:
    """Killed before a change of the file system, once or twice: then the same bytes."""
    expected = contents(folder / "results")
    while True:
        points = [rng.randrange(160) for _ in range(rng.choice([1, 1, 2]))]
        first = rng.choice([None, 7])  # the seed of results that stand there
        yield Attempt(
            f"at {points}, over {first}", partial(killed, folder, expected, points, first)
        )


def killed(
    folder: Path, expected: dict[str, bytes], points: list[int], first: int | None, work: Path
) -> None:
    """One of them."""
    from faults_worker import Killer

    def crash(at: int) -> None:
        Killer(at)
        analyzed(folder, work / "out")

    if first is not None:
        analyzed(folder, work / "out", seed=first)
    for at in points:
        code = ended(forked(partial(crash, at)))
        assert code in (0, -signal.SIGKILL), code
    analyzed(folder, work / "out")
    require_equal(contents(work / "out"), expected)


def signals(rng: random.Random, folder: Path) -> Iterator[Attempt]:
    """Ctrl-C or SIGTERM at any moment: exit code 130, no lock, and the next run is whole."""
    expected = contents(folder / "results")
    (folder / "pairs.json").write_text(json.dumps(PAIRS))
    (folder / "prompts.json").write_text(json.dumps(PROMPTS))
    while True:
        sent, after = rng.choice([signal.SIGTERM, signal.SIGINT]), rng.uniform(0.0, 1.2)
        yield Attempt(
            f"{sent.name} after {after:.2f} s", partial(stopped, folder, expected, sent, after)
        )


def stopped(
    folder: Path, expected: dict[str, bytes], sent: signal.Signals, after: float, work: Path
) -> None:
    """One of them."""
    from layerwise.run import cli

    line = [
        "analyze",
        f"--model={folder / 'model'}",
        f"--pairs={folder / 'pairs.json'}",
        f"--prompts={folder / 'prompts.json'}",
        f"--out={work / 'out'}",
    ]
    reading, writing = os.pipe()

    def run() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
        os.dup2(writing, 2)
        raise SystemExit(cli.main(line))

    child = forked(run)
    os.close(writing)
    time.sleep(after)
    os.kill(child, sent)
    code = ended(child)
    with open(reading, "rb") as pipe:
        said = pipe.read().decode()
    assert code in (0, 130, -sent), (code, said)  # the last: before the verb began
    assert "Traceback" not in said, said
    assert code != 130 or "interrupted; run it again to go on" in said, said
    assert not [*work.glob("out/*.lock")]
    analyzed(folder, work / "out")
    require_equal(contents(work / "out"), expected)


# --- measured -----------------------------------------------------------------------------------


class Undisturbed(NamedTuple):
    """What the stage of a model does where nothing happens to it."""

    folder: Path  # of its inputs
    document: bytes
    seconds: float
    n_changes: int  # of the file system


def measure_once(folder: Path) -> Undisturbed:
    """Measure a twin from beginning to end; what a forked process imports is here then."""
    import kills_worker
    from faults_worker import Killer

    folder.mkdir(parents=True)
    kills_worker.prepare(folder)
    began = time.monotonic()
    kills_worker.run(folder, folder / "clean")
    seconds = time.monotonic() - began

    def count() -> None:
        log: list[str] = []
        Killer(log=log)
        kills_worker.run(folder, folder / "counted")
        (folder / "changes").write_text(str(len(log)))

    assert ended(forked(count)) == 0
    document = (folder / "clean" / "models" / "measured.json").read_bytes()
    return Undisturbed(folder, document, seconds, int((folder / "changes").read_text()))


def measured(rng: random.Random, undisturbed: Undisturbed) -> Iterator[Attempt]:
    """The stage of a model, killed up to three times at any moment: then the same document."""
    while True:
        moments = [
            rng.choice(
                [rng.uniform(0.0, undisturbed.seconds), rng.randrange(undisturbed.n_changes)]
            )
            for _ in range(rng.choice([1, 2, 3]))
        ]
        yield Attempt(f"at {moments}", partial(measured_in_pieces, undisturbed, moments))


def measured_in_pieces(undisturbed: Undisturbed, moments: list[float | int], work: Path) -> None:
    """One of them.

    Arguments:
        moments: a number of seconds, or before which change of the file system.
    """
    import kills_worker
    from faults_worker import Killer

    def run(change: float | int) -> None:
        if isinstance(change, int):
            Killer(change)
        kills_worker.run(undisturbed.folder, work)

    for moment in moments:
        child = forked(partial(run, moment))
        if isinstance(moment, float):
            time.sleep(moment)
            os.kill(child, signal.SIGKILL)
        code = ended(child)
        assert code in (0, -signal.SIGKILL), code
    kills_worker.run(undisturbed.folder, work)
    assert (work / "models" / "measured.json").read_bytes() == undisturbed.document
    assert [path.name for path in (work / "models").iterdir()] == ["measured.json"]
    assert not (work / "scratch" / kills_worker.SLUG).exists(), "something was left"


KINDS = {
    "requests": Kind(requests, prepare),
    "kills": Kind(kills, prepare),
    "signals": Kind(signals, prepare),
    "measured": Kind(measured, measure_once),
}
