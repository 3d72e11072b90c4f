"""The command line: help for a stranger, exit codes, `analyze` end to end and every bad input."""

import json
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock, Timeout
from safetensors.numpy import load_file, save_file

import layerwise
from claim_records import judged
from layerwise import cli
from layerwise.errors import LayerwiseError
from layerwise.extraction.twins import build_twin
from layerwise.inputs.prompts import read_prompts
from layerwise.inputs.result_files import ANISOTROPY, BINS, BOOTSTRAP, LAYERS, PAIRS, UA_FILES
from layerwise.steps import own_model
from layerwise.steps.results import Result
from tiny_checkpoints import twinned_model

MINI = Path(str(resources.files("layerwise") / "inputs/rehearsal"))
PUBLISHED = {
    "validation": UA_FILES["pythia-6p9b"],
    "layers": LAYERS,
    "category_bootstrap": BOOTSTRAP,
    "bins": BINS,
    "pairs": PAIRS,
    "anisotropy": ANISOTROPY,
}
ANALYZE = ["analyze", "--model", "m", "--pairs", "p", "--prompts", "p", "--out", "o"]
VERBS = ["analyze", "scaling", "claims", "headlines", "trace", "models", "doctor", "fetch"]
QUICK = ("--without", "gains,spectral")


def run(capsys, *arguments):
    """(exit code, standard output, standard error) of `layerwise ARGUMENTS`."""
    code = cli.main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def one_line(text):
    return " ".join(text.split())


def files_below(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- help and exit codes ------------------------------------------------------------------------


def test_help_lists_the_verbs_in_order(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    groups = re.findall(r"^([A-Z][^\n]+):\n((?:  [a-z]+ .*\n)+)", out, re.M)
    assert [name for name, _ in groups] == list(cli.GROUPS)
    assert re.findall(r"^  ([a-z]+)  ", "".join(verbs for _, verbs in groups), re.M) == VERBS
    assert "\x1b" not in out


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"layerwise {layerwise.__version__}\n", "")


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(capsys, verb):
    code, out, _ = run(capsys, verb, "--help")
    assert (code, max(map(len, out.splitlines())) <= 100) == (0, True)
    code, _, err = run(capsys, f"{verb}e")
    assert (code, f"Did you mean '{verb}'?" in err) == (2, True)


def test_reading_imports_neither_numpy_nor_torch(tmp_path):
    """`trace`, `claims` and every help are there at once."""
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "claims.json").write_text(json.dumps(judged([])))
    code = (
        "import sys; from layerwise.cli import main; "
        f"assert main(['claims', '--results', {str(tmp_path)!r}]) == 0; "
        "print(sorted({'numpy', 'torch', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Your own model:"),
        (["dance"], "No such command 'dance'"),
        (["analyze"], "Missing option '--model'"),
        (["claims", "--source", "full"], "'full' is not one of 'published', 'measured'"),
        (
            [*ANALYZE, "--layers", "0,x"],
            "layers are whole numbers separated by commas, found '0,x'",
        ),
        ([*ANALYZE, "--seed", "-1"], "'--seed': Input should be greater than or equal to 0"),
        ([*ANALYZE, "--without", "all"], "without.0: must be 'gains' or 'spectral', found 'all'"),
    ],
)
def test_wrong_usage_iv(capsys, arguments, message):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in one_line(err)


@pytest.mark.parametrize(
    ("raised", "code", "message"),
    [
        (LayerwiseError("a rule; a fix"), 2, "layerwise scaling: a rule; a fix\n"),
        (KeyboardInterrupt(), 130, "\nlayerwise scaling: interrupted; run it again to go on\n"),
    ],
)
def test_exit_codes(capsys, monkeypatch, raised, code, message):
    def stop(folders, out):
        raise raised

    monkeypatch.setattr("layerwise.steps.scaling.compare", stop)
    assert run(capsys, "scaling", "a", "b") == (code, "", message)


