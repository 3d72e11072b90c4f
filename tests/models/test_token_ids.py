"""Ids are those of tokenizer.json, whichever class transformers makes of it."""

import json
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
import transformers

import layerwise
from layerwise.errors import LayerwiseError, TextError
from layerwise.models.chat_templates import OwnTemplate
from layerwise.models.checkpoint_tokenizer import Declaration, require_no_draws
from layerwise.models.load import Checkpoint, from_memory, load_model, open_checkpoint
from layerwise.models.token_ids import check_texts, digest_of_ids, special_tokens
from tiny_checkpoints import EXAMPLE, TEXTS, twin_folder

KINDS = {"statements": TEXTS, "prompts": TEXTS[:2]}


def rewrite(file: Path, **changes: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A GPT-2 whose tokenizer.json splits every character off; GPT2Tokenizer does not read that."""
    folder = Path(shutil.copytree(twin_folder("gpt2"), tmp_path / "gpt2"))
    by_character = {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated"}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    parts = [by_character | {"invert": False}, byte_level | {"use_regex": False}]
    sequence = {"type": "Sequence", "pretokenizers": parts}
    rewrite(folder / "tokenizer.json", pre_tokenizer=sequence)
    rewrite(folder / "tokenizer_config.json", tokenizer_class="GPT2Tokenizer")
    return folder


def test_ids_are_those_of_the_file(folder: Path) -> None:
    reference = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    expected = [reference.encode(text).ids for text in TEXTS]
    assert transformers.AutoTokenizer.from_pretrained(folder)(list(TEXTS)).input_ids != expected
    ids = check_texts(load_model(folder, device="cpu").declaration, KINDS)
    assert [text.tolist() for text in ids["statements"]] == expected
    assert [text.tolist() for text in ids["prompts"]] == expected[:2]


def test_the_same_ids_in_other_texts_have_another_digest() -> None:
    parted = [[[1, 2], [3]], [[1], [2, 3]], [[1, 2, 3]], [[3], [1, 2]]]
    digests = {digest_of_ids([np.array(ids, np.int32) for ids in texts]) for texts in parted}
    assert len(digests) == len(parted)


def test_a_loaded_tokenizer_with_other_ids_is_refused(folder: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    rebuilt = from_memory(model, transformers.AutoTokenizer.from_pretrained(folder))
    with pytest.raises(LayerwiseError, match=f"GPT2Tokenizer gives other .*{TEXTS[0]}.* token 0 "):
        check_texts(rebuilt.declaration, KINDS)
    same = from_memory(model, transformers.PreTrainedTokenizerFast.from_pretrained(folder))
    assert check_texts(same.declaration, KINDS)["prompts"][0].tolist()


def test_a_setting_that_changes_ids_is_refused_before_weights_are_read(folder: Path) -> None:
    word = TEXTS[0].split()[1]
    rewrite(folder / "tokenizer_config.json", extra_special_tokens=[word])
    with pytest.raises(LayerwiseError, match=r"tokenizer\.json: ids must be those of this file"):
        open_checkpoint(folder, texts=KINDS)


def test_special_tokens_are_those_that_a_text_spells() -> None:
    """Marked so, or written by the chat template; that of what is unknown only where it stands."""
    words = {word: number for number, word in enumerate(("<s>", "<?>", "<tool>", "a", "<b>"))}
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<?>"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    model.add_tokens(["<tool>", "<b>"])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, bos_token="<s>", unk_token="<?>"
    )
    tokenizer.chat_template = "<tool> {{ messages[0].content }}"
    texts = ["a a", "a unheard a", "a <?> a", "<s> a <s>", "a <tool>", "a <b> a"]
    found = special_tokens(tokenizer, texts)
    assert found == {2: ["<?>"], 3: ["<s>"], 4: ["<tool>"]}


def as_bpe(tokenizer: Any) -> Any:
    return tokenizer.backend_tokenizer.model


@pytest.mark.parametrize("rate", [0.002, 0.5])
def test_a_tokenizer_that_draws_is_refused_with_its_cause(tmp_path: Path, rate: float) -> None:
    folder = Path(shutil.copytree(twin_folder("gpt2"), tmp_path / "gpt2"))
    file = folder / "tokenizer.json"
    model = json.loads(file.read_text())["model"]
    assert model["type"] == "BPE"
    in_memory = load_model(folder, device="cpu")
    as_bpe(in_memory.tokenizer).dropout = rate
    with pytest.raises(LayerwiseError, match="draws how it splits a text"):
        check_texts(from_memory(in_memory.model, in_memory.tokenizer).declaration, KINDS)
    rewrite(file, model=model | {"dropout": rate})
    with pytest.raises(LayerwiseError, match="draws how it splits a text"):
        open_checkpoint(folder, texts=KINDS)


@pytest.mark.parametrize("setting", [{"alpha": 0.1}, {"nbest_size": 8}])
def test_a_unigram_model_that_samples_is_refused(setting: dict[str, float]) -> None:
    model = tokenizers.models.Unigram([("a", -1.0), ("b", -2.0)], 0, byte_fallback=False)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(model))
    require_no_draws(tokenizer)
    for name, value in setting.items():
        setattr(as_bpe(tokenizer), name, value)
    with pytest.raises(LayerwiseError, match=f"{next(iter(setting))} is"):
        require_no_draws(tokenizer)


def changing(checkpoint: Checkpoint, is_other: Callable[[int], bool]) -> None:
    """Let a tokenizer give a text's ids backwards in those of its calls, counted from here."""
    tokenizer, kind, calls = checkpoint.tokenizer, type(checkpoint.tokenizer), count()

    class Changing(kind):  # type: ignore[misc, valid-type]
        def __call__(self, *given: Any, **named: Any) -> Any:
            out = super().__call__(*given, **named)
            if is_other(next(calls)):
                ids = out["input_ids"]
                is_one = not isinstance(given[0], list)
                out["input_ids"] = ids[::-1] if is_one else [of_text[::-1] for of_text in ids]
            return out

    tokenizer.__class__ = Changing
    tokenizer.name_or_path = ""  # of no file, with which its ids would be compared


@pytest.mark.parametrize("call", range(2))
def test_ids_that_change_with_the_next_call_are_refused(call: int) -> None:
    loaded = load_model(twin_folder("llama"), device="cpu")
    changing(loaded, lambda number: number == call)
    with pytest.raises(LayerwiseError, match=f"{TEXTS[0]}.* has others the second time"):
        check_texts(loaded.declaration, {"statements": TEXTS})


def test_ids_that_change_between_plan_and_run_are_refused() -> None:
    """Whichever call is the first with other ids: all numbers are of one kind, or there is none."""

    def numbers(is_other: Callable[[int], bool]) -> Any:
        loaded = load_model(twin_folder("llama"), device="cpu")
        changing(loaded, is_other)
        given: dict[str, Any] = {"pairs": EXAMPLE["pairs"], "without": ["spectral"], "limit": 2}
        result = layerwise.analyze(loaded.model, **given, tokenizer=loaded.tokenizer)
        return result.categories.records

    numbered = count()
    plain = numbers(lambda number: next(numbered) < 0)
    of_one_kind = plain, numbers(lambda _: True)
    refused = 0
    for first in range(1, next(numbered)):
        try:
            assert numbers(lambda number, first=first: number >= first) in of_one_kind
        except LayerwiseError:
            refused += 1
    assert refused > 2  # in the pair of calls for one kind of texts


def test_an_id_that_the_head_lacks_names_its_statement() -> None:
    """As where embeddings are padded and output embeddings are not."""
    loaded = load_model(twin_folder("llama"), device="cpu")
    head = loaded.model.lm_head
    highest = [max(loaded.tokenizer(text).input_ids) for text in TEXTS]
    most = max(highest)
    loaded.model.lm_head = torch.nn.Linear(head.in_features, most, bias=False)
    named = f"statement {highest.index(most)} .*embeds and predicts ids below {most}"
    with pytest.raises(LayerwiseError, match=named):
        check_texts(loaded.declaration, {"statements": TEXTS})


@pytest.fixture(params=["none", "own"])
def given(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Any]:
    """A model that takes 32 tokens, with a chat template or without, and its folder."""
    folder = Path(shutil.copytree(twin_folder("gpt_neox"), tmp_path / "m"))
    rewrite(folder / "config.json", max_position_embeddings=32)
    template = "<b> {{ messages[0].content }}"
    rewrite(folder / "tokenizer_config.json", chat_template=template)
    return folder, OwnTemplate() if request.param == "own" else "none"


def declare(folder: Path, lengths: list[int], monkeypatch: pytest.MonkeyPatch) -> Declaration:
    """All that texts are checked with; the lengths of those that are tokenised are noted."""
    declaration = open_checkpoint(folder).declaration
    kind = type(declaration.tokenizer)
    tokenize = kind.__call__

    def noting(self: Any, texts: Any, **how: Any) -> Any:
        lengths.extend(map(len, [texts] if isinstance(texts, str) else texts))
        return tokenize(self, texts, **how)

    monkeypatch.setattr(kind, "__call__", noting)
    return declaration


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_cannot_fit_is_not_tokenised_whole(
    given: tuple[Path, Any], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, template = given
    declaration = declare(folder, lengths := [], monkeypatch)
    text = TEXTS[0] + " word" * 1000
    with pytest.raises(
        TextError, match=r"at most 32 tokens, the first 512 of 5,0\d\d .* shorten it"
    ):
        check_texts(declaration, {kind: [TEXTS[0], text]}, template)
    assert max(lengths) == 512


def test_a_long_text_of_few_tokens_is_taken(
    given: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a normaliser folds blanks: no count of characters says how many tokens these are."""
    folder, template = given
    folds = {"type": "Replace", "pattern": {"Regex": " +"}, "content": " "}
    rewrite(folder / "tokenizer.json", normalizer=folds)
    declaration = declare(folder, lengths := [], monkeypatch)
    few, many = (
        check_texts(declaration, {"statements": [f"a{blanks}cat"]}, template)["statements"][0]
        for blanks in (" ", " " * 5000)
    )
    assert few.tolist() == many.tolist()
    assert max(lengths) > 5000
