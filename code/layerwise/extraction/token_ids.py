"""Token ids of texts, checked before anything runs."""

import hashlib
from collections.abc import Sequence

import numpy as np
from jaxtyping import Int32

from layerwise.errors import LayerwiseError, TextError
from layerwise.extraction.checkpoint_folder import in_words
from layerwise.extraction.load import Checkpoint
from layerwise.progress import within

TEXTS_AT_ONCE = 256  # the tokenizer keeps much more than ids of what it takes at once
SECONDS, RATE = 10, 20_000  # those that a tokenizer may take, and for as many characters one more
# A statement needs a token to predict; a prompt only needs one to look at.
FEWEST = {"statements": 2, "prompts": 1}
Ids = Int32[np.ndarray, " _"]  # four bytes a token


def tokenize(checkpoint: Checkpoint, kind: str, texts: Sequence[str]) -> list[Ids]:
    """Ids of every text, BOS where the tokenizer of the model adds it.

    Raises:
        TextError: for a text with too few or too many tokens.
    """
    name, model = checkpoint.name, checkpoint.model
    n_positions = getattr(model.config, "max_position_embeddings", None)
    n_embeddings = len(model.get_input_embeddings().weight)
    found: list[Ids] = []
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        some = list(texts[start : start + TEXTS_AT_ONCE])
        for text, ids in zip(some, _ids(checkpoint, some), strict=True):
            number = len(found)
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
                    f"{place}: the tokenizer of {name} gives id {max(ids)}, the model has "
                    f"embeddings for ids below {n_embeddings}; use the tokenizer of this model"
                )
            found.append(np.array(ids, dtype=np.int32))
    return found


def _ids(checkpoint: Checkpoint, texts: list[str]) -> list[list[int]]:
    place, fix = checkpoint.folder, "use the tokenizer that the model was trained with"
    seconds = SECONDS + sum(map(len, texts)) // RATE
    late = f"{place}: its tokenizer is still at {len(texts)} texts after {seconds} s; {fix}"
    with in_words(place, "its tokenizer cannot take the texts", fix):
        return within(seconds, late, lambda: checkpoint.tokenizer(texts).input_ids)


def digest_of_ids(texts: Sequence[Ids]) -> str:
    """SHA-256 of the ids, and of where each text ends."""
    found = hashlib.sha256(np.cumsum([len(ids) for ids in texts], dtype=np.int64).tobytes())
    for ids in texts:
        found.update(ids.tobytes())
    return found.hexdigest()
