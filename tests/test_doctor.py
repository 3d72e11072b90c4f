"""`layerwise doctor`: every check at every outcome, what the outcomes mean, and one real run."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
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
    look,
    measuring,
    room,
)
from layerwise.doctor.look import Gpus
from layerwise.errors import LayerwiseError
from layerwise.extraction import needs
from layerwise.inputs.models import read_models
from layerwise.steps import doctor

GB = 10**9
H200 = ("NVIDIA H200",)
CPU = {"torch": "2.13.0+cpu", "numpy": "2.4.6", "transformers": "5.23.0", "dvc": "3.67.1"}
LOCKS = {"cpu.lock": CPU, "cuda.lock": CPU | {"torch": "2.13.0"}}

# --- what a finding means -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("finding", "status"),
    [
        (Finding("found"), "ok"),
        (Finding("found", "a fix"), "warn"),
        (Finding("found", "a fix", (TEST, REHEARSE, FULL)), "warn"),
        (Finding("found", "a fix", TARGETS), "FAIL"),
    ],
)
def test_only_what_stops_the_offline_reproduction_fails(finding, status):
    assert finding.status == status


def test_report_ends_with_what_can_run():
    findings = {"one": Finding("1"), "two": Finding("2", "mend it", (REHEARSE, FULL))}
    assert as_text(findings).splitlines() == [
        "ok    one                  1",
        "warn  two                  2",
        "                           -> mend it",
        "",
        "make reproduce:      yes",
        "make test:           yes",
        "make rehearse:       no: two",
        "make reproduce-full: no: two",
    ]


def test_document_says_the_same():
    found = as_document({"one": Finding("1"), "two": Finding("2", "mend it", TARGETS)})
    assert found["can_run"] == dict.fromkeys(TARGETS, False)
    assert found["obstacles"] == {target: ["two"] for target in TARGETS}
    assert found["checks"] == [
        {"name": "one", "status": "ok", "found": "1", "fix": None, "blocks": ()},
        {"name": "two", "status": "FAIL", "found": "2", "fix": "mend it", "blocks": TARGETS},
    ]


def test_a_check_that_cannot_be_made_is_a_finding():
    def broken(root: Path) -> Finding:
        raise LayerwiseError(f"{root}: not valid YAML")

    findings = examine({"first": broken, "second": lambda root: None}, Path("here"))
    found = "could not be looked at (LayerwiseError: here: not valid YAML)"
    assert findings == {
        "first": Finding(found, "mend what FAIL stands at first, then ask again", (FULL,))
    }


def test_room():
    assert room(2 * GB, GB, "free", "a fix", TARGETS) == Finding("2.0 GB free, 1.0 GB needed")
    lacking = Finding("1.0 GB free, 2.0 GB needed", "a fix", TARGETS)
    assert room(GB, 2 * GB, "free", "a fix", TARGETS) == lacking


# --- every check, every outcome -----------------------------------------------------------------


def pins(**versions: str) -> dict[str, Any]:
    return {"look.locked": LOCKS, "look.installed": (CPU | versions).get}


def driver(version: str, cuda: str | None = "13.0", sees: bool = False) -> dict[str, Any]:
    return {"look.gpus": Gpus(version, H200, (139 * 2**30,)), "look.torch_build": (cuda, sees)}


def reached(
    why: str | None, offline: bool = False, token: str | None = None, closed: str = ""
) -> dict[str, Any]:
    def require(models: list[Any]) -> None:
        if models[0].slug == closed:
            raise LayerwiseError(f"{closed} is gated")

    return {
        "look.reach": why,
        "huggingface_hub.constants.HF_HUB_OFFLINE": offline,
        "huggingface_hub.get_token": token,
        "layerwise.extraction.hub.require_hub": require,
    }


def free(size: float) -> dict[str, Any]:
    return {"psutil.virtual_memory": SimpleNamespace(available=size, total=size)}


# check, what is there, status, what is said, the fix
OUTCOMES: dict[str, tuple[Any, dict[str, Any], str, str, str]] = {
    "packages": (here.packages, pins(), "ok", "all 4 as in cpu.lock, torch 2.13.0+cpu", ""),
    "cuda": (here.packages, pins(torch="2.13.0"), "ok", "all 4 as in cuda.lock", ""),
    "packages-other": (here.packages, pins(numpy="2.3.0"), "warn",
        "cpu.lock: numpy is 2.3.0, locked 2.4.6; numbers may differ", "remove .venv"),
    "packages-missing": (here.packages, pins() | {"look.installed": {"torch": "2.13.0"}.get},
        "FAIL", "cuda.lock: numpy, transformers, dvc not installed", "`make setup`"),
    "packages-no-torch": (here.packages, pins() | {"look.installed": {}.get}, "FAIL",
        "torch is not installed", "make setup"),
    "packages-no-lock": (here.packages, pins(torch="2.9.0"), "warn",
        "torch 2.9.0 is in no lock (cpu.lock: 2.13.0+cpu, cuda.lock: 2.13.0)", "remove .venv"),
    "imports": (here.imports, {"look.broken_imports": {}}, "ok", "dvc can be imported", ""),
    "imports-broken": (here.imports, {"look.broken_imports": {"a": "OS: b", "c": "OS", "d": "OS"}},
        "FAIL", "no a (OS: b); no c, d (OS)", "make setup"),
    "writable": (here.writable, {"look.not_writable": []}, "ok", "figures, paper, report", ""),
    "not-writable": (here.writable, {"look.not_writable": ["results"]}, "FAIL", "none for results",
        "make them writable"),
    "memory": (here.memory, free(2**40), "ok", "1024.0 GiB free", ""),
    "memory-few": (here.memory, free(2**30) | {"os.cpu_count": 64}, "warn",
        "1.0 GiB free, 64 cores", "close other programs"),
    "memory-none": (here.memory, free(2**29), "warn", "takes up to 1.0 GiB", "more memory"),
    "latex": (here.latex, {"look.missing_programs": [], "look.missing_latex": []}, "ok",
        "every package", ""),
    "latex-none": (here.latex, {"look.missing_programs": ["latexmk"]}, "warn",
        "stay LaTeX source", "apt install texlive"),
    "latex-half": (here.latex, {"look.missing_programs": [], "look.missing_latex": ["siunitx.sty"]},
        "FAIL", "no siunitx.sty", "texlive-science"),
    "browser": (here.browser, {"look.missing_programs": []}, "ok", "chromium", ""),
    "browser-none": (here.browser, {"look.missing_programs": ["chromium"]}, "warn", "no chromium",
        "their tests are skipped"),
    "gpu": (measuring.gpu, driver("580.65", sees=True), "ok", "needs driver 580 or newer", ""),
    "gpu-none": (measuring.gpu, {"look.gpus": None}, "warn", "finds none", "a GPU of 40 GB"),
    "gpu-ancient": (measuring.gpu, driver("470.82"), "warn", "470.82, too old for every build",
        "to 580 or newer (525 for TORCH=cuda12)"),
    "gpu-old": (measuring.gpu, driver("550.54"), "warn", "CUDA 13.0, which needs driver 580",
        "update the driver, or `make setup TORCH=cuda12`"),
    "gpu-cuda12": (measuring.gpu, driver("550.54", "12.8", True), "ok", "driver 525 or newer", ""),
    "gpu-cpu": (measuring.gpu, driver("580.65", None), "warn", "built for the CPU", "TORCH=cuda`"),
    "gpu-cpu12": (measuring.gpu, driver("550.54", None), "warn", "for the CPU", "TORCH=cuda12`"),
    "gpu-hidden": (measuring.gpu, driver("580.65"), "warn", "torch sees no device", "--gpus all"),
    "memory-of-gpu": (measuring.memory, driver("580.65"), "ok", "149.3 GB for apertus-8b", ""),
    "memory-of-gpu-small": (measuring.memory,
        {"look.gpus": Gpus("580", H200 * 2, (8 * GB, 24 * GB))}, "warn",
        "24.0 GB for apertus-8b, 33.", "take a larger machine, or give pythia-6p9b, "),
    "memory-without-gpu": (measuring.memory, free(8 * GB) | {"look.gpus": None}, "warn",
        "8.0 GB for", "a `skip` in models.yaml"),
    "hub": (measuring.hub, reached(None), "ok",
        "0 of 29 models are in the cache, the hub gives the others", ""),
    "hub-offline": (measuring.hub, reached(None, True), "warn", "HF_HUB_OFFLINE is set", "unset"),
    "hub-lost": (measuring.hub, reached("timed out"), "warn", "(timed out)", "connect to"),
    "hub-cached": (measuring.hub, {"measuring._not_cached": []}, "ok", "no network is needed", ""),
    "gates": (measuring.gates, {"measuring._not_cached": []}, "ok", "in the cache", ""),
    "gates-token": (measuring.gates, reached(None), "warn", "no token for gemma-2b",
        "hf auth login"),
    "gates-unknown": (measuring.gates, reached("lost", token="t"), "warn", "gemma-2b, gemma-7b, ",
        "ask again"),
    "gates-refused": (measuring.gates, reached(None, token="t", closed="gemma-7b"), "warn",
        "gemma-7b is gated", "give gemma-7b a `skip`"),
    "gates-open": (measuring.gates, reached(None, token="t"), "ok", "access to gemma-2b", ""),
}  # fmt: skip
# What stops something else than measuring, or nothing though it deserves a fix.
BLOCKS = dict.fromkeys(
    ("packages-other", "packages-no-lock", "memory-few", "latex-none", "browser-none",
     "gates-unknown"), ()
) | {"memory-none": (TEST, REHEARSE)}  # fmt: skip


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No network is asked, the cache of the hub is empty, no mirror holds the data."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("LAYERWISE_MIRROR", str(tmp_path))


@pytest.mark.parametrize("case", OUTCOMES)
def test_outcome(case, root, offline, monkeypatch):
    check, there, status, found, fix = OUTCOMES[case]
    for name, value in there.items():
        place = f"layerwise.doctor.{name}" if name.startswith(("look.", "measuring.")) else name
        as_it_is = callable(value) or name.rpartition(".")[2].isupper()
        monkeypatch.setattr(place, value if as_it_is else lambda *_, value=value: value)
    finding = check(root)
    assert finding.status == status
    assert found in finding.found
    assert fix in finding.fix
    assert (status == "ok") == (finding.fix == "")
    usual = {"ok": (), "FAIL": TARGETS, "warn": (FULL,)}
    assert finding.blocks == BLOCKS.get(case, usual[status])


@pytest.mark.parametrize(
    ("version", "status", "fix"),
    [((3, 10, 14), "FAIL", "make setup PYTHON"), ((3, 11, 7), "ok", ""), ((3, 13, 0), "ok", ""),
     ((3, 14, 0), "warn", "if something fails")],
)  # fmt: skip
def test_python(version, status, fix, root, monkeypatch):
    monkeypatch.setattr(sys, "version_info", version)
    finding = here.python(root)
    assert (finding.status, ".".join(map(str, version)) in finding.found) == (status, True)
    assert fix in finding.fix


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


def test_data(tmp_path, monkeypatch):
    """Where they are looked for, in order: in data/, at the mirror, at upstream."""
    monkeypatch.setenv("LAYERWISE_MIRROR", str(tmp_path))
    assert f"not in data/, but at {tmp_path}" in measuring.data(tmp_path).found
    monkeypatch.setenv("LAYERWISE_MIRROR", str(tmp_path / "none"))
    finding = measuring.data(tmp_path)
    assert (finding.status, finding.blocks) == ("warn", (FULL,))
    assert "must be a folder, there is none" in finding.found
    monkeypatch.delenv("LAYERWISE_MIRROR")
    asked: list[str] = []
    monkeypatch.setattr(look, "reach", lambda address: asked.append(address) or "no network")
    assert "cannot be reached (no network)" in measuring.data(tmp_path).found
    assert asked[0].startswith("https://raw.githubusercontent.com/")
    assert asked[0].endswith("/dataset.json")
    monkeypatch.setattr("layerwise.inputs.upstream.verify_data", lambda folder: None)
    assert measuring.data(tmp_path) == Finding("the pinned pairs and prompts are in data/")


def test_weights_that_are_not_cached_need_room(root, offline, monkeypatch):
    models = [model for model in read_models(root / "models.yaml").values() if not model.skipped]
    needed = sum(needs.weight_bytes(model, model.dtype) for model in models)
    monkeypatch.setattr(look, "free_bytes", lambda place: GB)
    assert measuring.disk_of_hub(root).found.endswith(f", {needed / 1e9:.1f} GB needed")


# --- looking ------------------------------------------------------------------------------------


def test_pins_of_a_lock_are_read_with_their_markers(tmp_path):
    (tmp_path / "one.lock").write_text(
        "# made\nPyYAML==6.0.3 \\\n    --hash=sha256:ab\n    # via x\n"
        "numpy==2.4.6 ; python_full_version >= '3.11' \\\n    --hash=sha256:cd\n"
        "numpy==1.0 ; python_full_version < '3.11' \\\n    --hash=sha256:ef\n"
    )
    assert look.locked(tmp_path) == {"one.lock": {"PyYAML": "6.0.3", "numpy": "2.4.6"}}


def test_every_pin_of_the_locks_is_read(root):
    """As many as there are lines with ==, before markers are asked."""
    for path in (root / "requirements").glob("*.lock"):
        lines = [line for line in path.read_text().splitlines() if "==" in line.split(" ")[0]]
        assert len(look._PIN.findall(path.read_text())) == len(lines) > 100


def test_what_is_installed_is_what_runs():
    for package in ("torch", "numpy", "transformers"):
        running = importlib.import_module(package).__version__
        # the CUDA build calls itself 2.13.0+cu130, its package 2.13.0
        known = look.installed(package)
        assert running in (known, f"{known}+{running.partition('+')[2]}")
    assert look.installed("PyYAML") == look.installed("pyyaml") is not None
    assert look.installed("no-such-package") is None


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """A stand-in on PATH."""
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_nvidia_smi_is_asked(tmp_path, monkeypatch):
    """A stand-in that answers only what is asked of it, as one GPU, two, one without a size."""
    asked = (
        '[ "$*" = "--query-gpu=driver_version,name,memory.total --format=csv,noheader,nounits" ]'
    )
    for said, expected in (
        ("570.1, NVIDIA A100, 81920", Gpus("570.1", ("NVIDIA A100",), (80 * 2**30,))),
        ("580.1, A, 1\n580.1, B, 2", Gpus("580.1", ("A", "B"), (2**20, 2**21))),
        ("580.1, NVIDIA GB10, [N/A]", Gpus("580.1", ("NVIDIA GB10",), ())),
        ("", None),
    ):
        program(tmp_path, monkeypatch, "nvidia-smi", f"{asked} && echo '{said}'")
        assert look.gpus() == expected
    program(tmp_path, monkeypatch, "nvidia-smi", "exit 9")  # a driver that does not answer
    assert look.gpus() is None
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert look.gpus() is None


def test_a_package_that_cannot_be_imported_is_named(monkeypatch):
    monkeypatch.setattr(look, "IMPORTED", ("json", "no_such_package"))
    why = "ModuleNotFoundError: No module named 'no_such_package'"
    assert look.broken_imports() == {"no_such_package": why}


def test_folders_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "results")
    assert look.not_writable(tmp_path) == ["results"]  # the others would be made in tmp_path


def test_packages_of_the_paper_are_looked_for(tmp_path, monkeypatch):
    template = tmp_path / "main.tex.j2"
    template.write_text("\\usepackage{siunitx}\n\\usepackage[a=1]{booktabs,array}\n")
    text = 'for f; do [ $f = siunitx.sty ] || echo "/tex/$f"; done'
    program(tmp_path, monkeypatch, "kpsewhich", text)
    assert look.missing_latex(template) == ["siunitx.sty"]


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Of a server that answers once, and refuses."""

    class Refusing(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    monkeypatch.setenv("no_proxy", "*")
    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/x"
        thread.join()


def test_addresses(address):
    assert look.reach(address) is None  # something answers
    assert "refused" in look.reach("http://127.0.0.1:9")
    assert look.reach("nonsense") is not None


# --- the whole ----------------------------------------------------------------------------------


def test_run_here(offline, root):
    text, code = doctor.run(True, root)
    found = json.loads(text)
    by_name = {check["name"]: check for check in found["checks"]}
    assert set(here.CHECKS | measuring.CHECKS) - set(by_name) == set()
    assert not [name for name, check in by_name.items() if "could not be" in check["found"]]
    assert code == (0 if found["can_run"][REPRODUCE] else 2)
    assert by_name["hub"]["found"] == "0 of 29 models are in the cache, HF_HUB_OFFLINE is set"
    assert "hub" in found["obstacles"][FULL]
    assert by_name["models"]["found"].startswith("29 to measure, 8 not: gpt-neo-1p3b, ")


@pytest.mark.parametrize(("broken", "code"), [({}, 0), ({"numpy": "ImportError: x"}, 2)])
def test_exit_code_is_that_of_the_offline_reproduction(offline, root, monkeypatch, broken, code):
    monkeypatch.setattr(look, "broken_imports", lambda: broken)
    monkeypatch.setattr(look, "installed", look.locked(root / "requirements")["cpu.lock"].get)
    text, found = doctor.run(False, root)
    assert found == code
    assert ("make reproduce:      yes" in text) == (code == 0)
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
    assert "models               29 to measure, 8 not" in done.stdout
    assert "make reproduce:      no: imports" in done.stdout
