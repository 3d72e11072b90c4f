"""What the operating system refuses is a sentence: the place, its words, the fix; nothing stays."""

import contextlib
import os
import re
import resource
import subprocess

import pytest

from claim_records import folders, record
from hostile import as_nobody
from layerwise import analyze
from layerwise.files import write_json
from layerwise.papers.shared.result_files import LAYERS
from layerwise.reader.compare import compare
from layerwise.run.steps import page, sentences
from run_records import with_made_up_record
from tiny_checkpoints import EXAMPLE, twin_folder


@contextlib.contextmanager
def full_disk(out):
    """No file grows beyond a few bytes: the disk is as good as full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    try:
        yield out
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextlib.contextmanager
def read_only(out):
    out.parent.chmod(0o555)
    with as_nobody():
        yield out
    out.parent.chmod(0o755)


@contextlib.contextmanager
def file_there(out):
    (out.parent / "file").write_text("mine")
    yield out.parent / "file" / "x"


PLACES = {
    full_disk: "make room",
    read_only: "make it readable, and its folder writable",
    file_there: "move it away",
}


@pytest.fixture(scope="module")
def curves(tmp_path_factory, published):
    """Two folders of `layerwise analyze`, as far as `scaling` reads them."""
    base = tmp_path_factory.mktemp("curves")
    for name in ("one", "two"):
        document = {**published.document(LAYERS), "n_layers": 32, "model_display": name}
        whole = with_made_up_record({"layers": document}, name, 32)["layers"]
        write_json(base / name / "layers.json", whole)
    return [base / "one", base / "two"]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("command", ["page", "scaling"])
def test_what_the_system_refuses_is_a_sentence_and_leaves_nothing(
    command, place, curves, root, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(root)
    made = folders(tmp_path / "made", [record("p2.a")])
    few = {"claims": made.claims, "statistics": made.statistics, "figures": made.figures}
    commands = {
        "page": lambda out: page.run("published", **few, out=out),
        "scaling": lambda out: compare(curves, out),
    }
    (base := tmp_path / "base").mkdir()
    with pytest.raises(SystemExit) as ended, place(base / "out") as out, sentences("it"):
        commands[command](out)
    if place is read_only:
        base.chmod(0o755)
    err = capsys.readouterr().err
    assert ended.value.code == 2
    assert PLACES[place] in err
    assert err.startswith("it: ")
    assert err.count("\n") == 1
    left = {path.name for path in base.rglob("*")}
    assert left <= {"file", "out"}  # a folder that was made for it may stay, empty


ANALYZE = "layerwise analyze --model={model} --prompts={prompts} --out=x --pairs="
ASCII = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}


@pytest.mark.parametrize(
    ("environment", "line", "message"),
    [
        ({}, "layerwise models >/dev/full", "No space left on device; make room"),
        (ASCII, "layerwise models", ""),
        ({}, "ulimit -f 1; layerwise scaling {0} {1} --out x", "File too large; make room, or"),
        ({"WORLD_SIZE": "2"}, ANALYZE + "{pairs}", "and no RANK nor LOCAL_RANK nor MASTER_ADDR"),
    ],
)
def test_the_terminal_the_environment_a_full_disk_and_endless_files(
    environment, line, message, curves, root, tmp_path
):
    (tmp_path / "models.yaml").symlink_to(root / "models.yaml")
    texts = {name: root / "examples" / f"{name}.json" for name in ("pairs", "prompts")}
    done = subprocess.run(
        line.format(*curves, model=twin_folder("gpt_neox"), **texts),
        shell=True,
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == (2 if message else 0), done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == bool(message), done.stderr
    assert list(tmp_path.glob("x/*.json")) == []  # states of batches that are done may stay


def test_a_disk_that_is_full_when_states_are_written(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended, sentences("it"), full_disk(tmp_path / "x") as out:
        analyze(twin_folder("gpt_neox"), **EXAMPLE, out=out)
    said = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2
    assert re.fullmatch("it: .*hidden_states.*: File too large; make room, or name .*", said[-1])
    assert list(tmp_path.glob("x/*.json")) == []