def test_a_verb_may_have_an_exit_code_of_its_own(capsys, monkeypatch):
    monkeypatch.setattr("layerwise.steps.doctor.run", lambda as_json: (f"json: {as_json}", 2))
    assert run(capsys, "doctor") == (2, "json: False\n", "")
    assert run(capsys, "doctor", "--json") == (2, "json: True\n", "")


# --- analyze ------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def one_date():
    """The results carry a time stamp."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "0")
        yield


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    pairs = json.loads((MINI / "pairs.json").read_text())
    texts = [side for entry in pairs.values() for pair in entry["pairs"] for side in pair]
    texts += read_prompts(MINI / "prompts.json")
    return build_twin(twinned_model(n_layers=5), texts, tmp_path_factory.mktemp("model") / "tiny")


def analyze(capsys, checkpoint, out, *more, pairs=MINI / "pairs.json", prompts=None):
    inputs = ["--pairs", pairs, "--prompts", prompts or MINI / "prompts.json", "--out", out]
    return run(capsys, "analyze", "--model", checkpoint, *inputs, *more)


def read(out):
    return {path.stem: json.loads(path.read_text()) for path in out.glob("*.json")}


def analyzed_in(out, checkpoint, pairs):
    """The folder of the result files of one run."""
    inputs = {"model": checkpoint, "pairs": pairs, "prompts": pairs.with_name("prompts.json")}
    options = [f"--{name}={path}" for name, path in inputs.items()]
    assert cli.main(["analyze", *options, f"--out={out}"]) == 0
    return out


@pytest.fixture(scope="module")
def analyzed(checkpoint, tmp_path_factory):
    return analyzed_in(tmp_path_factory.mktemp("analyzed") / "out", checkpoint, MINI / "pairs.json")


def test_analyze_writes_one_file_per_analysis(analyzed):
    results, documents = read(analyzed), {*PUBLISHED, "sensitivity", "gains", "spectral"}
    beside = {"hidden_states", "figures", "tables", "index.html", "tables.tex"}
    left = {path.name for path in analyzed.iterdir()}
    assert left == {f"{name}.json" for name in documents} | beside
    assert list(results["category_bootstrap"]["layer_results"]) == ["0", "4", "5"]
    assert results["layers"]["n_layers"] == 5
    assert len(results["anisotropy"]["effective_rank"]) == 6


def test_analyze_again_reuses_the_states_and_gives_the_same(capsys, analyzed, checkpoint):
    before = files_below(analyzed)
    stamp = (analyzed / "hidden_states" / "index.json").stat().st_mtime_ns
    code, out, err = analyze(capsys, checkpoint, analyzed)
    assert (code, err) == (0, "")
    assert "validation.json, layers.json" in out
    assert files_below(analyzed) == before
    assert (analyzed / "hidden_states" / "index.json").stat().st_mtime_ns == stamp


def test_analyze_options_reach_the_results(capsys, tmp_path, analyzed, checkpoint):
    shutil.copytree(analyzed / "hidden_states", tmp_path / "hidden_states")
    default = read(analyzed)
    assert analyze(capsys, checkpoint, tmp_path, "--layers", "5,2", "--seed", "7", *QUICK)[0] == 0
    other = read(tmp_path)
    assert list(other["category_bootstrap"]["layer_results"]) == ["2", "5"]
    assert analyze(capsys, checkpoint, tmp_path / "half", "--dtype", "bfloat16", *QUICK)[0] == 0
    half = read(tmp_path / "half")
    for found, key, near in (
        (other, "bootstrap_95ci", 0.1),
        (half, "mean_output_preference", 0.05),
    ):
        one, two = (r["validation"]["_global_stats"][key] for r in (default, found))
        assert one != two
        assert one == pytest.approx(two, abs=near)


def test_a_dry_run_says_what_it_takes_and_leaves_nothing(capsys, tmp_path, checkpoint, analyzed):
    out = tmp_path / "out"
    code, said, err = analyze(capsys, checkpoint, out, "--dry-run", "--dtype", "float16")
    assert (code, err, out.exists()) == (0, "", False)
    lines = dict(line.split(None, 1) for line in said.splitlines())
    weights = load_file(checkpoint / "model.safetensors").values()
    numbers = sum(one.size for one in weights)
    assert f"5 blocks, hidden size 16, {numbers / 1e6:,.1f} million" in lines["model"]
    assert lines["layers"] == "0, 4, 5"
    index = json.loads((analyzed / "hidden_states" / "index.json").read_text())
    n = sum(index["prompt_lengths"])  # of the forward passes
    assert lines["prompts"] == f"{index['n_prompts']}, {n:,} tokens"
    assert "GFLOP/s" in lines["time"]
    code, _, err = analyze(capsys, "org/model", out, "--dry-run")
    assert (code, "download it first with `hf download org/model`" in err) == (2, True)


def keys(document, place=""):
    """Of a document and all below; one layer stands for all, and one row of a list of tables."""
    found = {place}
    rows = document if isinstance(document, list) else []
    for one in [row for row in rows if isinstance(row, dict)][:1]:
        found |= keys(one, f"{place}/ROW")
    for name, below in document.items() if isinstance(document, dict) else ():
        is_layer = name.isdigit() or name.startswith("layer_")
        found |= keys(below, f"{place}/{'LAYER' if is_layer else name}")
    return found


@pytest.fixture(scope="module")
def on_real_pairs(mirror, checkpoint, tmp_path_factory):
    out = tmp_path_factory.mktemp("real") / "out"
    return read(analyzed_in(out, checkpoint, mirror / "dataset.json"))


@pytest.mark.parametrize("name", PUBLISHED)
def test_real_pairs_give_the_keys_of_the_published_file(mirror, on_real_pairs, name):
    published = json.loads((mirror / PUBLISHED[name]).read_text())
    assert keys(published) - keys(on_real_pairs[name]) <= {"/timestamp"}
    assert on_real_pairs["pairs"]["n_pairs"] == 230


# --- analyze: bad inputs ------------------------------------------------------------------------


def constant(folder):
    """Both sides alike: every preference is zero."""
    document = json.loads((folder / "pairs.json").read_text())
    for entry in document.values():
        entry["pairs"] = [[a, a] for a, _ in entry["pairs"]]
    (folder / "pairs.json").write_text(json.dumps(document))


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
        ["pairs.json", "preferences that vary", "use pairs whose two statements differ"],
    ),
    "long prompt": (
        lambda folder: (folder / "prompts.json").write_text(json.dumps(["word " * 400])),
        ["prompts.json", "takes at most 256 tokens"],
    ),
    "not finite": (not_finite, ["broken", "hidden states at layer 3 are not finite", "check the"]),
}


@pytest.mark.parametrize(("change", "words"), BAD.values(), ids=BAD)
def test_bad_inputs_iv(capsys, tmp_path, checkpoint, analyzed, change, words):
    """Nothing is left of a run that failed, and an earlier one stays as it was."""
    shutil.copytree(checkpoint, tmp_path / "broken")
    shutil.copytree(analyzed, tmp_path / "earlier")
    for name in ("pairs.json", "prompts.json"):
        shutil.copy(MINI / name, tmp_path)
    change(tmp_path)

    def kept():
        return {p: of for p, of in files_below(tmp_path).items() if "hidden_states" not in str(p)}

    texts = {name: tmp_path / f"{name}.json" for name in ("pairs", "prompts")}
    before = kept()
    for out in (tmp_path / "results" / "out", tmp_path / "earlier"):
        code, shown, err = analyze(capsys, tmp_path / "broken", out, **texts)
        assert (code, shown, err.startswith("layerwise analyze: ")) == (2, "", True)
        assert [word for word in words if word not in err] == []
        assert "Traceback" not in err
    assert kept() == before
    assert not (tmp_path / "results").exists()


def test_options_that_cannot_be_iv(capsys, tmp_path, checkpoint, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    code, _, err = analyze(capsys, tmp_path / "no-model", tmp_path / "out")
    assert (code, "no-model" in err, "folder" in err) == (2, True, True)
    code, _, err = analyze(capsys, checkpoint, tmp_path / "out", "--layers", "0,6")
    assert code == 2
    assert "a layer is a number from 0 to n_layers = 5, found 6; choose layers" in err
    assert list(tmp_path.iterdir()) == []


def test_interrupt_leaves_a_run_to_go_on_from(capsys, tmp_path, checkpoint, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("layerwise.steps.own_model.measure", stop)
    code, _, err = analyze(capsys, checkpoint, tmp_path / "out")
    assert code == 130
    assert "interrupted; run it again" in err
    assert not list((tmp_path / "out").glob("*.json"))
    assert (tmp_path / "out" / "hidden_states" / "index.json").is_file()


# --- analyze: what others have in the folder ----------------------------------------------------


def test_a_second_run_is_refused_and_leaves_the_first_ones_work(
    capsys, tmp_path, checkpoint, monkeypatch
):
    """Also where the first has made nothing yet when the second looks at the folder."""
    work, extract = tmp_path / "out" / "hidden_states.partial" / "batch", own_model.extract

    def after_the_first_began(*arguments):
        work.parent.mkdir()
        work.write_text("of the first")
        return extract(*arguments)

    (tmp_path / "out").mkdir()
    with FileLock(tmp_path / "out" / "hidden_states.lock"), monkeypatch.context() as patch:
        patch.setattr(own_model, "extract", after_the_first_began)
        code, _, err = analyze(capsys, checkpoint, tmp_path / "out")
        assert (code, "one run at a time writes" in err) == (2, True)
        assert work.exists() == work.parent.exists()
        assert (tmp_path / "out" / "hidden_states.lock").exists()
    assert analyze(capsys, checkpoint, tmp_path / "out", *QUICK)[0] == 0


def test_the_lock_holds_until_the_page_stands(capsys, tmp_path, checkpoint, monkeypatch):
    write, refused = Result.save, []

    def watched(*arguments):
        saved = write(*arguments)
        with pytest.raises(Timeout):
            FileLock(tmp_path / "hidden_states.lock", timeout=0).acquire()
        refused.append(True)
        return saved

    monkeypatch.setattr(Result, "save", watched)
    assert analyze(capsys, checkpoint, tmp_path, *QUICK)[0] == 0
    assert refused
    assert not (tmp_path / "hidden_states.lock").exists()


TO_FILES = ("hidden_states.lock", "index.html", "index.html.part", "validation.json", "tables.tex")
TO_FOLDERS = ("figures", "hidden_states", "hidden_states.partial", "../out")


@pytest.mark.parametrize(
    ("names", "place", "code"),
    [
        ([*TO_FILES[1:], "figures"], Path.symlink_to, 0),
        (TO_FILES, Path.hardlink_to, 0),
        *(([name], Path.symlink_to, 2) for name in (TO_FILES[0], *TO_FOLDERS[1:])),
    ],
    ids=["symbolic", "hard", "lock", *TO_FOLDERS[1:]],
)
def test_nothing_is_written_through_a_link(capsys, tmp_path, checkpoint, names, place, code):
    """A folder that somebody else packed: its links lead to what is the reader's."""
    out, mine = tmp_path / "out", tmp_path / "mine"
    mine.mkdir()
    for name in ("file", "fingerprint", "index.html", "layers.png"):
        (mine / name).write_text("mine")
    before = files_below(mine)
    for name in names:
        if name != "../out":
            out.mkdir(exist_ok=True)
        place(out.parent / "out" / name if out.exists() else out,
              mine / "file" if name in TO_FILES else mine)  # fmt: skip
    found, _, err = analyze(capsys, checkpoint, out, *QUICK)
    assert (found, "link" in err, "Traceback" in err) == (code, code == 2, False)
    assert files_below(mine) == before
