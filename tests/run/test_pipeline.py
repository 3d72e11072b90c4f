"""dvc.yaml tells the truth; its run is counted, goes on after a kill, and leaves no half lock."""

import inspect
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import grimp
import pytest
import yaml
from dvc.repo import Repo

from layerwise.errors import LayerwiseError
from layerwise.files import write_text
from layerwise.measuring.reduction import measure
from layerwise.models.hidden_states import extract
from layerwise.present import pdfs
from layerwise.run import look_ahead, so_far
from layerwise.run.doctor.recorded import NO_RECORD
from layerwise.run.look_ahead import LookAhead
from layerwise.run.rehearsal import scratch
from layerwise.run.steps import places, run
from layerwise.run.steps.run import Reproduction
from processes import left_in, program

ROOT = Path(__file__).resolve().parents[2]
# DVC's own use of pygtrie
pytestmark = pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")


@cache
def stages():
    """Every stage of the resolved pipeline."""
    with Repo(ROOT) as repo:
        return {stage.addressing: stage for stage in repo.index.stages if stage.cmd}


def step_of(stage):
    return re.search(r"python -m layerwise\.run\.steps\.(\w+)", stage.cmd)[1]


@cache
def imports():
    return grimp.build_graph("layerwise", exclude_type_checking_imports=True, cache_dir=None)


@cache
def reached(step):
    """Every module that a step reaches through imports."""
    graph = imports()
    modules = {f"layerwise.run.steps.{step}"}
    modules = modules.union(*map(graph.find_upstream_modules, modules)) - {"layerwise"}
    bases = (f"code/{module.replace('.', '/')}" for module in modules)
    return {f"{base}/__init__.py" if (ROOT / base).is_dir() else f"{base}.py" for base in bases}


def deps_of(stage):
    return {dep.def_path for dep in stage.deps}


def covered(path, deps):
    return any(path == dep or path.startswith(f"{dep}/") for dep in deps)


# What words, reads, writes, finds, fetches and shares work out: no number passes through it but as
# it is, so mending it asks for nothing to be run again.
WORDS = re.compile(
    r"code/layerwise/((__init__|csv_rows|errors|progress|files|home|workers|shapes"
    r"|run/steps/__init__)|papers/fetching/\w+)\.py"
)


@pytest.mark.parametrize("name", sorted(stages()))
def test_deps_are_what_the_step_imports(name):
    deps, modules = deps_of(stages()[name]), reached(step_of(stages()[name]))
    counting = {path for path in modules if not WORDS.fullmatch(path)}
    missing = sorted(path for path in counting if not covered(path, deps))
    assert not missing, f"{name} imports {missing}, name them or their folder in its deps"
    code = [dep for dep in deps if dep.startswith("code/")]
    idle = [dep for dep in code if not any(covered(path, [dep]) for path in modules)]
    assert not idle, f"{name} does not reach {idle}"


MODELS = ("gpt2", "pythia-12b")


@pytest.fixture(scope="module")
def recorded(root, tmp_path_factory):
    """A copy of the repository in which two models are measured, as far as DVC can tell."""
    folder = tmp_path_factory.mktemp("recorded")
    scratch.copy_repository(root, folder)
    write_text(folder / ".dvc" / "config", scratch.DVC_CONFIG)
    there = folder / "results" / "measured"
    places.run(there / "places.json", folder / "published")
    made = [f"models/{slug}/measured.json" for slug in MODELS]
    for path in ("data.json", "environment.json", *made):
        write_text(there / path, "{}")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)  # DVC reads the files of a stage from where it is
        with Repo() as repo:
            for slug in MODELS:
                repo.commit(f"measure@{slug}", force=True)
    return folder


IDLE = (  # changes that no measured number follows from
    ("code/layerwise/errors.py", "the likely fix", "the fix"),
    ("code/layerwise/papers/fetching/mirrors.py", '"""', '"""Mirrors. '),
    ("published/paper1.csv", "/business/uniformity_a,0", "/business/uniformity_a,1"),
    ("claims/paper1/paper.csv", ",UA of business,", ",UA of Business,"),
)


