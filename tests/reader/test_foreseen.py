"""What needs no pass: it is said before any, by the dry run and by the result alike."""

import copy
import json
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import layerwise
from fuzz import DEFAULTS
from layerwise import LayerwiseError
from layerwise.files import read_json, write_json
from layerwise.models.chat_templates import OwnTemplate
from layerwise.models.hidden_states import extract
from layerwise.models.load import from_memory, load_model
from layerwise.models.peft_objects import count_left_out, idle_adapters
from layerwise.papers.fetching.texts import read_pairs
from layerwise.reader.foreseen import MOST_IDS, MOST_LETTERS
from layerwise.reader.plan import plan
from layerwise.reader.run_record import RECORD, read_run, unlike_settings
from parsed_page import Page
from tiny_checkpoints import EXAMPLE, contents, twin_folder

PAIRS = read_json(EXAMPLE["pairs"])
QUICK = {"without": ["spectral", "gains"]}
# As Llama's and Qwen's: BOS, a header, an option, and what begins an answer.
CHAT = (
    "{{ bos_token }}<|user|>{% if mood is defined %} {{ mood }}:{% endif %} "
    "{{ messages[0].content | trim }}<|done|>\n{% if add_generation_prompt %}<|bot|>{% endif %}"
)
pytestmark = pytest.mark.usefixtures("quick")


def chatty(folder: Path, chat: str = CHAT, family: str = "llama") -> Path:
    """A twin whose tokenizer has a chat template."""
    made = Path(shutil.copytree(twin_folder(family), folder))
    (made / "chat_template.jinja").write_text(chat)
    return made


def with_texts(**texts: str) -> dict[str, Any]:
    """The example's pairs with other texts, by category, pair and side: `kitchen_2_B`."""
    pairs = copy.deepcopy(PAIRS)
    for place, text in texts.items():
        category, number, side = place.split("_")
        pairs[category]["pairs"][int(number)]["AB".index(side)] = text
    return pairs


def dry(model: Path, pairs: Any, prompts: Any = None, **asked: Any) -> str:
    choices = DEFAULTS | {"replicates": 0, "out": Path("out")} | QUICK | asked
    return str(plan(str(model), pairs, prompts, choices))


def warnings(model: Path, pairs: Any, prompts: Any = None, **asked: Any) -> list[str]:
    """Those of the dry run that the example's pairs do not call for."""
    found, usual = (
        re.findall("^Warning: (.*)$", dry(model, given, prompts, **asked), re.M)
        for given in (pairs, PAIRS)
    )
    return [caution for caution in found if prompts or caution not in usual]


# --- texts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "text", "said"),
    [
        ("weather_0_A", "Rain <pad> falls", r"<pad> in weather, pair 0, side A\): the model"),
        ("kitchen_5_B", "<s>Rain falls", r"<s> in kitchen, pair 5, side B\): the model"),
        ("kitchen_5_B", "<s>Rain falls", r"^Two BOS .* 1 of 36 .*\(kitchen, pair 5, side B\)"),
        ("travel_2_B", "NA", r"1 of 36 statements \(NA in travel, pair 2, side B\)"),
        ("travel_2_B", "#REF!", r"\(#REF! in travel, pair 2, side B\)"),
        ("travel_0_A", "=1+2", r"\(=1\+2 in travel, pair 0, side A\)"),
        ("weather_1_B", "\u200b\u200b", r"^Only invisible .*\(weather, pair 1, side B\)"),
        ("weather_1_B", "Caf\ufffd noir", r"^U\+FFFD, .*\(weather, pair 1, side B\)"),
    ],
)
def test_a_doubtful_statement_is_said(place: str, text: str, said: str) -> None:
    warned = warnings(twin_folder("llama"), with_texts(**{place: text}))
    assert len([caution for caution in warned if re.search(said, caution)]) == 1


def test_a_doubtful_prompt_is_said_and_many_are_counted() -> None:
    prompts = ["NA", "null", "Rain falls", "None", "#REF!", "<pad> falls"]
    said = " ".join(warnings(twin_folder("llama"), PAIRS, prompts))
    assert "in 4 of 6 prompts (NA in prompt 0; null in prompt 1; None in prompt 3; ...)" in said
    assert "in 1 of 6 prompts (<pad> in prompt 5)" in said


