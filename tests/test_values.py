"""Values: from states on disk to arrays."""

import dataclasses

import numpy as np
import pytest

from layerwise.errors import LayerwiseError
from layerwise.experiments.reduction import measure
from layerwise.measures.anisotropy import anisotropy
from layerwise.measures.values import ANISOTROPY, sampled_layers
from random_states import SIZES, some_pairs, write_states

FEW = {"k_values": (5, 8), "n_permutations": 3, "k_stable": 6}


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    return write_states(tmp_path_factory.mktemp("extraction") / "states")


@pytest.fixture(scope="module")
def values(states):
    return measure(states, some_pairs(), **FEW)


def test_anisotropy_of_every_layer_and_before_the_norm(values, states):
    assert values.anisotropy.shape == (len(ANISOTROPY), 12)
    for row, layer in ((3, 3), (10, 10), (11, "before_norm")):
        found = anisotropy(states.tokens(layer))
        assert values.anisotropy[:, row].tolist() == [getattr(found, name) for name in ANISOTROPY]
        np.testing.assert_array_equal(values.eigenvalues[row], found.eigenvalues)


def test_sampled_layers():
    assert sampled_layers(32) == (0, 4, 8, 12, 16, 20, 24, 28, 32)
    assert sampled_layers(6) == (0, 4, 6)
    assert sampled_layers(2, layer_step=1) == (0, 1, 2)
    assert sampled_layers(6, layers=[5, 0, 5]) == (0, 5)
    with pytest.raises(LayerwiseError, match=r"from 0 to n_layers = 6, found 7, -1"):
        sampled_layers(6, layers=[7, 2, -1])
    with pytest.raises(LayerwiseError, match="at least one layer, found none"):
        sampled_layers(6, layers=[])


def test_measure_iv(states, tmp_path):
    pairs = some_pairs()
    with pytest.raises(LayerwiseError, match=r"found 140 statements for 25 pairs"):
        measure(states, some_pairs((10, 8, 7), "xyz"))
    with pytest.raises(LayerwiseError, match=r"k of at least 3, each once.*k_values \[2\]"):
        measure(states, pairs, k_values=(2,))
    equal = write_states(tmp_path / "equal", n_layers=1, nll=np.full(2 * sum(SIZES), 3.25))
    with pytest.raises(LayerwiseError, match="preferences that vary, all 70 are 0 nats"):
        measure(equal, pairs)
    other = dataclasses.replace(pairs, side_a=("changed", *pairs.side_a[1:]))
    with pytest.raises(LayerwiseError, match="extracted from other statements than these pairs"):
        measure(states, other)
