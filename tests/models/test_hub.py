"""The hub at its best and at its worst: the real client, and a stand-in that serves twins."""

import collections
import errno
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import termios
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import yaml
from filelock import FileLock
from safetensors.torch import load_file

from layerwise.errors import LayerwiseError
from layerwise.models import hub
from layerwise.models.checkpoint import CheckpointFiles
from layerwise.models.families import twin_of
from layerwise.models.load import load_model, load_registered
from layerwise.models.passing import remove_leftovers
from layerwise.models.pickles import write_safetensors
from layerwise.run.rehearsal.scratch import keep
from stand_in_hub import COMMIT, FAULTS, STATUS, TOKEN, stand_in_hub
from tiny_checkpoints import EXAMPLE, twin_folder, twinned_model

AT = rf"at {COMMIT}"
DRY = "org/dry"  # of which a dry run is asked
TWIN = twin_of(twinned_model("opt"))  # whose output embeddings are its input embeddings
SILENT = TWIN.shape.model_copy(update={"adds_bos": False})
OTHER = TWIN.shape.model_copy(update={"n_layers": 4})


class Malicious:
    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.place),)


def pickled(folder: Path, *parts: Any) -> Path:
    """The twin with `parts` as pickles in place of its safetensors."""
    shutil.copytree(twin_folder("opt"), folder, ignore=shutil.ignore_patterns("*.safetensors"))
    names = [f"pytorch_model-{number}.bin" for number, _ in enumerate(parts, 1)]
    if len(parts) == 1:
        names = ["pytorch_model.bin"]
    else:
        index = {key: name for name, part in zip(names, parts, strict=True) for key in part}
        document = json.dumps({"weight_map": index})
        (folder / "pytorch_model.bin.index.json").write_text(document)
    for name, part in zip(names, parts, strict=True):
        torch.save(part, folder / name)
    return folder


def environment(address: str, home: Path) -> dict[str, str]:
    """For a process that asks the stand-in: the client reads it once, when it is imported."""
    return os.environ | {"HF_ENDPOINT": address, "HF_HOME": str(home), "HF_TOKEN": ""}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders that the stand-in serves, by slug."""
    place = tmp_path_factory.mktemp("models")
    state = load_file(twin_folder("opt") / "model.safetensors")
    # as of old: the base model's prefix is missing, the output embeddings are there twice
    old = collections.OrderedDict({key.removeprefix("model."): one for key, one in state.items()})
    old["lm_head.weight"] = old["decoder.embed_tokens.weight"]
    halves = [{key: old[key] for key in sorted(old)[part]} for part in (slice(9), slice(9, None))]
    unknown = Path(shutil.copytree(twin_folder("opt"), place / "unknown"))
    (unknown / "config.json").write_text('{"model_type": "t5"}')
    twins = (
        "whole",
        "moved",
        "other",
        "bos",
        "known-gated",
        *FAULTS,
        *(f"api-{one}" for one in STATUS),
    )
    return dict.fromkeys(twins, twin_folder("opt")) | {
        "unknown": unknown,
        "pickles": pickled(place / "pickles", *halves),
        "pickles-wrong": pickled(place / "wrong", old),
        "pickles-code": pickled(place / "code", old | {"x": Malicious(place / "run")}),
        "reader-pickles": pickled(place / "reader", old),
    }


@pytest.fixture(scope="module")
def seen(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Everything is asked for at once; the cache holds a config.json and a killed conversion."""
    work = tmp_path_factory.mktemp("hub")
    names = {slug: f"org/x.{slug if slug in FAULTS else slug.replace('-', '.')}" for slug in models}
    entries = {}
    for slug, name in names.items():
        shape = {"other": OTHER, "bos": SILENT}.get(slug)
        changes = {"shape": shape} if shape else {}
        revision = COMMIT[::-1] if slug == "moved" else COMMIT
        model = TWIN.model_copy(update={"hub": name, "revision": revision, **changes})
        entries[slug] = json.loads(model.model_dump_json(exclude={"slug"}))
    registry = work / "models.yaml"
    registry.write_text(yaml.safe_dump({"models": entries}))
    known = work / "home" / "hub" / "models--org--x.known.gated" / "snapshots" / COMMIT
    known.mkdir(parents=True)  # by somebody who had access
    shutil.copy(twin_folder("opt") / "config.json", known)
    left = work / "home" / "hub" / "models--org--x.pickles" / "converted" / ".layerwise-a.part"
    (left / COMMIT).mkdir(parents=True)
    served = {names[slug]: folder for slug, folder in models.items()} | {DRY: twin_folder("opt")}
    command = [(Path(__file__).parents[1] / "hub_worker.py"), registry, "analyze", "--dry-run"]
    command += [f"--model={DRY}", f"--pairs={EXAMPLE['pairs']}", f"--revision={COMMIT}"]
    with stand_in_hub(served) as server:
        done = subprocess.run(
            [sys.executable, *command, f"--out={work / 'out'}"],
            env=environment(server.address, work / "home"),
            capture_output=True,
            text=True,
            check=True,
        )
    dry_run, found = done.stdout.rstrip().rsplit("\n", 1)
    place = models["pickles-code"].parent / "run"
    return SimpleNamespace(
        dry_run=dry_run,
        found=json.loads(found),  # by slug: of `look_up`, of `fetch`
        asked=server.asked,
        errors=done.stderr,
        home=work / "home" / "hub",
        place=place,  # that a malicious pickle would make
    )


