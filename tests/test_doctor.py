"""`layerwise doctor`: every check at every outcome, what the outcomes mean, and one real run."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from layerwise import cli
from layerwise.doctor import FULL, REPRODUCE, TARGETS, TEST, Check, as_document, as_text, look
from layerwise.doctor import checks_here as here
from layerwise.doctor import checks_of_full as full
from layerwise.doctor import look_at_sources as sources
from layerwise.doctor.checks_of_full import Gpus
from layerwise.steps import doctor

GB = 10**9
H200 = Gpus("580.65.06", ("NVIDIA H200",), (139 * 2**30,))
LOCKS = {
    "cpu.lock": {
        "torch": "2.13.0+cpu",
        "numpy": "2.4.6",
        "transformers": "5.23.0",
        "dvc": "3.67.1",
    },
    "cuda.lock": {"torch": "2.13.0", "numpy": "2.4.6", "transformers": "5.23.0", "dvc": "3.67.1"},
}


def drivers(version):
    return Gpus(version, H200.names, H200.memory)


# --- what a check means -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "status"),
    [
        (Check("a", "found"), "ok"),
        (Check("a", "found", "a fix"), "warn"),
        (Check("a", "found", "a fix", (FULL,)), "warn"),
        (Check("a", "found", "a fix", (TEST, FULL)), "warn"),
        (Check("a", "found", "a fix", TARGETS), "FAIL"),
    ],
)
def test_only_what_stops_the_offline_reproduction_fails(check, status):
    assert check.status == status


def test_report_ends_with_what_can_run():
    checks = [Check("one", "1"), Check("two", "2", "mend it", (FULL,)), Check("three", "3", "?")]
    assert as_text(checks).splitlines() == [
        "ok    one                  1",
        "warn  two                  2",
        "                           -> mend it",
        "warn  three                3",
        "                           -> ?",
        "",
        "make reproduce:      yes",
        "make test:           yes",
        "make reproduce-full: no, because of: two",
    ]


def test_document_says_the_same():
    found = as_document([Check("one", "1"), Check("two", "2", "mend it", TARGETS)])
    assert found["can_run"] == {REPRODUCE: False, TEST: False, FULL: False}
    assert found["obstacles"] == {target: ["two"] for target in TARGETS}
    assert found["checks"] == [
        {"name": "one", "status": "ok", "found": "1", "fix": None, "blocks": []},
        {
            "name": "two",
            "status": "FAIL",
            "found": "2",
            "fix": "mend it",
            "blocks": list(TARGETS),
        },
    ]


# --- every check, every outcome -----------------------------------------------------------------

OUTCOMES = {
    "python": (here.python((3, 11, 7)), "ok", "3.11.7", ""),
    "python-12": (here.python((3, 12, 0)), "ok", "3.12.0", ""),
    "python-old": (
        here.python((3, 10, 14)),
        "FAIL",
        "3.11 or newer is needed",
        "make setup PYTHON",
    ),
    "python-new": (here.python((3, 13, 0)), "warn", "on 3.11 and 3.12 only", "if something fails"),
    "packages": (
        here.packages(LOCKS, LOCKS["cpu.lock"] | {"other": "1"}),
        "ok",
        "all 4 as in cpu.lock: torch 2.13.0+cpu, transformers 5.23.0, numpy 2.4.6",
        "",
    ),
    "packages-cuda": (here.packages(LOCKS, LOCKS["cuda.lock"]), "ok", "as in cuda.lock", ""),
    "packages-other": (
        here.packages(LOCKS, LOCKS["cpu.lock"] | {"numpy": "2.3.0"}),
        "warn",
        "cpu.lock: numpy is 2.3.0, locked 2.4.6; numbers may differ",
        "remove .venv",
    ),
    "packages-missing": (
        here.packages(LOCKS, {"torch": "2.13.0"}),
        "FAIL",
        "cuda.lock: dvc, numpy, transformers not installed",
        "`make setup`",
    ),
    "packages-no-torch": (here.packages(LOCKS, {}), "FAIL", "torch is not installed", "make setup"),
    "packages-no-lock": (
        here.packages(LOCKS, {"torch": "2.9.0"}),
        "warn",
        "torch 2.9.0 is in no lock (cpu.lock: 2.13.0+cpu, cuda.lock: 2.13.0)",
        "remove .venv",
    ),
    "imports": (here.imports({}), "ok", "can be imported", ""),
    "imports-broken": (
        here.imports({"torch": "OSError: libc", "numpy": "OSError: libc", "dvc": "ImportError: x"}),
        "FAIL",
        "no torch, numpy (OSError: libc); no dvc (ImportError: x)",
        "make setup",
    ),
    "memory": (here.memory(8 * 2**30, 4), "ok", "8.0 GiB free, 4 cores", ""),
    "memory-few": (here.memory(8 * 2**30, 64), "warn", "takes up to 0.7 GiB", "one per core"),
    "memory-none": (here.memory(2**30, 1), "FAIL", "1.0 GiB free", "close other programs"),
    "disk": (
        here.disk("d", "there", 2 * GB, GB, TARGETS, "room"),
        "ok",
        "2.0 GB free in there",
        "",
    ),
    "disk-full": (
        here.disk("d", "there", GB, 2 * GB, TARGETS, "room"),
        "FAIL",
        "1.0 GB free in there, 2.0 GB needed",
        "room",
    ),
    "disk-of-full": (here.disk("d", "p", GB, 2 * GB, (FULL,), "room"), "warn", "needed", "room"),
    "clone": (here.repository([], True, False), "ok", "a git clone", ""),
    "archive": (here.repository([], False, True), "ok", "DVC works without git", ""),
    "archive-dvc": (here.repository([], False, False), "FAIL", "not told", "core.no_scm true"),
    "elsewhere": (
        here.repository(["dvc.yaml", "claims"], True, False),
        "FAIL",
        "no dvc.yaml, claims in this folder",
        "run it in the repository's root",
    ),
    "writable": (here.writable([]), "ok", "can be written", ""),
    "not-writable": (here.writable(["results"]), "FAIL", "none for results", "make them writable"),
    "dvc": (here.dvc_cache(63, 5, 7_000_000), "ok", "5 of 63 recorded offline outputs", ""),
    "latex": (here.latex(True, []), "ok", "every package", ""),
    "latex-none": (here.latex(False, []), "warn", "stay LaTeX source", "apt install texlive"),
    "latex-half": (here.latex(True, ["siunitx.sty"]), "FAIL", "no siunitx.sty", "texlive-science"),
    "browser": (here.browser([]), "ok", "chromium", ""),
    "browser-none": (here.browser(["chromium"]), "warn", "no chromium", "their tests are skipped"),
    "gpu": (full.gpu(H200, "13.0", True), "ok", "which needs driver 580 or newer", ""),
    "gpu-none": (full.gpu(None, None, False), "warn", "finds none", "a GPU of 40 GB"),
    "gpu-ancient": (
        full.gpu(drivers("470.82"), "13.0", False),
        "warn",
        "driver 470.82, too old for every build",
        "to 580 or newer (525 for TORCH=cuda12)",
    ),
    "gpu-old": (
        full.gpu(drivers("550.54"), "13.0", False),
        "warn",
        "torch built for CUDA 13.0, which needs driver 580 or newer",
        "update the driver, or `make setup TORCH=cuda12`",
    ),
    "gpu-12": (full.gpu(drivers("550.54"), "12.8", True), "ok", "driver 525 or newer", ""),
    "gpu-cpu": (full.gpu(H200, None, False), "warn", "built for the CPU", "make setup TORCH=cuda`"),
    "gpu-cpu-old": (full.gpu(drivers("550.1"), None, False), "warn", "the CPU", "TORCH=cuda12`"),
    "gpu-hidden": (full.gpu(H200, "13.0", False), "warn", "sees no device", "CUDA_VISIBLE_DEVICES"),
    "room": (
        full.room_for_models("m", 40e9, {"a": 33e9, "b": 1e9}),
        "ok",
        "40 GB there, a needs 33 GB",
        "",
    ),
    "no-room": (
        full.room_for_models("m", 30e9, {"b": 31e9, "a": 33e9, "c": 1e9}),
        "warn",
        "30 GB there, a needs 33 GB",
        "give a, b a `skip`",
    ),
    "registry": (full.registry(29, 8, []), "ok", "29 to measure, 8 skipped", ""),
    "registry-unresolved": (
        full.registry(3, 0, ["x"]),
        "warn",
        "1 without a commit",
        "commit of x",
    ),
    "data": (full.data(None, None, "no"), "ok", "in data/", ""),
    "data-mirror": (full.data("gone", "/copy", None), "warn", "/copy can be reached", "fetch"),
    "data-net": (full.data("gone", None, None), "warn", "upstream can be reached", "fetch"),
    "data-lost": (
        full.data("data/x is not there", None, "timed out"),
        "warn",
        "data/x is not there; upstream cannot be reached (timed out)",
        "LAYERWISE_MIRROR",
    ),
    "hub": (
        full.hub(False, None, ["a"], ["b"]),
        "ok",
        "1 of 2 models are in the cache, the hub",
        "",
    ),
    "hub-cached": (full.hub(True, "x", ["a"], []), "ok", "no network is needed", ""),
    "hub-offline": (full.hub(True, None, [], ["b"]), "warn", "HF_HUB_OFFLINE is set", "unset"),
    "hub-lost": (full.hub(False, "timed out", [], ["b"]), "warn", "(timed out)", "connect to"),
    "gates": (full.gates([], False, None), "ok", "in the cache", ""),
    "gates-token": (full.gates(["g"], False, None), "warn", "no token for g", "hf auth login"),
    "gates-unknown": (
        full.gates(["g"], True, None),
        "warn",
        "access to g is not known",
        "ask again",
    ),
    "gates-refused": (
        full.gates(["g"], True, {"g": "g is gated"}),
        "warn",
        "g is gated",
        "add g to",
    ),
    "gates-open": (full.gates(["g"], True, {}), "ok", "access to g", ""),
}
# What stops nothing, though it deserves a fix.
HARMLESS = {"python-new", "packages-other", "packages-no-lock", "memory-few", "browser-none"}
HARMLESS |= {"data-mirror", "data-net", "gates-unknown"}


@pytest.mark.parametrize("case", OUTCOMES)
def test_outcome(case):
    check, status, found, fix = OUTCOMES[case]
    assert check.status == status
    assert found in check.found
    assert fix in check.fix
    blocks = {"ok": (), "FAIL": TARGETS, "warn": () if case in HARMLESS else (FULL,)}
    assert check.blocks == blocks[status]
    assert (status == "ok") == (check.fix == "")


# --- looking ------------------------------------------------------------------------------------


def test_pins_of_a_lock_are_read_with_their_markers(tmp_path):
    (tmp_path / "one.lock").write_text(
        "# made\nPyYAML==6.0.3 \\\n    --hash=sha256:ab\n    # via x\n"
        "numpy==2.4.6 ; python_full_version >= '3.11' \\\n    --hash=sha256:cd\n"
        "numpy==1.0 ; python_full_version < '3.11' \\\n    --hash=sha256:ef\n"
        "win==1.0 ; sys_platform == 'amiga' \\\n    --hash=sha256:ef\n"
    )
    assert look.locked(tmp_path) == {"one.lock": {"pyyaml": "6.0.3", "numpy": "2.4.6"}}


def test_every_pin_of_the_locks_is_read(root):
    """As many as there are lines with ==, before markers are asked."""
    for path in (root / "requirements").glob("*.lock"):
        lines = [line for line in path.read_text().splitlines() if "==" in line.split(" ")[0]]
        assert len(look._PIN.findall(path.read_text())) == len(lines) > 100


def test_what_is_installed_is_what_runs():
    installed = look.installed()
    for package in ("torch", "numpy", "transformers"):
        running = importlib.import_module(package).__version__
        # the CUDA build calls itself 2.13.0+cu130, its package 2.13.0
        assert running in (installed[package], f"{installed[package]}+{running.partition('+')[2]}")


def test_nvidia_smi_is_read():
    text = "580.65.06, NVIDIA H200, 143771\n580.65.06, NVIDIA H200, 143771\n"
    size = 143771 * 2**20
    assert look.read_smi(text) == Gpus("580.65.06", ("NVIDIA H200",) * 2, (size, size))
    assert look.read_smi("580.65.06, NVIDIA GB10, [N/A]\n") == Gpus(
        "580.65.06", ("NVIDIA GB10",), ()
    )
    assert look.read_smi("") is None


def test_without_nvidia_smi(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert look.gpus() is None


def test_nvidia_smi_is_asked(monkeypatch, tmp_path):
    """A stand-in that answers only what is asked of it."""
    smi = tmp_path / "nvidia-smi"
    smi.write_text(
        '#!/bin/sh\n[ "$*" = "--query-gpu=driver_version,name,memory.total '
        '--format=csv,noheader,nounits" ] && echo "570.1, NVIDIA A100, 81920"\n'
    )
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert look.gpus() == Gpus("570.1", ("NVIDIA A100",), (80 * 2**30,))
    smi.write_text("#!/bin/sh\nexit 9\n")  # a driver that does not answer
    assert look.gpus() is None


def test_a_package_that_cannot_be_imported_is_named(monkeypatch):
    monkeypatch.setattr(look, "IMPORTED", ("json", "no_such_package"))
    assert look.broken_imports() == {
        "no_such_package": "ModuleNotFoundError: No module named 'no_such_package'"
    }


def test_folders_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    asked = []

    def access(path, mode):
        asked.append(Path(path))
        return Path(path).name != "results"

    monkeypatch.setattr(os, "access", access)
    assert look.not_writable(tmp_path, ("results", "figures")) == ["results"]
    assert asked == [tmp_path / "results", tmp_path]  # figures would be made in it


def test_dvc_without_scm(tmp_path):
    (tmp_path / ".dvc").mkdir()
    assert not look.without_scm(tmp_path)
    (tmp_path / ".dvc" / "config").write_text("[core]\n    analytics = false\n")
    assert not look.without_scm(tmp_path)
    (tmp_path / ".dvc" / "config.local").write_text("[core]\n    no_scm = true\n")
    assert look.without_scm(tmp_path)


def test_outputs_of_full_are_not_counted(tmp_path):
    outs = ["results/mini/a", "results/published/b", "results/full/c", "paper/full.pdf"]
    (tmp_path / "dvc.lock").write_text(
        json.dumps({"stages": {"one": {"outs": [{"path": path} for path in outs]}}})
    )
    (tmp_path / "results" / "mini" / "a").mkdir(parents=True)
    (tmp_path / ".dvc" / "cache" / "ab").mkdir(parents=True)
    (tmp_path / ".dvc" / "cache" / "ab" / "cd").write_bytes(b"12345")
    assert look.outputs(tmp_path) == (2, 1, 5)
    assert look.outputs(tmp_path / "none") == (0, 0, 0)


def test_a_file_that_is_no_yaml_is_named(tmp_path):
    (tmp_path / "dvc.lock").write_text("<<<<<<< ours\nstages: {}\n")
    (found,) = doctor._asked("DVC", lambda: here.dvc_cache(*look.outputs(tmp_path)))
    assert (found.status, found.blocks) == ("warn", (FULL,))
    assert "dvc.lock: not valid YAML (" in found.found


def test_a_package_without_a_name_is_passed_over(monkeypatch):
    left = SimpleNamespace(metadata={"Name": None}, version="1")
    whole = SimpleNamespace(metadata={"Name": "Py_YAML"}, version="2")
    monkeypatch.setattr(look.importlib.metadata, "distributions", lambda: [left, whole])
    assert look.installed() == {"py-yaml": "2"}


def test_packages_of_the_report_are_looked_for(tmp_path, monkeypatch):
    template = tmp_path / "main.tex.j2"
    template.write_text("\\usepackage{siunitx}\n\\usepackage[a=1]{booktabs,array}\n")
    kpsewhich = tmp_path / "kpsewhich"
    kpsewhich.write_text('#!/bin/sh\nfor f; do [ $f = siunitx.sty ] || echo "/tex/$f"; done\n')
    kpsewhich.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert look.missing_latex(template) == ["siunitx.sty"]


@pytest.fixture
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


def test_an_address_that_nothing_answers_at(no_proxy):
    assert "refused" in look.reach("http://127.0.0.1:9")
    assert look.reach("nonsense") is not None


def test_an_address_that_answers(no_proxy, tmp_path):
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    asked = []

    class Refusing(BaseHTTPRequestHandler):
        def do_HEAD(self):
            asked.append(self.path)
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        assert look.reach(f"http://127.0.0.1:{server.server_port}/x") is None
        thread.join()
    assert asked == ["/x"]


def test_data_by_their_sha256(tmp_path, mirror, monkeypatch):
    assert "the data are not here" in sources.data_problem(tmp_path)
    for name in ("dataset.json", "prompts.json"):
        (tmp_path / name).symlink_to(mirror / name)
    assert sources.data_problem(tmp_path) is None


def test_a_mirror_stands_in_for_upstream(tmp_path, monkeypatch):
    monkeypatch.setenv("LAYERWISE_MIRROR", str(tmp_path))
    assert sources.source_of_data() == (str(tmp_path), None)
    monkeypatch.setenv("LAYERWISE_MIRROR", str(tmp_path / "none"))
    assert "must be a folder, there is none" in sources.source_of_data()[1]
    asked = []
    monkeypatch.setattr(sources, "reach", lambda address: asked.append(address) or "no network")
    monkeypatch.delenv("LAYERWISE_MIRROR")
    assert sources.source_of_data() == (None, "no network")
    assert asked[0].startswith("https://raw.githubusercontent.com/")
    assert asked[0].endswith("/dataset.json")


def test_states_take_the_bytes_of_the_store(root):
    """Pythia-410M in float16: 26 arrays of (4, 460, 1024), as many of tokens, NLL and norms."""
    wanted, skipped = sources.models(root)
    assert {model.slug for model in wanted}.isdisjoint({"gpt-neo-1p3b", "llama-2-7b"})
    assert (len(wanted), skipped) == (29, 8)
    one = [model for model in wanted if model.slug == "pythia-410m"]
    arrays = 26 * (4 * 460 + 400) * 1024 * 2 + 460 * 8 + 460 * 26 * 3 * 4
    assert sources.states_bytes(one) == arrays + (2 * 26 + 2) * 128
    assert sources.states_bytes([]) == 0


def test_needs_are_those_of_the_widest_dtype(root):
    from layerwise.extraction import needs

    (model,) = [one for one in sources.models(root)[0] if one.slug == "pythia-6p9b"]
    assert sources.needs_of([model]) == {"pythia-6p9b": needs.memory(model, "float32")}
    assert sources.weights([model]) == {"pythia-6p9b": needs.weight_bytes(model, "float16")}


def test_refusals_are_by_model(monkeypatch):
    from layerwise.errors import LayerwiseError

    def require(models):
        if models[0].slug == "closed":
            raise LayerwiseError("closed is gated")

    monkeypatch.setattr("layerwise.extraction.hub.require_hub", require)
    asked = [SimpleNamespace(slug=slug) for slug in ("open", "closed")]
    assert sources.refusals(asked) == {"closed": "closed is gated"}


# --- the whole ----------------------------------------------------------------------------------


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """No network is asked, the cache of the hub is empty."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("LAYERWISE_MIRROR", str(tmp_path))


