"""The command line: help for a stranger, exit codes, `analyze` end to end and every bad input."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from filelock import FileLock
from safetensors.numpy import load_file, save_file

import layerwise
from claim_records import judged, record
from layerwise.__main__ import main as begin
from layerwise.errors import LayerwiseError
from layerwise.files import write_json
from layerwise.papers.shared.result_files import (
    ANISOTROPY,
    BINS,
    BOOTSTRAP,
    LAYERS,
    PAIRS,
    UA_FILES,
)
from layerwise.reader import measurement
from layerwise.run import cli
from tiny_checkpoints import EXAMPLE, contents, twin_folder

CHECKPOINT = twin_folder("gpt_neox", 5)
PUBLISHED = {
    "validation": UA_FILES["pythia-6p9b"],
    "layers": LAYERS,
    "category_bootstrap": BOOTSTRAP,
    "bins": BINS,
    "pairs": PAIRS,
    "anisotropy": ANISOTROPY,
}
OF_PYTHIA = {
    "/L_star_paper2",
    "/gap",
    "/match_verdict",
    "/three_phases",
}  # compared with a layer of Pythia-6.9B
UNDATED = {"/timestamp", "/_metadata/timestamp"}  # results depend on no clock
ANALYZE = ["analyze", "--model", "m", "--pairs", "p", "--prompts", "p", "--out", "o"]
VERBS = [
    "analyze",
    "compare",
    "claims",
    "headlines",
    "trace",
    "measure-model",
    "models",
    "doctor",
    "fetch",
]
QUICK = ("--without", "gains,spectral")


def run(capsys, *arguments):
    """(exit code, standard output, standard error) of `layerwise ARGUMENTS`."""
    code = cli.main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


# --- help and exit codes ------------------------------------------------------------------------


def test_help_lists_the_verbs_in_order(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert re.findall(r"^╭─ ([A-Z].*?) ─+╮$", out, re.M) == ["Options", *cli.GROUPS]
    verbs = out[out.index(cli.OWN) :]
    assert re.findall(r"^│ ([a-z-]+)  ", verbs, re.M) == VERBS
    assert "\x1b" not in out


def test_without_a_verb_it_is_the_help(capsys):
    code, out, err = run(capsys)
    assert (code, err) == (2, "")
    assert out.strip() == run(capsys, "--help")[1].strip()


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(capsys, verb):
    code, out, _ = run(capsys, verb, "--help")
    assert (code, max(map(len, out.splitlines())) <= 100) == (0, True)
    code, _, err = run(capsys, f"{verb}e")
    assert (code, f"Did you mean '{verb}'?" in err) == (2, True)


@pytest.fixture
def results(tmp_path):
    """A folder of three judged claims."""
    claims = [record(name) for name in ("p2.a", "p2.b", "p3.a")]
    write_json(tmp_path / "results" / "published" / "claims.json", judged(claims))
    return tmp_path / "results"


def test_reading_imports_neither_numpy_nor_torch(results):
    """`claims` and every help are there at once, and know no reader's model."""
    dear = {"numpy", "torch", "matplotlib", "layerwise.reader.page", "layerwise.reader"}
    code = (
        "import sys; from layerwise.run.cli import main; "
        f"asked = ['claims', '--results', {str(results)!r}]; "
        "assert not any(main([*asked, *form]) for form in ([], ['--json'], ['--csv'])); "
        f"print(sorted({dear} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def run_python(*arguments, cwd, path="", **variables):
    """Run Python in a folder; PYTHONPATH begins with `path`."""
    entries = filter(None, [str(path), os.environ.get("PYTHONPATH")])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(entries)} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


VERB = ("-m", "layerwise", "models")
STAGE = ("-m", "layerwise.run.steps.analyse", "published", "--out", "out")


@pytest.mark.parametrize("asked", [VERB, STAGE, ("-c", "import layerwise; layerwise.measure")])
def test_python_without_docstrings_is_refused(tmp_path, asked):
    """Words and captions would be gone from the results without a word."""
    for done in (
        run_python("-OO", *asked, cwd=tmp_path),
        run_python(*asked, cwd=tmp_path, PYTHONOPTIMIZE="2"),
    ):
        assert done.returncode != 0
        assert "docstrings" in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["yaml", "numpy", "random"])  # the last one is Python's own
