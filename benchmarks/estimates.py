"""Time measures and statistics against the notebooks' way, both in one run on one machine.

    python benchmarks/estimates.py [--quick]

The notebooks loop: one resample, one bin, one covariance at a time. Loops are timed on a part
where they are slow and scaled by what was left out; every pair of answers is compared. `--quick`
takes a smaller part. Prints medians.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from layerwise.measures.anisotropy import anisotropy
from layerwise.measures.random_bins import bin_mean, binner
from layerwise.statistics.bootstrap import correlation_interval
from layerwise.statistics.random_bins import sweep

N_RESAMPLES = 10000
K_VALUES = (10, 15, 20, 25, 30)
N_PERMUTATIONS = 200


def median_seconds(call: Callable[[], Any], repeats: int) -> float:
    """Median wall-clock seconds of a call, after one to warm up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def once(call: Callable[[], Any]) -> tuple[Any, float]:
    """Answer and seconds of one call."""
    start = time.perf_counter()
    return call(), time.perf_counter() - start


def report(name: str, slow: float, fast: float, agreement: str) -> None:
    print(f"{name:<44}{slow:>9.2f} s{1000 * fast:>10.2f} ms{slow / fast:>8.0f} x   {agreement}")


def series(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, x + 2 * rng.normal(size=n)


def looped_interval(
    x: np.ndarray, y: np.ndarray, stream: np.random.RandomState, n_resamples: int
) -> np.ndarray:
    """One resample at a time with scipy's pearsonr."""
    kept = []
    for _ in range(n_resamples):
        rows = stream.choice(len(x), size=len(x), replace=True)
        if np.std(x[rows]) > 0 and np.std(y[rows]) > 0:
            kept.append(stats.pearsonr(x[rows], y[rows])[0])
    return np.percentile(kept, [2.5, 97.5])


def bootstrap(n: int, n_series: int, part: int) -> None:
    """`n_series` intervals of r over n points."""
    many = [series(n, seed) for seed in range(n_series)]
    slow_ends, slow = once(lambda: looped_interval(*many[0], np.random.RandomState(42), part))

    def intervals() -> None:
        stream = np.random.RandomState(42)
        for x, y in many:
            correlation_interval(x, y, stream, N_RESAMPLES)

    fast = median_seconds(intervals, 9 if n_series == 1 else 3)
    found = correlation_interval(*many[0], np.random.RandomState(42), part)
    gap = np.max(np.abs(slow_ends - [found.low, found.high]))
    slow *= N_RESAMPLES / part * n_series
    report(f"bootstrap r, n = {n}, {n_series} series", slow, fast, f"ends within {gap:.1e}")


def looped_bins(side_a: list, side_b: list, preferences: np.ndarray, row: np.ndarray, k: int):
    """r over the bins of one binning: rows gathered one by one, a float32 Gram matrix per bin."""
    asymmetries, means = [], []
    for number in range(k):
        member = row == number
        if member.sum() < 2:
            continue
        uniformity = []
        for side in (side_a, side_b):
            states = np.array([side[i] for i, inside in enumerate(member) if inside])
            unit = states / (np.linalg.norm(states, axis=1, keepdims=True) + 1e-10)
            gram = unit @ unit.T
            uniformity.append(float(np.mean(gram[np.triu_indices(len(gram), k=1)])))
        asymmetries.append(uniformity[0] - uniformity[1])
        means.append(np.mean([preferences[i] for i, inside in enumerate(member) if inside]))
    return stats.pearsonr(asymmetries, means)[0]


def bins(hidden: int, n_pairs: int, part: int) -> None:
    """One layer of the sweep over k."""
    rng = np.random.default_rng(0)
    a, b = (
        (rng.normal(size=(n_pairs, hidden)) + rng.normal(size=hidden)).astype(np.float32)
        for _ in range(2)
    )
    preferences = rng.normal(size=n_pairs)
    stream = np.random.RandomState(42)
    labels = {k: stream.randint(0, k, (1, N_PERMUTATIONS, n_pairs)) for k in K_VALUES}

    def whole() -> dict[int, Any]:
        asymmetry = binner(a, b)
        return {
            k: sweep(asymmetry(labels[k][0], k), bin_mean(preferences, labels[k][0], k))
            for k in K_VALUES
        }

    fast = median_seconds(whole, 5)
    rows_a, rows_b = list(a), list(b)
    slow, gap, asymmetry = 0.0, 0.0, binner(a, b)
    for k in K_VALUES:
        some = labels[k][0, :part]
        r, seconds = once(
            lambda k=k, some=some: [
                looped_bins(rows_a, rows_b, preferences, row, k) for row in some
            ]
        )
        slow += seconds * N_PERMUTATIONS / part
        for row, expected in zip(some, r, strict=True):
            one = sweep(asymmetry(row[None], k), bin_mean(preferences, row[None], k))
            gap = max(gap, abs(one.r_mean - expected))
    report(f"random bins, hidden {hidden}, one layer", slow, fast, f"r within {gap:.1e}")


def looped_anisotropy(states: np.ndarray) -> np.ndarray:
    """Float32 eigenvalues of the whole covariance, then share, rank and variance."""
    centred = states - states.mean(axis=0)
    covariance = centred.T @ centred / (len(states) - 1)
    spectrum = np.maximum(np.sort(np.linalg.eigvalsh(covariance))[::-1], 1e-10)
    p = spectrum / spectrum.sum()
    return np.array([p[0], np.exp(-np.sum(p * np.log(p + 1e-10))), np.var(spectrum)])


def profile(n_tokens: int, hidden: int) -> None:
    """Anisotropy of one layer."""
    rng = np.random.default_rng(0)
    spread = np.geomspace(3, 0.3, hidden)
    states = (rng.normal(size=(n_tokens, hidden)) * spread + rng.normal(size=hidden)).astype(
        np.float32
    )
    expected, slow = once(lambda: looped_anisotropy(states))
    fast = median_seconds(lambda: anisotropy(states), 9)
    one = anisotropy(states)
    found = np.array([one.first_pc_share, one.effective_rank, one.eigenvalue_variance])
    gap = np.max(np.abs(found / expected - 1))
    report(
        f"anisotropy, {n_tokens} x {hidden}, one layer", slow, fast, f"within {gap:.1e} relative"
    )


def growth() -> None:
    """Time and memory of an interval against the number of resamples."""
    x, y = series(230)
    print("\nresamples      time     us per resample     peak memory")
    for n_resamples in (10_000, 40_000, 160_000):

        def call(n: int = n_resamples) -> object:
            return correlation_interval(x, y, np.random.RandomState(42), n)

        seconds = median_seconds(call, 3)
        tracemalloc.start()
        call()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        print(
            f"{n_resamples:>9}{1000 * seconds:>8.0f} ms{1e6 * seconds / n_resamples:>20.2f}"
            f"{peak / 2**20:>12.1f} MiB"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller parts of the slow loops")
    quick = parser.parse_args().quick
    print(f"{'':<44}{'loop':>11}{'here':>13}{'ratio':>10}   agreement")
    bootstrap(20, 1, 1000 if quick else N_RESAMPLES)
    bootstrap(230, 45, 500 if quick else 5000)
    bins(4096, 230, 2 if quick else 20)
    profile(160, 4096)
    growth()


if __name__ == "__main__":
    main()
