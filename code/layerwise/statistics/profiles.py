"""A test, against random walks, that a profile over layers rises to a maximum and then falls.

A line fitted on either side of the maximum says little: the maximum was chosen from the same
layers, and a random walk rises to its own maximum and falls from there as well.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from layerwise.statistics.estimates import Estimate, without_interval

RANDOM_WALKS = "random walks"
WALKS = 4000
SEED = 42


def bell(shares: Float[np.ndarray, " layer"], unit: str) -> Estimate:
    """The weaker of the two trends around the maximum, in Kendall's standard errors, with its p.

    Positive where the profile rises up to the maximum and falls from there on. The p is the share
    of random walks with a trend as strong: each takes the steps of the profile, every one up or
    down by chance, and finds a maximum of its own. The null is any walk whose steps are as likely
    down as up; of such walks at most 5% get a p under 0.05.
    """
    observed = float(weaker_trend(shares[None])[0])
    steps = np.diff(shares)
    signs = np.random.RandomState(SEED).choice([-1.0, 1.0], size=(WALKS, len(steps)))
    walks = np.concatenate([np.zeros((WALKS, 1)), np.cumsum(signs * steps, axis=1)], axis=1)
    drawn = weaker_trend(walks)
    beyond = np.sum(drawn >= observed) if observed > 0 else np.sum(drawn <= observed)
    p = float((beyond + 1) / (WALKS + 1))
    peak = int(np.argmax(shares))
    where = f"peak at layer {peak}"
    trend = without_interval(observed, len(shares), unit, where, method=RANDOM_WALKS)
    return replace(trend, p=p)


def weaker_trend(profiles: Float[np.ndarray, "row layer"]) -> Float[np.ndarray, " row"]:
    """The smaller of the rise up to each profile's maximum and the fall from there on."""
    peaks = np.argmax(profiles, axis=1)
    rises = np.sign(profiles[:, None, :] - profiles[:, :, None]).astype(np.int64)
    layers = np.arange(profiles.shape[1])
    up_to = layers <= peaks[:, None]
    return np.minimum(_trend(rises, up_to), -_trend(rises, layers >= peaks[:, None]))


def _trend(
    rises: Int[np.ndarray, "row layer layer"], chosen: np.ndarray
) -> Float[np.ndarray, " row"]:
    """Kendall's count of rising less falling pairs over the chosen layers, over its deviation."""
    pairs = np.triu(chosen[:, :, None] & chosen[:, None, :], 1)
    n = chosen.sum(axis=1)
    deviation = np.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    return np.sum(rises * pairs, axis=(1, 2)) / np.maximum(deviation, 1.0)