@pytest.mark.parametrize("place", ["working folder", "PYTHONPATH"])
def test_a_module_that_hides_one_that_is_needed_is_named(tmp_path, name, place):
    (tmp_path / f"{name}.py").touch()
    path = tmp_path if place == "PYTHONPATH" else ""
    (tmp_path / "elsewhere").mkdir()
    cwd = tmp_path / "elsewhere" if path else tmp_path
    for asked in (VERB, STAGE):
        done = run_python(*asked, cwd=cwd, path=path)
        assert done.returncode != 0
        (said,) = done.stderr.splitlines()
        assert f"found {tmp_path / name}.py in its place" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dance"], "No such command 'dance'"),
        (["analyze"], "Missing option '--model'"),
        (["claims", "--source", "full"], "'full' is not one of 'published', 'measured'"),
        (
            [*ANALYZE, "--layers", "0,x"],
            "layers are whole numbers separated by commas, found '0,x'",
        ),
        ([*ANALYZE, "--template-options", "{a: 1}"], "--template-options: not valid JSON"),
        ([*ANALYZE, "--template-options", "[1]"], "options are a JSON object, found '[1]'"),
        ([*ANALYZE, "--seed", "-1"], "'--seed': Input should be greater than or equal to 0"),
        *(
            ([*arguments, ""], "must not be empty")
            for arguments in (
                [*ANALYZE, "--out"],
                [*ANALYZE, "--model"],
                [*ANALYZE, "--dry-run", "--model"],
                ["scaling", "a", "b", "--out"],
                ["scaling", ""],
                ["claims", "--results"],
                ["headlines", "--results"],
                ["trace", "id", "--results"],
                ["fetch", "--out", "out", "--mirror"],
                ["fetch", "--out"],
            )
        ),
        ([*ANALYZE, "--without", "all"], "without.0: must be 'gains' or 'spectral', found 'all'"),
    ],
)
def test_wrong_usage_refused(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("raised", "code", "message"),
    [
        (LayerwiseError("a rule; a fix"), 2, "layerwise compare: a rule; a fix\n"),
        (KeyboardInterrupt(), 130, "\nlayerwise compare: interrupted; run it again to go on\n"),
    ],
)
def test_exit_codes(capsys, monkeypatch, raised, code, message):
    def stop(folders, out, **_):
        raise raised

    monkeypatch.setattr("layerwise.reader.compare.compare", stop)
    for name in ("compare", "scaling"):  # its name, and that of earlier versions
        assert run(capsys, name, "a", "b") == (code, "", message)


def test_ctrl_c_while_the_verbs_are_imported_is_a_sentence(capsys, monkeypatch):
    class Interrupted(ModuleType):
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "layerwise.run.cli", Interrupted("layerwise.run.cli"))
    monkeypatch.setattr(layerwise.run, "cli", Interrupted("layerwise.run.cli"))
    assert begin() == 130
    assert capsys.readouterr().err == "\nlayerwise: interrupted; run it again to go on\n"


# --- analyze ------------------------------------------------------------------------------------


def analyze(capsys, out, *more, model=CHECKPOINT, **texts):
    inputs = {"model": model, **EXAMPLE, **texts, "out": out}
    return run(capsys, "analyze", *(f"--{name}={given}" for name, given in inputs.items()), *more)


def read(out):
    return {path.stem: json.loads(path.read_text()) for path in out.glob("*.json")}


def test_analyze_writes_one_file_per_analysis(analyzed):
    results, documents = analyzed.documents, {*PUBLISHED, "sensitivity", "gains", "spectral"}
    beside = {"hidden_states", "figures", "tables", "index.html", "answers.csv"}
    left = {path.name for path in analyzed.folder.iterdir()}
    assert left == {f"{name}.json" for name in documents} | beside
    assert list(results["category_bootstrap"]["layer_results"]) == ["0", "4", "5"]
    assert results["layers"]["n_layers"] == 5
    assert len(results["anisotropy"]["effective_rank"]) == 6


