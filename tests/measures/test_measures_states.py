"""Measures of pooled and of token states, against loops and SciPy; what must not change them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial import distance

from layerwise.errors import LayerwiseError
from layerwise.measures import pairwise, random_bins, uniformity
from layerwise.measures.anisotropy import anisotropy
from layerwise.measures.pairwise import METRICS, pair_metrics
from layerwise.measures.random_bins import bin_mean, binner
from layerwise.measures.uniformity import mean_pairwise_cosine_by_group
from layerwise.papers.shared.result_files import PAIRS


def rows(seed, n=7, hidden=5):
    return np.random.default_rng(seed).normal(size=(n, hidden)) + 0.5


def sides(n=30, hidden=6, seed=0):
    return rows(seed, n, hidden), rows(seed + 1, n, hidden) - 0.3


# --- uniformity -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_uniformity_is_the_mean_over_every_pair_of_a_group(dtype):
    states, labels = rows(3, 12).astype(dtype), np.array([2, 0, 0, 2, 2, 0, 4, 1, 1, 4, 4, 3])
    found = mean_pairwise_cosine_by_group(states, labels, 6)
    for group in (0, 1, 2, 4):
        units = [u / np.linalg.norm(u) for u in states[labels == group].astype(float)]
        pairs = [units[i] @ units[j] for i in range(len(units)) for j in range(i)]
        assert found[group] == pytest.approx(np.mean(pairs), abs=1e-9)
    assert np.isnan(found[[3, 5]]).all()


def test_the_offset_of_norms_is_the_published_one():
    tiny = np.full((2, 1), 1e-10)  # |u| = 1e-10 / (1e-10 + 1e-10) = 1/2
    assert mean_pairwise_cosine_by_group(tiny, np.array([0, 0]), 1) == pytest.approx(0.25)


# --- pairs ----------------------------------------------------------------------------------------


def by_scipy(a, b):
    """The five metrics, one cosine or distance at a time."""

    def cosine(u, v):
        return 1 - distance.cosine(u, v)

    def density(side):
        table = distance.cdist(side, side, "cosine")
        np.fill_diagonal(table, 0)
        k = min(10, len(side) - 1)
        return stats.zscore([1 / (np.sort(row)[:k].mean() + 1e-10) for row in table])

    c_a, c_b = a.mean(axis=0), b.mean(axis=0)
    middle = (c_a + c_b) / 2
    pairs = list(zip(a, b, strict=True))
    return {
        "centroid_asymmetry": [cosine(u, c_a) - cosine(v, c_b) for u, v in pairs],
        "cross_centroid": [cosine(u, c_b) - cosine(v, c_a) for u, v in pairs],
        "within_pair_sim": [cosine(u, v) for u, v in pairs],
        "knn_density_asymmetry": density(a) - density(b),
        "margin_asymmetry": [
            distance.euclidean(u, middle) - distance.euclidean(v, middle) for u, v in pairs
        ],
    }


@pytest.mark.parametrize("n", [5, 30])
def test_pair_metrics_against_scipy(n, published):
    expected = by_scipy(*sides(n))
    assert list(METRICS) == list(expected)
    assert list(METRICS) == list(published.document(PAIRS)["results"]["0"])  # order of draws
    found = pair_metrics(*sides(n))
    np.testing.assert_allclose(found, list(expected.values()), rtol=1e-7, atol=1e-8)


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


# --- random bins ----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [3, 30])
@pytest.mark.parametrize("hidden", [4, 64], ids=["segments", "kernel"])
def test_bins_against_one_binning_after_the_other(hidden, k):
    a, b = sides(23, hidden)
    labels = np.random.default_rng(1).integers(0, k, size=(6, 23))
    labels[0] = 0  # one bin of all pairs, and empty ones
    values = np.arange(23.0) ** 2
    found, means = binner(a, b)(labels, k), bin_mean(values, labels, k)
    for row, asymmetries, mean in zip(labels, found, means, strict=True):
        each = [mean_pairwise_cosine_by_group(side, row, k) for side in (a, b)]
        np.testing.assert_allclose(asymmetries, each[0] - each[1], atol=1e-12)
        for number in range(k):
            member = row == number
            kept = values[member].mean() if member.sum() >= 2 else np.nan
            assert mean[number] == pytest.approx(kept, nan_ok=True)


# --- tokens ---------------------------------------------------------------------------------------


def tokens(n, hidden):
    return rows(0, n, hidden) * np.geomspace(9, 0.01, hidden) + rows(1, 1, hidden)


@pytest.mark.parametrize("shape", [(2, 96), (40, 96), (200, 30), (96, 96)])
def test_anisotropy_against_the_whole_covariance(shape):
    states = tokens(*shape)
    found = anisotropy(states)
    spectrum = np.maximum(np.linalg.eigvalsh(np.cov(states, rowvar=False))[::-1], 1e-10)
    share, mean = spectrum / spectrum.sum(), states.mean(axis=0)
    cosines = [1 - distance.cosine(x, mean) for x in states]
    for name, expected in {
        "eigenvalue_variance": np.var(spectrum),
        "first_pc_share": share[0],
        "effective_rank": np.exp(-sum(p * np.log(p + 1e-10) for p in share)),
        "mean_cosine_to_mean": np.mean(cosines),
        "var_top10": share[:10].sum(),
        "var_top50": share[:50].sum(),
    }.items():
        assert getattr(found, name) == pytest.approx(expected, rel=1e-11), name
    np.testing.assert_allclose(found.eigenvalues, spectrum[:100], rtol=1e-9, atol=1e-12)


def test_anisotropy_refused():
    with pytest.raises(LayerwiseError, match="at least two tokens, found 1; add prompts"):
        anisotropy(np.ones((1, 4)))
    with pytest.raises(LayerwiseError, match=r"must be finite.*try dtype float32"):
        anisotropy(np.array([[1.0, np.inf], [0, 1]]))


# --- memory ---------------------------------------------------------------------------------------

SIZE = st.integers(1, 45)


@settings(max_examples=30)
@given(st.sampled_from([4, 64]), SIZE, SIZE, st.integers(1, 300))
def test_blocks_do_not_change_the_answer(hidden, block, some_rows, numbers):
    a, b = (side.astype(np.float32) for side in sides(23, hidden))
    labels = np.random.default_rng(1).integers(0, 5, size=(9, 23))

    def found():
        each = mean_pairwise_cosine_by_group(a, labels[0], 5)
        return [pair_metrics(a, b), binner(a, b)(labels, 5), bin_mean(a[:, 0], labels, 5), each]

    whole = found()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uniformity, "BLOCK", block)
        patch.setattr(pairwise, "ROWS_AT_A_TIME", some_rows)
        patch.setattr(random_bins, "AT_A_TIME", numbers)
        for one, other in zip(found(), whole, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


# --- one pair at a time ---------------------------------------------------------------------------


def grouped(seed=5):
    rng = np.random.default_rng(seed)
    labels = np.array([0, 1, 0, 2, 1, 0, 1, 0, 2, 3])
    return rng.normal(1, 1, (10, 7)), rng.normal(0.5, 2, (10, 7)), labels


def cosines(side):
    units = side / np.linalg.norm(side, axis=1, keepdims=True)
    return [units[i] @ units[j] for i in range(len(side)) for j in range(i)]


def test_asymmetry_without_each_pair_is_that_of_the_others():
    side_a, side_b, labels = grouped()
    found = uniformity.asymmetry_without_each_pair(side_a, side_b, labels, 4)
    for pair, group in enumerate(labels):
        others = (labels == group) & (np.arange(10) != pair)
        if others.sum() < 2:
            assert np.isnan(found[pair])
        else:
            expected = np.mean(cosines(side_a[others])) - np.mean(cosines(side_b[others]))
            assert found[pair] == pytest.approx(expected, rel=1e-8)


def test_exchanging_the_sides_of_pairs_changes_the_signs_of_their_terms():
    side_a, side_b, labels = grouped()
    terms = uniformity.exchange_terms(side_a, side_b, labels, 4)
    rng = np.random.default_rng(6)
    for signs in (np.ones(10), -np.ones(10), *rng.choice([-1, 1], (5, 10))):
        turned = (signs < 0)[:, None]
        a, b = np.where(turned, side_b, side_a), np.where(turned, side_a, side_b)
        for group in (0, 1, 2):
            inside = labels == group
            expected = np.mean(cosines(a[inside])) - np.mean(cosines(b[inside]))
            assert (signs * terms)[inside].sum() == pytest.approx(expected, abs=1e-8)
    assert np.isnan(terms[9])