def test_in_a_template_the_statements_own_words_count(tmp_path: Path) -> None:
    """Its special tokens, and a BOS that is not the first token, are the template's."""
    model = chatty(tmp_path / "model")
    said = dry(model, PAIRS, chat_template=True)
    assert "Each begins with two BOS tokens" in said
    assert "Special tokens" not in said
    assert "Two BOS" not in said
    doubtful = with_texts(weather_0_A="Rain <pad> falls")
    (caution,) = warnings(model, doubtful, chat_template=True)
    assert "<pad> in weather, pair 0, side A" in caution


def test_states_that_one_has_already_are_of_the_same_texts() -> None:
    states = np.random.default_rng(0).normal(size=(2, 36, 5))
    found = layerwise.measure(states, np.arange(36.0) ** 2, with_texts(weather_0_A="NA"))
    assert len([c for c in found.cautions if "(NA in weather, pair 0, side A)" in c]) == 1


# --- the first statement ------------------------------------------------------------------------


@pytest.mark.parametrize("chat_template", [False, True])
def test_the_first_statement_is_shown_as_it_is_given(tmp_path: Path, chat_template: bool) -> None:
    """With all of its tokens; what cannot be seen is written out."""
    model, text = chatty(tmp_path / "model"), "Rain\u202e falls\ttoday"
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(model)
    given = f"<s><|user|> {text}<|done|>\n" if chat_template else text
    shown = given.replace("\u202e", "\\u202e").replace("\t", "\\t").replace("\n", "\\n")
    ids = " ".join(map(str, tokenizer(given).input_ids))
    said = dry(model, with_texts(weather_0_A=text), chat_template=chat_template)
    (line,) = re.findall("^first +(.*)$", said, re.M)
    assert line == f'"{shown}", as token ids {ids}'


def test_the_result_and_its_page_say_what_the_dry_run_says(tmp_path: Path) -> None:
    """And only the table by pair holds statements too."""
    texts = {"weather_0_A": "<s>Rain <pad>\tfalls", "travel_2_B": "NA", "kitchen_1_A": "\u200b" * 2}
    model, pairs = chatty(tmp_path / "model"), with_texts(**texts)
    said = dry(model, pairs, chat_template=True)
    found = layerwise.analyze(model, pairs, **QUICK, chat_template=True, out=tmp_path / "out")
    written = contents(tmp_path / "out")
    words = "".join(Page(written["index.html"].decode()).words)
    foreseen = re.findall("^Warning: (.*)$", said, re.M)
    assert len(foreseen) == 4  # of the template, and three kinds of texts
    for caution in foreseen:
        assert caution in found.cautions
        assert caution in words
    text, ids = found.settings["first statement"], found.settings["its token ids"]
    assert f'"{text}", as token ids {ids}\n' in said
    assert text == "<s><|user|> <s>Rain <pad>\\tfalls<|done|>\\n"
    assert text in words
    assert ids in words
    holding = {name for name, content in written.items() if b"falls" in content}
    assert holding == {"index.html", "tables/by-pair.csv"}


def test_of_a_long_statement_both_ends_are_shown() -> None:
    long = f"Begin {'12345 ' * 100}end"
    (line,) = re.findall(
        "^first +(.*)$", dry(twin_folder("bloom"), with_texts(weather_0_A=long)), re.M
    )
    shown, ids = line.removeprefix('"').split('", as token ids ')
    first, last = shown.split("[...]")
    assert long.startswith(first)
    assert long.endswith(last)
    assert len(first + last) == MOST_LETTERS
    assert len(ids.split()) == MOST_IDS + 1


# --- options of the chat template ---------------------------------------------------------------


