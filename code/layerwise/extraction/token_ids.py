"""Token ids of many texts, checked before anything runs, in a few bytes per token."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int32, Int64

from layerwise.errors import LayerwiseError, TextError

TEXTS_AT_ONCE = 256  # the tokenizer keeps much more than ids of what it takes at once
# A statement needs a token to predict; a prompt only needs one to look at.
FEWEST = {"statements": 2, "prompts": 1}


@dataclass(frozen=True)
class TokenIds:
    """The ids of all texts in one row, and where each text ends."""

    ids: Int32[np.ndarray, " token"]
    ends: Int64[np.ndarray, " text"]

    @property
    def lengths(self) -> list[int]:
        """Tokens of every text."""
        return [int(length) for length in np.diff(self.ends, prepend=0)]

    def rows(
        self, members: Sequence[int], length: int
    ) -> Int64[np.ndarray, "{len(members)} {length}"]:
        """The ids of texts that all have this length."""
        firsts = self.ends[list(members)] - length
        return self.ids[firsts[:, None] + np.arange(length)].astype(np.int64)

    def digest(self) -> str:
        """SHA-256 of the ids and where each text ends."""
        found = hashlib.sha256(self.ends.tobytes())
        found.update(self.ids.tobytes())
        return found.hexdigest()


def tokenize(
    name: str,
    tokenizer: Any,
    kind: str,
    texts: Sequence[str],
    *,
    n_positions: int | None,
    n_embeddings: int,
) -> TokenIds:
    """Ids of every text, BOS where the tokenizer of model `name` adds it.

    Raises:
        TextError: for a text with too few or too many tokens.
        LayerwiseError: for an id that the model has no embedding for.
    """
    found, ends = array("i"), array("q")  # four bytes a token from the start
    for number, (text, ids) in enumerate(zip(texts, _each(tokenizer, texts), strict=True)):
        place = f"{kind[:-1]} {number} ({text!r:.80})"
        if len(ids) < FEWEST[kind]:
            raise TextError(
                f"{place}: {kind} need at least {FEWEST[kind]} tokens, {name}'s tokenizer "
                f"makes {len(ids)} of it; write a longer text or leave it out",
                kind,
                number,
            )
        if n_positions is not None and len(ids) > n_positions:
            raise TextError(
                f"{place}: {name} takes at most {n_positions} tokens, this text has "
                f"{len(ids)}; shorten it",
                kind,
                number,
            )
        if max(ids) >= n_embeddings:
            raise LayerwiseError(
                f"{place}: the tokenizer of {name} gives id {max(ids)}, the model "
                f"has embeddings for ids below {n_embeddings}; use the tokenizer of this model"
            )
        found.extend(ids)
        ends.append(len(found))
    return TokenIds(np.array(found, dtype=np.int32), np.array(ends, dtype=np.int64))


def _each(tokenizer: Any, texts: Sequence[str]) -> Iterator[list[int]]:
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        yield from tokenizer(list(texts[start : start + TEXTS_AT_ONCE])).input_ids
