"""The rehearsal: its copy of the repository, its twins, its stages, and what it says at the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from layerwise.errors import LayerwiseError
from layerwise.extraction.load import load_registered
from layerwise.inputs import upstream
from layerwise.inputs.models import read_models
from layerwise.inputs.pairs import read_pairs
from layerwise.inputs.prompts import read_prompts
from layerwise.rehearsal import cache, default_folder, scratch
from layerwise.rehearsal.outcome import NO_STATISTIC, outcome, silent
from layerwise.rehearsal.running import Pipeline

# --- the copy -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def copy(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rehearsal") / "copy"
    scratch.prepare(root, folder)
    return folder


def test_the_copy_holds_what_git_holds_and_no_results(root, copy):
    for path in ("dvc.yaml", "claims/paper1.yaml", "code/layerwise/cli.py", ".gitignore"):
        assert (copy / path).read_bytes() == (root / path).read_bytes()
    for path in (".git", ".venv", "results", "dvc.lock", "data"):
        assert not (copy / path).exists()
    assert "no_scm = true" in (copy / ".dvc" / "config").read_text()


def test_a_copy_is_brought_up_to_date(tmp_path):
    """What is new is copied, what is gone is removed, and what a rehearsal made stays."""
    root, folder = tmp_path / "root", tmp_path / "copy"
    for name in ("kept.py", "gone.py", ".venv/python"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("1")
    (root / ".gitignore").write_text("/.venv/\n")
    folder.mkdir()
    scratch.copy_repository(root, folder)
    (root / "gone.py").unlink()
    (root / "kept.py").write_text("two")
    (folder / "results").mkdir()
    (folder / "results" / "claims.json").write_text("{}")
    scratch.copy_repository(root, folder)
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
        ".gitignore", "claims.json", "kept.py",
    ]  # fmt: skip
    assert (folder / "kept.py").read_text() == "two"


def test_no_folder_is_written_over_that_no_rehearsal_made(root, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(LayerwiseError, match=r"no rehearsal made it \(there is no REHEARSAL.md\)"):
        scratch.prepare(root, tmp_path)
    with pytest.raises(LayerwiseError, match="writes nothing into the repository"):
        scratch.prepare(root, root / "scratch")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    assert not (root / "scratch").exists()


def test_every_repository_has_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder(tmp_path / "a").is_relative_to(tmp_path)
    assert default_folder(tmp_path / "a" / "x") != default_folder(tmp_path / "b" / "x")


def test_stand_in_texts_are_fetched_as_upstreams_are(copy, tmp_path):
    """The pairs by their sha256, the prompts out of notebooks."""
    upstream.fetch(tmp_path, copy / scratch.MIRROR, published=copy / "published")
    upstream.verify_data(tmp_path, published=copy / "published")
    ours = json.loads(scratch.OUR_PROMPTS.read_text(encoding="utf-8"))
    fetched = json.loads((tmp_path / "prompts.json").read_text(encoding="utf-8"))
    assert {study: of["prompts"] for study, of in fetched.items()} == {
        study: of["prompts"] for study, of in ours.items()
    }
    assert (tmp_path / "dataset.json").read_bytes() == scratch.OUR_PAIRS.read_bytes()
    with pytest.raises(LayerwiseError, match="cut off, 5873 of 33180 bytes"):
        upstream.fetch(tmp_path / "real", copy / scratch.MIRROR)


def test_models_are_declared_as_twins_and_all_are_measured(root, copy):
    real, twins = read_models(root / "models.yaml"), read_models(copy / "models.yaml")
    assert real.keys() == twins.keys()
    for slug, model in real.items():
        twin = twins[slug]
        assert twin.skipped is None
        assert twin.revision == model.revision or model.revision is None
        assert twin.shape.hidden_size < 300 < model.shape.hidden_size
        assert (twin.shape.n_layers, twin.experiments) == (model.shape.n_layers, model.experiments)


def test_twins_are_loaded_from_the_cache_like_the_papers_models(copy, tmp_path, monkeypatch):
    hub = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub))
    models = read_models(copy / "models.yaml")
    texts = [*read_pairs(scratch.OUR_PAIRS).statements, *read_prompts(scratch.OUR_PROMPTS)]
    for slug in ("gemma-2b", "gpt-neo-1p3b"):  # gated; without a recorded commit
        assert not cache.is_placed(models[slug], texts, hub)
        snapshot = cache.place(models[slug], texts, hub)
        assert cache.is_placed(models[slug], texts, hub)
        assert not cache.is_placed(models[slug], ["other", *texts], hub)
        loaded = load_registered(models[slug], "float16", device="cpu")
        assert loaded.revision == models[slug].revision
        assert loaded.folder == snapshot


# --- its stages ---------------------------------------------------------------------------------

STAGES = """\
stages:
  fetch: {cmd: echo data > data, outs: [data]}
  analyse:
    foreach: [published]
    do: {cmd: exit 1}
  measure:
    foreach: [small, large]
    do:
      cmd: while test -e hold-${item}; do sleep 1; done; test ! -e broken-${item} && date > ${item}
      deps: [data]
      outs: ['${item}']
  judge: {cmd: cat small large > claims, deps: [small, large], outs: [claims]}
