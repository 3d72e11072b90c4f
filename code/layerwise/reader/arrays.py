"""`layerwise.measure`: the analyses of pairs and layers, of states that somebody has already."""

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from layerwise.engine.measured import tables_of_reader
from layerwise.errors import LayerwiseError, system_in_words
from layerwise.files import require_name
from layerwise.given import Draw, Folder, Layers
from layerwise.measures.uniformity import NORM_OFFSET
from layerwise.measures.values import sampled_layers
from layerwise.measuring.reduction import measure as reduced
from layerwise.models.store import BEFORE_NORM, Layer, digest_of_texts
from layerwise.models.texts import StatementPairs
from layerwise.papers.across.analyses import of_reader
from layerwise.papers.across.answers import answers
from layerwise.papers.fetching.texts import read_pairs
from layerwise.papers.shared.experiments import reader
from layerwise.reader.page.of_one import page_of
from layerwise.reader.papers import papers
from layerwise.reader.result import Result
from layerwise.reader.results_folder import alone, check_results_folder
from layerwise.reader.run_record import run_record, with_record
from layerwise.shapes import Strict, converted
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, Draws

MOST_LAYERS = 10_000  # as a key: more is a slip
ABSENT = dict.fromkeys(
    ("anisotropy", "gains", "spectral"), "it needs the model and prompts, and arrays were given"
)
# The arrays that are given by layer, and what of a text they hold.
POOLING = {"hidden_states": "mean", "all_tokens": "mean_all"}
# Shorter states are lost in what the papers add to the product of two lengths.
SHORTEST = NORM_OFFSET**0.5
FLOAT32 = np.finfo(np.float32)


class Choices(Strict):
    """What is given beside arrays and pairs."""

    name: str
    layers: Layers
    seed: Draw
    out: Folder


