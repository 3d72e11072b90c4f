"""The rise of a profile over layers up to its maximum, and its fall from there on, by prompt.

The layers of one model are no sample: what varies are the prompts, each of which has a profile.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from layerwise.statistics.curves import line_fit

FEWEST_LAYERS = 2  # of a slope


@dataclass(frozen=True)
class RiseAndFall:
    """The slopes of each prompt's profile on either side of the maximum of the mean profile.

    Attributes:
        peak: the layer of that maximum.
        rises: the slope over the layers before it; `falls`: from it on, counted downwards.
    """

    peak: int
    rises: Sequence[float]
    falls: Sequence[float]


def rise_and_fall(shares: Float[np.ndarray, "prompt layer"]) -> RiseAndFall:
    """Return how each profile rises before the maximum of their mean, and falls from it on.

    Where a side has no slope, because the maximum is at an end, the slope of the whole profile
    stands for it: a profile that falls from its first layer on does not rise.
    """
    peak = int(np.argmax(shares.mean(axis=0)))
    before, after = shares[:, :peak], shares[:, peak:]
    if before.shape[1] < FEWEST_LAYERS:
        before = shares
    if after.shape[1] < FEWEST_LAYERS:
        after = shares
    return RiseAndFall(peak, _slopes(before), [-slope for slope in _slopes(after)])


def _slopes(profiles: Float[np.ndarray, "prompt layer"]) -> list[float]:
    """Return the slope of the line through each profile, per layer."""
    return [line_fit(profile.tolist())[0] for profile in profiles]