def test_analyze_again_reuses_the_states_and_gives_the_same(capsys, analyzed, tmp_path):
    """The first time it was asked from Python: all files are the same."""
    out = Path(shutil.copytree(analyzed.folder, tmp_path / "out"))
    before, index = contents(out), out / "hidden_states" / "index.json"
    stamp = index.stat().st_mtime_ns
    code, said, err = analyze(capsys, out, "--keep-states")
    assert (code, err) == (0, "")
    assert "validation.json, layers.json" in said
    assert contents(out) == before
    assert index.stat().st_mtime_ns == stamp


@pytest.mark.usefixtures("quick")
def test_analyze_options_reach_the_results(capsys, tmp_path, analyzed):
    given = {
        "default": ("--layers", "5,2"),
        "other": ("--layers", "5,2", "--seed", "7"),
        "half": ("--dtype", "bfloat16", "--replicates", "0"),
    }
    for name, options in given.items():
        if name != "half":
            states = tmp_path / name / "hidden_states"
            shutil.copytree(analyzed.folder / "hidden_states", states)
        assert analyze(capsys, tmp_path / name, *options, *QUICK)[0] == 0
    default, other, half = (read(tmp_path / name) for name in given)
    assert list(other["category_bootstrap"]["layer_results"]) == ["2", "5"]
    low = [
        documents["pairs"]["results"]["5"]["centroid_asymmetry"]["ci_lower"]
        for documents in (default, other)
    ]
    mean = [
        documents["validation"]["_global_stats"]["mean_output_preference"]
        for documents in (default, half)
    ]
    for (first, second), near in ((low, 0.1), (mean, 0.05)):
        assert first != second
        assert first == pytest.approx(second, abs=near)


def test_a_dry_run_says_what_it_takes_and_leaves_nothing(capsys, tmp_path, monkeypatch, analyzed):
    out = tmp_path / "out"
    code, said, err = analyze(capsys, out, "--dry-run", "--dtype", "float16")
    assert (code, err, out.exists()) == (0, "", False)
    lines = dict(line.split(None, 1) for line in said.splitlines())
    weights = load_file(CHECKPOINT / "model.safetensors").values()
    numbers = sum(tensor.size for tensor in weights)
    assert f"5 blocks, hidden size 16, {numbers / 1e6:,.1f} million" in lines["model"]
    assert lines["layers"] == "0, 4, 5"
    index = json.loads((analyzed.folder / "hidden_states" / "index.json").read_text())
    n = sum(index["prompt_lengths"])  # of the forward passes
    assert lines["prompts"] == f"{index['n_prompts']}, {n:,} tokens"
    seconds = r"(\d+) (?:s|min)"
    assert re.fullmatch(
        rf"{seconds} to {seconds} here, \d+% of it passes of the model", lines["time"]
    )
    with monkeypatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        code, _, err = analyze(capsys, out, "--dry-run", model="org/model")
    assert (code, "org/model at main is not in the local cache" in err) == (2, True)


def keys(document, place=""):
    """Of a document and all below; one layer stands for all, and one row of a list of tables."""
    places = {place}
    rows = document if isinstance(document, list) else []
    for row in [row for row in rows if isinstance(row, dict)][:1]:
        places |= keys(row, f"{place}/ROW")
    for name, below in document.items() if isinstance(document, dict) else ():
        is_layer = name.isdigit() or name.startswith("layer_")
        places |= keys(below, f"{place}/{'LAYER' if is_layer else name}")
    return places


@pytest.mark.usefixtures("quick")
def test_real_pairs_give_the_keys_of_the_published_files(capsys, mirror, tmp_path):
    assert analyze(capsys, tmp_path, pairs=mirror / "dataset.json")[0] == 0
    documents = read(tmp_path)
    assert documents["pairs"]["n_pairs"] == 230
    for name, file in PUBLISHED.items():
        published = json.loads((mirror / file).read_text())
        assert keys(published) - keys(documents[name]) <= UNDATED | OF_PYTHIA, name


# --- analyze: bad inputs ------------------------------------------------------------------------


def constant(folder):
    """Both sides alike: every preference is zero."""
    document = json.loads((folder / "pairs.json").read_text())
    for entry in document.values():
        entry["pairs"] = [[a, a] for a, _ in entry["pairs"]]
    (folder / "pairs.json").write_text(json.dumps(document))


def long_prompt(folder):
    (folder / "prompts.json").write_text(json.dumps(["word " * 400]))