@system_in_words()
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
        layers: as for `analyze`; of a dictionary all that it has, by default. Those that are
            chosen must be in `all_tokens` too, if it is given.
        seed: for the resampling.
        out: the folder of the result files; None: none are written.

    Raises:
        LayerwiseError: before anything is computed, for arrays of other shapes or of anything but
            real numbers, numbers that float32 does not hold, a state that is all zero, layers that
            are not there, another number of statements than the pairs have, or a folder where the
            results cannot be put; then for a correlation that these numbers do not have.
    """
    asked: Choices = converted(
        "measure", Choices, {"name": name, "layers": layers, "seed": seed, "out": out}
    )
    require_name("name", asked["name"])
    given = read_pairs(pairs)
    with contextlib.ExitStack() as stack:
        if asked["out"] is not None:
            check_results_folder(asked["out"], (pairs,))
            stack.enter_context(alone(asked["out"]))
        by_layer = {"hidden_states": hidden_states, "all_tokens": all_tokens}
        once = {"before_norm": before_norm, "last_token": last_token, "first_token": first_token}
        states = Arrays.of(asked["name"], given, by_layer, once, nll)
        chosen = _sampled(states, asked["layers"], is_chosen=isinstance(hidden_states, Mapping))
        return _measured(states, given, chosen, asked)


def _measured(
    states: "Arrays", given: StatementPairs, chosen: Sequence[int], asked: Choices
) -> Result:
    """The steps of `of_checkpoint`, but for what needs the model."""
    draws = Draws(N_RESAMPLES, LEVEL, asked["seed"])
    of_papers = papers(draws)
    values = reduced(states, given, layers=chosen, seed=asked["seed"])
    drawn = reader.numbers(values, draws, of_papers.numbers)
    measured = reader.Measured(tables_of_reader(drawn.files), ABSENT, values, drawn, states.index)
    documents = of_reader(measured.numbers, draws)
    answered = answers(documents, of_papers.printed)
    page = page_of(measured, documents, answered, {}, given, draws)
    whole = with_record(documents, run_record(states.index, given, (), chosen, draws))
    result = Result({asked["name"]: whole}, whole, page, of_papers.curves)
    return result if asked["out"] is None else result.save(asked["out"])


def _sampled(states: "Arrays", layers: Sequence[int] | None, *, is_chosen: bool) -> Sequence[int]:
    """The layers that are asked for, if they are all there.

    Arguments:
        is_chosen: whether those that were given are the ones that are asked for by default.
    """
    if layers is None and is_chosen:
        layers = states.layers("mean")
    chosen = sampled_layers(states.n_layers, layers=layers)
    for place, pooling in POOLING.items():
        there = states.layers(pooling)
        missing = [layer for layer in chosen if layer not in there]
        if there and missing:
            raise LayerwiseError(
                f"{place}: layers {', '.join(map(str, chosen))} are asked for, there is no "
                f"{missing[0]}; give it, or name the layers that are there"
            )
    return chosen


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
        by_layer: Mapping[str, Any],
        once: Mapping[str, Any],
        nll: Any,
    ) -> "Arrays":
        """The arrays, if they are of these pairs' statements.

        Arguments:
            by_layer: `hidden_states` and `all_tokens`.
            once: the others, which stand at one place of the model.

        Raises:
            LayerwiseError: if they are not, or are no numbers that float32 holds.
        """
        given = {
            place: of for place, of in by_layer.items() if of is not None or place == cls.place
        }
        found = {place: _by_layer(place, of) for place, of in given.items()}
        n_layers = _last_layer(found)
        named: dict[tuple[Layer, str], tuple[str, Any]] = {
            (layer, POOLING[place]): (f"{place}: layer {layer}", array)
            for place, of in found.items()
            for layer, array in of.items()
        }
        named |= {
            key: (place, once[place])
            for place, key in (
                ("before_norm", (BEFORE_NORM, "mean")),
                ("last_token", (n_layers, "last")),
                ("first_token", (n_layers, "first")),
            )
            if once[place] is not None
        }
        n_statements = len(pairs.statements)
        losses = _losses(nll, n_statements)
        kept: dict[tuple[Layer, str], np.ndarray] = {}
        hidden_size: int | None = None
        for key, (place, array) in named.items():
            kept[key] = _states(place, array, n_statements, hidden_size)
            hidden_size = kept[key].shape[1]
        digest = hashlib.sha256()
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

    def layers(self, pooling: str) -> list[int]:
        """The layers of which such states were given, ascending."""
        return sorted(n for n, of in self._kept if of == pooling and n != BEFORE_NORM)

    def has(self, layer: Layer, pooling: str) -> bool:
        """Whether such states were given."""
        return (layer, pooling) in self._kept

    def pooled(self, layer: Layer, pooling: str = "mean") -> np.ndarray:
        """Of every statement."""
        return self._kept[layer, pooling]

    def tokens(self, layer: Layer) -> np.ndarray:
        """Of prompts: none are given."""
        return np.empty((0, self.hidden_size), dtype=np.float32)


def _by_layer(place: str, given: Any) -> dict[int, Any]:
    """Arrays by layer, of a dictionary or of an array whose first axis is the layers."""
    if isinstance(given, Mapping):
        wrong = [
            one
            for one in given
            if isinstance(one, bool)
            or not isinstance(one, int | np.integer)
            or not 0 <= one <= MOST_LAYERS
        ]
        if wrong or not given:
            raise LayerwiseError(
                f"{place}: the keys of a dictionary are layers, whole numbers from 0 to "
                f"{MOST_LAYERS}, found {', '.join(map(repr, wrong)) or 'none'!s:.200}; name the "
                "layers so"
            )
        return {int(layer): given[layer] for layer in sorted(given)}
    array = _numbers(place, given)
    if array.ndim != 3:
        raise LayerwiseError(
            f"{place}: the axes are (layer, statement, hidden), found the shape {array.shape}; "
            "give one array per layer as {layer: (statement, hidden)}, or stack them"
        )
    return dict(enumerate(array))


def _last_layer(found: Mapping[str, Mapping[int, Any]]) -> int:
    """The number of blocks: that of the last layer of `hidden_states`, behind which none is."""
    last = {place: max(of, default=0) for place, of in found.items()}
    n_layers = last["hidden_states"]
    if n_layers < 1 or max(last.values()) > n_layers:
        said = ", ".join(f"{n} as the last of {place}" for place, n in last.items())
        raise LayerwiseError(
            "hidden_states: layers are 0 (what enters block 0) to n_layers (after the final norm), "
            f"which is 1 or more and must be among them, found {said}; give the last layer too"
        )
    return n_layers


def _numbers(place: str, given: Any) -> np.ndarray:
    """An array of real numbers, in the dtype that it has."""
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        problem = f"{error!s:.120}"
    else:
        if array.dtype.kind in "fiu":
            return array
        problem = f"of dtype {array.dtype}"
    raise LayerwiseError(
        f"{place}: must be an array of real numbers on the CPU, found {type(given).__name__} "
        f"({problem}); convert it, e.g. by .float().cpu().numpy()"
    )


def _states(place: str, given: Any, n: int, hidden_size: int | None) -> np.ndarray:
    """A state per statement, float32."""
    array = _numbers(place, given)
    wanted = f"({n}, {hidden_size or 'hidden'})"
    is_wide = array.ndim == 2 and array.shape[1] == (hidden_size or max(1, array.shape[1]))
    if not is_wide or len(array) != n:
        raise LayerwiseError(
            f"{place}: must have the shape {wanted}, a row for each side of each of the "
            f"{n // 2} pairs, found {array.shape}; give the A sides of all pairs, then the B sides"
        )
    with np.errstate(over="ignore", under="ignore"):
        array = array.astype(np.float32)
    sizes = np.linalg.norm(array.astype(np.float64), axis=1)
    if len(bad := np.flatnonzero(~np.isfinite(sizes) | (sizes < SHORTEST))):
        size = sizes[bad[0]]
        what = "not finite in float32" if not np.isfinite(size) else f"{size:.3g} long"
        if size == 0:
            what = "all zero in float32"
        raise LayerwiseError(
            f"{place}: a state is finite and at least {SHORTEST:g} long, that of statement "
            f"{bad[0]} is {what}; leave its pair out, or give the states as the model has them"
        )
    return array


def _losses(nll: Any, n: int) -> np.ndarray:
    array = _numbers("nll", nll).astype(np.float64)
    if array.shape != (n,):
        raise LayerwiseError(
            f"nll: must have the shape ({n},), one number per statement, found {array.shape}"
            "; give the A sides of all pairs, then the B sides"
        )
    is_held = (array == 0) | ((array >= FLOAT32.tiny) & (array <= FLOAT32.max))
    if len(bad := np.flatnonzero(~is_held)):
        raise LayerwiseError(
            "nll: a mean NLL is a finite number of float32 and not negative, statement "
            f"{bad[0]} has {array[bad[0]]}; give nats per predicted token, with their sign"
        )
    return array
