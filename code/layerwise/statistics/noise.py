"""The band within which rounding alone moves a number, from the replicates of a 16-bit run.

A model that runs in 16 bits is measured k more times with noise of the size of rounding
(`models.rounding`), and every statistic is computed from each. With d the differences of the
replicates from the measured value and s their root mean square, exact arithmetic gives a number
within

    t(0.975, k) s

in 95% of cases, if rounding errors are normal (Sohier et al. 2021 call this the centred normality
hypothesis). Two runs in 16 bits that share no rounding, one in print and one here, differ by
sqrt(2) times as much. Two that share attention and batches round most sums to the same neighbour,
and t(0.975, k) s covers their difference too (docs/determinism.md). A claim's band is the wider of
the two unless the record of both runs names the same kernels; it is taken on the scale of ln p for
p-values, and half a unit of the last printed digit is added.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeGuard

COVERED = 0.95  # of the differences


class Noise(NamedTuple):
    """The effect of the replicates on one value.

    band: half width of what rounding does to it, a list for a list; None where the value is a
        word or a count.
    same: how many replicates gave the same word or count; None of other numbers.
    replicates: how many there are.
    """

    band: Any
    same: int | None
    replicates: int

    @property
    def widths(self) -> list[float]:
        """The band of every entry: one of a number, none of a word."""
        if self.band is None:
            return []
        return self.band if isinstance(self.band, list) else [self.band]


def noise_of(
    value: Any,
    replicates: Sequence[Any],
    *,
    of_log: bool,
    is_exact: bool,
    roundings: Literal[1, 2] = 1,
) -> Noise:
    """Return the noise of a value by those of its replicates; there is at least one.

    Args:
        of_log: whether the value is compared by its logarithm, as p-values are.
        is_exact: whether it is compared as words are.
        roundings: as for `band`.
    """
    if is_exact or not _has_numbers(value):
        same = sum(
            type(replicate) is type(value) and replicate == value for replicate in replicates
        )
        return Noise(None, same, len(replicates))
    if isinstance(value, list):
        columns = [[_entry(replicate, n) for replicate in replicates] for n in range(len(value))]
        bands = [
            band(entry, column, of_log=of_log, roundings=roundings) if is_number(entry) else 0.0
            for entry, column in zip(value, columns, strict=True)
        ]
        return Noise(bands, None, len(replicates))
    width = band(value, replicates, of_log=of_log, roundings=roundings)
    return Noise(width, None, len(replicates))


def band(
    value: float,
    replicates: Sequence[Any],
    *,
    of_log: bool = False,
    roundings: Literal[1, 2] = 1,
) -> float:
    """Return the half width of what rounding does; infinite if a replicate has no such number.

    Args:
        roundings: how many independent ones lie between the two numbers that are compared: one
            between exact arithmetic and a run, two between runs that share no rounding.
    """
    if not all(map(is_number, replicates)):
        return math.inf
    moved = [_difference(value, replicate, of_log=of_log) for replicate in replicates]
    from scipy.special import stdtrit  # a list of claims is read without it

    spread = math.sqrt(sum(replicate * replicate for replicate in moved) / len(moved))
    return float(stdtrit(len(moved), (1 + COVERED) / 2)) * spread * math.sqrt(roundings)


def is_number(value: Any) -> TypeGuard[int | float]:
    """A finite number, which a flag is not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _difference(value: float, other: float, *, of_log: bool) -> float:
    if of_log and value > 0 and other > 0:
        return math.log(value) - math.log(other)
    return value - other


def _has_numbers(value: Any) -> bool:
    return any(map(is_number, value)) if isinstance(value, list) else is_number(value)


def _entry(values: Any, place: int) -> Any:
    """An entry of a replicate's list, which may have become shorter."""
    return values[place] if isinstance(values, list) and place < len(values) else None


# --- draws of random weights ----------------------------------------------------------------------

FEWEST_DRAWS = 19  # fewer cannot give a p of 0.05


def draws_p(value: float, drawn: Sequence[float]) -> float:
    """Return how rare a number is among those of random weights: a permutation p (Pitman 1937).

    (1 + draws that lie as far from the mean of all others as the number from that of the draws) /
    (1 + draws). Were the number one more draw, p would be at most q in a share q of cases.
    """
    numbers = [value, *drawn]
    total = math.fsum(numbers)
    # x - (total - x) / n is (n + 1) (x - total / (n + 1)) / n: the order is by the mean of all
    middle = total / len(numbers)
    far = abs(value - middle) * (1 - 1e-12)
    return sum(abs(number - middle) >= far for number in numbers) / len(numbers)
