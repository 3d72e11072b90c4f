"""The estimate of the time: its parts follow from what they are made of."""

from dataclasses import replace
from typing import Any

import pytest

from layerwise.reader import duration
from layerwise.reader.duration import Duration, matrix_rate

CONFIG = {"num_attention_heads": 8, "num_key_value_heads": 8}


def of(config: dict[str, int] = CONFIG, **changed: Any) -> Duration:
    given = {"parameters": 1e8, "tokens": 4000, "size": 512, "n_layers": 12, "pairs": 1000,
             "sampled": 2, "rate": 1e11}  # fmt: skip
    return duration.duration(config, **{**given, **changed})


def test_passes_are_two_operations_per_parameter_and_token_at_part_of_the_rate() -> None:
    assert of().passes == pytest.approx(2 * 1e8 * 4000 / 1e11 / duration.PASSES)
    assert of(dtype="bfloat16").passes == pytest.approx(duration.HALF * of().passes)
    half = of(rate=5e10)
    for part in ("passes", "singular_values", "statistics", "figures"):
        assert getattr(half, part) == pytest.approx(2 * getattr(of(), part))


def test_singular_values_are_those_of_the_smaller_side() -> None:
    """Keys and values of grouped heads are narrower; left out, they take nothing."""
    grouped = of(CONFIG | {"num_key_value_heads": 2}).singular_values
    assert grouped / of().singular_values == pytest.approx((2 + 2 / 4**3) / 4)
    assert of({}).singular_values == of({"n_head": 8}).singular_values == of().singular_values
    assert of(singular=False).singular_values == 0
    assert of(size=4096, singular=False).whole < of(size=4096).whole


def test_the_density_of_pairs_grows_as_their_square() -> None:
    """All else of the statistics does not know the hidden size."""

    def compared(n: int) -> float:
        return of(pairs=n, size=1024).statistics - of(pairs=n, size=512).statistics

    assert compared(1000) * 1e11 * duration.NEIGHBOURS == pytest.approx(5 * 4 * 1e6 * 512)
    assert compared(100_000) == pytest.approx(1e4 * compared(1000))


def test_what_goes_on_beside_something_else_is_counted_once() -> None:
    one = Duration(1.0, 10.0, 3.0, 2.0, 4.0, cores=1)
    assert one.whole == 1 + 10 + 3 + 2 + 4
    two = replace(one, cores=2)  # 6 s of two cores, and 2 s more of one
    assert two.whole == 1 + 10 + 4 + 4
    assert replace(two, singular_values=0.0).whole == 1 + 10 + 2 + 4
    assert str(two) == (
        "about 19 s: start 1 s, forward passes 10 s, singular values 3 s, statistics 2 s, "
        "figures 4 s"
    )


def test_the_rate_is_measured() -> None:
    assert 1e8 < matrix_rate() < 1e15
