"""What a kill, a pull or a hand left of DVC's files, and of all that `layerwise doctor` reads."""

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from fuzz import ODD, ROOT, Attempt, Case, Kind, bytes_case, changed, spoilt

RWLOCKS = (b"", b"{", b"[]", b"\xff", b'{"x": 1}', b"{}", b'{"read": {}, "write": {}}', b"null",
           b"[" * 10**5)  # fmt: skip
COPIES = ("none", "older", "same", "newer", "cut", "empty", "binary", "other stages", "list")


def lock_of(names: list[str]) -> str:
    """A whole lock, as DVC writes it."""
    stages = {
        name: {
            "cmd": f"python {name}",
            "outs": [{"path": f"{name}.txt", "hash": "md5", "md5": "a" * 32, "size": 17}],
        }
        for name in names
    }
    return yaml.safe_dump({"schema": "2.0", "stages": stages}, sort_keys=False)


def prepare(folder: Path) -> Path:
    """A clone without stages."""
    import layerwise.doctor.dvc_files  # noqa: F401

    folder.mkdir()
    for words in (["init", "-q"], ["commit", "-qm", "one", "--allow-empty"]):
        user = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *user, *words], cwd=folder, check=True)
    return folder


def locks(rng: random.Random, folder: Path) -> Iterator[Attempt]:
    """`doctor` says what the run does; a whole lock stays, for a cut one the copy is put back."""
    while True:
        seed = rng.randrange(2**32)
        yield Attempt(f"seed {seed}", partial(locked, folder, seed))


def locked(folder: Path, seed: int, work: Path) -> None:
    """One of them."""
    from layerwise.doctor import REPRODUCE
    from layerwise.doctor.dvc_files import BEFORE, LOCK, RWLOCK, look, protected, site_of
    from layerwise.errors import LayerwiseError

    rng = random.Random(seed)
    root = Path(shutil.copytree(folder, work / "clone"))
    names = [f"stage-{n}" for n in range(rng.choice([1, 2, 5]))]
    older = lock_of(names)
    newer = lock_of([*names, *(f"new-{n}" for n in range(rng.choice([0, 1, 3])))])
    copies = {
        "older": older, "same": newer, "newer": lock_of([*names, "new-0", "new-1", "new-2", "x"]),
        "cut": older[: rng.randrange(len(older))], "empty": "", "list": "[]\n",
        "other stages": lock_of(["b", "a"]),
    }  # fmt: skip
    copy, lock = rng.choice(COPIES), rng.choice(["whole", "cut", "cut", "empty", "binary", "none"])
    cut = newer[: rng.randrange(len(newer))]
    (root / BEFORE).parent.mkdir(parents=True)
    if copy == "binary":
        (root / BEFORE).write_bytes(b"\xff\0\xfe")
    elif copy != "none":
        (root / BEFORE).write_text(copies[copy])
    made = {"whole": newer.encode(), "cut": cut.encode(), "empty": b"", "binary": b"\xff\0"}
    if lock != "none":
        (root / LOCK).write_bytes(made[lock])
    if rng.random() < 0.5:
        (root / RWLOCK).write_bytes(rng.choice(RWLOCKS))
    if rng.random() < 0.3:
        site_of(root).mkdir(0o777)
        site_of(root).chmod(0o777)
    said = f"copy {copy}, lock {lock} ({len(cut)} of {len(newer)})"
    can_run = REPRODUCE not in look(root).blocks
    try:
        with protected(root):
            found = (root / LOCK).read_text() if (root / LOCK).is_file() else None
            assert site_of(root).stat().st_mode & 0o777 == 0o700, said
    except LayerwiseError as error:
        if can_run or lock not in ("cut", "empty", "binary"):
            raise AssertionError(f"{said}: doctor: {can_run}; the run: {error}") from None
        raise
    assert can_run, f"doctor says that it cannot run: {said}"
    assert not (root / BEFORE).exists()
    whole = {older, newer, *(of for name, of in copies.items() if name not in ("cut", "list"))}
    # a cut between two stages leaves a whole file, of which nothing that the copy has is lost
    parts = {lock_of(names[:n]) for n in range(1, len(names) + 1)} | {
        lock_of([*names, *(f"new-{m}" for m in range(n))]) for n in range(4)
    }
    assert found in {None, *whole, *parts} - {""}, f"{said}: {found}"
    if lock == "whole" and copy in ("older", "same", "none", "cut", "empty", "binary", "list"):
        assert found == newer, said
    if copy in ("older", "same") and lock != "whole":
        assert found is not None, said
        assert found.startswith(older if copy == "older" else newer), said


# --- what `layerwise doctor` reads --------------------------------------------------------------

READ = ("models.yaml", "params.yaml", "requirements/cpu.lock", "requirements/pipeline.lock")
SMI, LOCK, COPY, RWLOCK = (
    "nvidia-smi.txt",
    "dvc.lock",
    ".dvc/tmp/dvc.lock.before",
    ".dvc/tmp/rwlock",
)
COMMIT = "cache/models--EleutherAI--pythia-70m/snapshots/{}/"
MARKERS = ("nonsense", "python_version ~= '3'", "extras == ''", "(" * 5000, "'1' == '1'", "os_name")
DRIVERS = ("", "N/A", "[N/A]", "\udcff", "\u00b2", "9" * 5000, "580.1", "470.1", "-1")
TAGGED = (
    "!!int ''",
    "!!timestamp x",
    "!!bool x",
    "!!float x",
    "&a [*a]",
    "&a {a: *a}",
    "? [a]\n: b",
    "!!python/object:os.system {}",
    "<<<<<<< ours\n",
    "a: &x [1]\nb: [*x, *x]",
)


