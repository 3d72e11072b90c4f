"""Random bins: the published order of draws, and statistics over many binnings (notebook 000)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from layerwise.statistics.correlation import pearson_p
from layerwise.statistics.sizes import MIN_POINTS

LABELS_AT_A_TIME = 1 << 22  # all of one k and layer, unless there are more than 20,000 pairs


@dataclass(frozen=True)
class SweepResult:
    """r over the bins, averaged over binnings; SD of the population of binnings."""

    r_mean: float
    r_std: float
    p_mean: float
    n_valid: int


def sweep_streams(
    n_pairs: int, k_values: Sequence[int], n_layers: int, n_permutations: int, seed: int
) -> dict[int, list[np.random.RandomState]]:
    """Return one stream at the start of the binnings of each k and, within it, of each layer.

    All labels of 100,000 pairs would take 7 GB; from here those of one layer are drawn again.
    """
    stream = np.random.RandomState(seed)
    starts: dict[int, list[np.random.RandomState]] = {}
    for k in k_values:
        starts[k] = []
        for _ in range(n_layers):
            start = np.random.RandomState()
            start.set_state(stream.get_state())
            starts[k].append(start)
            for _ in binnings(stream, n_pairs, k, n_permutations):
                pass
    return starts


def binnings(
    stream: np.random.RandomState, n_pairs: int, k: int, n_permutations: int
) -> Iterator[Int[np.ndarray, "perm {n_pairs}"]]:
    """Binnings of one k and layer, some at a time; the stream runs on."""
    step = max(1, LABELS_AT_A_TIME // n_pairs)
    for start in range(0, n_permutations, step):
        yield stream.randint(0, k, size=(min(step, n_permutations - start), n_pairs))


def stable_labels(n_pairs: int, k: int, seed: int) -> Int[np.ndarray, " pair"]:
    """The one binning of all layers: the stream starts anew."""
    return np.random.RandomState(seed).randint(0, k, size=n_pairs)


def sweep(
    asymmetries: Float[np.ndarray, "perm k"], preferences: Float[np.ndarray, "perm k"]
) -> SweepResult:
    """Correlate asymmetry and preference over the bins of each binning, then average.

    Bins that hold NaN are left out; a binning with fewer than three bins, or over whose bins a
    series does not vary, is dropped. With none left: r 0, SD 0, p 1, as published.
    """
    valid = np.isfinite(asymmetries) & np.isfinite(preferences)
    enough = valid.sum(axis=1) >= MIN_POINTS
    enough &= _varies(asymmetries, valid) & _varies(preferences, valid)
    if not np.any(enough):
        return SweepResult(0.0, 0.0, 1.0, 0)
    valid = valid[enough]
    n = valid.sum(axis=1)
    x = _deviations(asymmetries[enough], valid, n)
    y = _deviations(preferences[enough], valid, n)
    r = np.clip(np.sum(x * y, axis=1), -1.0, 1.0)
    p = pearson_p(r, n)
    return SweepResult(float(np.mean(r)), float(np.std(r)), float(np.mean(p)), len(r))


def _varies(values: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Return whether each row's valid values differ by more than the rounding of their mean."""
    low, high = np.where(valid, values, np.inf), np.where(valid, values, -np.inf)
    size = np.max(np.abs(np.where(valid, values, 0.0)), axis=1, initial=0.0)
    return np.asarray(high.max(axis=1) - low.min(axis=1) > 1e-15 * size)


def _deviations(values: np.ndarray, valid: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Deviations from each row's mean over its valid bins, of norm 1; 0 elsewhere."""
    known = np.where(valid, values, 0.0)
    means = known.sum(axis=1) / n
    deviations = np.where(valid, values - means[:, None], 0.0)
    largest = np.max(np.abs(deviations), axis=1)
    deviations /= largest[:, None]
    return deviations / np.linalg.norm(deviations, axis=1, keepdims=True)