def test_run_here(offline, root, capsys, monkeypatch):
    monkeypatch.chdir(root)
    code = cli.main(["doctor", "--json"])
    found = json.loads(capsys.readouterr().out)
    names = [check["name"] for check in found["checks"]]
    assert len(names) == len(set(names)) >= 17
    assert {"Python", "imports", "GPU", "hub", "gated models", "LaTeX"} <= set(names)
    assert not [check for check in found["checks"] if "could not be looked" in check["found"]]
    assert code == (0 if found["can_run"][REPRODUCE] else 2)
    by_name = {check["name"]: check for check in found["checks"]}
    assert by_name["hub"]["found"] == "0 of 29 models are in the cache, HF_HUB_OFFLINE is set"
    assert "hub" in found["obstacles"][FULL]


@pytest.mark.parametrize(("broken", "code"), [({}, 0), ({"numpy": "ImportError: x"}, 2)])
def test_exit_code_is_that_of_the_offline_reproduction(offline, root, monkeypatch, broken, code):
    monkeypatch.setattr(look, "broken_imports", lambda: broken)
    monkeypatch.setattr(look, "installed", lambda: look.locked(root / "requirements")["cpu.lock"])
    for name in ("free_memory", "all_memory"):
        monkeypatch.setattr(look, name, lambda: 10**12)
    text, found = doctor.run(False, root)
    assert found == code
    assert ("make reproduce:      yes" in text) == (code == 0)
    assert "make reproduce-full: no, because of: " in text


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
        [sys.executable, "-m", "layerwise", "doctor"],
        cwd=root, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{root / 'code'}", "HF_HUB_OFFLINE": "1",
                          "LAYERWISE_MIRROR": str(tmp_path), "HF_HUB_CACHE": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "")
    assert (
        "no torch, transformers, numpy, scipy, matplotlib (ImportError: no libgomp)" in done.stdout
    )
    assert "ok    models               29 to measure, 8 skipped" in done.stdout
    assert "warn  disk of full         could not be looked at (ImportError: " in done.stdout
    assert "make reproduce:      no, because of: imports" in done.stdout