def not_finite(folder):
    path = folder / "broken" / "model.safetensors"
    weights = load_file(path)
    name = next(name for name in weights if "layers.2.mlp.dense_4h_to_h.weight" in name)
    weights[name] = np.full_like(weights[name], np.inf)
    save_file(weights, path, metadata={"format": "pt"})


# What is found on tokenizing and after the forward passes; `test_python` has what is read.
BAD = {
    "constant": (
        constant,
        "pairs.json: .*both sides of every category hold the same.*; use statements that d",
    ),
    "long prompt": (long_prompt, "prompts.json.*takes at most 256 tokens"),
    "not finite": (not_finite, "broken.*hidden states at layer 3 are not finite.*; check the"),
    "no model": (lambda folder: shutil.rmtree(folder / "broken"), "broken.*folder"),
    "no layer": (str, "layer is a number from 0 to n_layers = 5, found 6; choose layers"),
}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("case", BAD)
def test_bad_inputs_refused(capsys, monkeypatch, tmp_path, analyzed, case):
    """Nothing is left of a run that failed, and an earlier one stays as it was."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    shutil.copytree(CHECKPOINT, tmp_path / "broken")
    shutil.copytree(analyzed.folder, tmp_path / "earlier")
    texts = {name: shutil.copy(path, tmp_path) for name, path in EXAMPLE.items()}
    change, message = BAD[case]
    change(tmp_path)

    def kept():
        return {
            name: content
            for name, content in contents(tmp_path).items()
            if "hidden_states" not in name
        }

    before, layers = kept(), ["--layers", "0,6" if case == "no layer" else "0,5"]
    for out in (tmp_path / "results" / "out", tmp_path / "earlier"):
        code, shown, err = analyze(capsys, out, *layers, model=tmp_path / "broken", **texts)
        assert (code, shown, err.startswith("layerwise analyze: ")) == (2, "", True)
        assert re.search(message, err)
        assert "Traceback" not in err
    assert kept() == before
    assert not (tmp_path / "results").exists()


def test_interrupt_leaves_a_run_to_go_on_from(capsys, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("layerwise.reader.measurement.measure", stop)
    code, _, err = analyze(capsys, tmp_path / "out")
    assert code == 130
    assert "interrupted; run it again" in err
    assert not list((tmp_path / "out").glob("*.json"))
    assert (tmp_path / "out" / "hidden_states" / "index.json").is_file()


# --- analyze: what others have in the folder ----------------------------------------------------


@pytest.mark.usefixtures("quick")
def test_a_second_run_is_refused_and_leaves_the_first_ones_work(capsys, tmp_path, monkeypatch):
    """Also where the first has made nothing yet when the second looks at the folder."""
    work, extract = tmp_path / "out" / "hidden_states.partial" / "batch", measurement.extract

    def after_the_first_began(*arguments):
        work.parent.mkdir()
        work.write_text("of the first")
        return extract(*arguments)

    (tmp_path / "out").mkdir()
    with FileLock(tmp_path / "out" / "hidden_states.lock"), monkeypatch.context() as patch:
        patch.setattr(measurement, "extract", after_the_first_began)
        code, _, err = analyze(capsys, tmp_path / "out")
        assert (code, "one run at a time writes" in err) == (2, True)
        assert work.exists() == work.parent.exists()
        assert (tmp_path / "out" / "hidden_states.lock").exists()
    assert analyze(capsys, tmp_path / "out", *QUICK)[0] == 0


@pytest.mark.usefixtures("quick")
def test_nothing_is_written_through_a_link(capsys, tmp_path):
    """A folder that somebody else packed: its links lead to what is the reader's."""
    out, mine = tmp_path / "out", tmp_path / "mine"
    for folder in (out, mine):
        folder.mkdir()
    for name in ("file", "index.html", "layers.png"):
        (mine / name).write_text('{"_run": {}}')  # as of an earlier run
    before = contents(mine)
    (out / "figures").symlink_to(mine)
    for name in ("index.html", "validation.json"):
        (out / name).symlink_to(mine / "file")
    for name in ("hidden_states.lock", "layers.json"):
        (out / name).hardlink_to(mine / "file")
    assert analyze(capsys, out, *QUICK)[0] == 0
    assert contents(mine) == before
