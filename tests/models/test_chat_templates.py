"""Chat templates: what the model is given is what the notebook gave it, or says so."""

from typing import Any

import pytest
import tokenizers
import transformers

from layerwise.errors import LayerwiseError
from layerwise.models.token_ids import DATE, leading_bos, render

BOS = "<|begin_of_text|>"
MARKS = (BOS, "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
WORDS = ("system", "user", "Today", "26", "Jul", "2024", "Ice", "melts", "unknown")
# The shape of Llama 3.1's: BOS, a system header with a date, the message, an answer's header.
CHAT = (
    "{{ bos_token }}{% if not date_string is defined %}{% set date_string = 'today' %}{% endif %}"
    "<|start_header_id|>system<|end_header_id|> Today {{ date_string }}<|eot_id|>"
    "{% for message in messages %}<|start_header_id|>{{ message.role }}<|end_header_id|> "
    "{{ message.content }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>{% endif %}"
)


def tokenizer_with(*, adds_bos: bool = True, chat: str | None = CHAT) -> Any:
    vocabulary = {word: number for number, word in enumerate((*MARKS, *WORDS))}
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="unknown"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    if adds_bos:
        model.post_processor = tokenizers.processors.TemplateProcessing(
            single=f"{BOS} $A", special_tokens=[(BOS, 0)]
        )
    found = transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, bos_token=BOS, additional_special_tokens=list(MARKS[1:])
    )
    found.chat_template = chat
    return found


def test_published_is_what_the_notebook_did() -> None:
    """One user message, no generation prompt, to text; then tokenised with special tokens."""
    tokenizer = tokenizer_with()
    text = render(tokenizer, "Ice melts", "published")
    header = "<|start_header_id|>{}<|end_header_id|> "
    assert text == (
        f"{BOS}{header.format('system')}Today {DATE}<|eot_id|>"
        f"{header.format('user')}Ice melts<|eot_id|>"
    )
    twice, once = (
        tokenizer(text).input_ids,
        tokenizer(render(tokenizer, "Ice melts", "once")).input_ids,
    )
    assert twice[:3] == [0, 0, 1]
    assert twice == [0, *once]  # it differs by the second BOS alone
    assert render(tokenizer, "Ice melts", "none") == "Ice melts"
    assert render(tokenizer, "Ice melts", "own") == text


@pytest.mark.parametrize("adds_bos", [True, False])
def test_a_readers_own_template_may_begin_with_any_number_of_bos(adds_bos: bool) -> None:
    """It is made as the published one; the number is told."""
    tokenizer = tokenizer_with(adds_bos=adds_bos)
    text = render(tokenizer, "Ice melts", "own")
    assert text == render(tokenizer_with(), "Ice melts", "published")
    assert leading_bos(tokenizer, text) == 1 + adds_bos


@pytest.mark.parametrize(
    ("tokenizer", "template", "message"),
    [
        (tokenizer_with(), "twice", r"one of none, published, once, own, found 'twice'"),
        (tokenizer_with(chat=None), "published", "needs a tokenizer with a chat template"),
        (tokenizer_with(chat=None), "own", r"--chat-template \(.*\) needs a tokenizer with a chat"),
        (tokenizer_with(adds_bos=False), "published", r"begin with 2 BOS, this .* begin with 1"),
        (tokenizer_with(adds_bos=False), "once", r"begin with 1 BOS, this .* begin with 0"),
        (
            tokenizer_with(chat="{{ bos_token }}" + CHAT),
            "published",
            "2 BOS, this .* begin with 3;",
        ),
    ],
)
def test_render_refused(tokenizer: Any, template: str, message: str) -> None:
    with pytest.raises(LayerwiseError, match=message):
        render(tokenizer, "Ice melts", template)
