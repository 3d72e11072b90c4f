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
from tokenizers import Tokenizer

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
RESULTS = ("validation", "layers", "category_bootstrap", "bins", "pairs", "anisotropy")
PUBLISHED = {
    "validation": UA_FILES["pythia-6p9b"],
    "layers": LAYERS,
    "category_bootstrap": BOOTSTRAP,
    "bins": BINS,
    "pairs": PAIRS,
    "anisotropy": ANISOTROPY,
}
ANALYZE = ["analyze", "--model", "m", "--pairs", "p", "--prompts", "p", "--out", "o"]
VERBS = {
    "analyze": ("checkpoint folder, or a hub id", "default: every 4th and the last", "JSON list"),
    "scaling": ("layer curves of several", "DIR"),
    "claims": ("list the claims", "E.g. differs", "1, 2 or 3"),
    "headlines": ("central claims", "what does not"),
    "trace": ("where one number comes from", "CLAIM", "published|measured"),
    "models": ("--json", "--tflops", "revision"),
    "doctor": ("what can run here", "--json", "Exit code 0: `make reproduce` can run here"),
    "fetch": ("checked by sha256", "LAYERWISE_MIRROR"),
}


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
    assert re.findall(r"^  ([a-z]+)  ", "".join(verbs for _, verbs in groups), re.M) == list(VERBS)
    told = one_line(out)
    assert [
        of for of in ("make reproduce", "0: done", "2: a rule", "130: C") if of not in told
    ] == []
    assert "\x1b" not in out


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"layerwise {layerwise.__version__}\n", "")


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_misspelled_is_told(capsys, verb):
    code, _, err = run(capsys, f"{verb}e")
    assert (code, f"Did you mean '{verb}'?" in err) == (2, True)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(capsys, verb):
    code, out, _ = run(capsys, verb, "--help")
    assert code == 0
    told = one_line(out).lower()
    assert [words for words in VERBS[verb] if words.lower() not in told] == []
    assert max(map(len, out.splitlines())) <= 100


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
        (["claims", "--paper", "two"], "should be a valid integer"),
        (
            [*ANALYZE, "--layers", "0,x"],
            "layers are whole numbers separated by commas, found '0,x'",
        ),
        ([*ANALYZE, "--seed", "-1"], "'--seed': Input should be greater than or equal to 0"),
        ([*ANALYZE, "--without", "all"], "can be left out is gains and spectral, found 'all'"),
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
    results, documents = read(analyzed), {*RESULTS, "sensitivity", "gains", "spectral"}
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
    assert analyze(capsys, checkpoint, tmp_path, "--layers", "5,2", "--seed", "7")[0] == 0
    other = read(tmp_path)
    assert list(other["category_bootstrap"]["layer_results"]) == ["2", "5"]
    assert analyze(capsys, checkpoint, tmp_path / "half", "--dtype", "bfloat16")[0] == 0
    half = read(tmp_path / "half")
    for found, key, near in (
        (other, "bootstrap_95ci", 0.1),
        (half, "mean_output_preference", 0.05),
    ):
        one, two = (r["validation"]["_global_stats"][key] for r in (default, found))
        assert one != two
        assert one == pytest.approx(two, abs=near)


def test_a_dry_run_says_what_it_takes_and_leaves_nothing(capsys, tmp_path, checkpoint):
    out = tmp_path / "out"
    code, said, err = analyze(capsys, checkpoint, out, "--dry-run", "--dtype", "float16")
    assert (code, err, out.exists()) == (0, "", False)
    lines = dict(line.split(None, 1) for line in said.splitlines())
    weights = load_file(checkpoint / "model.safetensors").values()
    numbers = sum(one.size for one in weights)
    assert f"5 blocks, hidden size 16, {numbers / 1e6:,.1f} million" in lines["model"]
    index = json.loads((checkpoint / "config.json").read_text())
    assert (index["num_hidden_layers"], lines["layers"]) == (5, "0, 4, 5")
    tokens = Tokenizer.from_file(str(checkpoint / "tokenizer.json"))
    texts = read_prompts(MINI / "prompts.json")
    n = sum(len(tokens.encode(text).ids) for text in texts)
    assert lines["prompts"] == f"{len(texts)}, {n:,} tokens"
    assert "GFLOP/s" in lines["time"]
    code, _, err = analyze(capsys, "org/model", out, "--dry-run")
    assert (code, "download it first with `hf download org/model`" in err) == (2, True)


def missing_keys(published, found, place=""):
    """Keys of the published document that are not in the result."""
    if isinstance(published, dict):
        if not isinstance(found, dict):
            return [place]
        keys = [key for key in published if not key.isdigit() and not key.startswith("layer_")]
        missing = [f"{place}/{key}" for key in keys if key not in found and key != "timestamp"]
        for key in keys:
            if key in found:
                missing += missing_keys(published[key], found[key], f"{place}/{key}")
        layers = [key for key in published if key not in keys]
        if layers:  # one layer stands for all
            last = [key for key in found if key not in keys]
            missing += missing_keys(published[layers[0]], found[last[0]], f"{place}/LAYER")
        return missing
    if isinstance(published, list) and published and isinstance(found, list) and found:
        return missing_keys(published[0], found[0], f"{place}/ROW")
    return []


@pytest.fixture(scope="module")
def on_real_pairs(mirror, checkpoint, tmp_path_factory):
    out = tmp_path_factory.mktemp("real") / "out"
    return read(analyzed_in(out, checkpoint, mirror / "dataset.json"))


