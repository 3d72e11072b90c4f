"""Every guard on a checkpoint is tried twice: on what it stops, and on real things that must pass.

What is real: configurations of public models (`real_configs.yaml`), and where LAYERWISE_REAL names
a folder with them, real tokenizers and a trained model.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tokenizers
import transformers
import yaml
from safetensors.numpy import load_file, save_file

from layerwise import analyze
from layerwise.errors import LayerwiseError, TextError
from layerwise.models import checkpoint_config, checkpoint_tokenizer
from layerwise.models.checkpoint_config import SIZES, check_config, check_declared
from layerwise.models.checkpoint_tokenizer import (
    PROBE,
    Declaration,
    check_tokenizer,
    load_tokenizer,
)
from layerwise.models.families import FAMILIES, heads_of
from layerwise.models.load import load_model, load_shapes
from layerwise.models.registry import read_models
from layerwise.models.token_ids import MOST_CHARACTERS, TOKEN_CHARACTERS, tokenize
from tiny_checkpoints import EXAMPLE, REPOSITORY, TWIN_FAMILIES, twin_folder

REAL = yaml.safe_load((Path(__file__).parents[1] / "real_configs.yaml").read_text())
MODELS = read_models(REPOSITORY / "models.yaml")
OURS = ("slug", "name", "refused", "as")  # keys that say what a configuration is, not what it says


def says(folder: Path, document: dict[str, Any], name: str = "config.json") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(document))
    return folder


def changed(folder: Path, name: str = "config.json", **changes: Any) -> Path:
    """The twin's folder with some keys of a file as given."""
    document = json.loads((folder / name).read_text())
    return says(folder, document | changes, name)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(twin_folder("gpt_neox"), tmp_path / "copy"))


def heads_in(folder: Path) -> Any:
    """The configuration of a folder, once it and its heads are known."""
    check_config(folder)
    config = checkpoint_config.declared(folder)
    assert heads_of(config).hidden_size == config.hidden_size
    return config


# --- config.json --------------------------------------------------------------------------------


@pytest.mark.parametrize("about", REAL["models"], ids=lambda one: one.get("slug") or one["name"])
def test_real_configurations_pass(tmp_path: Path, about: dict[str, Any]) -> None:
    """Those of the registry are as it declares; a layout that is not known is refused in words."""
    document = REAL["of"].get(about.get("as"), {}) | about
    said = {key: value for key, value in document.items() if key not in OURS}
    folder = says(tmp_path, said)
    if "refused" in about:
        with pytest.raises(LayerwiseError, match=about["refused"]):
            heads_in(folder)
        return
    config = heads_in(folder)
    if "slug" in about:
        check_declared(MODELS[about["slug"]], config)


def test_every_model_of_the_registry_is_among_them() -> None:
    assert [one["slug"] for one in REAL["models"] if "slug" in one] == list(MODELS)


@pytest.mark.parametrize("family", TWIN_FAMILIES)
def test_sizes_are_those_that_an_architecture_reads(family: str) -> None:
    """By the keys that transformers itself writes: none of them is forgotten."""
    document = json.loads((twin_folder(family) / "config.json").read_text())
    large = {key for key, value in document.items() if type(value) is int and value > 2}
    apart = {"bos_token_id", "eos_token_id", "pad_token_id", "rotary_dim", "window_size"}
    apart |= {"original_max_position_embeddings", "sliding_window", "query_pre_attn_scalar"}
    apart |= {"max_window_layers", "_sliding_window_pattern"}  # which blocks have a window
    assert large - apart <= {key for size in SIZES for key in size.keys}


def test_every_size_is_read_by_some_architecture() -> None:
    read = set()
    for family in FAMILIES:
        config = transformers.AutoConfig.for_model(family)
        read |= {*config.to_dict(), *config.attribute_map.values()}
    keys = {key for size in SIZES for key in size.keys}
    assert keys - read <= {"n_embed"}  # BLOOM's older name


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.keys[0])
def test_an_odd_size_is_refused_in_words(tmp_path: Path, size: Any) -> None:
    odd = [size.least - 1, size.most + 1, 1e308, 3.0, "7", True, [7], {}, 2**70]
    for key in size.keys:
        for found in (size.least, size.most, *([None] if size.may_be_null else ())):
            check_config(says(tmp_path, {"model_type": "llama", key: found}))
        for found in (*odd, *([] if size.may_be_null else [None])):
            says(tmp_path, {"model_type": "llama", key: found})
            with pytest.raises(LayerwiseError, match=rf"config\.json: /{key} is .*, found .*; sav"):
                check_config(tmp_path)