@pytest.mark.parametrize(
    ("edits", "stale"),
    [
        (IDLE, ()),
        ([("models.yaml", "{display: Pythia-12B", "{skip: large, display: A")], ("pythia-12b",)),
        ([("code/layerwise/measures/spectral.py", '"""', '"""Norms. ')], MODELS),
        ([("params.yaml", "tokens_per_batch: 2048", "tokens_per_batch: 4096")], MODELS),
    ],
)
def test_a_model_is_measured_again_only_for_what_can_change_its_numbers(
    recorded, monkeypatch, edits, stale
):
    """Of a published table that is where numbers stand, and what its entries are called."""
    there = recorded / "results" / "measured" / "places.json"
    before = {path: path.read_bytes() for path in (there, *(recorded / edit[0] for edit in edits))}
    monkeypatch.chdir(recorded)
    for path, words, others in edits:
        text = (recorded / path).read_text()
        assert words in text
        (recorded / path).write_text(text.replace(words, others, 1))
    try:
        places.run(there, recorded / "published")
        with Repo() as repo:
            changed = repo.status([f"measure@{slug}" for slug in MODELS])
    finally:
        for path, content in before.items():
            path.write_bytes(content)
    assert set(changed) == {f"measure@{slug}" for slug in stale}


def test_every_parameter_is_read_by_the_stage_it_is_named_after():
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    read = {
        (step_of(stage), section)
        for stage in stages().values()
        for dep in stage.deps
        if dep.def_path == "params.yaml"
        for section in dep.params
    }
    assert {(section, section) for section in params} <= read


def test_defaults_in_code_are_the_params():
    """`layerwise analyze` runs outside the repository on the defaults of the functions."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text())["measure"]
    chosen = {**params, **params["bins"]}
    for function in (measure, extract):
        for name, parameter in inspect.signature(function).parameters.items():
            if name in chosen and parameter.default is not parameter.empty:
                default = parameter.default
                assert (list(default) if isinstance(default, tuple) else default) == chosen[name]


def test_published_needs_nothing_of_measured():
    """What `make reproduce` asks for depends on nothing that needs weights or upstream."""
    with Repo(ROOT) as repo:
        arrows = {(a.addressing, b.addressing) for a, b in repo.index.graph.edges}
    needed = {read for reader, read in arrows if reader.endswith("@published")}
    assert len(needed) == 3
    assert all(name.endswith("@published") for name in needed)


# --- the run of it ------------------------------------------------------------------------------

PIPELINE = """vars: [models.yaml]
stages:
  page:
    foreach: &sources {published: {of: write.py}, measured: {of: all}}
    do: {desc: a page, cmd: "python write.py ${key}", deps: &of ["${item.of}"],
         outs: ["report/${key}"]}
  paper:
    foreach: *sources
    do: {desc: a paper, cmd: "python write.py ${key}.pdf", deps: *of, outs: ["report/${key}.pdf"]}
  judge:
    desc: all models
    cmd: cat report/one/index.html report/two/index.html > all
    deps: [report/one, report/two]
    outs: [all]
  measure:
    foreach: ${models}
    do:
      desc: a model
      cmd: python write.py ${key}
      params: [models.yaml: ["models.${key}"]]
      outs: ["report/${key}"]
"""
WRITE = """import pathlib, sys, time
print("words of a stage")
if pathlib.Path("killed-" + sys.argv[1]).exists():
    sys.exit(print("layerwise page: a rule; a fix", file=sys.stderr) or 137)
