"""Time the sheaf's traces and norms against the notebooks' way, both in one run.

    python benchmarks/sheaf.py [--quick]

The notebooks square a head's weights again for every text, build the Laplacian block by block and
decompose a matrix per pair of tokens, of which a part is timed and scaled. Every pair of answers
is compared. Medians of one process; `--quick` takes smaller parts.
"""

from __future__ import annotations

import argparse

import numpy as np

from estimates import median_seconds, once, report
from layerwise.measures import sheaf
from layerwise.measures.spectral import spectral_norm

HEADS, SIZE = 12, 64  # of Pythia-160M
HIDDEN = HEADS * SIZE
TEXTS, TOKENS = 5, 17


def attention(n_tokens: int, heads: int, seed: int) -> np.ndarray:
    """Causal softmax maps of one text in one block, float32."""
    scores = np.random.default_rng(seed).normal(size=(heads, n_tokens, n_tokens))
    scores[:, ~np.tril(np.ones((n_tokens, n_tokens), dtype=bool))] = -np.inf
    weights = np.exp(scores)
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


def values(blocks: int) -> np.ndarray:
    """W_V by block and head, float32."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(blocks, HEADS, SIZE, HIDDEN)).astype(np.float32)


def laplacian(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The sheaf Laplacian of one map, block by block from its restriction maps."""
    n, width = len(a), w.shape[1]
    found = np.zeros((n * width, n * width))
    roots = np.sqrt(a.astype(np.float64) + sheaf.TINY)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            there, back = roots[i, j] * w, roots[j, i] * w
            rows, columns = slice(i * width, (i + 1) * width), slice(j * width, (j + 1) * width)
            found[rows, rows] += there.T @ there
            found[rows, columns] = -there.T @ back
    return found


def traces(blocks: int) -> None:
    """The multi-head trace of every text and block."""
    w = values(blocks)
    maps = [[attention(TOKENS, HEADS, 100 * t + b) for b in range(blocks)] for t in range(TEXTS)]

    def naive() -> np.ndarray:
        found = np.zeros((TEXTS, blocks))
        for text in range(TEXTS):
            for block in range(blocks):
                for head in range(HEADS):
                    a = maps[text][block][head]
                    norm = float((w[block, head] ** 2).sum())
                    found[text, block] += (float(a.sum()) - float(np.trace(a))) * norm
        return found

    def here() -> np.ndarray:
        norms = np.stack([sheaf.squared_norms(heads) for heads in w])
        masses = [np.stack([sheaf.off_diagonal_mass(a) for a in text]) for text in maps]
        return np.stack([sheaf.traces(mass, norms)["multihead"] for mass in masses])

    gap = np.max(np.abs(here() / naive() - 1))
    slow, fast = median_seconds(naive, 5), median_seconds(here, 5)
    name = f"trace, {TEXTS} texts x {blocks} blocks, norm per text"
    report(name, slow, fast, f"within {gap:.1e} relative")


def dense_trace(n_tokens: int, width: int) -> None:
    """One head's trace against the Laplacian it is the trace of."""
    a, w = attention(n_tokens, 1, 0), values(1)[0, :1, :, :width]
    expected, slow = once(lambda: np.trace(laplacian(a[0], w[0].astype(np.float64))))

    def here() -> float:
        mass = sheaf.off_diagonal_mass(a)
        return float(sheaf.traces(mass, sheaf.squared_norms(w))["multihead"])

    gap = abs(here() / expected - 1)
    name = f"trace, one head, dense {n_tokens * width} rows"
    report(name, slow, median_seconds(here, 9), f"within {gap:.1e} relative")


def maps_of_pairs(n_tokens: int, part: int) -> None:
    """Operator norms of the restriction maps of one block; the loop takes `part` of the pairs."""
    a = attention(n_tokens, 1, 0)[0]
    w = values(1)[0].reshape(HIDDEN, HIDDEN)
    pairs = [pair for pair in np.ndindex(a.shape) if a[pair] > sheaf.LEAST]
    some = pairs[:part]
    expected, slow = once(
        lambda: [np.linalg.norm(np.sqrt(a[pair] + sheaf.TINY) * w, ord=2) for pair in some]
    )
    slow *= len(pairs) / len(some)
    found = np.sqrt([a[pair] + sheaf.TINY for pair in some]) * spectral_norm(w)
    off = np.max(np.abs(found / expected - 1))
    fast = median_seconds(lambda: sheaf.contraction_ratio(a) * spectral_norm(w), 5)
    name = f"restriction maps, {n_tokens} tokens, {HIDDEN} wide"
    report(name, slow, fast, f"within {off:.1e} relative")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller parts of the slow loops")
    quick = parser.parse_args().quick
    print(f"{'':<44}{'notebook':>11}{'here':>13}{'ratio':>10}   agreement")
    traces(4 if quick else 12)
    dense_trace(6, 256 if quick else 768)
    maps_of_pairs(TOKENS, 2 if quick else 20)


if __name__ == "__main__":
    main()
