"""What nobody should give, or do: each case is a process of its own, which must end in words.

Run as a program, it tries so many cases of each class: fuzz.py CLASS,CLASS FOLDER SEED NUMBER
[SECONDS]; what it prints as JSON is how many ended how, those that ended otherwise than well or in
a sentence, and the most memory that one took. The classes are `KINDS`: files of checkpoints
here, the others in modules of their own.
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
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from layerwise import workers

LATE = 90  # seconds that one case may take
MEMORY = 2**30  # bytes that it may take besides what the program has
PAGE = resource.getpagesize()
LONGEST = 4000  # characters of a sentence, as `errors` cuts it
SECOND = "the second of two equal keys"
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 3, 0.5, -1e308, 1e308, 2**31, 10**6, 2**70),
    *("", "x", "0", "../x", "\u202e\x1b[2J", "x" * 100_000, [], {}, [[]], [1, "a"], {"a": 1}),
)


class Case(NamedTuple):
    """A file of a folder, and what it now holds."""

    file: str
    what: str
    made: bytes
    refused: bool = False  # there is no reading of it that would be right


class Attempt(NamedTuple):
    """Something that is done in a new folder, and what it is."""

    what: str
    do: Callable[[Path], object]


class Kind(NamedTuple):
    """A class of cases.

    prepare: makes in a folder what all cases share, and does once what they do: what that imports
        they then have. What it gives is handed to `cases`.
    place: what a refusal must name.
    """

    cases: Callable[[random.Random, Any], Iterator[Attempt]]
    prepare: Callable[[Path], Any] = lambda folder: folder
    place: str = ""


def changed(rng: random.Random, document: Any) -> tuple[str, Any]:
    """A JSON document with one node replaced by an odd value, left out, doubled or nested deep."""
    spots: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict | list) and node:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            # of a vocabulary a few entries are enough
            keys = rng.sample(keys, 8) if len(keys) > 64 else keys
            spots += [(node, key) for key in keys]
            waiting += [node[key] for key in keys]
    if not spots:
        return "replaced", rng.choice(ODD)
    node, key = rng.choice(spots)
    kind = rng.choice(["odd"] * 6 + ["gone", "deep", "renamed", "listed"])
    if kind == "gone":
        del node[key]
    elif kind == "renamed" and isinstance(node, dict):
        node["x" * rng.choice([1, 100_000])] = node.pop(key)
    elif kind == "deep":
        for _ in range(rng.choice([5, 500])):
            node[key] = [node[key]]
    elif kind == "listed":
        node[key] = [node[key]] * 3
    else:
        node[key] = rng.choice(ODD)
    return f"{kind} {key!r:.40}", document


def key_twice(rng: random.Random, file: str, document: Any) -> Case:
    """JSON in which one object has a key twice, with two values."""
    waiting, objects = [document], []
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict | list):
            waiting += node.values() if isinstance(node, dict) else node
        if isinstance(node, dict) and any(isinstance(key, str) for key in node):
            objects.append(node)
    if not objects:
        return Case(file, "empty", b"", refused=True)
    node = rng.choice(objects)
    key = rng.choice([key for key in node if isinstance(key, str)])
    node[SECOND] = rng.choice([node[key], "other"])
    text = json.dumps(document, default=str).replace(json.dumps(SECOND), json.dumps(key))
    return Case(file, f"key {key!r:.40} twice", text.encode(), refused=True)


def bytes_case(rng: random.Random, file: str, whole: bytes) -> Case:
    """A file cut off, emptied, or with a few bytes of it others."""
    kind = rng.choice(["cut", "empty", "flipped", "inserted"])
    spoilt, at = bytearray(whole), rng.randrange(len(whole) + 1)
    if kind in ("cut", "empty"):
        del spoilt[at if kind == "cut" else 0 :]
    elif kind == "flipped":
        for place in rng.sample(range(len(whole)), min(3, len(whole))):
            spoilt[place] = rng.randrange(256)
    else:
        spoilt[at:at] = rng.choice([b"\0", b"\xff\xfe", b"[" * 2000, b"&a *a", b"\n- - x", b'"'])
    return Case(file, f"{kind} {at}", bytes(spoilt))


# --- checkpoints --------------------------------------------------------------------------------

WEIGHTS = "model.safetensors"


def checkpoint_cases(rng: random.Random, folder: Path) -> Iterator[Case]:
    """A file that is cut off or empty, or that lacks a key of its first level, without end."""
    while True:
        file = rng.choice([*(path.name for path in folder.glob("*.json")), WEIGHTS])
        whole = (folder / file).read_bytes()
        if file == WEIGHTS or rng.random() < 0.3:
            end = rng.choice([0, rng.randrange(len(whole))])
            yield Case(file, f"cut {end}", whole[:end])
        elif document := json.loads(whole):
            del document[key := rng.choice(list(document))]
            yield Case(file, f"{key} missing", json.dumps(document).encode())


LONG, SHORT = "a" * 200, "An owl"
PAIRS = {
    name: {"pairs": [[LONG, f"Water boils {name}"], [SHORT, f"Two cats {name}"]]} for name in "abc"
}


def use_checkpoint(folder: Path) -> None:
    """What `layerwise analyze` does with a checkpoint before there are results.

    The dry run comes first: what it refuses, the run must refuse.
    """
    from layerwise.models.hidden_states import extract
    from layerwise.models.load import load_model
    from layerwise.papers.fetching.texts import read_pairs
    from layerwise.reader.plan import plan

    asked = {
        "out": None,
        "revision": None,
        "dtype": None,
        "device": None,
        "layers": None,
        "seed": 42,
        "without": [],
        "replicates": 0,
        "limit": None,
        "chat_template": False,
        "control": 0,
        "keep_states": True,
    }
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

    def submit(function: Callable[..., Any], arguments: Callable[[], tuple[Any, ...]]) -> Any:
        found: Future[Any] = Future()
        try:
            found.set_result(function(*arguments()))
        except Exception as error:
            found.set_exception(error)
        return found

    workers.start, workers.results_in_order = lambda *modules: None, itertools.starmap
    workers.submit = submit


def spoilt(folder: Path, case: Case, use: Callable[[Path], None]) -> Attempt:
    """A folder of which one file is spoilt, and what is done with it."""

    def do(work: Path) -> None:
        copied = Path(shutil.copytree(folder, work / folder.name))
        (copied / case.file).write_bytes(case.made)
        use(copied)
        assert not case.refused, "it was taken as if nothing were amiss"

    return Attempt(f"{case.file} {case.what}", do)


def checkpoints(rng: random.Random, folder: Path) -> Iterator[Attempt]:
    """One file of a checkpoint is odd: words, no code; the dry run refuses nothing that runs."""
    for case in checkpoint_cases(rng, folder):
        yield spoilt(folder, case, use_checkpoint)


def prepared_twin(folder: Path) -> Path:
    """A checkpoint, in an architecture drawn by the folder's name; used once, whole."""
    from tiny_checkpoints import EVERY_KIND, twin_folder

    folder = folder / random.Random(os.environ.get(SEED)).choice(EVERY_KIND)
    shutil.copytree(twin_folder(folder.name), folder)
    use_checkpoint(folder)  # what this imports every forked process then has
    return folder


KINDS: dict[str, Kind | str] = {
    "checkpoints": Kind(checkpoints, prepared_twin),
    **dict.fromkeys(("pairs", "prompts"), "fuzz_texts"),
    **dict.fromkeys(("requests", "places", "disks", "kills", "signals"), "fuzz_runs"),
}


def tried(name: str, folder: Path, seed: int, n_cases: int, seconds: int) -> dict[str, Any]:
    """How so many cases of a class end, one after the other, while there is time."""
    rng, kind = random.Random(seed), KINDS[name]
    if isinstance(kind, str):
        kind = import_module(kind).KINDS[name]
    prepared = kind.prepare(folder)
    cases = kind.cases(rng, prepared)
    place = prepared.name if name == "checkpoints" else kind.place  # the name of the model
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
