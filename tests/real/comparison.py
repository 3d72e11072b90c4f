"""What `analyze` found against what was recorded: every number, in the band of its kind.

Counts, labels, flags, keys and lengths of lists must be equal. A float may lie as far from the
recorded one as its kind allows. Other instructions of the processor, another BLAS and another
number of threads (AVX-512 against SSE4.1 and Nehalem's kernels, two threads against one) moved
these numbers by what stands beside each band; a band is five times that or more, and the class
`float32` of the ledger (1e-5) is not used, because here stand numbers that what is measured in
float32 only leads to: ends of intervals, r and slopes near zero.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from layerwise.engine.judged import Band

FROM_WEIGHTS = "spectral"  # a document in which no forward pass has a part
BANDS: Mapping[str, Band] = {
    "weights": Band(1e-6, 0.0),  # 5e-15; but means are taken in single precision
    "p": Band(1e-3, 0.0),  # 4e-5
    "curve": Band(1e-4, 1e-5),  # r, ends of intervals: 5e-5, and 8e-7 where they are near zero
    "other": Band(1e-4, 1e-6),  # 2e-5, and 2e-7 where it is near zero (the asymmetries)
}
P_VALUES = ("p", "p_value", "p_holm", "p_mean")
CURVES = ("r", "r_mean", "correlation", "ci_lower", "ci_upper", "low", "high", "value")
Leaf = str | bool | int | float | None


def differences(recorded: Any, found: Any) -> list[str]:
    """A sentence for every number or label that is gone, new, or not the recorded one.

    Args:
        recorded: {document: what its JSON file holds}.
        found: the same, of now.
    """
    before, now = dict(leaves(recorded)), dict(leaves(found))
    said = [f"{place}: {before[place]!r} is gone" for place in before if place not in now]
    said += [f"{place}: {now[place]!r} was not recorded" for place in now if place not in before]
    for place, expected in before.items():
        if place in now and not same(place, expected, now[place]):
            said.append(
                f"{place}: {now[place]!r}, recorded {expected!r}, band {band_of(place, expected)}"
            )
    return said


def leaves(node: Any, place: str = "") -> Iterator[tuple[str, Leaf]]:
    """Every single value and the place where it stands; an empty list or object is one too."""
    if isinstance(node, Mapping | list) and node:
        parts = node.items() if isinstance(node, Mapping) else enumerate(node)
        for name, part in parts:
            yield from leaves(part, f"{place}/{name}")
    else:
        yield place, repr(node) if isinstance(node, Mapping | list) else node


def band_of(place: str, value: Leaf) -> Band:
    """How far a value may lie from the recorded one."""
    if not isinstance(value, float):
        return Band(0.0, 0.0)
    names = place.strip("/").split("/")
    if names[0] == FROM_WEIGHTS:
        return BANDS["weights"]
    name = next(name for name in reversed(names) if not name.isdigit())  # not a place in a list
    if name in P_VALUES:
        return BANDS["p"]
    return BANDS["curve" if name in CURVES else "other"]


def same(place: str, expected: Leaf, found: Leaf) -> bool:
    """Whether a value is the recorded one."""
    if type(expected) is not type(found):
        return False
    if not isinstance(expected, float) or not isinstance(found, float):
        return expected == found
    band = band_of(place, expected)
    return abs(found - expected) <= max(band.relative * abs(expected), band.absolute)