def prepare_checkout(folder: Path) -> Path:
    """What `doctor` reads of a checkout, and of a cache of the hub with part of one model."""
    folder.mkdir()
    for name in (*READ, "dvc.yaml", LOCK):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in ("published", "claims"):
        (folder / name).mkdir()
    (folder / ".dvc" / "tmp").mkdir(parents=True)
    shutil.copy(ROOT / LOCK, folder / COPY)
    (folder / RWLOCK).write_text('{"read": {}, "write": {}}')
    (folder / SMI).write_text("580.65, NVIDIA H200, 143771 MiB\n")
    models = yaml.safe_load((folder / "models.yaml").read_text())["models"]
    cached = folder / COMMIT.format(models["pythia-70m"]["revision"])
    cached.mkdir(parents=True)
    (cached / "config.json").write_text('{"model_type": "gpt_neox", "num_hidden_layers": 6}')
    weights = {"weight_map": {"a": "model-1.safetensors"}}
    (cached / "model.safetensors.index.json").write_text(json.dumps(weights))
    (cached / "tokenizer_config.json").write_text("{}")
    examined(folder)
    return folder


def shape(rng: random.Random, depth: int = 3) -> Any:
    """A document of any shape."""
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(ODD)
    names = ("stages", "outs", "deps", "path", "md5", "size", "measure", "models", "read", "a")
    parts = [shape(rng, depth - 1) for _ in range(rng.choice([0, 1, 2, 4]))]
    return rng.choice([parts, dict(zip(rng.sample(names, len(parts)), parts, strict=True))])


def checkout_cases(rng: random.Random, folder: Path) -> Iterator[Case]:
    """One file after the other in every way odd."""
    cached = [str(file.relative_to(folder)) for file in (folder / "cache").rglob("*.json")]
    while True:
        file = rng.choice([*READ, LOCK, COPY, RWLOCK, SMI, *cached])
        whole = (folder / file).read_bytes()
        kind = rng.choice(["spoilt", "random", "shape", "tagged", "changed", "changed"])
        if kind == "random":
            yield Case(file, kind, rng.randbytes(rng.choice([1, 9, 999])))
        elif kind == "shape":
            yield Case(file, kind, json.dumps(shape(rng), default=str).encode())
        elif kind == "tagged":
            yield Case(file, kind, rng.choice(TAGGED).encode())
        elif kind == "spoilt":
            yield bytes_case(rng, file, whole)
        elif file == SMI:
            said = rng.choice(DRIVERS) + rng.choice(["", ", A, 1 MiB\n"])
            yield Case(file, kind, os.fsencode(said))
        elif file.startswith("requirements"):
            marker = rng.choice(MARKERS).encode()
            yield Case(file, kind, whole.replace(b" \\\n", b" ; " + marker + b" \\\n", 1))
        else:
            what, document = changed(rng, yaml.safe_load(whole))
            yield Case(file, what, json.dumps(document, default=str).encode())


def checkouts(rng: random.Random, folder: Path) -> Iterator[Attempt]:
    """One file that `doctor` reads is odd: every check is made, or says in words why it is not."""
    for case in checkout_cases(rng, folder):
        yield spoilt(folder, case, examined)


def examined(folder: Path) -> None:
    """What `layerwise doctor` says of a checkout."""
    import huggingface_hub.constants

    from layerwise import terminal
    from layerwise.doctor import TARGETS
    from layerwise.errors import LayerwiseError
    from layerwise.steps import doctor

    programs = folder / "programs"
    programs.mkdir()
    (programs / "nvidia-smi").write_text(f"#!/bin/sh\ncat '{folder / SMI}'\n")
    (programs / "nvidia-smi").chmod(0o755)
    os.environ |= {"PATH": f"{programs}:{os.environ['PATH']}", "LAYERWISE_MIRROR": str(folder)}
    huggingface_hub.constants.HF_HUB_CACHE = str(folder / "cache")
    terminal.as_text(doctor.run(False, folder)[0])
    said = doctor.run(True, folder)[0]
    found = json.loads(said, parse_constant=lambda word: [][len(word)])  # none is infinite
    shutil.rmtree(programs)
    assert [*found["can_run"]] == [*TARGETS]
    for check in found["checks"]:
        assert not re.match(r"could not be looked at \(\w+:", check["found"]), check["found"]
        assert check["fix"] or check["status"] == "ok", check
    odd = [check for check in found["checks"] if "could not be" in check["found"]]
    if other := [check for check in odd if check["name"] != "upstream's data"]:
        raise LayerwiseError(f"{other[0]['found']}; {other[0]['fix']}")


KINDS = {
    "locks": Kind(locks, prepare, "dvc.lock"),
    "checkouts": Kind(checkouts, prepare_checkout, r"\.(yaml|lock|json)"),
}
