"""`layerwise.measure`: the analyses of pairs and layers, from states that somebody has already."""

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from layerwise.errors import LayerwiseError, system_in_words
from layerwise.files import require_name
from layerwise.measures.values import sampled_layers
from layerwise.measuring.reduction import measure as reduced
from layerwise.models.store import BEFORE_NORM, Index, Layer, digest_of_texts
from layerwise.models.texts import StatementPairs
from layerwise.papers.across.analyses import analyse_reader
from layerwise.papers.across.answers import answers
from layerwise.papers.experiments import reader
from layerwise.papers.fetching.texts import read_pairs
from layerwise.reader.page.cautions import WITHOUT_PREFERENCE, text_cautions
from layerwise.reader.page.of_one import page_of
from layerwise.reader.papers import papers
from layerwise.reader.pooling import real_array
from layerwise.reader.result import Result
from layerwise.reader.results_folder import alone, check_results_folder
from layerwise.reader.run_record import run_record, with_record
from layerwise.shapes import Draw, Folder, Layers, Strict, choices_of, converted
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, Draws

ABSENT = dict.fromkeys(
    ("anisotropy", "gains", "spectral"), "it needs the model and prompts, and arrays were given"
)
# The arrays that are given by layer, and the pooling that each of them holds.
POOLING = {"hidden_states": "mean", "all_tokens": "mean_all"}


class ArrayChoices(Strict):
    """The arguments of `measure` beside arrays and pairs."""

    name: str
    layers: Layers
    seed: Draw
    out: Folder
    private_texts: bool


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
    private_texts: bool = False,
) -> Result:
    """Return what `analyze` says of statement pairs, from arrays that exist already.

    No model and no torch are needed: states that TransformerLens, nnsight or a hook kept are pooled
    by `pool`.

    A row is a statement: the A sides of all pairs in the order of `pairs` (of a table: row by row,
    whatever their categories), then the B sides. Gains, anisotropy and spectral norms need the
    model: `analyze` has them.

    Without NLL, as of an embedding model, there is asymmetry alone: what needs a preference is left
    out, and the result says so.

    Args:
        hidden_states: (layer, statement, hidden), layers 0 (what enters block 0) to n_layers
            (after the final norm), or `{layer: (statement, hidden)}` with the last layer among
            them: the mean over a statement's tokens but the first, as `pool` takes it.
        nll: (statement,): mean over the predicted tokens, nats; None: there is none, the model
            predicts no next token.
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
        private_texts: as for `analyze`.

    Raises:
        LayerwiseError: before anything is computed, for arrays of other shapes or of anything but
            real numbers, a state that is not finite or all zero, a negative NLL, layers that are
            not there, another number of statements than the pairs have, or a folder where the
            results cannot be put; then for a correlation that these numbers do not have.
    """
    choices: ArrayChoices = converted("measure", ArrayChoices, choices_of(ArrayChoices, locals()))
    require_name("name", choices["name"])
    statement_pairs = read_pairs(pairs)
    with contextlib.ExitStack() as stack:
        if choices["out"] is not None:
            check_results_folder(choices["out"], (pairs,))
            stack.enter_context(alone(choices["out"]))
        by_layer = {"hidden_states": hidden_states, "all_tokens": all_tokens}
        once = {"before_norm": before_norm, "last_token": last_token, "first_token": first_token}
        states = Arrays.read(choices["name"], statement_pairs, by_layer, once, nll)
        sampled = _sampled(states, choices["layers"], is_chosen=isinstance(hidden_states, Mapping))
        return _measured(states, statement_pairs, sampled, choices)


def _measured(
    states: "Arrays", pairs: StatementPairs, sampled: Sequence[int], choices: ArrayChoices
) -> Result:
    """Take the steps of `of_checkpoint`, but for what needs the model."""
    draws = Draws(N_RESAMPLES, LEVEL, choices["seed"])
    of_papers = papers(draws)
    values = reduced(states, pairs, layers=sampled, seed=choices["seed"])
    files = reader.result_files(values, draws, of_papers.numbers)
    absent = reader.without_numbers(values) | ABSENT
    measured = reader.Measured(reader.tables(files), absent, values, states.index)
    documents = analyse_reader(measured.numbers, draws)
    answered = answers(documents, of_papers.printed)
    private = choices["private_texts"]
    warned = [] if values.output else [WITHOUT_PREFERENCE]
    warned += text_cautions("statements", pairs.statements, pairs, private=private)
    page = page_of(
        measured, documents, answered, {}, pairs, draws, foreseen=warned, private=private
    )
    whole = with_record(documents, run_record(states.index, pairs, (), sampled, draws))
    result = Result({choices["name"]: whole}, whole, page, of_papers.curves)
    return result if choices["out"] is None else result.save(choices["out"])


