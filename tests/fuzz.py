"""What goes wrong where `analyze` runs: each case is a process of its own, which must end in words.

Run as a program, it tries so many cases of each class: fuzz.py CLASS,CLASS FOLDER SEED NUMBER
[SECONDS]; what it prints as JSON is how many ended how, those that ended otherwise than well or in
a sentence, and the most memory that one took. The classes are `KINDS`: files of checkpoints
here, what happens to a run in `fuzz_runs`.
"""

import contextlib
import gc
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from layerwise import workers

LATE = 90  # seconds that one case may take
MEMORY = 2**30  # bytes that it may take besides what the program has
PAGE = resource.getpagesize()
LONGEST = 4000  # characters of a sentence, as `errors` cuts it


class Attempt(NamedTuple):
    """Something that is done in a new folder, and what it is."""

    what: str
    do: Callable[[Path], object]


class Kind(NamedTuple):
    """A class of cases.

    prepare: makes in a folder what all cases share, and does once what they do: what that imports
        they then have. What it gives is handed to `cases`.
    """

    cases: Callable[[random.Random, Any], Iterator[Attempt]]
    prepare: Callable[[Path], Any]


# --- checkpoints --------------------------------------------------------------------------------

WEIGHTS = "model.safetensors"


def checkpoints(rng: random.Random, folder: Path) -> Iterator[Attempt]:
    """A file is cut off or empty, or lacks a key: words; the dry run refuses nothing that runs."""
    while True:
        file = rng.choice([*(path.name for path in folder.glob("*.json")), WEIGHTS])
        whole = (folder / file).read_bytes()
        if file == WEIGHTS or rng.random() < 0.3:
            end = rng.choice([0, rng.randrange(len(whole))])
            what, spoilt = f"cut {end}", whole[:end]
        else:
            document = json.loads(whole)
            del document[key := rng.choice(list(document))]
            what, spoilt = f"{key} missing", json.dumps(document).encode()
        yield Attempt(f"{file} {what}", partial(use_spoilt, folder, file, spoilt))


def use_spoilt(folder: Path, file: str, spoilt: bytes, work: Path) -> None:
    """Use a copy of the checkpoint with one file spoilt."""
    copied = Path(shutil.copytree(folder, work / folder.name))
    (copied / file).write_bytes(spoilt)
    use_checkpoint(copied)


LONG, SHORT = "a" * 200, "An owl"
PAIRS = {
    name: {"pairs": [[LONG, f"Water boils {name}"], [SHORT, f"Two cats {name}"]]} for name in "abc"
}


DEFAULTS: dict[str, Any] = {  # the choices of `analyze`, as a dry run takes them
    "out": None,
    "revision": None,
    "dtype": None,
    "device": None,
    "layers": None,
    "seed": 42,
    "without": [],
    "limit": None,
    "chat_template": False,
    "template_options": None,
    "replicates": 5,
    "control": 0,
    "keep_states": False,
    "private_texts": False,
}


def use_checkpoint(folder: Path) -> None:
    """What `layerwise analyze` does with a checkpoint before there are results.

    The dry run comes first: what it refuses, the run must refuse.
    """
    from layerwise.models.hidden_states import extract
    from layerwise.models.load import load_model
    from layerwise.papers.fetching.texts import read_pairs
    from layerwise.reader.plan import plan

    asked = DEFAULTS | {"replicates": 0, "keep_states": True}
    dry = refusal(lambda: plan(str(folder), PAIRS, [LONG], asked))
    texts = {"statements": read_pairs(PAIRS).statements, "prompts": [LONG]}
    wet = refusal(
        lambda: extract(
            load_model(str(folder), device="cpu", texts=texts),
            *(texts["statements"], texts["prompts"], folder.parent / "states"),
        )
    )
    assert dry is None or wet is not None, f"dry run: {dry}\nrun: {wet}"
    if wet is not None:
        raise wet


def refusal(use: Callable[[], Any]) -> Exception | None:
    """The words in which it is refused."""
    from layerwise.errors import LayerwiseError

    try:
        use()
    except LayerwiseError as error:
        return error
    return None


SEED = "LAYERWISE_FUZZ"


# --- one case -----------------------------------------------------------------------------------


