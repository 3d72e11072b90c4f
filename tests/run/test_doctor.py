"""`layerwise doctor`: every check at every outcome, what the outcomes mean, and one real run."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from layerwise.errors import LayerwiseError, TryAgainError
from layerwise.models.provenance import smi
from layerwise.papers.fetching import upstream
from layerwise.present import terminal
from layerwise.run.doctor import (
    FULL,
    REHEARSE,
    REPRODUCE,
    TEST,
    Diagnosis,
    examine,
    here,
    measuring,
    obstacles,
)
from layerwise.run.steps import doctor

GB = 1e9
CPU = {"torch": "2.13.0+cpu", "numpy": "2.4.6", "transformers": "5.23.0", "dvc": "3.67.1"}
LOCKED = {name: {version} for name, version in CPU.items()} | {"torch": {"2.13.0+cpu", "2.13.0"}}


# --- every check, every outcome -----------------------------------------------------------------


def pins(**versions: str | None) -> dict[str, Any]:
    there = CPU | versions
    return {
        "layerwise.run.doctor.here.locked_versions": lambda folder: LOCKED,
        "layerwise.run.doctor.here.installed": there.get,
    }


def rooms(disk: float = 999, memory: float = 999) -> dict[str, Any]:
    return {
        "shutil.disk_usage": lambda place: SimpleNamespace(free=int(disk * GB)),
        "psutil.virtual_memory": lambda: SimpleNamespace(available=memory * GB),
    }


def driver(version: str, cuda: str | None = "13.0", sees: bool = False) -> dict[str, Any]:
    gpus = ["NVIDIA H200, 143771 MiB"] if version else []
    return {
        "layerwise.models.provenance.smi": lambda: (version, gpus),
        "torch.version.cuda": cuda,
        "torch.cuda.is_available": lambda: sees,
    }


def device(gigabytes: float, disk: float = 999) -> dict[str, Any]:
    """Free memory of a GPU, and of the disk of the cache."""
    return rooms(disk) | {
        "torch.cuda.is_available": lambda: True,
        "layerwise.models.devices.free_bytes": lambda device: gigabytes * GB,
    }


def closed(*slugs: str, error: type[Exception] = LayerwiseError) -> dict[str, Any]:
    def look_up(model: Any, texts: Any) -> Any:
        if model.slug in slugs or not slugs:
            raise error(f"{model.slug}: accept its licence")
        pickled = model.family == "opt"
        weights = {"pytorch_model.bin" if pickled else "model.safetensors": int(GB)}
        return SimpleNamespace(weights=weights)

    return {"layerwise.models.hub.look_up_registered": look_up}


def two_gigabytes(*_: Any) -> float:
    return 2 * GB


# check, what is there, what is said, the fix, what it stops
OUTCOMES: list[tuple[Any, dict[str, Any], str, str, tuple[str, ...]]] = [
    (here.packages, pins(), "all 4 packages as locked, torch 2.13.0+cpu", "", ()),
    (
        here.packages,
        pins(numpy="2.3.0"),
        "numpy is 2.3.0, locked 2.4.6; numbers may differ",
        "remove .venv",
        (),
    ),
    (
        here.packages,
        pins(torch=None),
        "all 3 packages as locked, no torch (`make setup-models`",
        "",
        (),
    ),
    (here.room, rooms(), "999.0 GB free for results, 0.2 GB needed", "", ()),
    (here.room, rooms(disk=0.9), "0.9 GB free for ", "make room", (REHEARSE,)),
    (
        here.room,
        rooms(memory=1),
        "0.9 GiB of memory, up to 1.2 GiB",
        "make room",
        (TEST, REHEARSE),
    ),
    (measuring.gpu, driver("580.65", sees=True), "as params.yaml asks (NVIDIA H200", "", ()),
    (measuring.gpu, driver(""), "finds none", "a GPU of 40 GB", (FULL,)),
    (
        measuring.gpu,
        driver("470.82"),
        "driver 470.82, torch built for CUDA 13.0",
        "cuda12 from 525",
        (FULL,),
    ),
    (measuring.gpu, driver("580.65", None), "CUDA None", "TORCH=cuda` from 580", (FULL,)),
    (
        measuring.models,
        closed("none") | device(80),
        " min (singular values and the download apart); 40.0 GB to fetch, 999.0 GB free for ",
        "",
        (),
    ),
    (measuring.models, closed() | device(80), "0 of 37 can be measured", "a `skip`", (FULL,)),
    (
        measuring.models,
        closed("none") | device(80, disk=39),
        "40.0 GB to fetch, 39.0 GB free",
        "set HF_HOME to a folder on another disk",
        (FULL,),
    ),
    (  # the hidden states go to the same disk
        measuring.models,
        closed("none")
        | device(80, disk=41)
        | {"layerwise.models.hub.states_beside": two_gigabytes},
        "40.0 GB to fetch, 41.0 GB free",
        "set HF_HOME to a folder on another disk",
        (FULL,),
    ),
    (
        measuring.models,
        closed(error=TryAgainError) | device(80),
        "pythia-70m: accept",
        "ask again later, or fill the cache",
        (FULL,),
    ),
]


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No network is asked, the cache of the hub is empty, no mirror holds the data."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("LAYERWISE_MIRROR", str(tmp_path))


def put(there: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in there.items():
        monkeypatch.setattr(name, value)


CHECKS = here.CHECKS | measuring.CHECKS


@pytest.mark.parametrize(("check", "there", "found", "fix", "blocks"), OUTCOMES)
def test_outcome(check, there, found, fix, blocks, root, offline, monkeypatch):
    put(there, monkeypatch)
    finding = check(root)
    assert found in finding.found
    assert fix in finding.fix
    assert (fix == "") == (finding.fix == "")
    assert finding.blocks == blocks
    (needed_by,) = (known.needed_by for known in CHECKS.values() if known.look is check)
    assert {*blocks} <= {*needed_by}


def test_what_needs_a_check_that_cannot_be_made_is_not_said_to_run(tmp_path):
    """One after the other: each stops all that can fail of it, and nothing else."""

    def fail(root: Path) -> Diagnosis:
        raise RuntimeError("two\nlines")

    for name, check in CHECKS.items():
        fine = {"look": lambda root: Diagnosis("fine")}
        there = {name: replace(check, **fine) for name, check in CHECKS.items()}
        there[name] = replace(check, look=fail)
        findings = examine(there, tmp_path)
        assert findings[name].found.startswith("could not be looked at (")
        assert findings[name].fix
        assert "\n" not in findings[name].found + findings[name].fix
        stopped = {target for target, names in obstacles(findings).items() if names}
        assert stopped == {*check.needed_by}


def test_models_that_are_not_measured_are_named_by_the_reason(root, offline, monkeypatch):
    """By hand, on a GPU of 30 GB: what the registry, the hub and memory leave out."""
    put(closed("gemma-7b") | device(30), monkeypatch)
    found = measuring.models(root).found
    assert "34 of 37 can be measured on cuda: " in found
    assert "; not BLOOM-1B1, BLOOM-1B7: no commit is recorded" in found
    assert "; not Gemma-7B: gemma-7b: accept its licence" in found
    part = "; only in part Mistral-7B, Apertus-8B: in float32 more than the 30.0 GB of memory"
    assert part in found
    put(device(20), monkeypatch)
    assert "; not Pythia-12B: it takes more than the 20.0 GB of" in measuring.models(root).found


def test_a_cpu_is_a_device_too(root, offline, monkeypatch, tmp_path):
    """Memory is the machine's, and the rate that of its cores."""
    for name in ("models.yaml", "params.yaml"):
        text = (root / name).read_text()
        (tmp_path / name).write_text(text.replace("device: cuda ", "device: cpu "))
    put(closed("none") | rooms(memory=50), monkeypatch)
    minutes = {}
    for cores in (2, 64):
        monkeypatch.setattr("psutil.cpu_count", lambda logical, n=cores: n)
        found = measuring.models(tmp_path).found
        minutes[cores] = int(re.search(r"35 of 37 .* on cpu: about (\d+) min", found)[1])
    assert 120 < minutes[64] < 150 < minutes[2]  # docs/costs.md: two hours and a quarter
    assert measuring.gpu(tmp_path).blocks == ()