def _sampled(states: "Arrays", layers: Sequence[int] | None, *, is_chosen: bool) -> Sequence[int]:
    """Return the layers that are asked for, once all of them are there.

    Arguments:
        is_chosen: whether the layers that were given are those asked for by default.
    """
    if layers is None and is_chosen:
        layers = states.layers("mean")
    sampled = sampled_layers(states.n_layers, layers=layers)
    for name, pooling in POOLING.items():
        present = states.layers(pooling)
        missing = [layer for layer in sampled if layer not in present]
        if present and missing:
            raise LayerwiseError(
                f"{name}: layers {', '.join(map(str, sampled))} are asked for, there is no "
                f"{missing[0]}; give it, or name the layers that are there"
            )
    return sampled


class Arrays:
    """Hidden states of statements in memory, as `reduction.measure` reads them."""

    place = "hidden_states"

    def __init__(
        self,
        pooled: Mapping[tuple[Layer, str], np.ndarray],
        nll: np.ndarray | None,
        index: Index,
    ):
        self._pooled, self.nll, self.index = pooled, nll, index

    @classmethod
    def read(
        cls,
        name: str,
        pairs: StatementPairs,
        by_layer: Mapping[str, object],
        once: Mapping[str, object],
        nll: object,
    ) -> "Arrays":
        """Read the arrays of these pairs' statements.

        Arguments:
            name: of the model.
            by_layer: `hidden_states` and `all_tokens`.
            once: `before_norm`, `last_token` and `first_token`, which stand at one place.

        Raises:
            LayerwiseError: for another shape than the pairs ask for, or numbers that are not
                finite.
        """
        layers = {
            argument: _read_layers(argument, array)
            for argument, array in by_layer.items()
            if array is not None or argument == cls.place
        }
        n_layers = _last_layer(layers)
        order, n = _order_of(pairs), len(pairs.statements)
        losses = None if nll is None else _read_losses(nll, n)[order]
        pooled: dict[tuple[Layer, str], np.ndarray] = {}
        hidden_size = 0
        for place, (argument, array) in _by_place(layers, once, n_layers).items():
            pooled[place] = _read_states(argument, array, n, hidden_size)[order]
            hidden_size = pooled[place].shape[1]
        return cls(pooled, losses, _index_of(name, pairs, n_layers, pooled, losses))

    @property
    def n_layers(self) -> int:
        return self.index["n_layers"]

    @property
    def hidden_size(self) -> int:
        return self.index["hidden_size"]

    def layers(self, pooling: str) -> list[int]:
        """Return the layers that were given in this pooling, ascending."""
        return sorted(
            layer for layer, kind in self._pooled if kind == pooling and layer != BEFORE_NORM
        )

    def has(self, layer: Layer, pooling: str) -> bool:
        """Return whether a layer was given in this pooling."""
        return (layer, pooling) in self._pooled

    def pooled(self, layer: Layer, pooling: str = "mean") -> np.ndarray:
        """Return the states of every statement: (statement, hidden)."""
        return self._pooled[layer, pooling]

    def tokens(self, layer: Layer) -> np.ndarray:
        """Return the states of the prompts' tokens: no prompts are given."""
        return np.empty((0, self.hidden_size), dtype=np.float32)


def _index_of(
    name: str,
    pairs: StatementPairs,
    n_layers: int,
    pooled: Mapping[tuple[Layer, str], np.ndarray],
    losses: np.ndarray | None,
) -> Index:
    """Return what is known of the arrays; their numbers are the revision of the model."""
    digest = hashlib.sha256()
    for array in (*pooled.values(), *([] if losses is None else [losses])):
        digest.update(np.ascontiguousarray(array).tobytes())
    return {
        "model": name,
        "display": name,
        "revision": f"sha256:{digest.hexdigest()}",
        "n_layers": n_layers,
        "hidden_size": pooled[n_layers, "mean"].shape[1],
        "n_prompts": 0,
        "prompt_lengths": [],
        "template": "none",
        "statements_sha256": digest_of_texts(pairs.statements),
    }


