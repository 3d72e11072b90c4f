"""Extremes and crossings: against theory, and against the layers that they are made of."""

from dataclasses import replace

import numpy as np
import pytest

from layerwise.statistics.estimates import (
    LEVEL,
    correlation_estimate,
    family_level,
    mean_estimate_from_moments,
    without_interval,
)
from layerwise.statistics.extremes import (
    crossing_distance,
    crossing_steps,
    highest,
    least_clear,
    lowest,
)

R = (0.4, -0.1, -0.45, 0.2)


def estimates(r=R, n=60):
    return [
        correlation_estimate(value, n, "pairs", where=f"layer {k}") for k, value in enumerate(r)
    ]


@pytest.mark.parametrize("level", [0.9, LEVEL, 0.99])
def test_the_lowest_pays_for_the_search_at_its_upper_end_alone(level):
    found = lowest(estimates())
    alone, at_once = (
        [estimate.ends(one) for estimate in estimates()] for one in (level, family_level(4, level))
    )
    assert (found.value, found.where) == (-0.45, "layer 2")
    assert found.ends(level) == (min(low for low, _ in alone), min(high for _, high in at_once))


def test_the_highest_mirrors_the_lowest():
    up, down = highest(estimates()), lowest(estimates([-value for value in R]))
    assert (up.value, up.low, up.high) == pytest.approx((-down.value, -down.high, -down.low))
    assert up.where == "layer 0"


def test_every_layer_is_negative_where_the_highest_is():
    """The yes of 'every' asks each layer at the single level, the no one of them at all at once."""
    r = (-0.3, -0.4, -0.5)
    each = estimates(r)
    assert (highest(each).high < 0) == all(estimate.high < 0 for estimate in each)
    one_up = estimates((-0.4, 0.3, -0.5))
    at_once = family_level(3)
    assert (highest(one_up).low > 0) == (one_up[1].ends(at_once)[0] > 0)


def test_the_interval_of_an_extreme_holds_the_true_one():
    """Twelve equal layers: an uncorrected interval of the lowest leaves zero out in 26%."""
    rng = np.random.default_rng(4)
    missed = 0
    for _ in range(400):
        r = np.tanh(rng.normal(0, 1 / np.sqrt(57), size=12))
        found = lowest(estimates(r))
        missed += not found.low <= 0 <= found.high
    assert missed / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def curve(r, n=400):
    return {4 * k: estimate for k, estimate in enumerate(estimates(r, n))}


def test_a_crossing_lies_between_what_is_shown_on_either_side():
    assert crossing_steps(curve((0.5, 0.4, -0.4, -0.5))) == (2, 2)
    assert crossing_steps(curve((0.5, 0.01, -0.01, -0.5))) == (1, 3)
    assert crossing_steps(curve((-0.5, -0.4))) == (0, 0)  # before the first layer
    assert crossing_steps(curve((0.5, 0.4))) == (2, 2)  # after the last
    assert crossing_steps(curve((0.0, 0.4, -0.5))) == (0, 2)  # not shown positive from the start


def test_two_curves_turn_apart_or_together_or_nobody_knows():
    early, late = (0.5, -0.4, -0.5, -0.5), (0.5, 0.4, 0.4, -0.5)
    vague = (0.5, 0.02, -0.02, -0.5)
    apart = crossing_distance(curve(early), curve(late))
    assert (apart.value, apart.low, apart.high) == (2, 2, 2)
    same = crossing_distance(curve(early), curve(early))
    assert (same.value, same.low, same.high) == (0, 0, 0)
    open_one = crossing_distance(curve(early), curve(vague))
    assert (open_one.low, open_one.high) == (0, 2)


def test_each_of_two_crossings_takes_half_the_error():
    """0.29 over 50 pairs is told from zero by a 95% interval, and not by one at 97.5%."""
    clear, doubtful = (0.9, -0.9, -0.9), (0.9, 0.29, -0.9)
    (between,) = estimates(doubtful[1:2], 50)
    assert between.low > 0 > between.ends(family_level(2))[0]
    found = crossing_distance(curve(clear, 50), curve(doubtful, 50))
    assert (found.value, found.low, found.high) == (1, 0, 1)


@pytest.mark.parametrize("doubtful", range(3))
def test_one_number_of_no_category_leaves_what_is_made_of_it_open(doubtful):
    each = estimates((0.5, 0.4, -0.5))
    each[doubtful] = replace(each[doubtful], uncategorised=True)
    by_layer = dict(enumerate(each))
    made = [
        *(extreme(each) for extreme in (lowest, highest)),
        least_clear({estimate.where: estimate for estimate in each}),
        crossing_distance(by_layer, dict(enumerate(estimates()))),
        crossing_distance(dict(enumerate(estimates())), by_layer),
    ]
    assert all(estimate.uncategorised for estimate in made)
    assert not lowest(estimates()).uncategorised


def some_means(values, sds, n=6):
    return {
        f"step {k}": mean_estimate_from_moments(value, sd, n, "prompts")
        for k, (value, sd) in enumerate(zip(values, sds, strict=True))
    }


@pytest.mark.parametrize("seed", range(20))
def test_all_lie_above_zero_where_the_least_clear_does(seed):
    rng = np.random.default_rng(seed)
    means = some_means(rng.normal(1.5, 1, size=4), rng.uniform(0.5, 2, size=4))
    found = least_clear(means)
    assert (found.low > 0) == all(estimate.low > 0 for estimate in means.values())
    assert (found.high < 0) == any(estimate.high < 0 for estimate in means.values())
    assert found.ends(0.99) == means[found.where].ends(0.99)


def test_the_least_clear_is_the_one_with_the_smallest_t_and_not_the_smallest_value():
    found = least_clear(some_means((0.2, 1.0), (0.1, 1.0)))
    assert (found.where, found.value) == ("step 1", 1.0)


def test_what_has_no_interval_is_less_clear_than_what_lies_above_zero():
    means = some_means((0.2,), (0.1,)) | {"single": without_interval(9.0, 1, "prompts")}
    assert least_clear(means).where == "single"


@pytest.mark.parametrize(("value", "chosen"), [(1.0, "step 0"), (0.0, "exact")])
def test_an_exact_number_is_clear_where_it_lies_above_zero(value, chosen):
    exact = {"exact": mean_estimate_from_moments(value, 0.0, 6, "prompts")}
    assert least_clear(some_means((2.0,), (0.1,)) | exact).where == chosen