failed = pathlib.Path("failed-" + sys.argv[1]).exists()
path = pathlib.Path("report") / sys.argv[1] / "index.html"
path.parent.mkdir(parents=True)
path.write_text(str(time.time()))
sys.exit(failed)
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A pipeline of a page per source and two models."""
    write_text(tmp_path / ".dvc" / "config", scratch.DVC_CONFIG)
    (tmp_path / "dvc.yaml").write_text(PIPELINE)
    (tmp_path / "models.yaml").write_text("models: {one: {}, two: {}}\n")
    (tmp_path / "write.py").write_text(WRITE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "summary", lambda judged: f"the answer of {judged.source}")
    monkeypatch.setattr(run, "typeset", lambda source: None)
    judged = lambda source, _: SimpleNamespace(source=source, failed={})  # noqa: E731
    monkeypatch.setattr(run, "judged", judged)
    monkeypatch.setattr(run, "MEASURED", "report/{}/index.html")
    return tmp_path


def test_a_run_counts_its_stages_and_ends_with_the_answer(small, capfd):
    """Those of published last; a second run finds nothing to do."""
    answer = f"the answer of published\nthe answer of measured\n{NO_RECORD}"
    assert run.run("all") == answer
    said = capfd.readouterr().out
    order = re.findall(r"^layerwise: stage (\d) of 7: (\w+)", said, re.M)
    assert said.count("words of a stage") == 7 - 1
    assert said.count("\n") == 2 * 7 - 1  # one stage has no words
    assert [int(number) for number, _ in order] == [*range(1, 8)]
    assert [name for _, name in order[:3]] == ["measure", "measure", "judge"]
    assert {name for _, name in order[3:5]} == {name for _, name in order[5:]} == {"page", "paper"}
    assert run.run("all") == answer
    assert run.run("published") == f"the answer of published\n{NO_RECORD}"
    assert run.run("published", strict=True) == (f"the answer of published\n{NO_RECORD}", 1)
    assert capfd.readouterr() == ("", "")


def test_a_run_closes_the_folder_of_pickles_to_others(small, monkeypatch):
    """Made by DVC, it would be open; an empty variable is as none."""
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", "")
    (small / run.SITE).mkdir(0o777)
    with run.alone():
        assert (small / run.SITE).stat().st_mode & 0o077 == 0


def test_another_run_in_the_same_folder_is_refused(small):
    hold = (
        "from layerwise.run.steps import run\n"
        "with run.alone():\n"
        "    print('held', flush=True)\n"
        "    input()"
    )
    command = [sys.executable, "-c", hold]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with program(command, small, **pipes) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(LayerwiseError, match="another run is under way"):
            run.run("published")
        other.communicate("\n")


@pytest.mark.parametrize("left", ["", '{"write": {"/a'])
def test_a_list_of_stages_under_way_that_a_kill_cut_off_stops_nobody(small, left):
    run.run("published")
    (small / ".dvc" / "tmp" / "rwlock").write_text(left)
    assert run.run("published", force=True) == f"the answer of published\n{NO_RECORD}"


def test_a_list_of_a_run_under_way_is_kept(small):
    text = '{"write": {}, "read": {}}'
    write_text(small / ".dvc" / "tmp" / "rwlock", text)
    with run.alone():
        assert (small / ".dvc" / "tmp" / "rwlock").read_text() == text


def test_a_damaged_cache_of_dvc_is_told_with_what_to_remove(small, monkeypatch):
    site = small / "site"
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(site))
    run.run("published")
    caches = [*site.rglob("cache.db")]
    assert caches
    for path in caches:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(LayerwiseError, match=rf"^{site}: .*remove that folder"):
        run.run("published", force=True)
    shutil.rmtree(site)
    assert run.run("published") == f"the answer of published\n{NO_RECORD}"


def measured(small):
    """What was written of each model, and the page."""
    return [small / "report" / name / "index.html" for name in ("one", "two", "measured")]


def test_a_model_that_is_killed_stops_what_needs_it_alone(small, capfd):
    """Its stage ends with an error; the next run goes on there, and measures no other again."""
    one, two, page = measured(small)
    (small / "killed-one").touch()
    with pytest.raises(LayerwiseError, match=r"^stage measure@one failed, .*; mend that, then run"):
        run.run("all")
    shown, errors = capfd.readouterr()  # no word of DVC
    assert shown.count("words of a stage") == 4
    assert len(shown.splitlines()) == 4 + 4
    assert errors == "layerwise page: a rule; a fix\n"
    before = two.read_text()
    assert (small / "report" / "published").exists()
    assert not page.exists()
    (small / "killed-one").unlink()
    assert run.run("all") == f"the answer of published\nthe answer of measured\n{NO_RECORD}"
    assert one.exists()
    assert two.read_text() == before


def test_a_stage_that_fails_is_the_last(small, capfd):
    """Unless it is a model's, nothing after it is run."""
    (small / "killed-published").touch()
    with pytest.raises(LayerwiseError, match=r"^stage page@published failed, "):
        run.run("published")
    assert capfd.readouterr().out.count("words of a stage") == 1


LAUNCHER = [
    sys.executable,
    "-c",
    "from layerwise.run.steps import program, run\n"
    "run.typeset = lambda source: None\n"
    "run.MEASURED = 'report/{}/index.html'\n"
    "import sys; sys.argv[1:] = ['all']\n"
    "program(run.run)",
]


