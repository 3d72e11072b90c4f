"""The share of the papers' models that a machine without a GPU measures."""

import re
import signal
import subprocess
import sys
import time
from inspect import signature

import pytest
import yaml

from layerwise.errors import LayerwiseError
from layerwise.models import needs
from layerwise.models.registry import BYTES, read_models
from layerwise.run.rehearsal import scratch, share
from layerwise.run.steps import small
from layerwise.shapes import read_choices
from processes import program

ONCE = {"replicates": 0, "control": 0}
AMPLE = {"memory": 1e15, "seconds": 1e15, "download": 1e15}


@pytest.fixture(scope="module")
def models(root):
    return read_models(root / "models.yaml")


def test_with_room_for_all_only_those_are_left_that_the_registry_leaves(models) -> None:
    assert share.skip_reasons(models, **AMPLE, **ONCE) == {
        slug: model.skipped for slug, model in models.items() if model.skipped
    }


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"memory": 4e9}, "it needs 24.9 GB, 4.0 GB are free"),
        ({"seconds": 600.0}, "the share is 10"),
        ({"download": 5e9}, "of weights, the share is 5"),
    ],
)
def test_no_limit_is_exceeded_and_the_cheapest_are_taken_first(models, limit, reason) -> None:
    limits = AMPLE | limit
    left = share.skip_reasons(models, **limits, **ONCE)
    chosen = [model for slug, model in models.items() if slug not in left]
    assert sum(needs.seconds(model, "cpu", **ONCE) for model in chosen) <= limits["seconds"]
    weights = sum(model.parameters * 1e9 * BYTES[model.dtype] for model in chosen)
    assert weights <= limits["download"]
    for model in chosen:
        assert max(needs.memory(model, dtype) for dtype in model.dtypes) <= limits["memory"]
    assert "pythia-70m" not in left
    assert reason in left["pythia-12b"]


def test_the_page_says_how_many_models_the_usual_limits_allow(root, models) -> None:
    page = " ".join((root / "docs" / "weights.md").read_text(encoding="utf-8").split())
    memory, n_models = re.search(
        r"With (\d+) GB of memory or more these are (\d+) models", page
    ).groups()
    choices = read_choices(root / "params.yaml", "measure")
    usual = {name: parameter.default for name, parameter in signature(small.run).parameters.items()}
    limits = {"seconds": usual["hours"] * 3600, "download": usual["gigabytes"] * 1e9}
    again = {name: choices[name] for name in ONCE}
    for room in (float(memory) * 1e9, AMPLE["memory"]):
        left = share.skip_reasons(models, memory=room, **limits, **again)
        assert len(models) - len(left) == int(n_models)


def test_more_replicates_and_draws_take_from_the_share(models) -> None:
    alone = share.skip_reasons(models, **AMPLE | {"seconds": 1800.0}, **ONCE)
    again = share.skip_reasons(models, **AMPLE | {"seconds": 1800.0}, replicates=5, control=5)
    assert set(alone) < set(again)


def test_the_copy_measures_on_the_cpu_and_the_checkout_stays(root, tmp_path) -> None:
    before = (root / "models.yaml").read_bytes()
    left = share.prepare(root, tmp_path / "copy", hours=0.2, gigabytes=3)
    declared = yaml.safe_load((tmp_path / "copy" / "models.yaml").read_text())["models"]
    assert {slug: one["skip"] for slug, one in declared.items() if "skip" in one} == left
    choices = read_choices(tmp_path / "copy" / "params.yaml", "measure")
    assert choices == read_choices(root / "params.yaml", "measure") | {"device": "cpu"}
    assert (tmp_path / "copy" / scratch.MARK).read_text() == share.ABOUT
    assert (root / "models.yaml").read_bytes() == before


def test_where_no_model_fits_nothing_is_run(root, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setattr(small, "run_pipeline", lambda folder: pytest.fail("it ran"))
    with pytest.raises(LayerwiseError, match=r"no model is measured here in 0 hours .*--gigabytes"):
        small.run(tmp_path / "copy", hours=0.0)
    assert "models: pythia-70m" in small.run(tmp_path / "copy", dry_run=True)


# Tells that it began and when it was told to end.
LAUNCHER = """import os, pathlib, signal, sys, time
def ended(*_):
    pathlib.Path("ended").touch()
    sys.exit(1)
signal.signal(signal.SIGTERM, ended)
pathlib.Path("begun.part").write_text(f"{sys.argv[1:]} {os.environ['CUDA_VISIBLE_DEVICES']!r}")
pathlib.Path("begun.part").rename("begun")
time.sleep(99)
"""


def test_the_pipeline_runs_in_the_copy_and_stops_with_who_started_it(tmp_path) -> None:
    """With the copy's own code and no GPU; of Ctrl-C in a terminal it hears nothing itself."""
    steps = tmp_path / "code" / "layerwise" / "run" / "steps"
    steps.mkdir(parents=True)
    for folder in (steps, steps.parent, steps.parents[1]):
        (folder / "__init__.py").touch()
    (steps / "run.py").write_text(LAUNCHER)
    script = "import sys, pathlib; from layerwise.run.rehearsal.running import run_pipeline; "
    script += "run_pipeline(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", script, str(tmp_path)]
    with program(command, tmp_path, stderr=subprocess.PIPE) as share_process:
        while not (tmp_path / "begun").exists():
            assert share_process.poll() is None
            time.sleep(0.05)
        share_process.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in share_process.communicate(timeout=60)[1]
    assert (tmp_path / "begun").read_text() == "['all'] ''"
    assert (tmp_path / "ended").exists()