def attempt(do: Callable[[Path], object], folder: Path) -> tuple[str, int]:
    """How a process that does something in a folder ends, and the bytes of memory that it took.

    It ends `well`, in the words of its refusal, or badly.
    """
    from layerwise.errors import LayerwiseError

    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.close(reading)
            signal.alarm(LATE)
            addresses, resident = map(int, Path("/proc/self/statm").read_text().split()[:2])
            os.write(writing, f"{resident * PAGE} ".encode())
            resource.setrlimit(resource.RLIMIT_AS, (addresses * PAGE + MEMORY,) * 2)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            try:
                do(folder)
                said = "well"
            except LayerwiseError as error:
                said = f"refused: {error}"
            except BaseException:
                said = f"badly: {traceback.format_exc()[-1500:]}"
            os.write(writing, said.encode("utf-8", "backslashreplace")[:60_000])
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        before, _, said = pipe.read().decode("utf-8", "replace").partition(" ")
    _, status, used = os.wait4(child, 0)
    taken = used.ru_maxrss * 1024 - int(before)
    return said or f"badly: ended by signal {os.WTERMSIG(status)}", taken


def flaw(said: str, place: str) -> str | None:
    """What is wrong with how a case ended; None: nothing."""
    if said == "well":
        return None
    if said.startswith("badly"):
        return said
    if not re.search(place, said):
        return f"names no place: {said}"
    if not re.search(";|must be one of|needs", said):  # a choice is its own fix
        return f"names no fix: {said}"
    if re.search("MemoryError|allocate memory", said):
        return f"took all memory: {said}"
    return None if len(said) < LONGEST else f"{len(said)} characters: {said[:300]}"


def in_this_process() -> None:
    """Have done here what other processes would do: every fork would start some of its own."""

    def submit(
        function: Callable[..., Any], arguments: Callable[[], tuple[Any, ...]], **_: Any
    ) -> Any:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments()))
        except Exception as error:
            future.set_exception(error)
        return future

    workers.start, workers.results_in_order = lambda *modules: None, itertools.starmap
    workers.submit = submit


def prepared_twin(folder: Path) -> Path:
    """A checkpoint, in an architecture drawn by the folder's name; used once, whole."""
    from tiny_checkpoints import EVERY_KIND, twin_folder

    folder = folder / random.Random(os.environ.get(SEED)).choice(EVERY_KIND)
    shutil.copytree(twin_folder(folder.name), folder)
    use_checkpoint(folder)  # what this imports every forked process then has
    return folder


KINDS: dict[str, Kind | None] = {
    "checkpoints": Kind(checkpoints, prepared_twin),
    **dict.fromkeys(("requests", "kills", "signals", "measured")),  # `fuzz_runs` has them
}


def tried(name: str, folder: Path, seed: int, n_cases: int, seconds: int) -> dict[str, Any]:
    """How so many cases of a class end, one after the other, while there is time."""
    rng = random.Random(seed)
    kind = KINDS[name] or import_module("fuzz_runs").KINDS[name]
    prepared = kind.prepare(folder)
    cases = kind.cases(rng, prepared)
    place = prepared.name if name == "checkpoints" else ""  # the name of the model
    ended: Counter[str] = Counter()
    flaws, most, work = [], 0, folder.with_name("tried")
    until = time.monotonic() + seconds
    gc.collect()
    gc.freeze()  # a fork collects no garbage in what was there before
    for number, case in enumerate(itertools.islice(cases, n_cases)):
        if time.monotonic() > until:
            break
        work.mkdir()
        began = time.monotonic()
        said, memory = attempt(case.do, work)
        print(f"{time.monotonic() - began:.1f} s: {case.what}: {said}", file=sys.stderr)
        ended[said.partition(":")[0]] += 1
        most = max(most, memory)
        if wrong := flaw(said, place):
            flaws.append({"case": number, "what": case.what, "wrong": wrong})
        shutil.rmtree(work)
    says = (kind.cases.__doc__ or "").strip()
    return {"says": says, "seed": seed, "ended": ended, "flaws": flaws, "memory": most}


def main(names: str, folder: Path, seed: int, n_cases: int, seconds: int = 10**6) -> None:
    """Try so many of each class, for so many seconds each, and print a JSON object by class."""
    in_this_process()
    reports = {n: tried(n, folder / n, seed, n_cases, seconds) for n in names.split(",")}
    print(json.dumps(reports))


if __name__ == "__main__":
    names, folder, *numbers = sys.argv[1:]
    main(names, Path(folder), *map(int, numbers))
