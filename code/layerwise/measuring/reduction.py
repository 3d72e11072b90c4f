"""Hidden states of statement pairs -> values: everything the statistics need."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from layerwise.errors import LayerwiseError
from layerwise.measures.anisotropy import N_KEPT, anisotropy, first_share
from layerwise.measures.pairwise import pair_metrics
from layerwise.measures.random_bins import bin_mean, binner
from layerwise.measures.uniformity import (
    asymmetry_without_each_pair,
    exchange_terms,
    mean_pairwise_cosine_by_group,
)
from layerwise.measures.values import (
    ANISOTROPY,
    POOLED,
    Output,
    Values,
    all_tokens_reading,
    before_norm_reading,
    layer_reading,
    sampled_layers,
)
from layerwise.models.store import BEFORE_NORM, Index, Layer, digest_of_texts
from layerwise.models.texts import StatementPairs
from layerwise.progress import track
from layerwise.statistics.random_bins import binnings, stable_labels, sweep_streams

Binned = tuple[np.ndarray, np.ndarray]  # what bins of pairs have: asymmetries, mean preferences


class States(Protocol):
    """The states that are measured: of statements, A sides first, and of prompts, by layer."""

    @property
    def place(self) -> str:
        """The name that errors give them."""

    @property
    def index(self) -> Index: ...

    @property
    def n_layers(self) -> int: ...

    @property
    def hidden_size(self) -> int: ...

    @property
    def nll(self) -> np.ndarray | None:
        """Of every statement; None where the model's output is not known."""

    def has(self, layer: Layer, pooling: str) -> bool: ...

    def pooled(self, layer: Layer, pooling: str = "mean") -> np.ndarray: ...

    def tokens(self, layer: Layer) -> np.ndarray: ...


def measure(
    states: States,
    pairs: StatementPairs,
    *,
    layers: Sequence[int] | None = None,
    layer_step: int = 4,
    seed: int = 42,
    k_values: Sequence[int] = (10, 15, 20, 25, 30),
    n_permutations: int = 200,
    k_stable: int = 20,
) -> Values:
    """Reduce hidden states, stored A sides first, to values; one block of rows at a time.

    Raises:
        LayerwiseError: if states and pairs do not belong together, a layer does not exist, a
            setting is impossible, or every preference is the same.
    """
    chosen = sampled_layers(states.n_layers, layers=layers, layer_step=layer_step)
    _check_bins(k_values, k_stable, n_permutations)
    nll = states.nll
    preferences = _preferences(states, nll, pairs)
    sweeps = sweep_streams(len(pairs), k_values, len(chosen), n_permutations, seed)
    stable = stable_labels(len(pairs), k_stable, seed)[None]
    # bins serve the correlation with preferences alone
    binned: dict[int, list[Binned]] = {k: [] for k in k_values if len(preferences)}
    stable_bins, metrics = [], []
    metrics_all: list[np.ndarray] = []
    has_all = all(states.has(layer, "mean_all") for layer in chosen)
    layers_of = track(chosen, "measures of pairs", "layers", len(chosen))
    for row, layer in enumerate(layers_of):
        side_a, side_b = _sides(states, layer, "mean", len(pairs))
        metrics.append(pair_metrics(side_a, side_b))
        if has_all:
            metrics_all.append(pair_metrics(*_sides(states, layer, "mean_all", len(pairs))))
        asymmetry = binner(side_a, side_b)
        for k in binned:
            partitions = binnings(sweeps[k][row], len(pairs), k, n_permutations)
            binned[k].append(_bin_pairs(asymmetry, preferences, partitions, k))
        stable_bins.append(asymmetry(stable, k_stable)[0])
    uniformity = _uniformities(states, pairs, chosen)
    last, labels = _sides(states, states.n_layers, "mean", len(pairs)), pairs.category_of_pair
    profile, shares, eigenvalues = _profile(states)
    output = None
    if nll is not None:
        output = Output(
            preferences,
            np.asarray(nll, dtype=np.float64).reshape(2, len(pairs)),
            {k: np.stack([means for _, means in layers]) for k, layers in binned.items()},
            bin_mean(preferences, stable, k_stable)[0],
        )
    return Values(
        model=states.index["model"],
        display=states.index["display"],
        n_layers=states.n_layers,
        hidden_size=states.hidden_size,
        n_prompts=states.index["n_prompts"],
        seed=seed,
        n_permutations=n_permutations,
        k_stable=k_stable,
        layers=chosen,
        k_values=tuple(k_values),
        categories=pairs.categories,
        neutral=pairs.neutral,
        readings=tuple(uniformity),
        category_of_pair=np.asarray(pairs.category_of_pair),
        uniformity=np.stack(list(uniformity.values())),
        pair_metrics=np.stack(metrics),
        pair_metrics_before_norm=(
            pair_metrics(*_sides(states, BEFORE_NORM, "mean", len(pairs)))
            if states.has(BEFORE_NORM, "mean")
            else None
        ),
        pair_metrics_all_tokens=np.stack(metrics_all) if has_all else None,
        asymmetry_without=asymmetry_without_each_pair(*last, labels, len(pairs.categories)),
        exchange_terms=exchange_terms(*last, labels, len(pairs.categories)),
        bin_asymmetry={
            k: np.stack([asymmetries for asymmetries, _ in layers]) for k, layers in binned.items()
        },
        stable_asymmetry=np.stack(stable_bins),
        anisotropy=profile,
        shares_by_prompt=shares,
        eigenvalues=eigenvalues,
        output=output,
    )


