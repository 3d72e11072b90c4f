"""A maximum that was chosen from the same layers, against random walks."""

import numpy as np
import pytest

from layerwise.statistics.profiles import bell, weaker_trend


def test_a_profile_that_rises_and_falls_is_told_from_a_walk() -> None:
    tent = np.concatenate([np.arange(16.0), np.arange(15.0, -1.0, -1.0)])
    found = bell(tent, "layers")
    assert (found.where, found.n, found.has_interval) == ("peak at layer 15", 32, False)
    assert found.value > 0
    assert found.p is not None
    assert found.p < 0.01
    spike = np.concatenate([[0.0, 1.0, 50.0], np.linspace(0.0, 40.0, 29)])  # falls, then rises
    against = bell(spike, "layers")
    assert against.value < 0


@pytest.mark.long  # a test of a test: 80 walks, each against walks of its own, take 8 CPU-seconds
def test_at_most_one_random_walk_in_twenty_seems_to_be_a_bell() -> None:
    """A slope on either side of the chosen maximum says so in 15 of 100."""
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(80, 32)) * rng.lognormal(size=(80, 32))  # some much larger
    walks = np.concatenate([np.zeros((80, 1)), np.cumsum(steps, axis=1)], axis=1)
    found = [bell(walk, "layers") for walk in walks]
    seem = [one.value > 0 and one.p is not None and one.p < 0.05 for one in found]
    assert np.mean(seem) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 80)


def test_a_trend_is_kendalls_in_its_standard_errors() -> None:
    profile = np.array([0.0, 2.0, 1.0, 3.0, 9.0, 8.0, 5.0, 6.0])
    up, down = profile[:5], profile[4:]

    def trend(values: np.ndarray) -> float:
        n = len(values)
        count = sum(np.sign(values[j] - values[i]) for i in range(n) for j in range(i + 1, n))
        return float(count / np.sqrt(n * (n - 1) * (2 * n + 5) / 18))

    assert weaker_trend(profile[None])[0] == pytest.approx(min(trend(up), -trend(down)))
    assert weaker_trend(np.arange(5.0)[None])[0] == 0.0  # no layer lies beyond the last