"""


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """A pipeline of the same build: stages before, one per model, stages after."""
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text(scratch.DVC_CONFIG)
    (tmp_path / "dvc.yaml").write_text(STAGES)
    return tmp_path


def log(folder: Path) -> str:
    path = folder / scratch.LOG
    return path.read_text() if path.exists() else ""


def test_stages_run_in_order_and_once(pipeline):
    """And none of the other source, which is not rehearsed."""
    Pipeline(pipeline).run(["large", "small"])
    parts = [(pipeline / name).read_text() for name in ("small", "large")]
    assert (pipeline / "claims").read_text() == "".join(parts)
    assert "Running stage 'analyse" not in log(pipeline)
    (pipeline / scratch.LOG).unlink()
    Pipeline(pipeline).run(["large", "small"])
    assert log(pipeline).count("didn't change, skipping") == 4


def test_a_model_that_fails_leaves_the_others_alone(pipeline):
    (pipeline / "broken-large").touch()
    with pytest.raises(LayerwiseError, match=r"(?s)measure@large failed in .*\n    ERROR: .*log"):
        Pipeline(pipeline).run(["large", "small"])
    assert (pipeline / "small").exists()
    assert not (pipeline / "claims").exists()


def test_ctrl_c_leaves_no_process_and_the_next_run_goes_on(pipeline):
    script = (
        "import sys; from pathlib import Path; from layerwise.rehearsal import running\n"
        "running.workers = lambda: 1\n"
        "running.Pipeline(Path(sys.argv[1])).run(['large', 'small'])"
    )
    (pipeline / "hold-small").touch()
    run = subprocess.Popen([sys.executable, "-c", script, str(pipeline)], stderr=subprocess.PIPE)
    while "Running stage 'measure@large'" not in log(pipeline):
        assert run.poll() is None
        time.sleep(0.1)
    time.sleep(1.5)  # by then the other one runs
    run.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in run.communicate(timeout=20)[1]
    left = subprocess.run(["ps", "ax", "-o", "args"], capture_output=True, text=True, check=True)
    assert "hold-small" not in left.stdout
    large = (pipeline / "large").read_text()
    (pipeline / "hold-small").unlink()
    Pipeline(pipeline).run(["large", "small"])
    assert (pipeline / "claims").exists()
    assert (pipeline / "large").read_text() == large


# --- what it says -------------------------------------------------------------------------------


def record(number: int, **changes: object) -> dict[str, object]:
    usual = {"id": f"p{number}", "paper": 1, "published": 0.5, "recomputed": 0.25,
             "verdict": "differs", "cause": None}  # fmt: skip
    return usual | changes


def test_the_outcome_counts_claims_by_paper_and_cause():
    none: dict[str, object] = {"recomputed": None, "verdict": "not measured"}
    records = [
        record(1),
        record(2, paper=2, published=3, recomputed=3, verdict="reproduced"),
        record(3, paper=2, published=True, recomputed=True, verdict="reproduced"),
        record(4, cause="packed weights", **none),
        record(5, paper=2, cause="packed weights", **none),
        record(6, recomputed=None, verdict="not checkable", cause="nobody says how"),
        record(7, **none),
    ]
    rows = [line.split("  ") for line in outcome(records).splitlines()]
    table = {row[0] or row[1].strip(): [cell.strip() for cell in row[1:] if cell] for row in rows}
    assert table["claims"] == ["4", "3"]
    assert table["got a number"] == ["1", "2"]
    assert silent(records) == ["p7"]
    text = outcome(records)
    assert text.index("packed weights") < text.index(NO_STATISTIC)  # the most frequent first
    assert "counts and settings" in text
    assert "flags" in text
