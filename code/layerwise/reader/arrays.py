"""`layerwise.measure`: the analyses of pairs and layers, of states that somebody has already."""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from layerwise.analyses import of_reader
from layerwise.analyses.questions.answers import answers
from layerwise.errors import LayerwiseError
from layerwise.experiments.of_pairs import reader
from layerwise.experiments.reduction import measure as reduced
from layerwise.extraction.store import BEFORE_NORM, Layer, digest_of_texts
from layerwise.files import require_name
from layerwise.inputs.measured import tables_of_reader
from layerwise.inputs.texts import StatementPairs, read_pairs
from layerwise.measures.values import sampled_layers
from layerwise.pages.own_model.of_one import page_of
from layerwise.reader.papers import papers
from layerwise.reader.result import Result
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, Draws

ABSENT = dict.fromkeys(
    ("anisotropy", "gains", "spectral"), "it needs the model and prompts, and arrays were given"
)


def measure(
    hidden_states: Any,
    nll: Any,
    pairs: Any,
    *,
    name: str = "arrays",
    before_norm: Any = None,
    all_tokens: Any = None,
    last_token: Any = None,
    first_token: Any = None,
    layers: Any = None,
    seed: int = 42,
    out: str | Path | None = None,
) -> Result:
    """What `analyze` says of statement pairs, from arrays that one has already; without torch.

    A row is a statement: the A sides of all pairs, category by category in the order of `pairs`,
    then the B sides. Gains, anisotropy and spectral norms need the model: `analyze` has them.

    Args:
        hidden_states: (layer, statement, hidden), layers 0 (what enters block 0) to n_layers
            (after the final norm), or `{layer: (statement, hidden)}` with the last layer among
            them. Of a statement the mean over its tokens but the first, as the papers took it.
        nll: (statement,): mean over the predicted tokens, nats.
        pairs: as for `analyze`.
        name: what the result calls the model.
        before_norm: (statement, hidden): the same mean after the last block, before the final
            norm. This and the next three are for the choices that the papers did not make; what
            is not given is left out.
        all_tokens: as `hidden_states`, of means over all tokens.
        last_token, first_token: (statement, hidden) of the last layer.
        layers: as for `analyze`; of a dictionary all that it has, by default.
        seed: for the resampling.
        out: the folder of the result files; None: none are written.

    Raises:
        LayerwiseError: for arrays of other shapes, numbers that are not finite, a state that is all
            zero, or another number of statements than the pairs have.
    """
    require_name("name", name)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise LayerwiseError(f"seed must be a whole number from 0 to 2^32 - 1, found {seed!r:.80}")
    given = read_pairs(pairs)
    states = Arrays.of(
        name, given, hidden_states, nll, before_norm, all_tokens, last_token, first_token
    )
    chosen = sampled_layers(states.n_layers, layers=_asked(layers, hidden_states))
    if missing := [layer for layer in chosen if not states.has(layer, "mean")]:
        raise LayerwiseError(
            f"hidden_states: layers {', '.join(map(str, chosen))} are asked for, there is no "
            f"{missing[0]}; give it, or name the layers that are there"
        )
    draws = Draws(N_RESAMPLES, LEVEL, seed)
    of_papers = papers(draws)
    values = reduced(states, given, layers=chosen, seed=seed)
    drawn = reader.numbers(values, draws, of_papers.numbers)
    measured = reader.Measured(tables_of_reader(drawn.files), ABSENT, values, drawn, states.index)
    documents = of_reader(measured.numbers, draws)
    answered = answers(documents, of_papers.printed)
    page = page_of(measured, documents, answered, {}, given, draws)
    result = Result({name: documents}, documents, page, of_papers.curves)
    return result if out is None else result.save(out)


def _asked(layers: Any, hidden_states: Any) -> Any:
    """The layers that are asked for: of a dictionary all, unless some are named."""
    if layers is None and isinstance(hidden_states, Mapping):
        return sorted(hidden_states)
    return layers


