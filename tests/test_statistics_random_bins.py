"""Draws of bins, and r over them."""

import numpy as np
import pytest
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.statistics import random_bins
from layerwise.statistics.random_bins import binnings, stable_labels, sweep, sweep_streams


@pytest.mark.parametrize("at_a_time", [1, 13, 40, 10_000])
def test_labels_are_drawn_by_k_then_layer_then_binning(monkeypatch, at_a_time):
    monkeypatch.setattr(random_bins, "LABELS_AT_A_TIME", at_a_time)
    np.random.seed(9)
    expected = {
        k: [[np.random.randint(0, k, size=13) for _ in range(5)] for _ in range(3)] for k in (4, 7)
    }
    streams = sweep_streams(13, (4, 7), n_layers=3, n_permutations=5, seed=9)
    for layer in (2, 0, 1):  # in any order, whatever else was drawn before
        for k in (7, 4):
            drawn = np.concatenate(list(binnings(streams[k][layer], 13, k, 5)))
            np.testing.assert_array_equal(drawn, expected[k][layer])
    np.random.seed(9)
    np.testing.assert_array_equal(stable_labels(13, 6, 9), np.random.randint(0, 6, size=13))


def test_published_bins_lose_none():
    """Notebook 000 reports 20 bins of 6 to 18 pairs for 230 pairs."""
    sizes = np.bincount(stable_labels(230, 20, 42))
    assert (len(sizes), sizes.min(), sizes.max()) == (20, 6, 18)


def test_sweep_against_scipy():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30, 8))
    x[3, :2] = y[3, :2] = np.nan
    x[4, 2:] = y[4, 2:] = np.nan  # two bins: dropped
    found = sweep(x, y)
    r, p = [], []
    for a, b in zip(x, y, strict=True):
        kept = np.isfinite(a)
        if kept.sum() >= 3:
            result = stats.pearsonr(a[kept], b[kept])
            r.append(result.statistic)
            p.append(result.pvalue)
    assert found.n_valid == len(r) == 29
    assert found.r_mean == pytest.approx(np.mean(r), abs=1e-14)
    assert found.r_std == pytest.approx(np.std(r), abs=1e-14)
    assert found.p_mean == pytest.approx(np.mean(p), rel=1e-12)


def test_sweep_degenerate():
    few = np.full((3, 4), np.nan)
    found = sweep(few, few)
    assert (found.r_mean, found.r_std, found.p_mean, found.n_valid) == (0, 0, 1, 0)


def test_sweep_iv():
    x = np.random.default_rng(0).normal(size=(3, 5))
    with pytest.raises(LayerwiseError, match="preference is the same in every bin"):
        sweep(x, np.full((3, 5), 0.1))
    with pytest.raises(LayerwiseError, match="asymmetry is the same in every bin"):
        sweep(np.zeros((3, 5)), x)