def test_options_are_recorded_compared_and_never_mixed(tmp_path: Path) -> None:
    model, cold, warm = chatty(tmp_path / "model"), {"mood": "cold"}, {"mood": "warm"}
    asked: dict[str, Any] = {"chat_template": True, "template_options": cold}
    found = layerwise.analyze(model, PAIRS, **QUICK, **asked)
    assert found.settings["its options"] == json.dumps(cold)
    record = found.documents["layers"][RECORD]
    assert record["template_options"] == cold
    plain = {key: value for key, value in record.items() if key != "template_options"}
    runs = {"a": record, "b": record | {"template_options": warm}, "c": plain}
    (said,) = unlike_settings(runs)
    assert 'template (a: {"mood": "cold"}; b: {"mood": "warm"}; c: {})' in said
    checkpoint, statements = load_model(model, device="cpu"), read_pairs(PAIRS).statements
    for options in (cold, warm):  # the second finds the first one's states in its place
        folders = (tmp_path / "states", tmp_path / options["mood"])
        one, fresh = (
            extract(checkpoint, statements, (), folder, template=OwnTemplate(options))
            for folder in folders
        )
        assert (one.nll == fresh.nll).all()
        assert (one.index["template"], one.index["template_options"]) == ("own", options)
    for without in ("pairs", "layers"):
        folder = tmp_path / f"without-{without}"
        folder.mkdir()
        for name, document in found.documents.items():
            changed = {RECORD: plain} if name == without else {}
            write_json(folder / f"{name}.json", {**document, **changed})
        with pytest.raises(LayerwiseError, match=r"of one run, .* differ in template_options"):
            read_run(folder)


def test_an_option_without_effect_is_said(tmp_path: Path) -> None:
    model = chatty(tmp_path / "model", CHAT + "{% if add_generation_prompt and warm %}!{% endif %}")
    asked = {"chat_template": True, "template_options": {"warm": True, "mood": "cold"}}
    assert "that change no statement: warm. " in dry(model, PAIRS, **asked)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mood": float("nan")}, "template_options: must be what a JSON file can hold"),
        ({"mood": "\ud800"}, "template_options: must be what a JSON file can hold"),
        ({"mood": {1, 2}}, "template_options"),
        ({1: 2}, "template_options"),
        ("mood", "template_options: must be a valid dictionary"),
        ({"moood": 1}, "'moood' is none; this one has .*mood"),
    ],
)
def test_wrong_options_are_refused_before_any_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Any, message: str
) -> None:
    monkeypatch.delattr("layerwise.models.hidden_states.forward")
    model = chatty(tmp_path / "model")
    for use in (
        lambda **asked: layerwise.analyze(model, PAIRS, **QUICK, **asked),
        lambda **asked: dry(model, PAIRS, **asked),
    ):
        with pytest.raises(LayerwiseError, match=message):
            use(chat_template=True, template_options=options)
        with pytest.raises(LayerwiseError, match="which is not asked for; add --chat-template"):
            use(template_options={"mood": "cold"})


# --- a template that loses the statement --------------------------------------------------------

PARTS = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% for p in m['content'] %}"
    "{% if p['type'] == 'text' %}{{ p['text'] }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
)


@pytest.mark.parametrize("chat", [PARTS, "{{ messages[0]['content'][:5] }}"])
def test_a_template_that_loses_the_statement_is_refused_before_any_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chat: str
) -> None:
    monkeypatch.delattr("layerwise.models.hidden_states.forward")
    model = chatty(tmp_path / "model", chat)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(model)
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(model)
    for use in (
        lambda: layerwise.analyze(model, PAIRS, **QUICK, chat_template=True),
        lambda: layerwise.analyze(loaded, PAIRS, **QUICK, chat_template=True, tokenizer=tokenizer),
        lambda: dry(model, PAIRS, chat_template=True),
    ):
        with pytest.raises(
            LayerwiseError, match=r"'weather', pair 0, side A: .* whole into its te"
        ):
            use()


# --- code that is not run -----------------------------------------------------------------------


