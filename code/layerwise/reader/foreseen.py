"""What is known of a request before the first pass: warnings, and what the model will be given."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from layerwise.files import revealed
from layerwise.models.chat_templates import idle_options, leading_bos, render
from layerwise.models.token_ids import special_tokens
from layerwise.reader.page.cautions import (
    around_cautions,
    limit_cautions,
    own_code_cautions,
    template_cautions,
    text_cautions,
)

if TYPE_CHECKING:  # it imports torch
    from layerwise.reader.prepared import Prepared

MOST_LETTERS, MOST_IDS = 600, 80  # that are shown of a statement


def foresee_cautions(prepared: "Prepared") -> list[str]:
    """Return the warnings that need no pass: of the checkpoint's code, the texts, their tokens."""
    request, declaration = prepared.request, prepared.outline.declaration
    tokenizer, pairs = declaration.tokenizer, request.pairs
    before, behind = declaration.around
    n_bos = {
        kind: [leading_bos(ids.tolist(), tokenizer.bos_token_id) for ids in texts]
        for kind, texts in prepared.ids.items()
    }
    usual = dict.fromkeys(n_bos, leading_bos(before, tokenizer.bos_token))
    warned = own_code_cautions(declaration.own_code, prepared.outline.family)
    warned += limit_cautions(pairs, request.n_given)
    if request.template != "none":
        usual["statements"] = min(n_bos["statements"])
        idle = idle_options(tokenizer, pairs.statements, request.template)
        warned += template_cautions(usual["statements"], idle)
    warned += around_cautions(before, behind)
    for kind, texts in request.texts.items():
        special = special_tokens(tokenizer, texts)
        of_tokens = {
            "special": {number: " ".join(tokens) for number, tokens in special.items()},
            "twice": {
                number: "" for number, n in enumerate(n_bos[kind]) if n > max(1, usual[kind])
            },
        }
        warned += text_cautions(
            kind, texts, pairs, of_tokens, private=request.choices["private_texts"]
        )
    return warned


def first_statement(prepared: "Prepared") -> tuple[str, str]:
    """Return the first statement as the tokenizer is given it, and its token ids.

    What the eye cannot see is written out, and of a long one both ends are there.
    """
    request, tokenizer = prepared.request, prepared.outline.declaration.tokenizer
    (text,) = render(tokenizer, request.pairs.statements[:1], request.template)
    ids = list(map(str, prepared.ids["statements"][0].tolist()))
    return revealed("".join(_ends(text, MOST_LETTERS))), " ".join(_ends(ids, MOST_IDS))


def _ends(parts: Sequence[str], most: int) -> Sequence[str]:
    if len(parts) <= most:
        return parts
    return [*parts[: most // 2], "[...]", *parts[-most // 2 :]]
