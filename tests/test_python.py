"""The Python interface: the same as the command line, from files or from memory."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers

import layerwise
from layerwise import LayerwiseError, Result
from layerwise.files import read_json
from layerwise.pages.own_model.figures import ACROSS
from parsed_page import Page
from tiny_checkpoints import EXAMPLE, twin_folder


def loaded(family: str = "gpt_neox", **options: Any) -> tuple[Any, Any]:
    folder = twin_folder(family)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, **options)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.usefixtures("quick")
def test_a_loaded_model_gives_what_its_folder_gives() -> None:
    """One whose output embeddings are its input embeddings, in the mode of training."""
    model, tokenizer = loaded("gpt2")
    model.train()
    of_folder = layerwise.analyze(twin_folder("gpt2"), **EXAMPLE)
    found = layerwise.analyze(model, **EXAMPLE, tokenizer=tokenizer)
    assert found.documents == of_folder.documents
    assert list(found.models) == list(of_folder.models)
    assert found.page.random_weights
    assert model.training
    with torch.no_grad():
        model.get_input_embeddings().weight[3] += 1
    changed = layerwise.analyze(model, **EXAMPLE, tokenizer=tokenizer, without=["spectral"])
    revisions = {dict(one.page.settings)["revision"] for one in (of_folder, found, changed)}
    assert len(revisions) == 3


def test_texts_from_memory_and_no_prompts(analyzed: Result) -> None:
    documents = {name: read_json(path) for name, path in EXAMPLE.items()}
    model = twin_folder("gpt_neox", 5)
    found = layerwise.analyze(model, **documents)
    assert (found.folder, found.documents) == (None, analyzed.documents)
    assert found.summary.splitlines()[0].endswith("spectral.json, saved nowhere yet")
    without = layerwise.analyze(model, documents["pairs"])
    left = {"anisotropy", "gains"}
    assert set(without.page.absent) == left
    assert set(without.documents) == set(analyzed.documents) - left
    assert without.documents["pairs"] == analyzed.documents["pairs"]


@pytest.mark.usefixtures("quick")
def test_an_empty_path_is_the_folder_one_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = EXAMPLE["pairs"]
    layerwise.analyze(twin_folder("gpt_neox"), pairs, out="", without=["spectral"])
    assert (tmp_path / "index.html").is_file()


@pytest.mark.usefixtures("quick")
def test_a_notebook_shows_the_outcome_first_and_names_as_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("layerwise.pages.tables.SHOWN", 4)
    pairs = read_json(EXAMPLE["pairs"])
    pairs["<b>x</b>"] = pairs.pop("kitchen")
    found = layerwise.analyze(twin_folder("gpt_neox"), pairs, without=["spectral"])
    shown = found.tables["categories"]._repr_html_()
    assert "<b>" not in shown
    assert "<td>&lt;b&gt;x&lt;/b&gt;</td>" in shown
    outcome, caution, claims = (
        found._repr_html_().find(of) for of in ("questions that the papers", "Random w", "<table>")
    )
    assert 0 < outcome < caution < claims
    assert "... and 6 rows more." in found.tables["pairs"]._repr_html_()


def test_tables_are_records_and_pandas_is_no_dependency(
    analyzed: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, rows = analyzed.tables["intervals"], analyzed.documents["category_bootstrap"]
    found = [(record["layer"], record["r"]) for record in table.records]
    assert found == [(int(layer), of["r"]) for layer, of in rows["layer_results"].items()]
    assert analyzed.figures["layers"].figure.axes
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(LayerwiseError, match=r"needs pandas, .*; `pip install pandas`, or use `.r"):
        table.to_pandas()
    pandas = SimpleNamespace(DataFrame=lambda rows, columns: (rows, columns))
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    assert table.to_pandas() == (table.records, list(table.columns))


@pytest.mark.usefixtures("quick")
def test_models_compare_as_results_or_folders(analyzed: Result, tmp_path: Path) -> None:
    other = layerwise.analyze(twin_folder("gpt2"), **EXAMPLE, without=["spectral"])
    found = layerwise.compare([analyzed, other])
    assert list(found.models) == ["gpt_neox", "gpt2"]
    folders = [analyzed.save(tmp_path / "a").folder, other.save(tmp_path / "b").folder]
    saved = layerwise.compare(folders, tmp_path / "out")
    assert saved.documents == found.documents
    written = read_json(tmp_path / "out" / "scaling.json")
    assert written["models"] == found.documents["scaling"]["models"]
    page = Page((tmp_path / "out" / "scaling.html").read_text())
    links = [one for one in page.links if not one.startswith(("#", "data:"))]
    assert {"scaling.json", "scaling/tables/peaks.csv", "scaling/tables.tex"} <= set(links)
    assert all((tmp_path / "out" / one).is_file() for one in links)
    assert sum(of == ("role", "img") for of in page.values) == len(ACROSS)
    tests = list(analyzed.documents["category_bootstrap"]["layer_results"].values())
    assert saved.tables["peaks"].records[0]["low"] == tests[-1]["ci_lower"]
    assert found._repr_html_().index("<table>") > 0
    with pytest.raises(LayerwiseError, match="gpt2: two of the models are named 'gpt2'; name each"):
        layerwise.compare([other, other])
    shutil.copytree(folders[1], tmp_path / "later")
    of_one = layerwise.compare([folders[1], tmp_path / "later"])
    assert list(of_one.models) == ["gpt2", "gpt2 (later)"]  # two checkpoints of a model
    (tmp_path / "later" / "gains.json").write_text('{"n_layers": 5}')
    with pytest.raises(LayerwiseError, match="lacks 'all_layer_gains'; run `layerwise analyze`"):
        layerwise.compare([folders[0], tmp_path / "later"], tmp_path / "neither")
    assert not (tmp_path / "neither").exists()


# --- what is refused, and when ------------------------------------------------------------------

LAZY = """
import sys
import layerwise
assert not {{"numpy", "torch", "typer"}} & set(sys.modules)
assert {{"analyze", "Result"}} <= set(dir(layerwise))
try:
    layerwise.analyze({model!r}, {pairs!r}, {prompts!r}, out={out!r})