def test_the_versions_of_all_locks_are_read(tmp_path):
    pin = "# made\ntorch=={} \\\n    --hash=sha256:ab\n    # via x==1\n"
    for build in ("2.13.0", "2.13.0+cpu"):
        (tmp_path / f"{build}.lock").write_text(pin.format(build))
    assert here.locked_versions(tmp_path) == {"torch": {"2.13.0", "2.13.0+cpu"}}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("\udcff580.1, A", ("\ufffd580.1", ("A",))),
        ("580.1, A, 1 MiB\n580.1, B, [N/A]", ("580.1", ("A, 1 MiB", "B, [N/A]"))),
        (None, ("", ())),  # a driver that does not answer
    ],
)
def test_nvidia_smi_is_asked_once(tmp_path, monkeypatch, said, expected):
    smi.cache_clear()
    asked = '[ "$*" = "--query-gpu=driver_version,name,memory.total --format=csv,noheader" ]'
    text = "exit 9" if said is None else f"{asked} && echo '{said}'"
    (tmp_path / "nvidia-smi").write_bytes(os.fsencode(f"#!/bin/sh\n{text}\n"))
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert smi() == expected
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert smi() == expected
    smi.cache_clear()
    assert smi() == ("", ())
    smi.cache_clear()


# --- the whole ----------------------------------------------------------------------------------


def test_run_here(offline, root, monkeypatch):
    monkeypatch.setattr(upstream, "verify_data", lambda folder: None)
    monkeypatch.setattr(measuring, "_texts", lambda folder: {})  # no data/ is there
    shown, code = doctor.run(root)
    text = terminal.as_text(shown)
    assert "could not be looked at" not in text
    assert code == (0 if re.search(f"{REPRODUCE} +yes", text) else 2)
    assert re.search("^models +0 of 37 can be measured on cuda: ", text, re.M)
    assert re.search(f"^{FULL} +no: .*models$", text, re.M)


def test_without_a_clone_it_says_what_needs_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LayerwiseError, match=r"a clone .*; `layerwise headlines` needs none"):
        doctor.run()


def test_where_numpy_does_not_run_it_says_so(tmp_path, root):
    """A package that raises when it is imported, as a broken binary does."""
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text("raise ImportError('no libgomp')")
    done = subprocess.run(
        [sys.executable, "-m", "layerwise.run.cli", "doctor"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ
        | {
            "PYTHONPATH": f"{tmp_path}:{root / 'code'}",
            "HF_HUB_OFFLINE": "1",
            "LAYERWISE_MIRROR": str(tmp_path),
            "HF_HUB_CACHE": str(tmp_path),
        },
    )
    assert done.stderr == ""
    assert re.search("^models +could not be looked at .ImportError: no libgomp", done.stdout, re.M)
