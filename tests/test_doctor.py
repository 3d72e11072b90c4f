"""`layerwise doctor`: every check at every outcome, what the outcomes mean, and one real run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from layerwise.doctor import (
    FULL,
    REHEARSE,
    REPRODUCE,
    TARGETS,
    TEST,
    Finding,
    as_document,
    as_text,
    examine,
    here,
    measuring,
    room,
)
from layerwise.errors import LayerwiseError, TryAgainError
from layerwise.extraction.provenance import smi
from layerwise.inputs import upstream
from layerwise.inputs.models import read_models
from layerwise.steps import doctor

GB = 1e9
CPU = {"torch": "2.13.0+cpu", "numpy": "2.4.6", "transformers": "5.23.0", "dvc": "3.67.1"}
LOCKS = {"cpu.lock": CPU, "cuda.lock": CPU | {"torch": "2.13.0"}}

# --- what a finding means -----------------------------------------------------------------------


def test_text_and_document_say_what_can_run():
    findings = {
        "one": Finding("1"),
        "two": Finding("2", "mend it", (TEST, REHEARSE, FULL)),
        "three": Finding("3", "mend", TARGETS),
    }
    text = as_text({name: findings[name] for name in ("one", "two")})
    assert text.splitlines() == [
        "ok    one                  1",
        "warn  two                  2",
        "                           -> mend it",
        "",
        "make reproduce:      yes",
        "make test:           no: two",
        "make rehearse:       no: two",
        "make reproduce-full: no: two",
    ]
    found = as_document(findings)
    assert found["can_run"] == dict.fromkeys(TARGETS, False)
    both = ["two", "three"]
    assert found["obstacles"] == {REPRODUCE: ["three"], TEST: both, REHEARSE: both, FULL: both}
    assert found["checks"][::2] == [
        {"name": "one", "status": "ok", "found": "1", "fix": None, "blocks": (), "rows": ()},
        {
            "name": "three",
            "status": "FAIL",
            "found": "3",
            "fix": "mend",
            "blocks": TARGETS,
            "rows": (),
        },
    ]


def test_a_check_that_cannot_be_made_is_a_finding():
    def broken(root: Path) -> Finding:
        raise LayerwiseError(f"{root}: not valid YAML")

    found = "could not be looked at (LayerwiseError: here: not valid YAML)"
    expected = {"first": Finding(found, "mend that, then ask again", (FULL,))}
    assert examine({"first": broken}, Path("here")) == expected


def test_room(tmp_path, monkeypatch):
    asked = []
    usage = SimpleNamespace(free=GB)
    monkeypatch.setattr("shutil.disk_usage", lambda path: asked.append(path) or usage)
    place = tmp_path / "a" / "b"  # is not there yet
    assert room(place, GB, "a fix", TARGETS) == Finding(f"1.0 GB free for {place}, 1.0 GB needed")
    assert room(place, 2 * GB, "a fix", TARGETS).blocks == TARGETS
    assert asked == [tmp_path, tmp_path]


# --- every check, every outcome -----------------------------------------------------------------


def pins(**versions: str) -> dict[str, Any]:
    there = (CPU | versions) if versions.keys() != {"nothing"} else {}
    return {"here.locked": lambda folder: LOCKS, "here.installed": there.get}


def free(size: float) -> dict[str, Any]:
    return {"psutil.virtual_memory": lambda: SimpleNamespace(available=size, total=size)}


def which(*absent: str) -> dict[str, Any]:
    return {"shutil.which": lambda name: None if name in absent else f"/bin/{name}"}


def driver(version: str, cuda: str | None = "13.0", sees: bool = False) -> dict[str, Any]:
    return {
        "layerwise.extraction.provenance.smi": lambda: (
            version,
            ["NVIDIA H200, 143771 MiB"] if version else [],
        ),
        "torch.version.cuda": cuda,
        "torch.cuda.is_available": lambda: sees,
    }


def device(gigabytes: float, disk: float = 999) -> dict[str, Any]:
    """Free memory of a GPU, and of the disk of the cache."""
    return {
        "torch.cuda.is_available": lambda: True,
        "layerwise.extraction.load.free_bytes": lambda device: gigabytes * GB,
        "shutil.disk_usage": lambda place: SimpleNamespace(free=disk * GB),
    }


def closed(*slugs: str, error: type[Exception] = LayerwiseError) -> dict[str, Any]:
    def require(model: Any) -> dict[str, int]:
        if model.slug in slugs or not slugs:
            raise error(f"{model.slug}: accept its licence")
        pickled = model.family == "opt"
        return {"pytorch_model.bin" if pickled else "model.safetensors": int(GB)}

    return {"layerwise.extraction.hub.look_up": require}


# check, what is there, what is said, the fix, what it stops
OUTCOMES: dict[str, tuple[Any, dict[str, Any], str, str, tuple[str, ...]]] = {
    "packages": (here.packages, pins(), "all 4 as in cpu.lock, torch 2.13.0+cpu", "", ()),
    "cuda": (here.packages, pins(torch="2.13.0"), "all 4 as in cuda.lock", "", ()),
    "packages-other": (here.packages, pins(numpy="2.3.0"),
        "cpu.lock: numpy is 2.3.0, locked 2.4.6; numbers may differ", "remove .venv", ()),
    "packages-missing": (here.packages, pins(numpy=None), "numpy is None, locked 2.4.6",
        "`make setup`", TARGETS),
    "packages-no-torch": (here.packages, pins(nothing=""), "torch None is in no lock",
        "make setup", TARGETS),
    "packages-no-lock": (here.packages, pins(torch="2.9.0"),
        "torch 2.9.0 is in no lock (cpu.lock: 2.13.0+cpu, cuda.lock: 2.13.0)", "remove .venv", ()),
    "imports": (here.imports, {"here.IMPORTED": ("json",)}, "json can be imported", "", ()),
    "imports-broken": (here.imports, {"here.IMPORTED": ("json", "no_such")},
        "no no_such (ModuleNotFoundError: No module named 'no_such')", "make setup", TARGETS),
    "python": (here.python, {"sys.version_info": (3, 13, 0)}, "3.13.0", "", ()),
    "python-old": (here.python, {"sys.version_info": (3, 10, 14)}, "3.10.14, 3.11 or newer",
        "make setup PYTHON", TARGETS),
    "python-new": (here.python, {"sys.version_info": (3, 14, 0)}, "3.11 to 3.13 only",
        "if something fails", ()),
    "writable": (here.writable, {}, "figures, paper, report", "", ()),
    "not-writable": (here.writable, {"os.access": lambda path, mode: path.name != "paper"},
        "none for paper", "make them writable", TARGETS),
    "memory": (here.memory, free(2**40), "1024.0 GiB free", "", ()),
    "memory-none": (here.memory, free(2**29), "takes up to 1.0 GiB", "more memory",
        (TEST, REHEARSE)),
    "latex-none": (measuring.latex, which("latexmk"), "stay LaTeX source", "install texlive", ()),
    "browser": (here.browser, which(), "chromium, chromedriver and pdftoppm", "", ()),
    "browser-none": (here.browser, which("chromium"), "no chromium", "their tests are skipped", ()),
    "gpu": (measuring.gpu, driver("580.65", sees=True), "as params.yaml asks (NVIDIA H200", "", ()),
    "gpu-none": (measuring.gpu, driver(""), "finds none", "a GPU of 40 GB", (FULL,)),
    "gpu-ancient": (measuring.gpu, driver("470.82"), "driver 470.82",
        "to 580 or newer (525 for TORCH=cuda12)", (FULL,)),
    "gpu-old": (measuring.gpu, driver("550.54"), "torch built for CUDA 13.0",
        "update the driver, or `make setup TORCH=cuda12`", (FULL,)),
    "gpu-cuda12": (measuring.gpu, driver("550.54", "12.8", True), "CUDA 12.8", "", ()),
    "gpu-cpu": (measuring.gpu, driver("580.65", None), "CUDA None", "TORCH=cuda`", (FULL,)),
    "gpu-cpu12": (measuring.gpu, driver("550.54", None), "CUDA None", "TORCH=cuda12`", (FULL,)),
    "gpu-hidden": (measuring.gpu, driver("580.65"), "none was found", "--gpus all", (FULL,)),
    "models": (measuring.models, closed("none") | device(80),
        "35 of 37 can be measured on cuda: about 17 min (singular values and the download apart); "
        "40.0 GB to fetch, 999.0 GB free for ", "", ()),
    "models-gated": (measuring.models, closed("gemma-7b") | device(80), "34 of 37 can be measured",
        "gemma-7b: accept its licence; or give it a `skip`", ()),
    "models-none": (measuring.models, closed() | device(80), "0 of 37 can be measured",
        "accept its licence", (FULL,)),
    "models-too-large": (measuring.models, closed("none") | device(20), "34 of 37 can be measured",
        "it needs 24.8 GB, 20.0 GB are free; or give it a `skip`", ()),
    "models-no-room": (measuring.models, closed("none") | device(80, disk=39),
        "40.0 GB to fetch, 39.0 GB free", "set HF_HOME to a folder on another disk", (FULL,)),
    "models-no-network": (measuring.models, closed(error=TryAgainError) | device(80),
        "pythia-70m: accept", "fill the cache", (FULL,)),
}  # fmt: skip


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No network is asked, the cache of the hub is empty, no mirror holds the data."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("LAYERWISE_MIRROR", str(tmp_path))


@pytest.mark.parametrize("case", OUTCOMES)
def test_outcome(case, root, offline, monkeypatch):
    check, there, found, fix, blocks = OUTCOMES[case]
    for name, value in there.items():
        place = f"layerwise.doctor.{name}" if name.startswith(("here.", "measuring.")) else name
        monkeypatch.setattr(place, value)
    finding = check(root)
    assert found in finding.found
    assert fix in finding.fix
    assert (finding.status == "ok") == (fix == "") == (finding.fix == "")
    assert finding.blocks == blocks


def test_a_row_per_model_says_what_it_takes_and_why_it_does_not_run(root, offline, monkeypatch):
    """By hand, for four models; the table is as wide as a terminal."""
    for name, value in (closed("gemma-7b") | device(30)).items():
        monkeypatch.setattr(name, value)
    finding = measuring.models(root)
    rows = {row["model"]: list(row.values())[1:] for row in finding.rows}
    assert rows["pythia-6p9b"] == ["yes", 29.0, 1.0, 1.9, ""]
    assert rows["gemma-7b"][0] == "no"
    assert rows["gemma-7b"][-1] == "gemma-7b: accept its licence"
    assert rows["opt-125m"][-1] == "pickles, converted once"
    assert rows["bloom-1b7"][-1].startswith("no commit is recorded")
    assert rows["apertus-8b"] == ["yes", 33.8, 1.0, 1.7, "too large in float32"]
    text = as_text({"models": finding})
    table = text[text.index("\n\n") : text.rindex("\n\n")]
    assert max(map(len, table.splitlines())) <= 130


def test_a_cpu_is_a_device_too(root, offline, monkeypatch, tmp_path):
    """Memory is the machine's, and the rate that of its cores."""
    for name in ("models.yaml", "params.yaml"):
        text = (root / name).read_text()
        (tmp_path / name).write_text(text.replace("device: cuda ", "device: cpu "))
    for name, value in (closed("none") | free(50 * GB)).items():
        monkeypatch.setattr(name, value)
    minutes = {}
    for cores in (2, 64):
        monkeypatch.setattr("psutil.cpu_count", lambda logical, n=cores: n)
        found = measuring.models(tmp_path).found
        minutes[cores] = int(re.search(r"35 of 37 .* on cpu: about (\d+) min", found)[1])
    assert 20 < minutes[64] < 40 < minutes[2]
    assert measuring.gpu(tmp_path).blocks == ()