REFUSED = "the hub refuses this user"
PICKLES = rf"{AT} has pickled weights only \(pytorch_model\.bin\), which can run code"
# What `fetch` says; `look_up` says the same of the slugs in `AT_ONCE`, and finds others.
SENTENCES = {
    "401": rf"x\.401 {AT}: {REFUSED} \(Invalid credentials .*\); .* log in with `hf auth login`",
    "403": rf"{REFUSED} \(this token may not read it\); look at http://\S+/org/x\.403 for a lic",
    "404": r"org/x\.404: neither a local folder nor a model on the hub .* check the spelling",
    "gone": rf"x\.gone {AT}: the hub has no such file \(Not Found\); .*/org/x\.gone/tree/{COMMIT}",
    "429": r"answers HTTP 429 \(we have to rate limit you\); try again later",
    "500": r"answers HTTP 500 \(Internal Error - we're working hard\); try again later",
    "gated": r"is gated: accept its licence at http://\S+/org/x\.gated, then log in .*\(ask for ac",
    "known-gated": r"x\.known\.gated is gated: accept its licence",
    "cut": r"was not whole \(peer closed connection .* \(received 40776 bytes, expected 81552",
    "short": r"was not whole \(Consistency check failed: .* 81552 but has size 81544",
    "wrong": r"model\.safetensors: wrong bytes arrived, their sha256 is not [0-9a-f]{64};",
    "moved": r"the hub has no revision '9876.*'; take a commit, .* http://\S+/org/x\.moved/commits",
    "unknown": r"t5 is an encoder-decoder; take a decoder",
    "other": r"other: declared n_layers 4, the checkpoint has 3; correct the registry or the rev",
    "bos": r"bos: declared adds_bos False, the checkpoint has True; correct the registry or the",
    "pickles-wrong": r"pytorch_model\.bin: wrong bytes arrived, their sha256 is not",
    "pickles-code": r"its pickles are not tensors alone \(UnpicklingError: ",
    "reader-pickles": PICKLES,
}
SENTENCES |= {f"api-{status}": SENTENCES[status].replace(r"x\.", r"x\.api\.") for status in STATUS}
PASSING = ("429", "500", "cut", "short", "wrong", "pickles-wrong")  # another try may have it
AT_ONCE = (
    *("reader-pickles", "gated", "known-gated", "moved"),
    *(f"api-{status}" for status in STATUS),
)
BEFORE_WEIGHTS = ("other", "bos", "unknown")  # refused by config and tokenizer
HAD = dict.fromkeys(("whole", "slow"), "snapshots") | {"pickles": "converted"}


def test_every_model_is_had_or_refused(models: dict[str, Path], seen: SimpleNamespace) -> None:
    assert models.keys() == SENTENCES.keys() | HAD.keys()
    assert {slug: Path(seen.found[slug][1]).parent.name for slug in HAD} == HAD
    assert "%|" not in seen.errors  # a log has no bars


@pytest.mark.parametrize("slug", SENTENCES)
def test_what_the_hub_says_is_passed_on_with_a_fix(seen: SimpleNamespace, slug: str) -> None:
    looked_up, fetched = seen.found[slug]
    kind = "TryAgainError" if slug.removeprefix("api-") in PASSING else "LayerwiseError"
    assert re.match(f"{kind}: .*{SENTENCES[slug]}", fetched)
    assert "cannot be reached" not in fetched
    if slug in (*AT_ONCE, *BEFORE_WEIGHTS):
        assert looked_up == fetched
    else:
        assert sum(looked_up.values()) > 30_000