def test_a_number_elsewhere_is_no_size(copy: Path) -> None:
    """A rotary base, an identifier of a file, a step of the training: none is built."""
    before = load_shapes(copy, device="cpu")[0].model
    changed(copy, rotary_emb_base=10**8, training={"tokens": 3 * 10**12}, dataset_id=2**60)
    after = load_model(copy, device="cpu").model
    assert [one.shape for one in after.parameters()] == [one.shape for one in before.parameters()]


# --- tokenizer.json -----------------------------------------------------------------------------


def test_a_tokenizer_that_draws_its_merges_is_refused(copy: Path) -> None:
    changed(copy, "tokenizer.json", model={"dropout": 0.1})
    with pytest.raises(LayerwiseError, match=r"merges at random .*0\.1.*; set it to null"):
        check_tokenizer(copy)


def words_of(node: Any) -> set[str]:
    """All keys and texts of a document."""
    if isinstance(node, dict):
        return set(node) | {word for one in node.values() for word in words_of(one)}
    if isinstance(node, list):
        return {word for one in node for word in words_of(one)}
    return {node} if isinstance(node, str) else set()


def test_a_vocabulary_may_hold_every_word_of_the_format(copy: Path) -> None:
    """Each is a token of its own here, and its id is a number as large as any."""
    document = json.loads((copy / "tokenizer.json").read_text())
    model = document["model"]
    parts = [*model, "dropout", "Replace", "pattern", "String", "Regex", "content", "normalizers"]
    parts += words_of({key: part for key, part in document.items() if key != "model"})
    words = sorted({*parts, *document})
    found = model["vocab"]
    for word in words:
        found.setdefault(word, len(found))
    changed(copy, "tokenizer.json", model=model)
    check_tokenizer(copy)
    assert {"dropout", "Replace", "model", "normalizer", "type"} <= set(found)
    assert load_tokenizer(copy).convert_tokens_to_ids(words) == [found[word] for word in words]


PADDING = {"strategy": {"Fixed": 10**9}, "direction": "Right", "pad_id": 0, "pad_type_id": 0,
           "pad_token": "x", "pad_to_multiple_of": None}  # fmt: skip
TRUNCATION = {"max_length": 2, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}


def test_padding_truncation_and_a_length_are_not_the_tokenizers_to_choose(copy: Path) -> None:
    before = load_tokenizer(copy)(PROBE).input_ids
    changed(copy, "tokenizer.json", padding=PADDING, truncation=TRUNCATION)
    changed(copy, "tokenizer_config.json", model_max_length=1)
    assert load_tokenizer(copy)(PROBE).input_ids == before


WORDS = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
PIECE = {"SpecialToken": {"id": "<s>", "type_id": 0}}
TEXT = {"Sequence": {"id": "A", "type_id": 0}}
MANY = {"<s>": {"id": "<s>", "ids": [0] * 500, "tokens": ["<s>"] * 500}}
FLOOD = {"type": "TemplateProcessing", "single": [PIECE, TEXT], "pair": [], "special_tokens": MANY}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": WORDS, "pre_tokenizer": None}, "makes 2 to 256 tokens of .*, this one 1 and 0"),
        (
            {"post_processor": FLOOD},
            r"2 to 256 tokens of .*, this one \d+ and 500 around them; sav",
        ),
    ],
)
def test_a_tokenizer_shows_what_it_makes_of_a_sentence(
    copy: Path, changes: dict[str, Any], message: str
) -> None:
    changed(copy, "tokenizer.json", **changes)
    with pytest.raises(LayerwiseError, match=message):
        load_tokenizer(copy)


BACKTRACKS = {"type": "Split", "pattern": {"Regex": "(a+)+$b"}, "behavior": "Isolated",
              "invert": False}  # fmt: skip


def test_a_panic_of_the_tokenizer_is_one_sentence(copy: Path) -> None:
    changed(copy, "tokenizer.json", pre_tokenizer=BACKTRACKS)
    declaration = checkpoint_tokenizer.declare(copy, "copy")
    with pytest.raises(LayerwiseError, match=r"cannot take the texts \(\w+: .*\); use the tokeni"):
        tokenize(declaration, "statements", ["a" * 60])