def test_repository(tmp_path, root):
    assert (
        "no dvc.yaml, params.yaml, models.yaml, published and 2" in here.repository(tmp_path).found
    )
    assert here.repository(root).status == "ok"
    for name in here.NEEDED:
        (tmp_path / name).mkdir()
    assert here.repository(tmp_path).status == "FAIL"
    assert "core.no_scm true" in here.repository(tmp_path).fix
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config.local").write_text("[core]\n    no_scm = true\n")
    assert here.repository(tmp_path) == Finding("an unpacked archive; DVC works without git")
    (tmp_path / ".git").mkdir()
    assert here.repository(tmp_path) == Finding("a git clone")


def test_data(root, tmp_path, monkeypatch):
    """Where they are looked for, in order: in data/, at the mirror, at upstream."""
    monkeypatch.setenv("LAYERWISE_MIRROR", str(tmp_path / "none"))
    with pytest.raises(LayerwiseError, match="must be a folder, there is none"):
        measuring.data(tmp_path)
    asked: list[Any] = []
    monkeypatch.setattr("layerwise.inputs.mirrors.read", lambda *given, **_: asked.append(given))
    monkeypatch.setenv("LAYERWISE_MIRROR", str(tmp_path))
    assert f"not in data/, but at {tmp_path}" in measuring.data(tmp_path).found
    monkeypatch.delenv("LAYERWISE_MIRROR")
    measuring.data(tmp_path)
    pin = upstream.read_registry().pins["dataset.json"]
    assert asked == [(place, "dataset.json", pin) for place in (tmp_path, upstream.ADDRESS)]
    monkeypatch.setattr("layerwise.inputs.upstream.verify_data", lambda folder: None)
    assert measuring.data(tmp_path) == Finding("the pinned pairs and prompts are in data/")