def test_wrong_bytes_are_removed_so_that_they_are_fetched_anew(seen: SimpleNamespace) -> None:
    """What is pickled is not even looked into."""
    for slug in ("wrong", "pickles-wrong"):
        home = seen.home / f"models--org--x.{slug.replace('-', '.')}"
        snapshot = home / "snapshots" / COMMIT
        assert (snapshot / "config.json").is_file()
        assert not [*snapshot.glob("*.safetensors"), *snapshot.glob("*.bin")]
        assert not [blob for blob in home.glob("blobs/*") if len(blob.name) == 64]


def test_weights_are_listed_before_any_of_them_is_asked_for(seen: SimpleNamespace) -> None:
    assert list(seen.found["whole"][0]) == ["model.safetensors"]
    assert list(seen.found["pickles"][0]) == ["pytorch_model-1.bin", "pytorch_model-2.bin"]
    for slug in AT_ONCE:  # what is refused at once costs one small file
        of_it = [line for line in seen.asked if f"/x.{slug.replace('-', '.')}/resolve/" in line]
        assert {line.rpartition("/")[2] for line in of_it} <= {"config.json"}
    for name in (*(f"x.{slug}" for slug in BEFORE_WEIGHTS), "x.reader.pickles"):
        of_it = [line for line in seen.asked if f"/{name}/resolve/" in line]
        assert not [line for line in of_it if line.endswith((".bin", ".safetensors"))]
    assert f"GET /org/x.bos/resolve/{COMMIT}/tokenizer.json" in seen.asked


def test_a_dry_run_fetches_config_and_tokenizer(seen: SimpleNamespace) -> None:
    """All of them, and says what the weights are; the run with weights says the same of it."""
    assert f"model    {DRY}: opt, 3 blocks, hidden size 16" in seen.dry_run
    assert re.search(r"fetch    0\.\d+ MiB of weights from the hub", seen.dry_run)
    assert "tokenizer and texts are right, tensors are checked once they are" in seen.dry_run
    of_it = [line for line in seen.asked if f"/{DRY}/" in line]
    assert {line.rpartition("/")[2] for line in of_it} >= {"config.json", "tokenizer.json"}
    assert not [line for line in of_it if ".safetensors" in line]


FETCH = """\
import sys
from layerwise.errors import LayerwiseError
from layerwise.models import hub
for name in sys.argv[1:]:
    try:
        print(hub.fetch(hub.look_up(*name.split("@"))).folder)
    except LayerwiseError as error:
        print(error)
"""


def test_what_was_fetched_is_there_when_the_hub_is_not(tmp_path: Path) -> None:
    """With a terminal to draw bars on, and the token that the gate asks for.

    Of a commit that is in the cache, whoever put it there, nothing is asked at all: a client that
    cannot reach the hub waits half a minute. A branch may have moved since.
    """
    names = ["org/x.slow", "org/x.gated", "org/x.kept", "org/x.moved"]
    for name, commit in (("kept", COMMIT), ("moved", COMMIT[::-1])):
        home = tmp_path / "hub" / f"models--org--x.{name}"
        keep(Path(shutil.copytree(twin_folder("opt"), home / "built")), home, commit)
    terminal, inner = pty.openpty()
    termios.tcsetwinsize(inner, (24, 100))
    asked = [*(f"{name}@{COMMIT}" for name in names[:3]), "org/x.moved@main", f"org/x@{COMMIT}"]
    ask = [sys.executable, "-c", FETCH, *asked]
    with stand_in_hub(dict.fromkeys(names, twin_folder("opt"))) as server:
        env = environment(server.address, tmp_path) | {"HF_TOKEN": TOKEN}
        first = subprocess.run(ask, env=env, stdout=subprocess.PIPE, stderr=inner, text=True)
    assert not [line for line in server.asked if "x.kept" in line]
    os.close(inner)
    assert "%|" in os.read(terminal, 2**16).decode(errors="replace")
    again = subprocess.run(ask, env=env, capture_output=True, text=True)
    *folders, missing = first.stdout.splitlines()
    assert {Path(folder).name for folder in folders} == {COMMIT}
    assert all(Path(folder, "model.safetensors").is_file() for folder in folders)
    assert again.stdout.splitlines()[:4] == folders
    assert "Retrying" not in again.stderr  # the client would for half a minute
    assert "org/x: neither a local folder nor a model on the hub" in missing
    assert "org/x at 0123" in again.stdout
    assert "and the hub cannot be reached (ConnectError); connect" in again.stdout


