"""A process that loads one tiny model, then forks runs of the extraction to be killed.

    python faults_worker.py CHECKPOINT FOLDER     prints what it saw as JSON

Forking after the imports makes a run cost milliseconds, so hundreds of them can die in one test.
"""

import gc
import json
import os
import shutil
import signal
import sys
from pathlib import Path

import torch

import layerwise.models.hidden_states as module
from layerwise.models import partial
from layerwise.models.load import load_model
from layerwise.models.store import open_states
from tiny_checkpoints import TEXTS, contents

PROMPTS = ("The river rises", "An owl")
PASSES = "passes.log"
MANY = {"fsync": 5, "open to write": 5, "array of a batch": 7}


def run(out, texts):
    """One extraction in this process; every forward pass leaves a byte in a log."""
    forward = module.forward
    log = os.open(out.parent / PASSES, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def logged(*arguments):
        os.write(log, b".")
        return forward(*arguments)

    module.forward = logged
    module.extract(CHECKPOINT, texts, PROMPTS, out, tokens_per_batch=4)


def forked(action):
    """Start an action in a process of its own: its id."""
    child = os.fork()
    if child:
        return child
    try:
        action()
    except BaseException as error:  # pytest reads it from stderr
        print(repr(error), file=sys.stderr, flush=True)
        os._exit(3)
    os._exit(0)


def ended(child):
    """Its exit code; minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def size_of(file):
    return file.stat().st_size if file.exists() else 0


class Killer:
    """Counts what this process does to the file system, and kills it at one of these points."""

    def __init__(self, at=None, log=None):
        self.seen, self.at, self.log = 0, at, log
        os.fsync = self.counting("fsync", os.fsync)
        partial.save = self.counting("array of a batch", partial.save)
        sys.addaudithook(self.hook)

    def hook(self, event, arguments):
        if event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"):
            self.count(event)
        if event == "open" and isinstance(arguments[0], str | Path) and arguments[2] & 3:
            self.count("open to write")

    def counting(self, name, call):
        def counted(*arguments):
            self.count(name)
            return call(*arguments)

        return counted

    def count(self, what):
        if self.seen == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.seen += 1
        if self.log is not None:
            self.log.append(what)


def half_done_over_an_older_one(work, texts):
    """What is hardest to finish: batches of another process, and a folder to be replaced."""
    out = work / "template" / "out"
    out.parent.mkdir()
    assert ended(forked(lambda: run(out, TEXTS[:2]))) == 0
    older = contents(out)

    class Enough(BaseException):
        pass

    def second_process():
        waits = []

        def wait():
            waits.append(1)
            os._exit(0)

        processes = module._Processes(1, 2, wait)
        processes.__class__.first_decides = lambda self, decide: decide()
        module._Processes.join = lambda _: processes
        run(out, texts)

    assert ended(forked(second_process)) == 0
    (out.parent / "out.lock").unlink()
    (out.parent / PASSES).unlink()
    return out.parent, older


def every_crash_point(work):
    """Killed before each single change of the file system, then run again."""
    texts = TEXTS[:5]
    (work / "clean").mkdir()
    assert ended(forked(lambda: run(work / "clean" / "out", texts))) == 0
    expected = contents(work / "clean" / "out")  # of a run that nothing disturbs
    template, older = half_done_over_an_older_one(work, texts)
    shutil.copytree(template, work / "dry")

    def dry():
        log = []
        Killer(log=log)
        run(work / "dry" / "out", texts)
        (work / "log.json").write_text(json.dumps(log))

    assert ended(forked(dry)) == 0
    log = json.loads((work / "log.json").read_text())
    undisturbed = size_of(work / "dry" / PASSES)
    # every change of a folder; some of the many writes, opens and syncs of one file after another
    points = [n for n, what in enumerate(log) if what not in MANY or n % MANY[what] == 0]
    wrong = []
    for point in points:
        shutil.rmtree(work / "crash", ignore_errors=True)
        shutil.copytree(template, work / "crash")
        out = work / "crash" / "out"

        def crash(point=point, out=out):
            Killer(point)
            run(out, texts)

        code = ended(forked(crash))
        between = contents(open_states(out).folder) if out.exists() else expected
        between = {
            name: content for name, content in between.items() if not name.startswith("replaced/")
        }
        again = ended(forked(lambda out=out: run(out, texts)))
        left = sorted(path.name for path in out.parent.iterdir())
        if not (
            code == -signal.SIGKILL
            and between in (older, expected)
            and again == 0
            and contents(out) == expected
            and left == ["out", PASSES]
            and size_of(out.parent / PASSES) <= undisturbed + 1
        ):
            wrong.append([point, log[point], code, again, left, between in (older, expected)])
    return {"points": len(points), "kinds": sorted(set(log)), "wrong": wrong}


if __name__ == "__main__":
    torch.set_num_threads(1)
    CHECKPOINT, FOLDER = load_model(Path(sys.argv[1]), device="cpu"), Path(sys.argv[2])
    # what the first run prepares (kernels, late imports) every forked one then has
    module.extract(CHECKPOINT, TEXTS, PROMPTS, FOLDER / "before", tokens_per_batch=4)
    gc.freeze()
    print(json.dumps(every_crash_point(FOLDER)))