def test_real_tokenizers_pass(real: Path) -> None:
    """They give the ids of their raw tokenizer.json, and no token is longer than assumed."""
    folders = [file.parent for file in sorted(real.glob("**/tokenizer.json"))]
    assert len(folders) >= 5
    texts = [PROBE, "Rundfunk: 東京, e=mc² \n\n\t dropout Replace", "a" * 500]
    held = 0
    for folder in folders:
        check_tokenizer(folder)
        loaded = load_tokenizer(folder)
        raw = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        assert loaded(texts).input_ids == [one.ids for one in raw.encode_batch(texts)], folder
        assert max(map(len, raw.get_vocab())) <= TOKEN_CHARACTERS // 2
        held += "dropout" in raw.get_vocab()
    assert held >= 4


def test_a_real_model_passes(real: Path) -> None:
    for config in real.glob("*/config.json"):
        loaded, download = load_shapes(config.parent, texts={"prompts": [PROBE]})
        assert (loaded.model.device.type, download) == ("meta", 0)


@pytest.mark.parametrize("family", TWIN_FAMILIES)
def test_a_declared_padding_token_stops_no_dry_run(family: str, tmp_path: Path) -> None:
    """GPT-2 looks for it among the tokens, which shapes do not have; the run takes it as well."""
    folder = shutil.copytree(twin_folder(family), tmp_path / family)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "pad_token_id": 1}))
    loaded, _ = load_shapes(folder, texts={"prompts": ["The river rises"]})
    assert loaded.model.config.pad_token_id == 1
    load_model(folder, device="cpu", texts={"prompts": ["The river rises"]})


# --- texts --------------------------------------------------------------------------------------


class Letters:
    """A tokenizer of letters, which comes from no file."""

    name_or_path = ""

    def __call__(self, texts: list[str]) -> Any:
        assert sum(map(len, texts)) <= MOST_CHARACTERS
        return SimpleNamespace(input_ids=[[1] * min(len(text), 20) for text in texts])


@pytest.mark.parametrize(("positions", "most"), [(64, 64 * TOKEN_CHARACTERS), (None, 10**6)])
def test_a_long_text_is_refused_by_its_characters(positions: int | None, most: int) -> None:
    """It is not given to the tokenizer, of which it would take 300 bytes a character."""
    config = SimpleNamespace(max_position_embeddings=positions)
    asked = Declaration("name", "folder", config, Letters(), n_embeddings=10)
    texts = ["ab", "a" * most, "ab", "a" * most, *["abc"] * 600]
    ids = tokenize(asked, "statements", texts)
    assert [len(one) for one in ids[:5]] == [2, 20, 2, 20, 3]
    assert len(ids) == len(texts)
    with pytest.raises(TextError, match=rf"prompt 1 .*at most {most} characters, .* {most + 1}; s"):
        tokenize(asked, "prompts", ["a", "a" * (most + 1)])


# --- who is to blame ----------------------------------------------------------------------------


def not_finite(folder: Path) -> None:
    path = folder / "model.safetensors"
    weights = load_file(path)
    name = next(name for name in weights if "layers.2.mlp.dense_4h_to_h.weight" in name)
    weights[name] = np.full_like(weights[name], np.nan)
    save_file(weights, path, metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (not_finite, "^copy: hidden states at layer .* are not finite for"),
        (lambda f: changed(f, max_position_embeddings=5), r"/max_position_embeddings is .* from 3"),
        (lambda f: changed(f, "tokenizer.json", model=WORDS, pre_tokenizer=None), "this one 1 and"),
        (
            lambda f: changed(f, vocab_size=40),
            "^statement 0 .*the model has embeddings for ids bel",
        ),
    ],
    ids=["not finite", "context", "one token", "vocabulary"],
)
def test_a_fault_of_the_checkpoint_is_not_blamed_on_the_pairs(
    copy: Path, tmp_path: Path, spoil: Callable[[Path], Any], message: str
) -> None:
    pairs = shutil.copy(EXAMPLE["pairs"], tmp_path / "mine.json")
    spoil(copy)
    with pytest.raises(LayerwiseError, match=message) as raised:
        analyze(copy, pairs, out=tmp_path / "out")
    assert "mine" not in str(raised.value)


def test_texts_are_refused_before_weights_are_loaded(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("layerwise.models.load._load_weights", None)
    with pytest.raises(TextError, match="takes at most 256 tokens"):
        load_model(copy, device="cpu", texts={"prompts": ["word " * 400]})