# --- looking ------------------------------------------------------------------------------------


def test_pins_of_a_lock_are_read_with_their_markers(tmp_path):
    (tmp_path / "one.lock").write_text(
        "# made\nPyYAML==6.0.3 \\\n    --hash=sha256:ab\n    # via x\n"
        "numpy==2.4.6 ; python_full_version >= '3.11' \\\n    --hash=sha256:cd\n"
        "numpy==1.0 ; python_full_version < '3.11' \\\n    --hash=sha256:ef\n"
    )
    assert here.locked(tmp_path) == {"one.lock": {"PyYAML": "6.0.3", "numpy": "2.4.6"}}


def test_a_package_is_found_however_its_name_is_spelled():
    assert here.installed("PyYAML") == here.installed("pyyaml") is not None
    assert here.installed("no-such-package") is None


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """A stand-in on PATH."""
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_nvidia_smi_is_asked(tmp_path, monkeypatch):
    """A stand-in that answers only what is asked of it."""
    asked = '[ "$*" = "--query-gpu=driver_version,name,memory.total --format=csv,noheader" ]'
    for said, expected in (
        ("580.1, A, 1 MiB\n580.1, B, [N/A]", ("580.1", ["A, 1 MiB", "B, [N/A]"])),
        ("", ("", [])),
    ):
        program(tmp_path, monkeypatch, "nvidia-smi", f"{asked} && echo '{said}'")
        assert smi() == expected
    program(tmp_path, monkeypatch, "nvidia-smi", "exit 9")  # a driver that does not answer
    assert smi() == ("", [])
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert smi() == ("", [])


