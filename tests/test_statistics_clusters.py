"""Clusters as resampling units, and many tests."""

import numpy as np
import pytest

from layerwise.errors import LayerwiseError
from layerwise.statistics.clusters import cluster_interval, holm


def data():
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(5), (4, 9, 7, 6, 5))
    x = rng.normal(size=31) + clusters
    return x, 0.5 * x + rng.normal(size=31), clusters


def test_cluster_interval_against_naive():
    x, y, clusters = data()
    found = cluster_interval(x, y, clusters, np.random.RandomState(3), 400, 0.9)
    stream, kept = np.random.RandomState(3), []
    for _ in range(400):
        rows = np.concatenate([np.flatnonzero(clusters == c) for c in stream.choice(5, 5)])
        kept.append(np.corrcoef(x[rows], y[rows])[0, 1])
    assert [found.low, found.high] == pytest.approx(np.percentile(kept, [5, 95]), abs=1e-11)
    assert found.n_kept == 400


def test_constant_clusters_are_skipped():
    x, y = np.array([1.0, 1, 2, 2, 3, 3]), np.array([1.0, 2, 4, 3, 8, 5])
    clusters = np.repeat(np.arange(3), 2)
    found = cluster_interval(x, y, clusters, np.random.RandomState(0), 900, 0.95)
    drawn = np.random.RandomState(0).randint(0, 3, (900, 3))
    assert found.n_kept == np.sum((drawn != drawn[:, :1]).any(axis=1))


def test_scarce_resamples_iv():
    x, y, clusters = data()
    with pytest.raises(LayerwiseError, match="at least 100 usable resamples of clusters"):
        cluster_interval(x, y, clusters, np.random.RandomState(0), 50, 0.95)


def test_holm_against_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([0.03]) == [0.03]
