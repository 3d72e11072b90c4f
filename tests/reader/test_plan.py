"""The estimate of the time: its parts follow from what they are made of."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from layerwise.models import needs
from layerwise.models.checkpoint import Outline
from layerwise.reader import plan
from layerwise.reader.plan import estimate_range, estimate_seconds, seconds_of_passes
from layerwise.reader.prepared import Prepared


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.cpu_count", lambda logical: 2)


def prepared(
    *,
    key_size: int | None = None,
    tokens: int = 4000,
    size: int = 512,
    n_pairs: int = 1000,
    dtype: str = "float32",
    without: Sequence[str] = (),
    **choices: Any,
) -> Prepared:
    """A request on a model of 1e8 parameters in 12 blocks, measured at two layers."""
    declaration: Any = None  # which no estimate asks
    outline = Outline(declaration, dtype, "cpu", "llama", 12, size, key_size or size, 10**8)
    request: Any = SimpleNamespace(
        pairs=range(n_pairs),
        choices={"without": without, "replicates": 5, "control": 0, **choices},
    )
    ids: Any = {"statements": [range(10)] * (tokens // 10)}
    return Prepared(request, outline, ids, [0, 12], 0)


def test_passes_are_two_operations_per_parameter_and_token() -> None:
    assert seconds_of_passes(prepared()) == pytest.approx(2 * 1e8 * 4000 / 0.1e12)
    assert seconds_of_passes(prepared(dtype="float16")) == pytest.approx(8 / 0.3)


def test_singular_values_are_those_of_the_smaller_side() -> None:
    """Keys and values of grouped heads are narrower; left out, they take nothing."""
    none = estimate_seconds(prepared(without=["spectral"]))
    whole = estimate_seconds(prepared()) - none
    assert whole > 0
    grouped = estimate_seconds(prepared(key_size=128)) - none
    assert grouped / whole == pytest.approx((2 + 2 / 4**3) / 4)
    again = prepared(control=2), prepared(control=2, without=["spectral"])
    assert estimate_seconds(again[0]) - estimate_seconds(again[1]) == pytest.approx(3 * whole)


def test_what_is_measured_again_is_counted_again() -> None:
    """Passes of the model, of its replicates in 16 bits, and of random weights."""

    def of_passes(**choices: Any) -> float:
        more, fewer = (prepared(tokens=tokens, **choices) for tokens in (6000, 4000))
        each = seconds_of_passes(more) - seconds_of_passes(fewer)
        return (estimate_seconds(more) - estimate_seconds(fewer)) / each

    assert of_passes() == pytest.approx(1)
    assert of_passes(control=2) == pytest.approx(3)
    assert of_passes(dtype="float16", control=2) == pytest.approx(8)


@pytest.mark.parametrize("share", [1.0, 0.25])
def test_a_slower_machine_takes_longer_by_what_was_timed(
    monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    shapes: list[tuple[int, int]] = []

    def rate(tokens: int, hidden_size: int) -> float:
        shapes.append((tokens, hidden_size))
        return share * needs.assumed_rate("cpu")

    monkeypatch.setattr(plan, "measure_rate", rate)
    least, usual = estimate_range(prepared(tokens=500))
    assert least == pytest.approx(estimate_seconds(prepared(tokens=500)) / share)
    assert usual == pytest.approx(2 * least)
    estimate_range(prepared(tokens=10**6))
    assert shapes == [(500, 512), (needs.BATCH_TOKENS, 512)]
