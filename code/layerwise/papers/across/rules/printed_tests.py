"""The p values that printed test statistics give, against the printed ones.

A printed statistic is a range, half a unit of its last digit to either side, and so is the p that
follows from it. A printed p stands if some value of that range gives it.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import scipy  # and of it `stats`, half a second, where it is used

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry
from layerwise.papers.shared.terms import NO_STARS, STARS
from layerwise.statistics.correlation import pearson_p
from layerwise.statistics.curves import word_below

PRINTED = "printed tests"  # of every test: kind, values, their decimals (12: exact), n, p
EXACT = 1e-9  # a count is a count
EQUAL, BELOW = "p = ", "p < "

Numbers = Sequence[float]


def p_of_t(t: float, n: Numbers) -> float:
    """Return the two-sided p of t, of one group against a value or of two groups."""
    return float(2 * scipy.stats.t.sf(abs(t), sum(n) - len(n)))


def p_of_d(values: Numbers, n: Numbers) -> float:
    """Return the two-sided p of Cohen's d of two groups."""
    return p_of_t(values[0] * math.sqrt(n[0] * n[1] / (n[0] + n[1])), n)


def p_of_slope(values: Numbers, n: Numbers) -> float:
    """Return the two-sided p of a slope and its standard error, with n - 2 degrees of freedom."""
    slope, error = values
    return float(2 * scipy.stats.t.sf(abs(slope / error), n[0] - 2))


def p_of_means(values: Numbers, n: Numbers) -> float:
    """Return the two-sided p of Student's t from two means and population SDs."""
    (first, sd1, second, sd2), (n1, n2) = values, n
    pooled = (n1 * sd1**2 + n2 * sd2**2) / (n1 + n2 - 2)
    return p_of_t((first - second) / math.sqrt(pooled * (1 / n1 + 1 / n2)), n)


def p_of_rank_sum(u: float, n: Numbers) -> float:
    """Return the exact two-sided p of Mann and Whitney's U, from all ways to place the ranks."""
    first, total = int(n[0]), int(sum(n))
    ways = [
        sum(places) - first * (first - 1) // 2
        for places in itertools.combinations(range(total), first)
    ]
    larger = max(u, n[0] * n[1] - u)
    return min(1.0, 2 * float(np.mean(np.array(ways) >= larger - EXACT)))


def p_of_shares(values: Numbers, n: Numbers) -> float:
    """Return Fisher's exact p of two groups' shares in percent."""
    counts = [round(share * size / 100) for share, size in zip(values, n, strict=True)]
    table = [[count, size - count] for count, size in zip(counts, n, strict=True)]
    return float(scipy.stats.fisher_exact(table).pvalue)


# p of the printed values (whose last digits are uncertain) with the printed numbers of points
KINDS: Mapping[str, Callable[[Numbers, Numbers], float]] = {
    "r": lambda values, n: float(pearson_p(values[0], int(n[0]))),
    "r_squared": lambda values, n: float(pearson_p(math.sqrt(values[0]), int(n[0]))),
    "t": lambda values, n: p_of_t(values[0], n),
    "t_less": lambda values, n: float(scipy.stats.t.cdf(values[0], n[0] - 1)),
    "d": p_of_d,
    "slope": p_of_slope,
    "means": p_of_means,
    "rank_sum": lambda values, n: p_of_rank_sum(values[0], n),
    "fisher": p_of_shares,
}


def p_range(test: Entry) -> tuple[float, float]:
    """Return the smallest and the largest p that the printed values, being rounded, stand for."""
    halves = [0.5 * 10.0**-places for places in test.decimals[:].tolist()]
    ends = [
        (value - half, value, value + half)
        for value, half in zip(test["values"][:].astype(float).tolist(), halves, strict=True)
    ]
    n, p = test.n[:].astype(float).tolist(), KINDS[test.kind]
    p_values = [p(corner, n) for corner in itertools.product(*ends)]
    return min(p_values), max(p_values)


def printed_or_implied_p(test: Entry) -> str:
    """Return the printed p where the printed statistic can give it, else what it gives."""
    low, high = p_range(test)
    printed: str = test.p
    if printed.startswith(EQUAL):
        places = len(printed.rpartition(".")[2])
        half = 0.5 * 10.0**-places * (1 + 1e-9)
        stands = low - half <= float(printed.removeprefix(EQUAL)) <= high + half
    elif printed.startswith(BELOW):
        stands = low < float(printed.removeprefix(BELOW))
    else:
        words = [word_below(p, STARS, NO_STARS) for p in (low, high)]
        return printed if printed in words else words[0]
    return printed if stands else f"{EQUAL}{low:.2g} or more"


TEST_RULES: Rules = {
    "given": printed_or_implied_p,
    "smallest": Rule(lambda test: p_range(test)[0], "the smallest p that the printed digits allow"),
}
DOCUMENTS = {"tests": Document(PRINTED, {"*": TEST_RULES}, places={}, shows=False)}
