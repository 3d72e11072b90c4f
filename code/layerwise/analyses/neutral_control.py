"""The neutral control: asymmetry of unrelated pairs against political ones (Mistral-7B)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float32

from layerwise.analyses.derivation import Document, Rule
from layerwise.analyses.evidence import Entry
from layerwise.errors import LayerwiseError
from layerwise.inputs.result_files import CONTROL
from layerwise.statistics.samples import TTest, pooled_t

SIDES = ("sim_a", "sim_b")


def similarities(group: Entry) -> Float32[np.ndarray, "pair side"]:
    """Cosines, float32: the file writes the numbers as text, with the digits of float32.

    Raises:
        LayerwiseError: if one of them is not a number.
    """
    try:
        return np.array([[np.float32(pair[side]) for side in SIDES] for pair in group])
    except ValueError as error:
        file, key = group.cell
        raise LayerwiseError(
            f"{file}: a similarity of {key} is not a number ({error}); restore the table"
        ) from None


def asymmetries(group: Entry) -> Float32[np.ndarray, " pair"]:
    """Absolute differences of a pair's two cosines."""
    a, b = similarities(group).T
    return np.abs(a - b)


def of(group: str, statistic: Callable[[np.ndarray], np.floating]) -> Rule:
    """A statistic of one group's asymmetries."""
    return lambda f: float(statistic(asymmetries(f[f"{group}_results"])))


def ratio(f: Entry) -> float:
    """Mean asymmetry of the political pairs over that of the neutral ones."""
    political, neutral = (np.mean(asymmetries(f[f"{g}_results"])) for g in ("political", "neutral"))
    return float(political / neutral)


def test(f: Entry) -> TTest:
    """Student's t of the two groups, variances pooled."""
    return pooled_t(asymmetries(f.political_results), asymmetries(f.neutral_results))


def verdict(f: Entry) -> str:
    """Whether the test is significant and the ratio above one and a half."""
    confirmed = test(f).p_value < 0.05 and ratio(f) > 1.5
    return "CONFIRMED" if confirmed else "INCONCLUSIVE"


SUMMARY = {
    "neutral_mean": of("neutral", np.mean),
    "neutral_std": of("neutral", np.std),
    "political_mean": of("political", np.mean),
    "political_std": of("political", np.std),
    "effect_ratio": ratio,
    "t_statistic": lambda f: test(f).t,
    "p_value": lambda f: test(f).p_value,
    "verdict": verdict,
}
DOCUMENTS = {
    "mistral": Document(
        CONTROL,
        {
            "": {f"summary_stats/{name}": rule for name, rule in SUMMARY.items()}
            | {
                "exact_zero_sims": lambda f: sum(
                    int(np.sum(similarities(group) == 0))
                    for group in (f.neutral_results, f.political_results)
                )
            }
        },
    )
}
