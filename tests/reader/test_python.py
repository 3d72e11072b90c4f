"""The Python interface: the same as the command line, from files or from memory."""

import base64
import csv
import io
import itertools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
import transformers

import layerwise
from fuzz import refusal
from hostile import UNSEEN, is_unseen
from layerwise import LayerwiseError, Result, Table
from layerwise.files import locked, read_json
from layerwise.models.chat_templates import DATE, OwnTemplate
from layerwise.models.checkpoint import open_folder
from layerwise.models.registry import RANDOM
from layerwise.models.store import BEFORE_NORM, open_states
from layerwise.models.token_ids import check_texts
from layerwise.models.twins import CHAT_TEMPLATE
from layerwise.papers.fetching.texts import read_pairs
from layerwise.reader.arrays import Arrays
from layerwise.reader.files import FILES, RECORD
from layerwise.reader.plan import plan
from layerwise.reader.request import request_of
from parsed_page import Page
from tiny_checkpoints import EXAMPLE, contents, twin_folder

TWO = [["The river rises", "The river falls"], ["An owl", "An owl sat there"]]
OTHERS = [["Prices fell", "Prices rose again"], ["Water boils", "Water boils at 100 degrees"]]


def loaded(family: str = "gpt_neox", *n_blocks: int, **options: Any) -> tuple[Any, Any]:
    folder = twin_folder(family, *n_blocks)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, **options)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def numbers(documents: Any) -> dict[str, Any]:
    """The documents without the record of the run, which names the weights by their hash."""
    return {
        name: {key: part for key, part in document.items() if key != RECORD}
        for name, document in documents.items()
    }


@pytest.mark.usefixtures("quick")
def test_a_loaded_model_gives_what_its_folder_gives() -> None:
    """One whose output embeddings are its input embeddings, in the mode of training."""
    model, tokenizer = loaded("gpt2", attn_implementation="eager")  # as a folder is loaded
    model.train()
    of_folder = layerwise.analyze(twin_folder("gpt2"), **EXAMPLE)
    found = layerwise.analyze(model, **EXAMPLE, tokenizer=tokenizer)
    assert numbers(found.documents) == numbers(of_folder.documents)
    assert list(found.models) == list(of_folder.models)
    assert found.cautions[0] == "Random weights: the numbers mean nothing."
    assert model.training
    with torch.no_grad():
        model.get_input_embeddings().weight[3] += 1
    changed = layerwise.analyze(model, **EXAMPLE, tokenizer=tokenizer, without=["spectral"])
    revisions = {one.settings["revision"] for one in (of_folder, found, changed)}
    assert len(revisions) == 3


def test_texts_from_memory_and_no_prompts(analyzed: Result) -> None:
    documents = {name: read_json(path) for name, path in EXAMPLE.items()}
    model = twin_folder("gpt_neox", 5)
    found = layerwise.analyze(model, **documents)
    assert (found.folder, numbers(found.documents)) == (None, numbers(analyzed.documents))
    assert found.summary.splitlines()[-1].endswith("spectral.json, saved nowhere yet")
    without = layerwise.analyze(model, documents["pairs"])
    left = {"anisotropy", "gains"}
    assert set(without.absent) == left
    assert set(without.documents) == set(analyzed.documents) - left
    assert numbers(without.documents)["pairs"] == numbers(analyzed.documents)["pairs"]