@pytest.mark.parametrize("name", RESULTS)
def test_real_pairs_give_the_keys_of_the_published_file(mirror, on_real_pairs, name):
    published = json.loads((mirror / PUBLISHED[name]).read_text())
    assert not missing_keys(published, on_real_pairs[name])
    assert on_real_pairs["pairs"]["n_pairs"] == 230


def test_missing_keys_finds_one():
    assert missing_keys({"a": {"0": {"r": 1}}}, {"a": {"8": {"p": 1}}}) == ["/a/LAYER/r"]


# --- analyze: bad inputs ------------------------------------------------------------------------


def changed(change):
    """The mini pairs with one change, as JSON text."""
    document = json.loads((MINI / "pairs.json").read_text())
    change(document)
    return json.dumps(document)


def one_token(document):
    document["lifestyle"]["pairs"][3][1] = "a"


def three_sides(document):
    document["business"]["pairs"][1] = ["a", "b", "c"]


def constant(document):
    """Both sides alike: every preference is zero."""
    for entry in document.values():
        entry["pairs"] = [[a, a] for a, _ in entry["pairs"]]


# What is found on reading, on tokenizing, and after the forward passes.
BAD_PAIRS = {
    "cut off": ('{"a": {"pairs": [[', ["not valid JSON at line 1, column 19", "cut off"]),
    "three sides": (changed(three_sides), ["category 'business', pair 1", "two strings [A, B]"]),
    "one token": (
        changed(one_token),
        ["category 'lifestyle', pair 3, side B", "at least 2 tokens", "write a longer"],
    ),
    "constant": (
        changed(constant),
        ["preferences that vary", "use pairs whose two statements differ"],
    ),
}


@pytest.mark.parametrize("existing", [False, True], ids=["new-out", "existing-out"])
@pytest.mark.parametrize("case", BAD_PAIRS)
def test_bad_pairs_iv(capsys, tmp_path, checkpoint, case, existing):
    text, words = BAD_PAIRS[case]
    pairs, out = tmp_path / "my_pairs.json", tmp_path / "results" / "out"
    pairs.write_text(text)
    if existing:
        out.mkdir(parents=True)
        (out / "notes.txt").write_text("mine")
    code, shown, err = analyze(capsys, checkpoint, out, pairs=pairs)
    assert (code, shown) == (2, "")
    assert err.startswith("layerwise analyze: ")
    assert "Traceback" not in err
    assert [word for word in ["my_pairs.json", *words] if word not in err] == []
    left = {out, out.parent, out / "notes.txt"} if existing else set()
    assert set(tmp_path.rglob("*")) == {pairs, *left}


def test_bad_prompts_iv(capsys, tmp_path, checkpoint):
    prompts, out = tmp_path / "prompts.json", tmp_path / "out"
    for text, message in [
        ('{"benchmark": {}}', "found the keys 'benchmark'"),
        (json.dumps(["word " * 400]), "takes at most 256 tokens"),
    ]:
        prompts.write_text(text)
        code, _, err = analyze(capsys, checkpoint, out, prompts=prompts)
        assert (code, "prompts.json" in err, out.exists()) == (2, True, False)
        assert message in err


def not_finite(folder):
    path = folder / "model.safetensors"
    weights = load_file(path)
    name = next(name for name in weights if "layers.2.mlp.dense_4h_to_h.weight" in name)
    weights[name] = np.full_like(weights[name], np.inf)
    save_file(weights, path, metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda folder: (folder / "tokenizer.json").unlink(), ["no tokenizer", "save it into"]),
        (lambda folder: (folder / "config.json").unlink(), ["has a config.json"]),
        (lambda folder: (folder / "model.safetensors").unlink(), ["*.safetensors only"]),
        (not_finite, ["hidden states at layer 3 are not finite", "check the weights"]),
    ],
    ids=["tokenizer", "config", "weights", "not-finite"],
)
def test_bad_checkpoint_iv(capsys, tmp_path, checkpoint, change, words):
    folder, out = shutil.copytree(checkpoint, tmp_path / "broken"), tmp_path / "out"
    change(folder)
    code, shown, err = analyze(capsys, folder, out)
    assert (code, shown) == (2, "")
    for word in ["broken", *words]:
        assert word in err
    assert not out.exists()


def test_options_that_cannot_be_iv(capsys, tmp_path, checkpoint, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    code, _, err = analyze(capsys, tmp_path / "no-model", tmp_path / "out")
    assert (code, "no-model" in err, "folder" in err) == (2, True, True)
    code, _, err = analyze(capsys, checkpoint, tmp_path / "out", "--layers", "0,6")
    assert code == 2
    assert "a layer is a number from 0 to n_layers = 5, found 6; choose layers" in err
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "out").write_text("mine")
    code, _, err = analyze(capsys, checkpoint, tmp_path / "out")
    assert code == 2
    assert "--out must be a folder, found a file; choose another place" in err
    assert (tmp_path / "out").read_text() == "mine"


def test_failed_run_keeps_an_earlier_one(capsys, tmp_path, checkpoint, analyzed):
    out, pairs = tmp_path / "out", tmp_path / "pairs.json"
    shutil.copytree(analyzed, out)
    before = {path: path.read_bytes() for path in out.iterdir() if path.is_file()}
    for change in (one_token, constant):
        pairs.write_text(changed(change))
        assert analyze(capsys, checkpoint, out, pairs=pairs)[0] == 2
        assert {path: path.read_bytes() for path in out.iterdir() if path.is_file()} == before


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

QUICK = ("--without", "gains,spectral")


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