except layerwise.LayerwiseError as error:
    print(error)
assert not {{"torch", "transformers", "matplotlib", "scipy"}} & set(sys.modules)
"""
MISTAKES = [
    ("pairs", '{"pairs": {}}', "category 'pairs' must be an object with a list \"pairs\", found"),
    ("prompts", "[]", "prompts.json: expected a list with at least one prompt"),
    ("config.json", "{", "config.json: not valid JSON"),
    ("config.json", '{"model_type": "no"}', "no known layout for the architecture 'no'"),
    ("model.safetensors", "cut off", "model.safetensors: not a safetensors file"),
    ("tokenizer.json", None, "no tokenizer ("),
    ("out", "a file", "--out must be a folder, found a file; choose another place"),
]


@pytest.mark.parametrize(("name", "text", "message"), MISTAKES)
def test_inputs_are_checked_before_torch_is_imported(
    tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    given = {key: tmp_path / f"{key}.json" for key in EXAMPLE} | {"out": tmp_path / "out"}
    for key, path in EXAMPLE.items():
        shutil.copy(path, given[key])
    given["model"] = shutil.copytree(twin_folder("gpt_neox"), tmp_path / "model")
    place = given.get(name, given["model"] / name)
    place.unlink(missing_ok=True)
    if text is not None:
        place.write_text(text)
    code = LAZY.format(**{key: str(path) for key, path in given.items()})
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert message in done.stdout


def test_what_is_no_model_iv() -> None:
    model, tokenizer = loaded()
    for given, of, message in (
        (torch.nn.Linear(2, 2), tokenizer, r"a causal language model of .*, found Linear \(None\)"),
        (model, None, "needs its tokenizer beside it: give tokenizer="),
        (None, None, "a model must be a folder, a hub id, or a causal .*, found NoneType"),
        (loaded()[0].double(), tokenizer, "dtype must be one of .*, found 'float64'"),
    ):
        with pytest.raises(LayerwiseError, match=message):
            layerwise.analyze(given, **EXAMPLE, tokenizer=of)
    with pytest.raises(LayerwiseError, match="a loaded model has its revision, dtype and device"):
        layerwise.analyze(model, **EXAMPLE, tokenizer=tokenizer, dtype="float16")
    for wrong, message in (
        ({"without": ["all"]}, "without.0: must be 'gains' or 'spectral', found 'all'"),
        ({"seed": -1}, "seed: must be greater than or equal to 0, found -1"),
        ({"device": "tpu"}, r"device: must match pattern '.cpu|auto|cuda.*, found 'tpu'"),
    ):
        with pytest.raises(LayerwiseError, match=f"analyze: {message}"):
            layerwise.analyze("nothing is loaded", **EXAMPLE, **wrong)
    with pytest.raises(AttributeError, match="no attribute 'analyse'"):
        layerwise.analyse  # noqa: B018


def test_an_error_names_what_was_given(tmp_path: Path) -> None:
    pairs = read_json(EXAMPLE["pairs"])
    pairs["kitchen"]["pairs"][2][1] = "a"
    (tmp_path / "mine.json").write_text(json.dumps(pairs))
    for given, place in ((pairs, "pairs"), (tmp_path / "mine.json", "mine.json")):
        with pytest.raises(
            LayerwiseError,
            match=f"{place}: category 'kitchen', pair 2, side B: .*at least 2 tokens",
        ):
            layerwise.analyze(twin_folder("gpt_neox"), given)