def wait_for(process, has_happened):
    """Wait until something has happened in a process that still runs."""
    while not has_happened():
        assert process.poll() is None
        time.sleep(0.05)


TIDY = """import pathlib, signal, sys, time
def tidy_up(*_):
    time.sleep(0.2)
    pathlib.Path("tidied up").touch()
    sys.exit(1)
signal.signal(signal.SIGTERM, tidy_up)
signal.signal(signal.SIGINT, tidy_up)
pathlib.Path("begun " + sys.argv[1]).touch()
time.sleep(99)
"""
STOPS = {
    "Ctrl-C": lambda launcher: os.killpg(launcher.pid, signal.SIGINT),  # a terminal tells all
    "a cluster": lambda launcher: launcher.terminate(),  # which tells the launcher alone
}


@pytest.mark.parametrize("who", STOPS)
def test_a_run_that_is_told_to_end_waits_for_its_stage_and_begins_no_other(small, who):
    """Though a stage that fails stops no other; nothing runs on."""
    (small / "write.py").write_text(TIDY)
    with program(LAUNCHER, small, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        wait_for(process, lambda: any(small.glob("begun *")))
        STOPS[who](process)
        assert b"Traceback" not in process.communicate(timeout=60)[1]
        assert process.returncode == 130
        assert left_in(small) == []
    assert (small / "tidied up").exists()
    assert len([*small.glob("begun *")]) == 1


def test_a_killed_run_is_taken_up_with_a_model_that_cannot_be_measured(small, monkeypatch):
    """To the end of the report: what DVC says of the killed process is no failure of a stage."""
    (small / "failed-one").touch()
    wait = "if sys.argv[1] == 'two': pathlib.Path('begun two').touch(); time.sleep(99)\n"
    (small / "write.py").write_text(WRITE.replace("sys.exit(failed)", f"{wait}sys.exit(failed)"))
    with program(LAUNCHER, small, stdout=subprocess.DEVNULL) as process:
        wait_for(process, (small / "begun two").exists)
        os.killpg(process.pid, signal.SIGKILL)
    (small / "write.py").write_text(WRITE)
    made = []
    judged = lambda source, _: SimpleNamespace(source=source, failed={"one": {}})  # noqa: E731
    monkeypatch.setattr(run, "judged", judged)
    monkeypatch.setattr(run, "typeset", made.append)
    assert run.run("all")[1] == 1
    assert all(path.exists() for path in measured(small))
    assert made == ["measured", "published"]


def test_what_failed_is_no_success_and_is_taken_up_by_the_next_run(small, monkeypatch):
    """The page is made of what is there."""
    one, two, page = measured(small)
    judged = lambda source, _: SimpleNamespace(source=source, failed={"one": {}})  # noqa: E731
    monkeypatch.setattr(run, "judged", judged)
    (small / "failed-one").touch()
    said = (f"the answer of published\nthe answer of measured\n{NO_RECORD}", 1)

    def times():
        return [path.read_text() for path in (one, two, page)]

    assert run.run("all") == said
    first = times()
    assert run.run("all") == said
    assert [a != b for a, b in zip(first, times(), strict=True)] == [True, False, True]


def test_the_pdf_follows_its_latex(tmp_path, monkeypatch, capsys):
    """It is made where it is missing or older; without LaTeX a sentence says so."""

    def build(folder, name, commit):
        assert commit is None  # no git around it
        (folder / f"{name}.pdf").write_text((folder / f"{name}.tex").read_text())
        return folder / f"{name}.pdf"

    tex, pdf = tmp_path / "paper/generated/published/report.tex", tmp_path / "paper/published.pdf"
    tex.parent.mkdir(parents=True)
    tex.write_text("old")
    (tex.parent / "supplement.tex").write_text("more")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")
        pdfs.typeset("published", tmp_path)
    said = capsys.readouterr().out
    assert re.fullmatch(f"layerwise: no {pdf}: .* no latexmk .*; install it: .*\n", said)
    assert not pdf.exists()
    monkeypatch.setattr(pdfs, "build_pdf", build)
    pdfs.typeset("published", tmp_path)
    assert pdf.read_text() == "old"
    tex.write_text("new")
    for modified, expected in ((0, "old"), (2**32, "new")):
        os.utime(tex, (modified, modified))
        pdfs.typeset("published", tmp_path)
        assert pdf.read_text() == expected
    assert sorted(path.name for path in tex.parent.iterdir()) == ["report.tex", "supplement.tex"]
    assert (tmp_path / "paper" / "published-supplement.pdf").read_text() == "more"


# --- weights that come, and what is shown, while others are measured ------------------------------


def test_the_next_models_weights_are_asked_for_while_one_is_measured(small, monkeypatch):
    """None where they are there, or where its stage will not run; before its stage they are."""
    events, there = [], set()

    class Fetching(LookAhead):
        def fetch(self, slugs):
            events.extend(slugs)

        def wait_for(self, slug):
            events.append(f"waited for {slug}")
            there.add(slug)

    monkeypatch.setattr(run, "LookAhead", Fetching)
    monkeypatch.setattr(run, "lacks_weights", lambda slug: slug not in there)
    run.run("all")
    first, second = (slug.removeprefix("waited for ") for slug in (events[0], events[-1]))
    assert events == [f"waited for {first}", second, f"waited for {second}"]
    run.run("all")
    assert len(events) == 3
    run.run("all", force=True)
    assert events[3:] == [f"waited for {first}", f"waited for {second}"]


def test_no_more_than_two_models_are_fetched_ahead(monkeypatch):
    names = [f"measure@{slug}" for slug in "abcd"]
    stages = Reproduction(None, dict.fromkeys(names), force=False)
    stages.known = {name: name != "measure@b" for name in names}
    assert stages.next_models("measure@a") == ["c", "d"]
    stages.known["measure@b"] = True
    assert stages.next_models("measure@a") == ["b", "c"]
    assert stages.next_models("measure@d") == []


def test_weights_come_one_model_after_the_other_and_end_with_the_block(tmp_path, monkeypatch):
    """One that is under way is not begun twice; one that was refused is, when it is asked for."""
    monkeypatch.chdir(tmp_path)
    process = """if True:
        import sys, time
        slug = sys.argv[1]
        with open("log", "a") as log:
            log.write(f"{slug} begun\\n")
        time.sleep(99 if slug == "endless" else 0.3)
        with open("log", "a") as log:
            log.write(f"{slug} ended\\n")
        sys.exit(slug == "refused")
    """
    monkeypatch.setattr(look_ahead, "COMMAND", [sys.executable, "-c", process])

    def log():
        return (tmp_path / "log").read_text().split("\n")[:-1]

    with LookAhead() as fetching:
        fetching.wait_for("unasked")
        fetching.fetch(["refused", "b"])
        fetching.fetch(["refused", "b"])
        fetching.wait_for("b")
        expected = ["refused begun", "refused ended", "b begun", "b ended"]
        assert log() == expected
        fetching.fetch(["refused", "endless", "never"])
        fetching.wait_for("refused")
        while log()[-1] != "endless begun":
            time.sleep(0.05)
    assert log() == [*expected, "refused begun", "refused ended", "endless begun"]
    assert left_in(tmp_path) == []


def test_what_is_measured_so_far_is_shown_by_one_process_at_a_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    begun = []

    def begin():
        begun.append(subprocess.Popen(["sleep", "60"], start_new_session=True))
        return begun[-1]

    def measure(slug):
        write_text(so_far.NUMBERS / slug / "measured.json", "{}")

    monkeypatch.setattr(so_far, "begin", begin)
    with so_far.SoFar() as shown:
        measure("texts")
        shown.update()
        assert begun == []  # no model yet
        measure("one")
        shown.update()
        measure("two")
        shown.update()
        assert len(begun) == 1
        begun[0].kill()
        begun[0].wait()
        shown.update()
        shown.update()
        assert len(begun) == 2
        begun[1].kill()
        begun[1].wait()
        shown.update()
        assert len(begun) == 2  # nothing has come since
        measure("three")
        shown.update()
    assert len(begun) == 3
    assert begun[2].poll() is not None


def test_what_is_measured_so_far_ends_with_its_stage(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stage = "import time; open('begun', 'w').close(); time.sleep(99)"
    process = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {stage!r}])"
    monkeypatch.setattr(so_far, "COMMAND", [sys.executable, "-c", process])
    with so_far.SoFar() as shown:
        write_text(so_far.NUMBERS / "one" / "measured.json", "{}")
        shown.update()
        wait_for(shown.process, (tmp_path / "begun").exists)
    assert left_in(tmp_path) == []
