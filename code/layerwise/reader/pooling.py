"""`layerwise.pool`: hidden states by token, from a cache -> the means that `measure` takes."""

from typing import Any

import numpy as np
from jaxtyping import Float32

from layerwise.errors import LayerwiseError, system_in_words


@system_in_words()
def pool(hidden: Any, mask: Any = None) -> Float32[np.ndarray, "*layer statement hidden"]:
    """Return the mean of every statement's hidden states over its tokens but the first.

    This is the papers' pooling (Paper 1, notebook 003): the first token of a statement is dropped,
    whatever it is, and padding takes no part. It serves states that TransformerLens, nnsight or a
    hook kept token by token, and gives what `measure` takes as `hidden_states`.

    Args:
        hidden: (statement, token, hidden), or (layer, statement, token, hidden) of several layers.
        mask: (statement, token), 1 for a token and 0 for padding, on whichever side it stands, as
            a tokenizer's `attention_mask`; None: nothing is padded.

    Returns:
        The same axes without the tokens, as float32; sums are taken in float64.

    Raises:
        LayerwiseError: for other shapes, anything but real numbers, a mask with other values than
            0 and 1, or a statement of fewer than two tokens.
    """
    states = real_array("hidden", hidden)
    if states.ndim not in (3, 4):
        raise LayerwiseError(
            "hidden: the axes are (statement, token, hidden), or a layer before them, found the "
            f"shape {states.shape}; of a single statement give states[None]"
        )
    is_token = np.ones(states.shape[-3:-1], bool) if mask is None else _is_token(mask, states.shape)
    n_tokens = is_token.sum(axis=1)
    if len(short := np.flatnonzero(n_tokens < 2)):
        raise LayerwiseError(
            "hidden: a statement has at least 2 tokens, of which the first is dropped, statement "
            f"{short[0]} has {n_tokens[short[0]]}; leave its pair out, or give its mask"
        )
    is_pooled = is_token.copy()
    is_pooled[np.arange(len(is_token)), is_token.argmax(axis=1)] = False  # the first token
    # padding may hold anything, NaN too, which no weight of zero removes
    sums = np.where(is_pooled[..., None], states, 0).sum(axis=-2, dtype=np.float64)
    return (sums / (n_tokens - 1)[:, None]).astype(np.float32)


def real_array(name: str, given: Any, kinds: str = "fiu") -> np.ndarray:
    """Return what was given as an array, in the dtype that it has.

    Args:
        name: of the argument, for the error.
        kinds: of numpy's dtypes that are taken.

    Raises:
        LayerwiseError: if numpy cannot read it, or its dtype is of another kind.
    """
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        problem = f"{error!s:.120}"
    else:
        if array.dtype.kind in kinds:
            return array
        problem = f"of dtype {array.dtype}"
    raise LayerwiseError(
        f"{name}: must be an array of real numbers on the CPU, found {type(given).__name__} "
        f"({problem}); convert it, e.g. by .detach().float().cpu().numpy()"
    )


def _is_token(mask: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return a mask as truth values, once it fits states of this shape."""
    array = real_array("mask", mask, kinds="fiub")
    if array.shape != shape[-3:-1]:
        raise LayerwiseError(
            f"mask: must have the shape {shape[-3:-1]}, one number for each token of hidden, "
            f"found {array.shape}; give the attention_mask of the same batch"
        )
    if not np.isin(array, (0, 1)).all():
        raise LayerwiseError(
            "mask: must be 1 for a token and 0 for padding, found "
            f"{array[~np.isin(array, (0, 1))][0]}; give the tokenizer's attention_mask"
        )
    return array.astype(bool)