def test_pickles_give_the_twin_itself(
    seen: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later without the hub, and without the pickles."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(seen.home))
    model = TWIN.model_copy(update={"hub": "org/x.pickles", "revision": COMMIT})
    folder = Path(seen.found["pickles"][1])
    for link in (folder.parents[1] / "snapshots" / COMMIT).glob("*.bin"):
        link.unlink()
    loaded = load_registered(model, "float32", device="cpu")
    assert (loaded.files.folder, loaded.revision) == (folder, COMMIT)
    assert list(hub.look_up_registered(model).weights) == ["model.safetensors"]
    twin = load_model(twin_folder("opt"), device="cpu")
    for one, two in zip(loaded.model.parameters(), twin.model.parameters(), strict=True):
        assert torch.equal(one, two)
    assert [path.name for path in folder.parent.iterdir()] == [COMMIT]


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "older"])
def test_tensors_that_are_one_are_written_once(tmp_path: Path, zipped: bool) -> None:
    whole = torch.arange(6.0).reshape(2, 3).half()
    part = {"lm_head.weight": whole, "z.weight": whole, "b.weight": whole.clone().T}
    torch.save(part, tmp_path / "a.bin", _use_new_zipfile_serialization=zipped)
    write_safetensors(tmp_path, [tmp_path / "a.bin"])
    written = load_file(tmp_path / "model.safetensors")
    assert sorted(written) == ["b.weight", "z.weight"]
    assert torch.equal(written["z.weight"], whole)
    assert torch.equal(written["b.weight"], whole.T)


def test_no_pickle_runs_code_or_leaves_half_a_conversion(seen: SimpleNamespace) -> None:
    assert not seen.place.exists()
    for slug in ("code", "wrong"):
        home = seen.home / f"models--org--x.pickles.{slug}"
        assert list(home.glob("converted/*")) == []
        assert list(home.rglob("*.safetensors")) == []


FETCH_OR_DROP = """\
import sys
from pathlib import Path
from layerwise.models import hub
from layerwise.models.registry import read_models
from layerwise.run.steps.fetch import fetch_weights
if sys.argv[1] == "fetch":
    said, code = fetch_weights(sys.argv[2:], Path("models.yaml"))
    assert code == 0, said
else:
    models = read_models(Path("models.yaml"))
    print(*(slug for slug in sys.argv[2:] if hub.drop_fetched(models[slug])))
"""


ON_A_SMALL_DISK = """\
import shutil, sys
from pathlib import Path
from types import SimpleNamespace
from layerwise.models import hub
from layerwise.run.steps.fetch import fetch_weights
hub.bytes_of_states = lambda model, choices: 3_000
shutil.disk_usage = lambda place: SimpleNamespace(free=int(sys.argv[1]))
said, code = fetch_weights([], Path("models.yaml"))
print(code, said)
"""


def register(folder: Path, *names: str) -> None:
    """Write a registry of models of the hub that are all the twin."""
    entries = {}
    for name in names:
        model = TWIN.model_copy(update={"hub": name, "revision": COMMIT})
        slug = name.partition("/")[2]
        entries[slug] = json.loads(model.model_dump_json(exclude={"slug"}))
    (folder / "models.yaml").write_text(yaml.safe_dump({"models": entries}))


def test_a_model_without_room_is_not_fetched_and_leaves_the_others_alone(
    models: dict[str, Path], tmp_path: Path
) -> None:
    """Pickles need their bytes twice; hidden states are counted."""
    served = {"org/pickles": models["pickles"], "org/plain": models["whole"]}
    register(tmp_path, *served)
    size = (models["whole"] / "model.safetensors").stat().st_size

    def fetch(free: int) -> str:
        command = [sys.executable, "-c", ON_A_SMALL_DISK, str(free)]
        env = environment(server.address, tmp_path / "home")
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with stand_in_hub(served) as server:
        assert "weights of 0 models are there" in fetch(size + 2_999)
        said = fetch(size + 3_000)
        assert said.startswith("1 weights of 1 models are there")
        assert re.search(f"not pickles: {tmp_path}/.*: org/pickles, .* need .* are free;", said)
        assert not [asked for asked in server.asked if "org/pickles" in asked and ".bin" in asked]
        assert fetch(10 * size).startswith("0 weights of 2 models")


