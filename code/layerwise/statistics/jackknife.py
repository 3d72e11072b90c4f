"""Numbers of a whole set of units, with the error by leaving out one unit in turn.

The asymmetry of a category is no mean over its pairs but a function of all of them, and so is a
difference of two such numbers. The error of such a function is that of its pseudo-values n x - (n -
1) x without one unit (Tukey 1958; Efron and Tibshirani 1993, chapter 11), with Student's t and n -
1 degrees of freedom. Numbers of different sets add their errors in quadrature, with the degrees of
freedom of Welch and Satterthwaite.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from layerwise.statistics.estimates import LEVEL, Estimate, at_any_level, student_quantile

LEFT_OUT = "leaving out one pair in turn"
FEWEST_LEFT_OUT = 3  # units: without one of two there is no cosine between two of them


@dataclass(frozen=True)
class Jackknifed:
    """A number with its error.

    Attributes:
        variance: the square of the standard error; `freedom`: its degrees of freedom.
        n: units.
    """

    value: float
    variance: float
    freedom: float
    n: int

    @property
    def size(self) -> "Jackknifed":
        """The absolute value.

        That |x| lies above |y| is to say it of x - y and x + y (or of both turned), whose errors
        are equal where x and y are independent: so |x| - |y| has that error too.
        """
        return Jackknifed(abs(self.value), self.variance, self.freedom, self.n)


def jackknife(value: float, without: Float[np.ndarray, " n"]) -> Jackknifed:
    """Return a number with its error.

    Arguments:
        without: the same number without each unit.
    """
    n = len(without)
    deviations = without - without.mean()
    return Jackknifed(value, (n - 1) / n * float(deviations @ deviations), float(n - 1), n)


def combine_jackknifed(parts: Sequence[tuple[float, Jackknifed]]) -> Jackknifed:
    """Return the sum of independent numbers, each times its weight."""
    variances = [weight**2 * part.variance for weight, part in parts]
    variance = math.fsum(variances)
    freedom = variance**2 / math.fsum(
        one**2 / part.freedom for one, (_, part) in zip(variances, parts, strict=True)
    )
    value = math.fsum(weight * part.value for weight, part in parts)
    return Jackknifed(value, variance, freedom, sum(part.n for _, part in parts))


@at_any_level
def jackknife_estimate(
    number: Jackknifed, unit: str, where: str = "", level: float = LEVEL
) -> Estimate:
    """Return a number with Student's interval."""
    half = student_quantile(number.freedom, level) * math.sqrt(number.variance)
    value = number.value
    return Estimate(value, value - half, value + half, number.n, unit, where=where, method=LEFT_OUT)
