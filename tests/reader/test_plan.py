"""The estimate of the time: its parts follow from what they are made of."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from layerwise.models.outline import Outline, Sizes
from layerwise.reader import plan
from layerwise.reader.plan import Seconds, estimate_seconds, matrix_rate
from layerwise.reader.prepared import Prepared


def seconds(
    *,
    key_size: int | None = None,
    tokens: int = 4000,
    size: int = 512,
    n_pairs: int = 1000,
    dtype: str = "float32",
    without: Sequence[str] = (),
    rate: float = 1e11,
    **choices: Any,
) -> Seconds:
    """The estimate for a model of 1e8 parameters in 12 blocks, measured at two layers."""
    sizes = Sizes("llama", 12, size, key_size or size, 512, 256, "float32")
    declaration: Any = None  # which no estimate asks
    outline = Outline(declaration, dtype, "cpu", sizes, 1e8)
    request = SimpleNamespace(
        pairs=range(n_pairs),
        choices={"without": without, "replicates": 5, "control": 0, **choices},
    )
    given: Any = (request, outline, {"statements": [range(tokens)]}, [0, 12], 0)
    return estimate_seconds(Prepared(*given), rate)


def test_passes_are_two_operations_per_parameter_and_token_at_part_of_the_rate() -> None:
    assert seconds().passes == pytest.approx(2 * 1e8 * 4000 / 1e11 / plan.PASSES)
    assert seconds(dtype="bfloat16").passes == pytest.approx(plan.HALF * seconds().passes)
    half = seconds(rate=5e10)
    for part in ("passes", "weights", "statistics"):
        assert getattr(half, part) == pytest.approx(2 * getattr(seconds(), part))


def test_singular_values_are_those_of_the_smaller_side() -> None:
    """Keys and values of grouped heads are narrower; left out, they take nothing."""
    grouped = seconds(key_size=128).weights
    assert grouped / seconds().weights == pytest.approx((2 + 2 / 4**3) / 4)
    assert seconds(without=["spectral"]).weights == 0


def test_the_density_of_pairs_grows_as_their_square() -> None:
    """All else of the statistics does not know the hidden size."""

    def compared(n: int) -> float:
        narrow = seconds(n_pairs=n, size=512)
        return seconds(n_pairs=n, size=1024).statistics - narrow.statistics

    assert compared(1000) * 1e11 * plan.NEIGHBOURS == pytest.approx(5 * 4 * 1e6 * 512)
    assert compared(100_000) == pytest.approx(1e4 * compared(1000))


def test_what_is_measured_again_is_counted_again() -> None:
    """Replicates have the weights of the model; draws of random weights have their own."""
    once = Seconds(passes=10.0, weights=3.0, statistics=2.0, rest=5.0)
    assert once.whole == 10 + 3 + 2 + 5
    assert replace(once, again=4, controls=2).whole == 4 * (10 + 2) + 2 * 3 + 5
    assert str(once) == "about 20 s, 10 s of them passes"
    assert (seconds(control=2).again, seconds(control=2).controls) == (3, 3)
    noisy = seconds(dtype="float16", control=2)
    assert (noisy.again, noisy.controls) == (8, 3)


def test_the_rate_is_measured() -> None:
    assert 1e8 < matrix_rate() < 1e15