class Arrays:
    """States of statements in memory, as `reduction.measure` asks for them."""

    place = "hidden_states"

    def __init__(self, kept: Mapping[tuple[Layer, str], Any], nll: Any, index: dict[str, Any]):
        self._kept, self.nll, self.index = kept, nll, index

    @classmethod
    def of(
        cls,
        name: str,
        pairs: StatementPairs,
        hidden_states: Any,
        nll: Any,
        before_norm: Any,
        all_tokens: Any,
        last_token: Any,
        first_token: Any,
    ) -> "Arrays":
        """The arrays, if they are of these pairs' statements.

        Raises:
            LayerwiseError: if they are not, or not finite.
        """
        n = len(pairs.statements)
        found = {(layer, "mean"): of for layer, of in _by_layer("hidden_states", hidden_states)}
        n_layers = max(layer for layer, _ in found)
        others = {} if all_tokens is None else dict(_by_layer("all_tokens", all_tokens))
        named: dict[tuple[Layer, str], tuple[str, Any]] = {
            **{key: (f"hidden_states: layer {key[0]}", of) for key, of in found.items()},
            **{(n, "mean_all"): (f"all_tokens: layer {n}", of) for n, of in others.items()},
            (BEFORE_NORM, "mean"): ("before_norm", before_norm),
            (n_layers, "last"): ("last_token", last_token),
            (n_layers, "first"): ("first_token", first_token),
        }
        kept: dict[tuple[Layer, str], np.ndarray] = {}
        hidden_size: int | None = None
        for key, (place, of) in named.items():
            if of is not None:
                kept[key] = _states(place, of, n, hidden_size)
                hidden_size = kept[key].shape[1]
        digest = hashlib.sha256()
        losses = _losses(nll, n)
        for one in (*kept.values(), losses):
            digest.update(np.ascontiguousarray(one).tobytes())
        index = {
            "model": name,
            "display": name,
            "revision": f"sha256:{digest.hexdigest()}",
            "n_layers": n_layers,
            "hidden_size": hidden_size,
            "n_prompts": 0,
            "prompt_lengths": [],
            "template": "none",
            "statements_sha256": digest_of_texts(pairs.statements),
        }
        return cls(kept, losses, index)

    @property
    def n_layers(self) -> int:
        return int(self.index["n_layers"])

    @cached_property
    def hidden_size(self) -> int:
        return int(self.index["hidden_size"])

    def has(self, layer: Layer, pooling: str) -> bool:
        """Whether such states were given."""
        return (layer, pooling) in self._kept

    def pooled(self, layer: Layer, pooling: str = "mean") -> np.ndarray:
        """Of every statement."""
        return self._kept[layer, pooling]

    def tokens(self, layer: Layer) -> np.ndarray:
        """Of prompts: none are given."""
        return np.empty((0, self.hidden_size), dtype=np.float32)


def _by_layer(place: str, given: Any) -> list[tuple[int, Any]]:
    """Layer and array, of a dictionary or of an array whose first axis is the layers."""
    if isinstance(given, Mapping):
        wrong = [one for one in given if isinstance(one, bool) or not isinstance(one, int)]
        if wrong or not given or min(given) < 0:
            raise LayerwiseError(
                f"{place}: the keys of a dictionary are layers, whole numbers from 0, found "
                f"{', '.join(map(repr, given)) or 'none'!s:.200}"
            )
        return sorted(given.items())
    array = _numbers(place, given)
    if array.ndim != 3:
        raise LayerwiseError(
            f"{place}: the axes are (layer, statement, hidden), found the shape {array.shape}; "
            "give one array per layer as {layer: (statement, hidden)}, or stack them"
        )
    return list(enumerate(array))


def _numbers(place: str, given: Any) -> np.ndarray:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise LayerwiseError(
            f"{place}: must be an array of numbers on the CPU, found {type(given).__name__} "
            f"({error!s:.120}); convert it, e.g. by .float().cpu().numpy()"
        ) from None


def _states(place: str, given: Any, n: int, hidden_size: int | None) -> np.ndarray:
    """A state per statement, float32."""
    array = _numbers(place, given)
    wanted = f"({n}, {hidden_size or 'hidden'})"
    if array.ndim != 2 or len(array) != n or hidden_size not in (None, array.shape[1]):
        raise LayerwiseError(
            f"{place}: must have the shape {wanted}, a row for each side of each of the "
            f"{n // 2} pairs, found {array.shape}; give the A sides of all pairs, then the B sides"
        )
    sizes = np.linalg.norm(array, axis=1)
    if len(bad := np.flatnonzero(~np.isfinite(sizes) | (sizes == 0))):
        what = "all zero" if sizes[bad[0]] == 0 else "not finite"
        raise LayerwiseError(f"{place}: the state of statement {bad[0]} is {what}; leave it out")
    return array.astype(np.float32)


def _losses(nll: Any, n: int) -> np.ndarray:
    array = _numbers("nll", nll)
    if array.shape != (n,):
        raise LayerwiseError(
            f"nll: must have the shape ({n},), one number per statement, found {array.shape}"
        )
    if len(bad := np.flatnonzero(~np.isfinite(array) | (array < 0))):
        raise LayerwiseError(
            f"nll: a mean NLL is finite and not negative, statement {bad[0]} has {array[bad[0]]}; "
            "give nats per predicted token, with their sign"
        )
    return array
