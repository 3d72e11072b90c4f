"""The neutral control: asymmetry of unrelated pairs against political ones (Mistral-7B)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.errors import LayerwiseError
from layerwise.published import Published, pointer
from layerwise.replay.documents import Draws, Replay
from layerwise.statistics.two_samples import TTest, control_verdict, pooled_t

CONTROL = "Results/neutral_control_test_results.json"
DOCUMENT = "mistral"
SIDES = ("sim_a", "sim_b")


def derive(work: Replay, draws: Draws) -> None:
    """Summary and verdict, from the similarities of the single pairs."""
    published = work.published
    work.start(DOCUMENT, published.document(CONTROL), {"": (CONTROL, "")})
    for name, compute in _summary(published).items():
        work.derive(DOCUMENT, pointer("summary_stats", name), compute)
    work.derive(DOCUMENT, "/exact_zero_sims", lambda: _zeros(published))


def similarities(published: Published, group: str) -> np.ndarray:
    """[pair, side], float32: the file writes the numbers as text, with the digits of float32.

    Raises:
        LayerwiseError: if one of them is not a number.
    """
    entries = f"{group}_results"
    n = len(published.document(CONTROL)[entries])
    cells = [[(CONTROL, pointer(entries, pair, side)) for side in SIDES] for pair in range(n)]
    try:
        return np.array([[np.float32(published[cell]) for cell in pair] for pair in cells])
    except ValueError as error:
        raise LayerwiseError(
            f"{CONTROL}: a similarity of {entries} is not a number ({error}); restore the table"
        ) from None


def _asymmetries(published: Published, group: str) -> np.ndarray:
    a, b = similarities(published, group).T
    return np.abs(a - b)


def _zeros(published: Published) -> int:
    return sum(
        int(np.sum(similarities(published, group) == 0)) for group in ("neutral", "political")
    )


def _summary(published: Published) -> dict[str, Callable[[], Any]]:
    def of(group: str, statistic: Callable[[np.ndarray], Any]) -> Callable[[], float]:
        return lambda: float(statistic(_asymmetries(published, group)))

    def ratio() -> float:
        political, neutral = (
            np.mean(_asymmetries(published, group)) for group in ("political", "neutral")
        )
        return float(political / neutral)

    def test() -> TTest:
        return pooled_t(_asymmetries(published, "political"), _asymmetries(published, "neutral"))

    return {
        "neutral_mean": of("neutral", np.mean),
        "neutral_std": of("neutral", np.std),
        "political_mean": of("political", np.mean),
        "political_std": of("political", np.std),
        "effect_ratio": ratio,
        "t_statistic": lambda: test().t,
        "p_value": lambda: test().p_value,
        "verdict": lambda: control_verdict(test().p_value, ratio()),
    }