def _by_place(
    layers: Mapping[str, Mapping[int, object]], once: Mapping[str, object], n_layers: int
) -> dict[tuple[Layer, str], tuple[str, object]]:
    """Return the arrays by layer and pooling, each with what errors call it."""
    places: dict[str, tuple[Layer, str]] = {
        "before_norm": (BEFORE_NORM, "mean"),
        "last_token": (n_layers, "last"),
        "first_token": (n_layers, "first"),
    }
    by_layer: dict[tuple[Layer, str], tuple[str, object]] = {
        (layer, POOLING[argument]): (f"{argument}: layer {layer}", array)
        for argument, of_argument in layers.items()
        for layer, array in of_argument.items()
    }
    return by_layer | {
        places[argument]: (argument, array) for argument, array in once.items() if array is not None
    }


def _order_of(pairs: StatementPairs) -> np.ndarray:
    """Return the row of each of `pairs.statements` in arrays that follow the pairs as given."""
    rows = np.arange(len(pairs)) if pairs.rows is None else pairs.rows
    return np.concatenate([rows, len(pairs) + rows])


def _read_layers(argument: str, given: object) -> dict[int, object]:
    """Return arrays by layer, from a dictionary or from an array whose first axis is the layers."""
    if isinstance(given, Mapping):
        if not given or not all(isinstance(key, int | np.integer) and key >= 0 for key in given):
            raise LayerwiseError(
                f"{argument}: the keys of a dictionary are layers, whole numbers from 0 on, found "
                f"{', '.join(map(repr, given)) or 'none'!s:.200}; name the layers so"
            )
        return {int(layer): given[layer] for layer in sorted(given)}
    array = real_array(argument, given)
    if array.ndim != 3:
        raise LayerwiseError(
            f"{argument}: the axes are (layer, statement, hidden), found the shape {array.shape}; "
            "give one array per layer as {layer: (statement, hidden)}, or stack them; "
            "`layerwise.pool` takes the mean over tokens"
        )
    return dict(enumerate(array))


def _last_layer(layers: Mapping[str, Mapping[int, object]]) -> int:
    """Return the number of blocks: the last layer of `hidden_states`, behind which none stands."""
    last = {argument: max(of_layers, default=0) for argument, of_layers in layers.items()}
    n_layers = last["hidden_states"]
    if n_layers < 1 or max(last.values()) > n_layers:
        listed = ", ".join(f"{layer} as the last of {argument}" for argument, layer in last.items())
        raise LayerwiseError(
            "hidden_states: layers are 0 (what enters block 0) to n_layers (after the final norm), "
            f"which is 1 or more and must be among them, found {listed}; give the last layer too"
        )
    return n_layers


def _read_states(argument: str, given: object, n: int, hidden_size: int) -> np.ndarray:
    """Return a state per statement, float32, once all of them are finite and none is zero.

    Arguments:
        hidden_size: of the arrays before; 0: this is the first.
    """
    array = real_array(argument, given)
    is_wide = array.ndim == 2 and array.shape[1] == (hidden_size or max(1, array.shape[1]))
    if not is_wide or len(array) != n:
        raise LayerwiseError(
            f"{argument}: must have the shape ({n}, {hidden_size or 'hidden'}), a row for each "
            f"side of each of the {n // 2} pairs, found {array.shape}; give the A sides of all "
            "pairs, then the B sides"
        )
    states = array.astype(np.float32)
    is_sound = np.isfinite(states).all(axis=1) & states.any(axis=1)
    if len(unsound := np.flatnonzero(~is_sound)):
        raise LayerwiseError(
            f"{argument}: a state is finite in float32 and not all zero, that of statement "
            f"{unsound[0]} is not; leave its pair out, or give the states as the model has them"
        )
    return states


def _read_losses(nll: object, n: int) -> np.ndarray:
    """Return the NLL of every statement, float64."""
    array = real_array("nll", nll).astype(np.float64)
    if array.shape != (n,):
        raise LayerwiseError(
            f"nll: must have the shape ({n},), one number per statement, found {array.shape}"
            "; give the A sides of all pairs, then the B sides"
        )
    if len(wrong := np.flatnonzero(~(np.isfinite(array) & (array >= 0)))):
        raise LayerwiseError(
            "nll: a mean NLL is finite and not negative, statement "
            f"{wrong[0]} has {array[wrong[0]]}; give nats per predicted token, with their sign"
        )
    return array