def test_code_of_a_known_family_is_named_and_never_run(tmp_path: Path, analyzed: Any) -> None:
    """As of Falcon's checkpoints; in the record too, and where models are compared."""
    model = Path(shutil.copytree(twin_folder("llama"), tmp_path / "model"))
    (model / "theirs.py").write_text(
        'from pathlib import Path; Path("ran").touch(); raise SystemExit'
    )
    document = read_json(model / "config.json")
    mapped = {"AutoModelForCausalLM": "theirs.Llama"}
    (model / "config.json").write_text(json.dumps(document | {"auto_map": mapped}))
    found = layerwise.analyze(model, PAIRS, **QUICK, out=tmp_path / "out")
    (said,) = [
        caution for caution in found.cautions if "(theirs.Llama), which is never run" in caution
    ]
    assert f"Warning: {said}" in dry(model, PAIRS)
    assert found.documents["layers"][RECORD]["own_code"] == ["theirs.Llama"]
    assert "own_code" not in analyzed.documents["layers"][RECORD]
    compared = layerwise.compare([found, analyzed])
    assert [caution for caution in compared.cautions if "theirs.Llama" in caution]
    assert not list(tmp_path.rglob("ran"))
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    ("name", "changes", "named"),
    [
        ("config.json", {"architectures": ["TheirLlama"]}, "TheirLlama"),
        ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["t.T", None]}}, "t.T"),
        ("config.json", {"architectures": ["LlamaModel"], "auto_map": {}}, None),
    ],
)
def test_whatever_names_a_class_of_the_checkpoints_own(
    tmp_path: Path, name: str, changes: dict[str, Any], named: str | None
) -> None:
    """Of a folder and of a model in memory, but for one that runs that code: its caller did."""
    model = Path(shutil.copytree(twin_folder("llama"), tmp_path / "model"))
    document = read_json(model / name)
    (model / name).write_text(json.dumps(document | changes))
    said = re.findall(r"code of its own \((.*)\), which", dry(model, PAIRS))
    assert said == ([named] if named else [])
    loaded = transformers.AutoModelForCausalLM.from_pretrained(model)
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(model)
    checkpoint = from_memory(loaded, tokenizer)
    assert checkpoint.declaration.own_code == ((named,) if named else ())
    theirs = type("TheirLlama", (type(loaded),), {"__module__": "transformers_modules.theirs"})
    loaded.__class__ = theirs
    assert checkpoint.declaration.own_code == ()


# --- objects of peft ----------------------------------------------------------------------------


class PeftModel:
    """As much of peft's object around a model as is asked of one."""

    def __init__(self, model: Any, **config: Any) -> None:
        self.base_model, self.config = model, model.config
        self.peft_config = {"default": SimpleNamespace(**config)}


def test_virtual_tokens_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Refused around a model; a model that is taken out of them is measured, and that is said."""
    model = transformers.AutoModelForCausalLM.from_pretrained(twin_folder("llama"))
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(twin_folder("llama"))
    tuned = PeftModel(model, num_virtual_tokens=4)
    with pytest.raises(LayerwiseError, match=r"PeftModel .* 4 virtual tokens .*get_base_model\(\)"):
        layerwise.analyze(tuned, PAIRS, tokenizer=tokenizer)
    assert count_left_out(model) == 0  # peft is not there
    monkeypatch.setitem(sys.modules, "peft", SimpleNamespace(PeftModel=PeftModel))
    assert count_left_out(copy.deepcopy(model)) == 0
    cautions = layerwise.analyze(tuned.base_model, PAIRS, **QUICK, tokenizer=tokenizer).cautions
    assert len([caution for caution in cautions if "4 virtual tokens" in caution]) == 1
    del tuned
    adapted = PeftModel(model, r=8)
    assert count_left_out(model) == 0
    with pytest.raises(LayerwiseError, match="found PeftModel"):
        layerwise.analyze(adapted, PAIRS, tokenizer=tokenizer)
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(LayerwiseError, match="virtual tokens of prompt and prefix tuning cannot"):
        layerwise.analyze(tmp_path, PAIRS)


class TunerLayer(torch.nn.Module):
    """As much of a layer that peft puts adapters into as is asked of one."""

    def __init__(self, active: list[str], merged: list[str], *, is_off: bool) -> None:
        super().__init__()
        self.active_adapters, self.merged_adapters = active, merged
        self.disable_adapters = is_off


@pytest.mark.parametrize(
    ("active", "merged", "is_off", "idle"),
    [
        (["one", "two"], [], False, []),
        (["one", "two"], ["one"], False, ["two"]),
        (["one", "two"], ["two", "one"], False, []),
        (["one"], [], True, ["one"]),
        ([], ["one"], False, []),
    ],
)
def test_an_adapter_that_is_active_and_does_not_act_is_named(
    active: list[str], merged: list[str], is_off: bool, idle: list[str]
) -> None:
    layer = TunerLayer(active, merged, is_off=is_off)
    assert idle_adapters(torch.nn.Sequential(torch.nn.Linear(2, 2), layer)) == idle
