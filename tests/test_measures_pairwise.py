"""Measures of single pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial import distance

from layerwise.measures import pairwise, uniformity
from layerwise.measures.pairwise import METRICS, pair_metrics


def sides(n=30, hidden=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, hidden)) + 0.5, rng.normal(size=(n, hidden)) + 0.2


def cosine(u, v):
    return 1 - distance.cosine(u, v)


def naive_density(side):
    table = distance.cdist(side, side, "cosine")
    np.fill_diagonal(table, 0)
    k = min(10, len(side) - 1)
    return stats.zscore([1 / (np.sort(row)[:k].mean() + 1e-10) for row in table])


def naive(a, b):
    c_a, c_b = a.mean(axis=0), b.mean(axis=0)
    middle = (c_a + c_b) / 2
    n = range(len(a))
    return {
        "centroid_asymmetry": [cosine(a[i], c_a) - cosine(b[i], c_b) for i in n],
        "cross_centroid": [cosine(a[i], c_b) - cosine(b[i], c_a) for i in n],
        "within_pair_sim": [cosine(a[i], b[i]) for i in n],
        "knn_density_asymmetry": naive_density(a) - naive_density(b),
        "margin_asymmetry": [
            distance.euclidean(a[i], middle) - distance.euclidean(b[i], middle) for i in n
        ],
    }


@pytest.mark.parametrize("n", [5, 30])
@pytest.mark.parametrize("metric", METRICS)
def test_metric_against_scipy(metric, n):
    a, b = sides(n)
    found = pair_metrics(a, b)[list(METRICS).index(metric)]
    np.testing.assert_allclose(found, naive(a, b)[metric], rtol=1e-7, atol=1e-8)


def test_metrics_are_in_the_published_order(mirror):
    from layerwise.files import read_json

    file = mirror / "Results/pythia/option_b_pair_level_20260102_142148.json"
    assert list(METRICS) == read_json(file)["metrics_tested"]


@pytest.mark.parametrize("metric", set(METRICS) - {"within_pair_sim"})
def test_swapping_sides_flips_the_sign(metric):
    a, b = sides()
    np.testing.assert_allclose(METRICS[metric](a, b), -METRICS[metric](b, a), atol=1e-12)


def test_within_pair_similarity_is_symmetric():
    a, b = sides()
    np.testing.assert_allclose(METRICS["within_pair_sim"](a, b), METRICS["within_pair_sim"](b, a))


@pytest.mark.parametrize("metric", METRICS)
def test_rotation_does_not_matter_and_pairs_keep_their_place(metric):
    a, b = sides()
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))
    expected = METRICS[metric](a, b)
    np.testing.assert_allclose(METRICS[metric](a @ rotation, b @ rotation), expected, atol=1e-8)
    order = np.random.default_rng(2).permutation(len(a))
    np.testing.assert_allclose(METRICS[metric](a[order], b[order]), expected[order], atol=1e-8)


@pytest.mark.parametrize("metric", set(METRICS) - {"margin_asymmetry"})
def test_scale_does_not_matter_to_cosines(metric):
    a, b = sides()
    np.testing.assert_allclose(METRICS[metric](1e3 * a, 1e3 * b), METRICS[metric](a, b), atol=1e-6)


@settings(deadline=None, max_examples=30)
@given(
    n=st.integers(2, 40),
    block=st.integers(1, 45),
    rows=st.integers(1, 45),
    others=st.integers(1, 45),
)
def test_blocks_do_not_change_the_answer(n, block, rows, others):
    a, b = sides(n)
    whole = pair_metrics(a, b)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uniformity, "BLOCK", block)
        patch.setattr(pairwise, "ROWS_AT_A_TIME", rows)
        patch.setattr(pairwise, "OTHERS_AT_A_TIME", others)
        np.testing.assert_allclose(pair_metrics(a, b), whole, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_map_of_a_file_is_measured_in_float64(dtype, tmp_path):
    a, b = (side.astype(dtype) for side in sides())
    np.save(tmp_path / "a.npy", a)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    expected = pair_metrics(a.astype(np.float64), b.astype(np.float64))
    np.testing.assert_array_equal(pair_metrics(mapped, b), expected)


def test_a_row_is_its_own_nearest_at_distance_zero():
    """Of two rows only the row itself is asked for: equal densities, whatever the states."""
    a, b = sides(2)
    assert METRICS["knn_density_asymmetry"](1e-8 * a, b).tolist() == [0, 0]
