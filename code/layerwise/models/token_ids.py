"""Texts as token ids, checked before anything runs."""

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Int32

from layerwise.errors import LayerwiseError, TextError, reword_errors
from layerwise.models.chat_templates import Wrapping, render
from layerwise.models.checkpoint_tokenizer import (
    Declaration,
    require_ids_of_file,
    require_no_draws,
)

TEXTS_AT_ONCE = 256  # the tokenizer keeps much more than ids of what it takes at once
# A statement needs a token to predict; a prompt only needs one to look at.
FEWEST = {"statements": 2, "prompts": 1}
# A text beyond so many characters a token that the model takes is tried by its start before memory
# is taken for all of it. That start has more than twice the tokens, unless eight characters and
# more make one (a tokenizer that folds blanks): then it is tokenised whole, as any other.
START, EVIDENT = 16, 2
FEWEST_TOGETHER = 2  # tokens of all prompts: a covariance needs two
Texts = Mapping[str, Sequence[str]]  # by kind: statements, prompts
NO_TEXTS: Texts = MappingProxyType({})
SAME_IDS = "a tokenizer gives a text the same ids whatever it took before, this one does not"
Ids = Int32[np.ndarray, " _"]  # four bytes a token


def tokenize(declaration: Declaration, kind: str, texts: Sequence[str]) -> list[Ids]:
    """Return the ids of every text, BOS where the tokenizer of the model adds it.

    Raises:
        TextError: for a text with too few or too many tokens.
        LayerwiseError: for a tokenizer that cannot take the texts, that draws or keeps something of
            earlier texts, or gives an id that the model does not embed and predict.
    """
    ids_of_texts: list[Ids] = []
    for first in range(0, len(texts), TEXTS_AT_ONCE):
        portion = texts[first : first + TEXTS_AT_ONCE]
        for number, text in enumerate(portion, start=first):
            _check_start(declaration, kind, number, text)
        for number, ids in enumerate(_ids(declaration, portion), start=first):
            _check_ids(declaration, kind, number, texts[number], ids)
            ids_of_texts.append(np.array(ids, dtype=np.int32))
    return ids_of_texts


def check_texts(
    declaration: Declaration, texts: Texts, template: Wrapping = "none"
) -> dict[str, list[Ids]]:
    """Return the ids of `prompts`, and of `statements` in the template; raise as `tokenize`."""
    ids = {}
    for kind, of_kind in texts.items():
        inside = template if kind == "statements" else "none"
        with reword_errors(declaration.place, "its chat template cannot be used", "correct it"):
            rendered = render(declaration.tokenizer, of_kind, inside)
        ids[kind] = tokenize(declaration, kind, rendered)
    if len(prompts := ids.get("prompts", [])) == 1 and len(prompts[0]) < FEWEST_TOGETHER:
        raise TextError(
            f"{_named('prompts', 0, texts['prompts'][0])}: a covariance over tokens needs at least "
            f"{FEWEST_TOGETHER}, the only prompt has {len(prompts[0])}; add prompts",
            "prompts",
            0,
        )
    return ids


def _named(kind: str, number: int, text: str) -> str:
    return f"{kind[:-1]} {number} ({text[:80]!r:.80})"


def _check_start(declaration: Declaration, kind: str, number: int, text: str) -> None:
    """Refuse a text that cannot fit by its first characters: all its tokens may need gigabytes."""
    most = declaration.n_positions
    if most is None or len(text) <= START * most:
        return
    n = len(_ids(declaration, [text[: START * most]])[0])
    if n > EVIDENT * most:
        raise TextError(
            f"{_named(kind, number, text)}: {declaration.name} takes at most {most} tokens, the "
            f"first {START * most:,} of {len(text):,} characters have {n}; shorten it",
            kind,
            number,
        )


def _check_ids(
    declaration: Declaration, kind: str, number: int, text: str, ids: Sequence[int]
) -> None:
    place, name, most = _named(kind, number, text), declaration.name, declaration.n_positions
    if len(ids) < FEWEST[kind]:
        raise TextError(
            f"{place}: {kind} need at least {FEWEST[kind]} tokens, {name}'s tokenizer "
            f"makes {len(ids)} of it; write a longer text or leave it out",
            kind,
            number,
        )
    if most is not None and len(ids) > most:
        raise TextError(
            f"{place}: {name} takes at most {most} tokens, this text has {len(ids)}; shorten it",
            kind,
            number,
        )
    if max(ids) >= declaration.n_embeddings:
        raise LayerwiseError(
            f"{place}: the tokenizer of {name} gives id {max(ids)}, the model embeds and predicts "
            f"ids below {declaration.n_embeddings}; use the tokenizer of this model"
        )


def _ids(declaration: Declaration, texts: Sequence[str]) -> list[list[int]]:
    place, fix = declaration.place, "use the tokenizer that the model was trained with"
    require_no_draws(declaration.tokenizer)
    with reword_errors(place, "its tokenizer cannot take the texts", fix):
        ids, again = (declaration.tokenizer(list(texts)).input_ids for _ in range(2))
    differing = (text for text, *both in zip(texts, ids, again, strict=True) if both[0] != both[1])
    if (text := next(differing, None)) is not None:
        raise LayerwiseError(
            f"{place}: {SAME_IDS}, {text[:80]!r:.80} has others the second time; load it anew"
        )
    require_ids_of_file(declaration.tokenizer, texts)
    return ids


def special_tokens(tokenizer: Any, texts: Sequence[str]) -> Mapping[int, list[str]]:
    """Return the special tokens that the tokenizer finds in the words of some texts, by number.

    They are those of its list of added tokens that are marked so, or that its chat template writes.
    The token of what is unknown counts where a text spells it.
    """
    template = str(getattr(tokenizer, "chat_template", None) or "")
    names = {
        number: token.content
        for number, token in tokenizer.added_tokens_decoder.items()
        if token.special or (token.content in template and not token.content.isspace())
    }
    unknown = str(tokenizer.unk_token or "")
    by_number = {}
    for first in range(0, len(texts), TEXTS_AT_ONCE):
        portion = list(texts[first : first + TEXTS_AT_ONCE])
        ids_of_texts = tokenizer(portion, add_special_tokens=False).input_ids
        for number, (text, ids) in enumerate(zip(portion, ids_of_texts, strict=True), first):
            present = dict.fromkeys(names[token] for token in ids if token in names)
            if unknown not in text:
                present.pop(unknown, None)
            if present:
                by_number[number] = list(present)
    return by_number


def digests_of_ids(ids: Mapping[str, Sequence[Ids]]) -> list[str]:
    """Return the digest of the ids of each kind of text."""
    return list(map(digest_of_ids, ids.values()))


def digest_of_ids(texts: Sequence[Ids]) -> str:
    """Return the SHA-256 of the ids, and of where each text ends."""
    digest = hashlib.sha256(np.cumsum([len(ids) for ids in texts], dtype=np.int64).tobytes())
    for ids in texts:
        digest.update(ids.tobytes())
    return digest.hexdigest()