def test_with_a_gpu_its_memory_is_looked_at(offline, root, monkeypatch):
    monkeypatch.setattr(look, "gpus", lambda: Gpus("580.1", ("small", "large"), (8 * GB, 24 * GB)))
    monkeypatch.setattr(look, "torch_build", lambda: ("13.0", True))
    text, _ = doctor.run(False, root)
    assert "GPU                  small, large, driver 580.1, torch built for CUDA 13.0" in text
    assert "memory of the GPU    24 GB there, apertus-8b needs 33 GB" in text


def test_gated_models_are_asked_for_with_a_token_only(root, monkeypatch, tmp_path):
    """The hub answers, and gives all but one."""
    settings = [False, "https://hub", True, tmp_path]
    asked = []

    def refusals(models):
        asked.extend(model.slug for model in models)
        return {"gemma-2b": "google/gemma-2b is gated"}

    monkeypatch.setattr(sources, "hub_settings", lambda: tuple(settings))
    monkeypatch.setattr(sources, "refusals", refusals)
    monkeypatch.setattr(sources, "not_cached", list)
    reached = []
    monkeypatch.setattr(look, "reach", lambda address: reached.append(address))
    wanted, _ = sources.models(root)
    hub, gates, disk = doctor._hub(wanted)
    assert reached == ["https://hub"]
    assert hub.found == "0 of 29 models are in the cache, the hub gives the others"
    assert gates.found == "google/gemma-2b is gated"
    assert set(asked) == {model.slug for model in wanted if model.gated}
    assert disk.found.endswith(f"{sum(sources.weights(wanted).values()) / 1e9:.1f} GB needed")
    asked.clear()
    settings[2] = False
    assert next(c for c in doctor._hub(wanted) if c.name == "gated models").found.startswith(
        "no token"
    )
    settings[:3] = True, "https://hub", True
    reached.clear()
    assert [check.status for check in doctor._hub(wanted)][:2] == ["warn", "warn"]
    assert asked == reached == []
