"""Ids are those of tokenizer.json, whichever class transformers makes of it."""

import json
import shutil
from pathlib import Path

import pytest
import tokenizers
import transformers

from layerwise.errors import LayerwiseError
from layerwise.models.load import from_memory, load_model, open_checkpoint
from layerwise.models.token_ids import check_texts, special_tokens
from tiny_checkpoints import TEXTS, twin_folder

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
