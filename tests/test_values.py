"""Values: from states on disk to arrays."""

import dataclasses

import numpy as np
import pytest

from layerwise.errors import LayerwiseError
from layerwise.experiments.reduction import measure
from layerwise.measures.anisotropy import anisotropy
from layerwise.measures.pairwise import pair_metrics
from layerwise.measures.random_bins import bin_mean, binner
from layerwise.measures.uniformity import mean_pairwise_cosine_by_group
from layerwise.measures.values import ANISOTROPY, sampled_layers
from layerwise.statistics.random_bins import stable_labels
from random_states import CATEGORIES, SIZES, some_pairs, write_states

FEW = {"k_values": (5, 8), "n_permutations": 3, "k_stable": 6}


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    return write_states(tmp_path_factory.mktemp("extraction") / "states")


@pytest.fixture(scope="module")
def values(states):
    return measure(states, some_pairs(), **FEW)


def sides(states, layer, pooling="mean"):
    pooled = states.pooled(layer, pooling)
    return pooled[: sum(SIZES)], pooled[sum(SIZES) :]


def test_what_is_sampled(values):
    assert values.layers == (0, 4, 8, 10)
    assert values.categories == CATEGORIES
    assert values.readings == (
        "mean_pooled",
        "last_token",
        "first_token",
        *(f"layer_{layer}" for layer in (0, 4, 8, 10)),
        "layer_10_before_norm",
        *(f"layer_{layer}_all_tokens" for layer in (0, 4, 8, 10)),
    )
    assert (values.model, values.display, values.n_prompts) == ("some/model", "Some Model", 3)


@pytest.mark.parametrize(
    ("reading", "layer", "pooling"),
    [
        ("mean_pooled", 10, "mean"),
        ("last_token", 10, "last"),
        ("first_token", 10, "first"),
        ("layer_4", 4, "mean"),
        ("layer_10_before_norm", "before_norm", "mean"),
        ("layer_8_all_tokens", 8, "mean_all"),
    ],
)
def test_uniformity_of_a_reading(values, states, reading, layer, pooling):
    labels = some_pairs().category_of_pair
    a, b = sides(states, layer, pooling)
    expected = np.subtract(*(mean_pairwise_cosine_by_group(side, labels, 6) for side in (a, b)))
    np.testing.assert_allclose(values.asymmetries(reading), expected, atol=1e-13)


def test_preferences_are_nll_of_b_minus_nll_of_a(values, states):
    nll, n = states.nll, sum(SIZES)
    np.testing.assert_array_equal(values.preferences, nll[n:] - nll[:n])
    np.testing.assert_allclose(
        values.category_preferences()[1], np.mean(values.preferences[9:15]), atol=1e-15
    )


def test_pairs_and_bins_of_a_layer(values, states):
    a, b = sides(states, 8)
    np.testing.assert_allclose(values.pair_metrics[2], pair_metrics(a, b), atol=1e-12)
    stream, size = np.random.RandomState(42), (4, 3, sum(SIZES))
    labels = [stream.randint(0, k, size) for k in (5, 8)][1][2]
    np.testing.assert_allclose(values.bin_asymmetry[8][2], binner(a, b)(labels, 8))
    np.testing.assert_allclose(values.bin_preference[8][2], bin_mean(values.preferences, labels, 8))
    stable = stable_labels(sum(SIZES), 6, 42)[None]
    np.testing.assert_allclose(values.stable_asymmetry[2], binner(a, b)(stable, 6)[0])


def test_anisotropy_of_every_layer_and_before_the_norm(values, states):
    assert values.anisotropy.shape == (len(ANISOTROPY), 12)
    for row, layer in ((3, 3), (10, 10), (11, "before_norm")):
        found = anisotropy(states.tokens(layer))
        assert values.anisotropy[:, row].tolist() == [getattr(found, name) for name in ANISOTROPY]
        np.testing.assert_array_equal(values.eigenvalues[row], found.eigenvalues)


def test_without_prompts(tmp_path):
    values = measure(write_states(tmp_path / "states", tokens=0), some_pairs(), **FEW)
    assert values.anisotropy.shape == (6, 0)


def test_sampled_layers():
    assert sampled_layers(32) == (0, 4, 8, 12, 16, 20, 24, 28, 32)
    assert sampled_layers(6) == (0, 4, 6)
    assert sampled_layers(2, layer_step=1) == (0, 1, 2)
    assert sampled_layers(6, layers=[5, 0, 5]) == (0, 5)
    with pytest.raises(LayerwiseError, match=r"from 0 to n_layers = 6, found 7, -1"):
        sampled_layers(6, layers=[7, 2, -1])
    with pytest.raises(LayerwiseError, match="at least one layer, found none"):
        sampled_layers(6, layers=[])
    with pytest.raises(LayerwiseError, match="layer_step must be at least 1, found 0"):
        sampled_layers(6, layer_step=0)


def test_measure_iv(states, tmp_path):
    with pytest.raises(LayerwiseError, match=r"found 140 statements for 25 pairs"):
        measure(states, some_pairs((10, 8, 7), "xyz"))
    with pytest.raises(LayerwiseError, match=r"k of at least 3, each once.*k_values \[2\]"):
        measure(states, some_pairs(), k_values=(2,))
    equal = write_states(tmp_path / "equal", n_layers=1, nll=np.full(2 * sum(SIZES), 3.25))
    with pytest.raises(LayerwiseError, match="preferences that vary, all 70 are 0 nats"):
        measure(equal, some_pairs())


def test_states_of_other_statements_iv(tmp_path):
    states = write_states(tmp_path / "states")
    pairs = some_pairs()
    other = dataclasses.replace(pairs, side_a=("changed", *pairs.side_a[1:]))
    with pytest.raises(LayerwiseError, match="extracted from other statements than these pairs"):
        measure(states, other)
