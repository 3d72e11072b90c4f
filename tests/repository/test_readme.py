"""The README and the pages: their commands run, and what they show is the output of today."""

import itertools
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import typer
import yaml

import layerwise
from layerwise.engine.marks import MARKS
from layerwise.engine.records import read_judged
from layerwise.models.registry import read_models
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.present.run_summary import summary
from layerwise.present.values import with_signs
from layerwise.run.cli import app, main
from layerwise.run.rehearsal.scratch import place

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = (
    "README.md",
    "docs/own-model.md",
    "docs/reviewing.md",
    "docs/weights.md",
    "docs/docker.md",
    "docs/extending.md",
    "docs/another-paper.md",
    "docs/clusters.md",
)


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Fenced blocks as (language, text, the output that the page shows right under it, or "")."""
    fence = r"^```(\w+)\n(.*?)^```\n(?:\n```\n(.*?)^```$)?"
    return re.findall(fence, text, re.MULTILINE | re.DOTALL)


def commands(text: str, *languages: str) -> list[list[str]]:
    """What shell blocks ask of `make` and `layerwise`: `sh` runs anywhere, `bash` where it can."""
    shell = "\n".join(body for language, body, _ in blocks(text) if language in languages)
    lines = shell.replace("\\\n", " ").splitlines()
    ours = [line.partition(" | ")[0] for line in lines if line.startswith(("make ", "layerwise "))]
    split = (shlex.split(line, comments=True) for line in ours)
    return [list(itertools.takewhile("|".__ne__, words)) for words in split]


# --- what it shows is so ------------------------------------------------------------------------


def test_the_first_screen_has_the_answer_that_a_run_ends_with(results: Path) -> None:
    judged = read_judged(results / "published" / "claims.json", "published")
    *_, preference, depth, laws, tally, first, second, third = summary(
        judged, results.parent
    ).splitlines()
    head = README[README.index("Three papers") : README.index("docs/strip.svg")]
    assert {"reproduce", "test"} < set(re.split(r"\s+", head))
    shown = with_signs(head.replace("**", ""))
    places = [
        shown.index(with_signs(line))
        for line in (preference, depth, laws, tally, first, second, third)
    ]
    assert places == sorted(places)


# DVC's own use of pygtrie
@pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")
def test_generated_pages_are_those_of_today(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")  # as Python does for a script
    claims = read_judged(results / "published" / "claims.json", "published")
    for name, argument in (("claims", claims), ("architecture", ROOT), ("pipeline", ROOT)):
        script = runpy.run_path(str(ROOT / "docs" / f"{name}.py"))
        page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        assert page == script["page"](argument), "run `make docs`"
        if name == "claims":
            assert script["with_strip"](README, claims) == README
            answers = (ROOT / "docs" / "answers.md").read_text(encoding="utf-8")
            assert answers == script["answers"](claims), "run `make docs`"
            for file, picture in script["strips"](claims).items():
                drawn = (ROOT / "docs" / file).read_text(encoding="utf-8")
                assert drawn == picture, "run `make docs`"


def test_the_tables_of_error_rates_are_those_of_the_record() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "calibration.py"))
    for name, text in (("calibration.md", script["page"]()), ("calibration.csv", script["rows"]())):
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, "run `make docs`"


def test_files_for_other_programs_are_those_of_today(results: Path) -> None:
    judged = read_judged(results / "published" / "claims.json", "published")
    script = runpy.run_path(str(ROOT / "docs" / "machine.py"))
    for name, written in script["files"](judged).items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == written, "run `make docs`"


def test_the_badge_counts_the_marks_of_the_papers_claims(results: Path) -> None:
    judged = read_judged(results / "published" / "claims.json", "published")
    marks = [claim.mark for claim in judged.central if claim.source == "paper"]
    badge = ElementTree.fromstring((ROOT / "docs" / "badge.svg").read_text(encoding="utf-8"))
    counts = [int(text.text.split()[0]) for text in badge.iter("{http://www.w3.org/2000/svg}text")]
    assert counts == [len(marks), *filter(None, (marks.count(mark) for mark in MARKS))]


@pytest.mark.parametrize("name", ["layerwise", "layerwise.git", "layer.wise-2"])
def test_the_first_links_are_those_of_the_repository(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    links_of = runpy.run_path(str(ROOT / "docs" / "claims.py"))["links_of"]
    here = re.findall(r"\]\(([^)]*)\)", links_of(""))
    assert [place for place in here if not (ROOT / place).is_file()] == []
    published = re.findall(r"\]\(([^)]*)\)", links_of(f"https://github.com/Someone/{name}"))
    plain = name.removesuffix(".git")
    assert published[0] == f"https://someone.github.io/{plain}/report.html"
    assert f"github/Someone/{plain}/blob" in published[-1]


# --- what it names is there ---------------------------------------------------------------------


def parsed(words: list[str]) -> Any:
    """The reader's verb that a command calls, its options read."""
    verb = typer.main.get_command(app).commands[words[1]]  # type: ignore[attr-defined]
    return verb.make_context(words[1], words[2:])