def _check_bins(k_values: Sequence[int], k_stable: int, n_permutations: int) -> None:
    if min(*k_values, k_stable) < 3 or len(set(k_values)) < len(k_values) or n_permutations < 1:
        raise LayerwiseError(
            "bins need k of at least 3, each once, and at least one permutation, found "
            f"k_values {list(k_values)}, k_stable {k_stable}, n_permutations {n_permutations}"
        )


def _bin_pairs(
    asymmetry: Callable[[np.ndarray, int], np.ndarray],
    preferences: np.ndarray,
    partitions: Iterable[np.ndarray],
    k: int,
) -> Binned:
    """Return the asymmetry and the mean preference of all bins of a layer, [permutation, bin]."""
    drawn = [(asymmetry(labels, k), bin_mean(preferences, labels, k)) for labels in partitions]
    asymmetries, means = zip(*drawn, strict=True)
    return np.concatenate(asymmetries), np.concatenate(means)


def _preferences(states: States, nll: np.ndarray | None, pairs: StatementPairs) -> np.ndarray:
    """Return NLL(B) - NLL(A) of every pair; of none where the NLL is not known."""
    if nll is not None and len(nll) != 2 * len(pairs):
        raise LayerwiseError(
            f"{states.place}: hidden states and pairs must belong together, found "
            f"{len(nll)} statements for {len(pairs)} pairs; extract the states of these pairs"
        )
    if states.index["statements_sha256"] != digest_of_texts(pairs.statements):
        raise LayerwiseError(
            f"{states.place}: the states were extracted from other statements than these pairs "
            "hold (their sha256 differ); extract again"
        )
    if nll is None:
        return np.empty(0)
    nll = np.asarray(nll, dtype=np.float64)
    preferences = nll[len(pairs) :] - nll[: len(pairs)]
    if np.all(preferences == preferences[0]):
        raise LayerwiseError(
            f"a correlation needs preferences that vary, all {len(pairs)} are "
            f"{preferences[0]:g} nats; use pairs whose two statements differ"
        )
    return preferences


def _sides(
    states: States, layer: Layer, pooling: str, n_pairs: int
) -> tuple[np.ndarray, np.ndarray]:
    pooled = states.pooled(layer, pooling)
    return pooled[:n_pairs], pooled[n_pairs:]


def _uniformities(
    states: States, pairs: StatementPairs, chosen: Sequence[int]
) -> dict[str, np.ndarray]:
    """Return the mean pairwise cosine [category, side] of each reading."""
    last = states.n_layers
    wanted: dict[str, tuple[Layer, str]] = {
        **{name: (last, name.partition("_")[0]) for name in POOLED},
        **{layer_reading(layer): (layer, "mean") for layer in chosen},
        before_norm_reading(last): (BEFORE_NORM, "mean"),
        **{all_tokens_reading(layer): (layer, "mean_all") for layer in chosen},
    }
    labels, n = np.asarray(pairs.category_of_pair), len(pairs.categories)

    def by_side(layer: Layer, pooling: str) -> np.ndarray:
        sides = _sides(states, layer, pooling, len(pairs))
        return np.stack([mean_pairwise_cosine_by_group(side, labels, n) for side in sides], axis=1)

    return {
        reading: by_side(layer, pooling)
        for reading, (layer, pooling) in wanted.items()
        if states.has(layer, pooling)
    }


def _profile(states: States) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return anisotropy [measure, depth], shares [prompt, layer], eigenvalues [depth, kept]."""
    if not states.index["n_prompts"]:
        return np.empty((len(ANISOTROPY), 0)), np.empty((0, 0)), np.empty((0, 0))
    depth: list[Layer] = [*range(states.n_layers + 1), BEFORE_NORM]
    cuts = np.cumsum(states.index["prompt_lengths"])[:-1]
    profiles, by_layer = [], []
    for layer in depth:
        tokens = states.tokens(layer)
        profiles.append(anisotropy(tokens))
        by_layer.append([first_share(of_prompt) for of_prompt in np.split(tokens, cuts)])
    shares = np.array(by_layer[:-1]).T
    shares = shares[~np.isnan(shares).any(axis=1)]
    kept = min(N_KEPT, *(len(profile.eigenvalues) for profile in profiles))
    measures = np.array([[getattr(profile, name) for profile in profiles] for name in ANISOTROPY])
    return measures, shares, np.stack([profile.eigenvalues[:kept] for profile in profiles])
