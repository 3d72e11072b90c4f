"""Estimates of an extreme of several numbers, and of where a curve crosses zero.

A search finds the extreme of what it looks at, so one of its ends pays for all that was looked at;
the other does not: what is said of every one is wrong no more often than of the one that is worst.
"""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace

from layerwise.statistics.estimates import LEVEL, Ends, Estimate, family_level

BRACKETS = "brackets of the crossing"


def lowest(estimates: Sequence[Estimate]) -> Estimate:
    """Return the lowest of several numbers, with an interval of their true minimum.

    Its lower end is the lowest of theirs: the minimum is one of them, whose own lower end misses it
    no more often than the level says. Its upper end is the lowest of theirs at the level of as many
    tests (Bonferroni), as the minimum lies below all of them.
    """
    found = min(estimates, key=lambda estimate: estimate.value)
    if not all(estimate.has_interval for estimate in estimates):
        return replace(found, low=-math.inf, high=math.inf, at_level=None)

    def ends(level: float) -> Ends:
        low = min(estimate.ends(level)[0] for estimate in estimates)
        at_once = family_level(len(estimates), level)
        return low, min(estimate.ends(at_once)[1] for estimate in estimates)

    low, high = ends(LEVEL)
    return replace(
        found,
        low=low,
        high=high,
        at_level=ends,
        uncategorised=any(estimate.uncategorised for estimate in estimates),
    )


def highest(estimates: Sequence[Estimate]) -> Estimate:
    """Return the highest of several numbers, with an interval of the true one: see `lowest`."""
    return lowest([estimate.mapped(operator.neg) for estimate in estimates]).mapped(operator.neg)


def crossing_steps(by_layer: Mapping[int, Estimate], level: float = LEVEL) -> tuple[int, int]:
    """Return the first and the last step between sampled layers at which a curve may turn negative.

    Step k lies before the k-th of these layers. The curve is positive up to a layer where all
    intervals up to it lie above zero, and negative from a layer on where all from it on lie below.
    Each is said of every one of its layers, so no search is paid for.
    """
    ends = [by_layer[layer].ends(level) for layer in sorted(by_layer)]
    n_positive = next((k for k, (low, _) in enumerate(ends) if low <= 0), len(ends))
    n_negative = next((k for k, (_, high) in enumerate(reversed(ends)) if high >= 0), len(ends))
    return n_positive, len(ends) - n_negative


def crossing_distance(first: Mapping[int, Estimate], second: Mapping[int, Estimate]) -> Estimate:
    """Return how many steps lie between the crossings of two curves, over the layers of both.

    The interval is that of the steps at which each may turn, of which each takes half the error:
    its low end is above zero where the two brackets do not overlap, its high end is zero where both
    are the same single step.
    """
    layers = sorted(first.keys() & second.keys())
    curves = [{layer: curve[layer] for layer in layers} for curve in (first, second)]
    estimates = [curve[layer] for curve in curves for layer in layers]

    def ends(level: float) -> Ends:
        (a, b), (c, d) = (crossing_steps(curve, family_level(2, level)) for curve in curves)
        return float(max(c - b, a - d, 0)), float(max(d - a, b - c))

    steps = [sum(curve[layer].value > 0 for layer in layers) for curve in curves]
    low, high = ends(LEVEL)
    return replace(
        estimates[0],
        value=float(abs(steps[0] - steps[1])),
        low=low,
        high=high,
        method=BRACKETS,
        where="",
        at_level=ends,
        uncategorised=any(estimate.uncategorised for estimate in estimates),
    )


def least_clear(estimates: Mapping[str, Estimate]) -> Estimate:
    """Return the number of several that is least clearly above zero: it answers for all of them.

    All lie above zero where this one does, so that a yes has the error of one test. That it lies
    below is found by a search: a question divides the error of a no by how many there are.

    Arguments:
        estimates: by what they are called, which is where the answer is about.
    """

    def clearness(name: str) -> float:
        value, below = estimates[name].value, estimates[name].value - estimates[name].low
        return value / below if below else math.inf if value > 0 else -math.inf

    found = min(estimates, key=clearness)
    uncategorised = any(estimate.uncategorised for estimate in estimates.values())
    return replace(estimates[found], where=found, uncategorised=uncategorised)