def test_commands_parse_and_targets_exist() -> None:
    rules = (ROOT / "Makefile").read_text() + (ROOT / ".ci/maintain.mk").read_text()
    targets = set(re.findall(r"^([a-z-]+):", rules, re.MULTILINE))
    named = set()
    for page in (*PAGES, "examples/README.md"):
        for words in commands((ROOT / page).read_text(encoding="utf-8"), "sh", "bash"):
            if words[0] == "layerwise":
                named.add(parsed(words).command.name)
            if words[0] == "make":
                assert words[1] in targets, f"{page}: {words}"
                named.add(words[1])
    assert {"analyze", "compare", "trace", "reproduce", "rehearse", "reproduce-full"} <= named
    with pytest.raises(Exception, match="No such option"):
        parsed(["layerwise", "claims", "--verdicts", "differs"])


def test_stages_that_dvc_is_asked_for_exist() -> None:
    """A word in capitals stands for the reader's own."""
    written = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for named in re.findall(r"\bdvc repro (\w[\w@.-]*)", page.read_text(encoding="utf-8")):
            stage, _, item = named.partition("@")
            assert stage in written, f"{page.name}: {named}"
            known = written[stage].get("foreach", ())
            assert not item or item.isupper() or isinstance(known, str) or item in known, named


def test_the_page_of_the_python_interface_shows_all_of_it(root):
    script = runpy.run_path(str(root / "docs" / "api.py"))
    page = (root / "docs" / "api.md").read_text(encoding="utf-8")
    assert page == script["page"](), "run `make docs`"
    shown = set(re.findall(r"^### ([\w.]+)$", page, re.MULTILINE))
    assert shown == {f"layerwise.{name}" for name in layerwise.__all__}


def test_clusters_run_the_stage_of_a_model_as_often_as_there_are_models(root, monkeypatch):
    """By the verb, which writes where the stage does; no recipe has another number of tasks."""
    text = (root / "docs" / "clusters.md").read_text()
    stages = yaml.safe_load((root / "dvc.yaml").read_text())["stages"]
    models = read_models(root / "models.yaml").values()
    n_tasks = sum(not model.skipped for model in models)
    assert [int(n) for n in re.findall(r"completions: (\d+)", text)] == [n_tasks]
    assert not re.search(r"--array=\d+-\d+", text)
    asked: list[Any] = []

    def measure(slug: str, out: Path) -> tuple[str, int]:
        asked.append((slug, out))
        return "", 0

    monkeypatch.setattr("layerwise.run.steps.measure.run", measure)
    assert main(["measure-model", "gpt2"]) == 0
    ((slug, out),) = asked
    assert f"{slug} --out {out}" in stages["measure"]["do"]["cmd"].replace("${key}", slug)