def test_a_disk_that_fills_meanwhile_is_told_with_model_place_and_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.snapshot_download", fill)
    weights = {"model.safetensors": 2**30}
    files = CheckpointFiles("org/x", tmp_path, COMMIT, weights, absent=True)
    with pytest.raises(LayerwiseError, match=rf"^org/x, .*1\.00 GiB .* {tmp_path}: .*make room"):
        hub.fetch(files)


def test_parts_that_killed_processes_left_are_removed_and_no_others(tmp_path: Path) -> None:
    """What is being fetched stays, by its lock or as it grows, and what old clients may resume."""
    home = tmp_path / "models--org--model"
    whole, resumed = "a" * 64, "a" * 64 + ".incomplete"  # which older clients went on with
    left, fetched, growing = (f"{hash_ * 64}.0123abcd.incomplete" for hash_ in "abc")
    for name in (whole, resumed, left, fetched, growing):
        (home / "blobs" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / "blobs" / name).write_bytes(b"part")
        if name != growing:
            os.utime(home / "blobs" / name, (0, 0))
    with FileLock(tmp_path / ".locks" / home.name / f"{'b' * 64}.lock"):
        remove_leftovers(home / "snapshots" / COMMIT)
    assert {file.name for file in home.glob("blobs/*")} == {whole, resumed, fetched, growing}
    remove_leftovers(home / "snapshots" / COMMIT)
    assert {file.name for file in home.glob("blobs/*")} == {whole, resumed, growing}


def test_weights_that_a_run_fetched_are_removed_and_no_others(
    models: dict[str, Path], tmp_path: Path
) -> None:
    """Pickles with what was converted of them.

    What was there before stays, a single file too; so does what another commit came to share, and
    everything where nobody asks. What a killed process was fetching goes before the next fetch.
    """
    served = {f"org/{slug}": models["whole"] for slug in ("plain", "there", "shared")}
    served["org/pickles"] = models["pickles"]
    slugs = [name.partition("/")[2] for name in served]
    register(tmp_path, *served)
    caches = {slug: tmp_path / "home" / "hub" / f"models--org--{slug}" for slug in slugs}
    snapshots = {slug: home / "snapshots" / COMMIT for slug, home in caches.items()}
    keep(Path(shutil.copytree(models["whole"], tmp_path / "whole")), caches["there"], COMMIT)
    part = Path(shutil.copytree(models["pickles"], tmp_path / "part"))
    (part / "pytorch_model-2.bin").unlink()
    keep(part, caches["pickles"], COMMIT)
    left = caches["plain"] / "blobs" / f"{'a' * 64}.0123abcd.incomplete"
    left.parent.mkdir(parents=True)
    left.touch()
    os.utime(left, (0, 0))

    def run(what: str, drops: str) -> str:
        command = [sys.executable, "-c", FETCH_OR_DROP, what, *slugs]
        env = environment(server.address, tmp_path / "home") | {"LAYERWISE_DROP_WEIGHTS": drops}
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    with stand_in_hub(served) as server:
        run("fetch", "1")
        assert not left.exists()
        other = caches["shared"] / "snapshots" / COMMIT[::-1]
        shutil.copytree(snapshots["shared"], other, symlinks=True)
        assert run("drop", "") == ""
        assert run("drop", "1") == "plain pickles"
        assert run("drop", "1") == ""
        assert not (snapshots["plain"] / "model.safetensors").exists()
        assert (snapshots["plain"] / "tokenizer.json").is_file()
        assert not [blob for blob in caches["plain"].glob("blobs/*") if len(blob.name) == 64]
        for kept in (snapshots["there"], snapshots["shared"], other):
            assert (kept / "model.safetensors").is_file()
        assert [file.name for file in snapshots["pickles"].glob("*.bin")] == ["pytorch_model-1.bin"]
        assert not (caches["pickles"] / "converted" / COMMIT).exists()
        run("fetch", "")
        assert run("drop", "1") == ""
        assert (snapshots["plain"] / "model.safetensors").is_file()