def test_a_notebook_shows_the_outcome_first_and_names_as_text(
    analyzed: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("layerwise.present.tables.SHOWN", 1)
    shown = Table("t", "", {"name": None}, [["<b>x</b>"], ["y"]])._repr_html_()
    assert "<td>&lt;b&gt;x&lt;/b&gt;</td>" in shown
    assert "... and 1 rows more." in shown
    places = [analyzed._repr_html_().find(part) for part in ("Random w", "<table>", "</table>")]
    assert places == sorted(places)
    assert places[0] > 0
    images = re.findall(r'<img src="data:image/svg[^,]*,([^"]+)"', analyzed._repr_html_())
    assert len(images) == len(analyzed.answers)
    for image, answer in zip(images, analyzed._page.answers, strict=True):
        drawn = ElementTree.fromstring(base64.b64decode(image))
        assert drawn.get("aria-label").startswith(answer.question.says)
        assert list(drawn.iter("{http://www.w3.org/2000/svg}circle"))


@pytest.mark.usefixtures("quick")
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


def test_what_is_printed_are_the_answers(analyzed: Result) -> None:
    """As the page has them: the numbers, the words, and how many other readings agree."""
    table = analyzed.answers
    of_page = {one.question.says: one for one in analyzed._page.answers}
    assert len(table) == len(of_page) > 9
    for record in table.records:
        one = of_page[str(record["question"])]
        assert (record["answer"], record["value"], record["n"]) == (
            one.asked.word,
            one.asked.value,
            one.asked.n,
        )
        same = sum(word == one.asked.word for word in one.words.values())
        assert (record["same"], record["of"]) == (same, len(one.words))
    assert repr(analyzed) == str(analyzed)
    assert analyzed.summary.startswith(str(analyzed))


def test_a_spreadsheet_gets_no_formula() -> None:
    texts = ["=1+1", "@SUM(A1)", "+x", "-x", " =1", "\t=1", "-0.5", "+1e3", "a=b", "\u22120.5", ""]
    table = Table("t", "", {"=head": None, "n": 2}, [[text, -0.5] for text in texts])
    head, *rows = csv.reader(io.StringIO(table.csv))
    assert head == ["'=head", "n"]
    assert [row[1] for row in rows] == ["-0.5"] * len(texts)
    assert [row[0] for row in rows] == [f"'{text}" for text in texts[:6]] + texts[6:]


def test_a_terminal_gets_no_sign_that_it_acts_on() -> None:
    """What is part of a script, and ends of lines, stay."""
    for text in UNSEEN.values():
        written = Table("t", "", {"head": None}, [[text]]).csv
        assert not any(map(is_unseen, re.sub(r"[\n\u200c\u200d]", "", written)))
        assert "\\" in written
    kept = ["two\nlines", "a\ttab", "می\u200cخواهم"]
    table = Table("t", "", {"head": None}, [[text] for text in kept])
    assert [row for (row,) in csv.reader(io.StringIO(table.csv))] == ["head", *kept]


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
    n_answers = sum(map(len, found._page.answers_by_model.values())) + len(found._page.answers)
    marked = [name for name, value in page.values if name == "class" and value.startswith("mark ")]
    assert len(marked) == n_answers
    (few,) = found.cautions  # the second drew fewer
    assert "resamples" in few
    for file in ("scaling.json", "scaling/tables/peaks.csv"):
        written_file = tmp_path / "out" / file
        assert page.saved[written_file.name] == written_file.read_bytes()
    assert [value for name, value in page.values if name == "data-svg"] == [
        "scaling/figures/by_depth.svg"
    ]
    tests = list(analyzed.documents["category_bootstrap"]["layer_results"].values())
    assert saved.tables["peaks"].records[0]["low"] == tests[-1]["ci_lower"]
    assert found._repr_html_().index("<table>") > 0
    with pytest.raises(LayerwiseError, match="gpt2: two of the models are named 'gpt2'; save each"):
        layerwise.compare([other, other])
    shutil.copytree(folders[1], tmp_path / "later")
    of_one = layerwise.compare([folders[1], tmp_path / "later"])
    assert list(of_one.models) == ["gpt2", "gpt2 (later)"]  # two checkpoints of a model
    (tmp_path / "later" / "gains.json").write_text('{"n_layers": 5}')
    with pytest.raises(
        LayerwiseError, match=r"gains\.json: .* record of its run .*; run `layerwise ana"
    ):
        layerwise.compare([folders[0], tmp_path / "later"], tmp_path / "neither")
    assert not (tmp_path / "neither").exists()


@pytest.fixture
def folders(analyzed: Result, tmp_path: Path) -> list[Path]:
    """The result files of one model, and the same as another's."""
    found = []
    for name in ("one", "other"):
        left = shutil.ignore_patterns("*.safetensors", "figures", "tables*")
        found.append(Path(shutil.copytree(analyzed.folder, tmp_path / name, ignore=left)))
    return found


def test_a_result_of_several_models_is_not_one_of_them(folders: list[Path]) -> None:
    several = layerwise.compare(folders)
    for given in ([several, folders[0]], [folders[0], several], [several, several]):
        with pytest.raises(LayerwiseError, match="results of one model each, found one of 2"):
            layerwise.compare(given)


@pytest.mark.parametrize("said", [*itertools.product((True, False), repeat=2)], ids=str)
def test_random_weights_of_one_model_mark_the_whole_comparison(
    folders: list[Path], said: Sequence[bool]
) -> None:
    for folder, is_random in zip(folders, said, strict=True):
        for file in folder.glob("*.json"):
            document = read_json(file)
            record = document[RECORD] | {RANDOM: is_random}
            file.write_text(json.dumps(document | {RECORD: record}))
    assert layerwise.compare(folders)._page.random_weights is any(said)


@pytest.mark.usefixtures("quick")
def test_what_writes_results_waits_for_no_other_and_spoils_none(
    analyzed: Result, folders: list[Path], given: dict[str, Any], tmp_path: Path
) -> None:
    """Whoever writes holds the lock of a run."""
    out = tmp_path / "out"
    with locked(out / "hidden_states"), ThreadPoolExecutor(1) as another:
        for write in (
            lambda: analyzed.save(out),
            lambda: layerwise.measure(**given, out=out),
            lambda: layerwise.compare(folders, out),
            lambda: plan(twin_folder("gpt_neox"), EXAMPLE["pairs"], None, CHOICES | {"out": out}),
        ):
            assert "one run at a time writes there" in str(another.submit(refusal, write).result())
        assert [path.name for path in out.iterdir()] == ["hidden_states.lock"]
    layerwise.compare(folders, out)


# --- options: what is measured is what was asked for --------------------------------------------


def chatty(folder: Path) -> Path:
    """A twin whose tokenizer has a chat template."""
    made = Path(shutil.copytree(twin_folder("llama"), folder))
    (made / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    return made


@pytest.mark.usefixtures("quick")
def test_a_limit_is_the_same_as_fewer_pairs(tmp_path: Path) -> None:
    """The first of each category; the result and its page say so, and only where it left out."""
    pairs, quick = read_json(EXAMPLE["pairs"]), {"without": ["spectral"]}
    few = {name: {"pairs": of["pairs"][:3]} for name, of in pairs.items()}
    by_hand, found, every = (
        layerwise.analyze(twin_folder("gpt_neox"), given, **quick, limit=limit)
        for given, limit in ((few, None), (pairs, 3), (pairs, 99))
    )
    assert found.documents["validation"][RECORD]["limit"] == 3
    assert numbers(found.documents) == numbers(by_hand.documents)
    (said,) = set(found.cautions) - set(by_hand.cautions)
    assert said.startswith("A first look: 9 of 18 pairs, the first 3 of each category (--limit).")
    assert said in (found.save(tmp_path).folder / "index.html").read_text()
    assert every.documents["validation"][RECORD]["limit"] is None
    assert not [caution for caution in every.cautions if "--limit" in caution]


@pytest.mark.usefixtures("quick")
def test_a_chat_template_is_the_same_as_statements_that_stand_in_it(tmp_path: Path) -> None:
    """Of a tokenizer that adds a BOS, as Llama's does: two of them, as in Paper 2."""
    pairs, model = read_json(EXAMPLE["pairs"]), chatty(tmp_path / "chatty")
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)

    def wrapped(text: str) -> str:
        message = [{"role": "user", "content": text}]
        return str(tokenizer.apply_chat_template(message, tokenize=False, date_string=DATE))

    by_hand = {
        name: {"pairs": [[*map(wrapped, pair)] for pair in of["pairs"]]}
        for name, of in pairs.items()
    }
    quick = {"prompts": EXAMPLE["prompts"], "without": ["spectral"]}
    expected = layerwise.analyze(model, by_hand, **quick)
    found = layerwise.analyze(model, pairs, **quick, chat_template=True)
    assert found.documents["validation"][RECORD]["template"] == "own"
    assert numbers(found.documents) == numbers(expected.documents)
    plain = layerwise.analyze(model, pairs, **quick)
    assert numbers(found.documents) != numbers(plain.documents)
    assert found.settings["chat template"].startswith("the model's own")
    (said,) = set(found.cautions) - set(expected.cautions)
    assert "two BOS tokens, the template's and the tokenizer's" in said
    unasked = {caution[:14] for caution in set(expected.cautions) - set(found.cautions)}
    assert unasked == {"The tokenizer ", "Special tokens", "Two BOS tokens"}


CHOICES: dict[str, Any] = {
    **{"out": None, "revision": None, "dtype": None, "device": None, "layers": None, "seed": 42},
    **{"without": [], "limit": None, "chat_template": False, "template_options": None},
    **{"replicates": 0, "control": 0, "keep_states": True, "private_texts": False},
}


def test_dtypes_and_devices_of_torch_are_taken_by_their_names() -> None:
    for dtype, device in ((torch.float16, torch.device("cuda", 1)), ("float16", "cuda:1")):
        asked = CHOICES | {"dtype": dtype, "device": device}
        choices = request_of("m", EXAMPLE["pairs"], None, asked).choices
        assert (choices["dtype"], choices["device"]) == ("float16", "cuda:1")


@pytest.mark.usefixtures("quick")
def test_places_of_results_may_begin_with_the_home_folder(
    analyzed: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        assert analyzed.save(f"~/{name}").folder == tmp_path / name
    assert layerwise.compare(["~/a", Path("~/b")], "~/out").folder == tmp_path / "out"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "out"]


@pytest.mark.usefixtures("quick")
def test_a_dry_run_plans_the_texts_that_will_be_run(tmp_path: Path) -> None:
    asked = CHOICES | {"out": tmp_path / "out", "without": ["spectral", "gains"]}
    asked |= {"limit": 2, "chat_template": True}
    model = chatty(tmp_path / "chatty")
    planned = plan(str(model), str(EXAMPLE["pairs"]), None, asked)
    (pairs,) = re.findall("^pairs +(.*)$", planned, re.M)
    found = layerwise.analyze(model, EXAMPLE["pairs"], **asked)
    assert pairs.startswith("6 of 18")
    assert read_json(found.folder / "hidden_states" / "index.json")["template"] == "own"
    tokens = sum(
        len(ids)
        for ids in check_texts(
            open_folder(model).declaration,
            {"statements": read_pairs(EXAMPLE["pairs"]).first(2).statements},
            OwnTemplate(),
        )["statements"]
    )
    assert f"{tokens:,} tokens" in pairs


# --- arrays that one has already ----------------------------------------------------------------

STATES: dict[str, tuple[Any, str]] = {
    "before_norm": (BEFORE_NORM, "mean"),
    "last_token": (5, "last"),
    "first_token": (5, "first"),
}


@pytest.fixture
def given(analyzed: Result) -> dict[str, Any]:
    """What `analyze` measured on the twin of five blocks, as arrays."""
    assert analyzed.folder is not None
    kept = open_states(analyzed.folder / "hidden_states")
    by_layer = {
        name: np.stack([kept.pooled(layer, pooling) for layer in range(6)])
        for name, pooling in (("hidden_states", "mean"), ("all_tokens", "mean_all"))
    }
    others = {name: kept.pooled(*place) for name, place in STATES.items()}
    return {**by_layer, **others, "nll": kept.nll, "pairs": EXAMPLE["pairs"]}


def test_arrays_give_what_the_model_gives(analyzed: Result, given: dict[str, Any]) -> None:
    """Every document of pairs and layers, every answer; a dictionary of tensors is as good."""
    found = layerwise.measure(**given, name=analyzed._page.display)
    left = {"anisotropy", "gains", "spectral"}
    assert set(found.absent) == left
    assert set(found.documents) == set(analyzed.documents) - left
    for name in set(found.documents) - {"sensitivity"}:
        assert numbers(found.documents)[name] == numbers(analyzed.documents)[name], name
    rows = {one["question"]: one for one in analyzed.answers.records}
    assert len(found.answers) == 8
    assert found.answers.records == [rows[str(one["question"])] for one in found.answers.records]
    by_layer = {n: torch.from_numpy(given["hidden_states"][n]) for n in (0, 4, 5)}
    again = layerwise.measure(**given | {"hidden_states": by_layer}, name=analyzed._page.display)
    assert numbers(again.documents) == numbers(found.documents)


@pytest.mark.usefixtures("quick")
def test_the_states_of_a_table_are_in_the_order_of_its_rows(
    given: dict[str, Any], tmp_path: Path
) -> None:
    """The rows of a category need not stand together."""
    few = {name: given[name] for name in ("hidden_states", "nll")}
    pairs = read_pairs(given["pairs"])
    names = [pairs.categories[number] for number in pairs.category_of_pair]
    by_category = [*zip(names, pairs.side_a, pairs.side_b, strict=True)]
    in_turn = sorted(range(len(pairs)), key=lambda pair: names[:pair].count(names[pair]))
    table = tmp_path / "pairs.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("category", "a", "b"), *(by_category[n] for n in in_turn)])
    rows = np.concatenate([in_turn, len(pairs) + np.array(in_turn)])
    states, nll = few["hidden_states"][:, rows], few["nll"][rows]
    found = layerwise.measure(states, nll, table)
    assert numbers(found.documents) == numbers(
        layerwise.measure(**few, pairs=given["pairs"]).documents
    )


def test_a_revision_of_arrays_rests_on_each_of_them(given: dict[str, Any]) -> None:
    arrays = {name: array for name, array in given.items() if name != "pairs"}
    pairs = read_pairs(given["pairs"])

    def revision(**changed: np.ndarray) -> str:
        of = arrays | changed
        by_layer = {name: of[name] for name in ("hidden_states", "all_tokens")}
        states = Arrays.read("m", pairs, by_layer, {name: of[name] for name in STATES}, of["nll"])
        return states.index["revision"]

    revisions = {revision(**{name: array * 1.5}) for name, array in arrays.items()}
    assert len(revisions | {revision()}) == len(arrays) + 1


@pytest.mark.usefixtures("quick")
def test_what_was_not_given_is_left_out(given: dict[str, Any], tmp_path: Path) -> None:
    """And the rest stays as it was; the page is written without it."""
    whole = layerwise.measure(**given)
    few = {name: given[name] for name in ("hidden_states", "nll", "pairs")}
    found = layerwise.measure(**few, out=tmp_path)
    sensitivity = found.documents["sensitivity"]
    assert (sensitivity["before_norm"], sensitivity["all_tokens"]) == (None, None)
    readings = [row[0] for row in found.layers.rows]
    assert readings == ["mean over the tokens", "layer 0", "layer 4", "layer 5"]
    answers = {one["question"]: one for one in whole.answers.records}
    for one in found.answers.records:
        more = answers[one["question"]]
        assert [one[name] for name in ("answer", "value", "low")] == [
            more[name] for name in ("answer", "value", "low")
        ]
        assert one["of"] <= more["of"]
    assert found.answers.records != whole.answers.records
    assert "index.html" in {path.name for path in tmp_path.iterdir()}
    assert numbers(found.documents)["pairs"] == numbers(whole.documents)["pairs"]


NO_TORCH = """
import sys
import numpy as np
import layerwise
import layerwise.reader.arrays
layerwise.reader.arrays.N_RESAMPLES = 200
rng = np.random.default_rng(0)
pairs = {name: {"pairs": [[f"{name}{n}", f"not {name}{n}"] for n in range(4)]} for name in "xyz"}
found = layerwise.measure(rng.normal(size=(5, 24, 8)), rng.gamma(4.0, size=24), pairs)
assert found.answers.rows
assert not {"torch", "transformers"} & set(sys.modules), "imported"
"""


def test_arrays_need_no_torch() -> None:
    done = subprocess.run([sys.executable, "-c", NO_TORCH], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def changed_at(array: Any, place: Any, value: float) -> Any:
    other = np.array(array)
    other[place] = value
    return other


WRONG_ARRAYS: list[tuple[str, Any, str]] = [
    (
        "hidden_states",
        lambda a: a[0],
        r"axes are \(layer, statement, hidden\), found .* \(36, 16\)",
    ),
    (
        "hidden_states",
        lambda a: a[:, :-2],
        r"layer 0: must have the shape \(36, hidden\), .*\(34, 16",
    ),
    ("hidden_states", lambda a: {"0": a[0]}, "keys of a dictionary are layers, .*found '0'"),
    (
        "hidden_states",
        lambda a: changed_at(a, (4, 7), np.nan),
        "layer 4: a state is finite in float32 .*, that of statement 7 is not",
    ),
    ("hidden_states", lambda a: changed_at(a, (0, 3), 0), "layer 0: .*not all zero.*statement 3 "),
    ("nll", lambda a: a[:5], r"nll: must have the shape \(36,\), .*\(5,\)"),
    (
        "nll",
        lambda a: -a,
        "nll: a mean NLL is finite and not negative, statement 0 has -",
    ),
    ("all_tokens", lambda a: np.concatenate([a, a]), "5 as the last of hidden_states, 11 as the l"),
    ("layers", lambda _: [9], "from 0 to n_layers = 5, found 9"),
]


@pytest.mark.parametrize(("argument", "change", "message"), WRONG_ARRAYS)
def test_arrays_refused_before_anything_is_computed(
    given: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    argument: str,
    change: Any,
    message: str,
) -> None:
    monkeypatch.delattr("layerwise.reader.arrays.reduced")
    wrong = {"out": tmp_path / "out", argument: change(given.get(argument))}
    with pytest.raises(LayerwiseError, match=message):
        layerwise.measure(**given | wrong)
    assert not (tmp_path / "out").exists()


def test_numbers_without_a_correlation_leave_nothing(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(LayerwiseError, match="preferences that vary"):
        layerwise.measure(**given | {"nll": np.ones_like(given["nll"])}, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("quick")
def test_numbers_of_numpy_and_layers_in_any_order_are_the_same(given: dict[str, Any]) -> None:
    plain = layerwise.measure(**given, layers=[0, 5], seed=3)
    doubles = given | {"hidden_states": given["hidden_states"].astype(np.float64)}
    found = layerwise.measure(**doubles, layers=np.array([5, 0, 5]), seed=np.int64(3))
    assert found.documents == plain.documents


def test_pooled_tokens_are_what_the_extraction_pools(given: dict[str, Any]) -> None:
    """A batch of all statements, padded on either side, gives the states of one-by-one passes."""
    pairs = read_pairs(EXAMPLE["pairs"])
    model, tokenizer = loaded("gpt_neox", 5)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    for side in ("right", "left"):
        tokenizer.padding_side = side
        batch = tokenizer(list(pairs.statements), padding=True, return_tensors="pt")
        mask = batch["attention_mask"]
        places = (mask.cumsum(dim=1) - 1).clamp(min=0)  # where a statement's tokens stand
        tokens = {"input_ids": batch["input_ids"], "attention_mask": mask, "position_ids": places}
        with torch.no_grad():
            by_token = model(**tokens, output_hidden_states=True).hidden_states
        assert len({int(n) for n in mask.sum(dim=1)}) > 1
        whole = layerwise.pool(torch.stack(by_token), mask)
        assert whole == pytest.approx(given["hidden_states"], abs=1e-5)
        np.testing.assert_array_equal(layerwise.pool(by_token[4], mask.bool()), whole[4])


@pytest.mark.parametrize(
    ("hidden", "mask", "message"),
    [
        (np.ones((4, 3)), None, r"hidden: the axes are \(statement, token, hidden\), .*\(4, 3\)"),
        (
            np.ones((2, 4, 3)),
            [[1, 1, 1, 1], [0, 0, 0, 1]],
            "at least 2 tokens, .*, statement 1 has",
        ),
        (np.ones((2, 4, 3)), np.ones((2, 3)), r"mask: must have the shape \(2, 4\), .*\(2, 3\)"),
        (np.ones((2, 2, 3)), [[1, 2], [1, 1]], "mask: must be 1 for a token .*, found 2"),
        (
            torch.zeros(2, 2, 2, requires_grad=True),
            None,
            "hidden: must be an array .*, found Tenso",
        ),
    ],
)
def test_what_cannot_be_pooled_is_refused(hidden: Any, mask: Any, message: str) -> None:
    with pytest.raises(LayerwiseError, match=message):
        layerwise.pool(hidden, mask)


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
    ("model.safetensors", "cut off", "model.safetensors: not a safetensors file"),
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


def test_what_is_no_model_is_refused() -> None:
    model, tokenizer = loaded()
    for given, of, message in (
        (torch.nn.Linear(2, 2), tokenizer, r"a causal language model of .*, found Linear \(None\)"),
        (model, None, "needs its tokenizer of transformers beside it, found .*: give tokenizer="),
        (None, None, "a model must be a folder, a hub id, or a causal .*, found NoneType"),
        (SimpleNamespace(merge_and_unload=0), tokenizer, "around it; give what its merge_and_un"),
        (SimpleNamespace(_orig_mod=model), tokenizer, "around it; give its _orig_mod"),
        (torch.nn.DataParallel(model), tokenizer, "DataParallel around it; give its module"),
        (loaded()[0].double(), tokenizer, "dtype must be one of .*, found 'float64'"),
    ):
        with pytest.raises(LayerwiseError, match=message):
            layerwise.analyze(given, **EXAMPLE, tokenizer=of)
    with pytest.raises(LayerwiseError, match="a loaded model has its revision, dtype and device"):
        layerwise.analyze(model, **EXAMPLE, tokenizer=tokenizer, dtype="float16")
    with pytest.raises(AttributeError, match="no attribute 'analyse'"):
        layerwise.analyse  # noqa: B018


def without_weights() -> dict[str, Any]:
    model, tokenizer = loaded()
    return {"model": model.to("meta"), "tokenizer": tokenizer}


def of_two_dtypes() -> dict[str, Any]:
    model, tokenizer = loaded()
    model.get_input_embeddings().half()
    return {"model": model, "tokenizer": tokenizer}


WRONG = [
    (
        lambda: layerwise.analyze("m", EXAMPLE["pairs"], np.array(["a", "b"])),
        "expected a list with at least one prompt, found ndarray",
    ),
    (lambda: layerwise.compare("folder"), r"the models are a list, found a single str; .*\[a, b\]"),
    (lambda: layerwise.compare("one", "two"), "the models are a list, found a single str"),
    (lambda: layerwise.compare(["folder"]), "at least two models, found 1; name the --out folders"),
    (lambda: layerwise.compare(["", "folder"]), "models: must not be empty"),
    *(
        (lambda given=given: layerwise.analyze(*given), f"{what}: must not be empty")
        for what, given in (
            ("model", ("", EXAMPLE["pairs"])),
            ("pairs", ("m", "")),
            ("prompts", ("m", EXAMPLE["pairs"], "")),
        )
    ),
    (
        lambda: layerwise.analyze("m", EXAMPLE["pairs"], "The capital of France is"),
        "France is: no such file; .* texts themselves are given as a list",
    ),
    (lambda: layerwise.analyze("m", "Papers"), "no such file; .*the word papers"),
    (lambda: layerwise.claims(limit=-1), "claims: limit: must be greater than or equal to 1, fo"),
    (
        lambda: layerwise.analyze(twin_folder("llama"), EXAMPLE["pairs"], chat_template=True),
        r"--chat-template \(chat_template=True\) needs a tokenizer with",
    ),
    *(
        (lambda wrong=wrong: layerwise.analyze("m", **EXAMPLE, **wrong), f"analyze: {message}")
        for wrong, message in (
            ({"seed": -1}, "seed: must be greater than or equal to 0, found -1"),
            ({"limit": 1}, "limit: must be greater than or equal to 2, found 1"),
            ({"without": ["all"]}, "without.0: must be 'gains' or 'spectral', found 'all'"),
            ({"out": ""}, "out: must not be empty"),
            ({"revision": ""}, "revision: must not be empty"),
            ({"dtype": torch.int8}, "dtype: must be 'float32', .* found 'int8'"),
            ({"dtype": np.float16}, "dtype: must be 'float32', "),
            ({"device": "mps"}, "device: numbers of Apple's GPUs"),
            ({"device": torch.device("mps")}, "device: numbers of Apple's GPUs"),
            ({"device": "tpu"}, "device: must be cpu, cuda, cuda:1 or auto, found 'tpu'; name"),
        )
    ),
    (
        lambda: layerwise.analyze("m", **EXAMPLE, tokenizer=len),
        "a tokenizer belongs to a loaded model",
    ),
    (
        lambda: layerwise.analyze(**EXAMPLE, **without_weights()),
        "some on the device meta; load it w",
    ),
    (
        lambda: layerwise.analyze(**EXAMPLE, **of_two_dtypes()),
        "found 'float16, float32'; convert the",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_every_wrong_argument_is_an_error_of_ours(call: Any, message: str) -> None:
    with pytest.raises(LayerwiseError, match=message):
        call()


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("layers", [[3], [1, 3]])
def test_few_layers_and_a_category_that_stands_there_twice_give_a_page(
    tmp_path: Path, layers: list[int]
) -> None:
    """Over two points r is 1 or -1 in every resample: such an interval has no width."""
    pairs = {name: {"pairs": of} for name, of in zip("abc", [TWO, OTHERS, OTHERS], strict=True)}
    patch = pytest.MonkeyPatch()
    patch.setattr("layerwise.reader.page.figures.OF_ONE", ("pairs", "layers"))
    with patch.context():
        found = layerwise.analyze(twin_folder("gpt_neox"), pairs, out=tmp_path, layers=layers)
    patch.undo()
    assert (tmp_path / "index.html").is_file()
    assert (tmp_path / "figures" / "pairs.pdf").is_file()
    assert set(contents(tmp_path)) <= set(FILES)
    assert found.documents["bins"]["results_by_k"]


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