# --- the small studies of examples/ run as they are written, on twins at the pinned commits ------


@pytest.mark.docs
@pytest.mark.usefixtures("quick")
def test_the_studies_of_small_models_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs, prompts = (ROOT / "examples" / name for name in ("framings.csv", "prompts.json"))
    texts = [*read_pairs(pairs).statements, *read_prompts(prompts)]
    models = read_models(ROOT / "models.yaml").values()
    known = {(model.hub, model.revision): model for model in models}
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    small, third, _ = page.partition("## A base model")
    assert third
    for _, verb, *arguments in commands(small, "sh"):
        if verb == "analyze":
            given = dict(itertools.pairwise(arguments))
            place(known[given["--model"], given["--revision"]], texts, tmp_path / "hub")
        assert main([verb, *arguments]) == 0, capsys.readouterr().err
    named = re.findall(r"`(out/[^`]*html)`", small)
    assert len(named) == 2
    assert all(Path(name).stat().st_size > 10_000 for name in named)


# --- every block that is marked `sh` runs, in a copy of the repository without git ---------------

NOT_COPIED = shutil.ignore_patterns(
    ".git",
    ".venv*",
    "__pycache__",
    ".*_cache",
    ".hypothesis",
    "results",
    "data",
    "dist",
    "out",
    "site",
    "work",
    "cache",
    "tmp",
    ".dvc-site",
    "config.local",
    "published.pdf",
    "*.part",
)


@pytest.fixture(scope="module")
def copy(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository after `make reproduce`, as far as the commands need it."""
    folder = tmp_path_factory.mktemp("copy") / "layerwise"
    shutil.copytree(ROOT, folder, ignore=NOT_COPIED)
    (folder / ".dvc" / "config.local").write_text("[core]\n    no_scm = true\n")
    shutil.copytree(results, folder / "results")
    return folder


def run(command: str, folder: Path) -> str:
    """What a command prints, in the environment that activates .venv."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "code"),
        "DVC_NO_ANALYTICS": "1",
        "HF_HUB_OFFLINE": "1",
        "COLUMNS": "100",  # as in a terminal of that width
    }
    shell = ["bash", "-euo", "pipefail", "-c", command]
    done = subprocess.run(
        shell, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.docs
@pytest.mark.parametrize(
    ("notebook", "page"),
    [("own_model", "notebook/index.html"), ("steering", "steering/scaling.html")],
)
@pytest.mark.usefixtures("quick")
def test_the_notebook_runs(
    notebook: str, page: str, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (copy / "out" / "tiny").exists():
        run("python -m layerwise.models.twins pythia-70m out/tiny", copy)
    cells = json.loads((ROOT / "examples" / f"{notebook}.ipynb").read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 3
    monkeypatch.chdir(copy / "examples")
    outputs = runpy.run_path(str(ROOT / "docs" / "notebooks.py"))["run_cells"](code)
    assert (copy / "out" / page).is_file()
    assert kinds_of([cell["outputs"] for cell in code]) == kinds_of(outputs), "make notebooks"


def kinds_of(outputs: list[list[dict[str, Any]]]) -> list[list[set[str]]]:
    """What kinds of output each cell of a notebook has; digits differ between processors."""
    return [[set(output.get("data", output["output_type"])) for output in cell] for cell in outputs]


@pytest.mark.docs
@pytest.mark.parametrize("page", PAGES)
def test_blocks_that_run_anywhere_run(page: str, copy: Path) -> None:
    for language, block, output in blocks((ROOT / page).read_text(encoding="utf-8")):
        if language != "sh":
            continue
        if block.startswith("make "):  # the main job and the tests themselves
            for line in block.splitlines():
                run(f"make --dry-run {line.split('#')[0].removeprefix('make ')}", copy)
            continue
        said = run(block, copy)
        if output and "claims, source" not in output:
            assert said == output
    with pytest.raises(AssertionError, match="no claim"):
        run("layerwise trace p9.nothing", copy)