def test_packages_of_the_paper_are_looked_for(tmp_path, monkeypatch):
    (tmp_path / "paper").mkdir()
    template = tmp_path / "paper" / "main.tex.j2"
    template.write_text("\\usepackage{siunitx}\n\\usepackage[a=1]{booktabs,array}\n")
    program(tmp_path, monkeypatch, "latexmk", "")
    text = 'for f; do [ $f = siunitx.sty ] || echo "/tex/$f"; done'
    program(tmp_path, monkeypatch, "kpsewhich", text)
    found = "latexmk, but no siunitx.sty: the papers stay LaTeX source"
    assert measuring.latex(tmp_path) == Finding(found, measuring.APT)
    template.write_text("\\usepackage{array}\n")
    assert measuring.latex(tmp_path).status == "ok"


# --- the whole ----------------------------------------------------------------------------------


def test_run_here(offline, root):
    text, code = doctor.run(True, root)
    found, registry = json.loads(text), read_models(root / "models.yaml")
    by_name = {check["name"]: check for check in found["checks"]}
    assert by_name.keys() == {**here.CHECKS, **measuring.CHECKS}.keys()
    unseen = [name for name, check in by_name.items() if "could not be" in check["found"]]
    assert unseen == ["upstream's data"]
    assert code == (0 if found["can_run"][REPRODUCE] else 2)
    assert by_name["models"]["found"].startswith("0 of 37 can be measured on cuda: ")
    assert {row["model"] for row in by_name["models"]["rows"]} == set(registry)
    assert "models" in found["obstacles"][FULL]


@pytest.mark.parametrize("missing", [None, "no_such_package"])
def test_exit_code_is_that_of_the_offline_reproduction(offline, root, monkeypatch, missing):
    monkeypatch.setattr(here, "IMPORTED", (missing or "numpy",))
    monkeypatch.setattr(here, "installed", here.locked(root / "requirements")["cpu.lock"].get)
    text, found = doctor.run(False, root)
    assert found == (2 if missing else 0)
    assert ("make reproduce:      yes" in text) == (missing is None)
    assert "make reproduce-full: no: " in text


def test_elsewhere_it_says_so(offline, tmp_path):
    text, code = doctor.run(False, tmp_path / "empty")
    assert code == 2
    assert "FAIL  repository           no dvc.yaml, params.yaml, models.yaml, published and" in text
    assert "models               could not be looked at (LayerwiseError: " in text


def test_it_runs_where_torch_and_numpy_do_not(root, tmp_path):
    """Packages that raise when they are imported, as a broken binary does."""
    for package in ("torch", "numpy"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise ImportError('no libgomp')")
    done = subprocess.run(
        [sys.executable, "-m", "layerwise.cli", "doctor"],
        cwd=root, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{root / 'code'}", "HF_HUB_OFFLINE": "1",
                          "LAYERWISE_MIRROR": str(tmp_path), "HF_HUB_CACHE": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "")
    broken = "no torch, transformers, numpy, scipy, matplotlib (ImportError: no libgomp)"
    assert broken in done.stdout
    assert "models               could not be looked at (ImportError: no libgomp)" in done.stdout
    assert "make reproduce:      no: imports" in done.stdout
