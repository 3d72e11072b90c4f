"""Base models and their instruction-tuned twins (Paper 3, section 5.5; twin notebook)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Entry
from layerwise.analyses.gain_files import R

ROWS = R + "twin_test_results_20260105_160237.csv"
SUMMARY = R + "twin_test_results_20260105_160237.json"
FAMILIES = ("Mistral-7B", "Gemma-7B", "LLaMA-3.1-8B")
VARIANTS = ("base", "instruct")
EFFECT = 0.05  # a change of the mean gain that counts


def effect(delta: float) -> str:
    """Word for the change of the mean gain (twin notebook)."""
    if abs(delta) <= EFFECT:
        return "NEUTRAL"
    return "AMPLIFIES" if delta > 0 else "DAMPENS"


def gains(rows: Entry, family: str, variant: str) -> Float[np.ndarray, " prompt"]:
    """Last gain of every prompt."""
    mine = [row for row in rows if (row.Family, row.Variant) == (family, variant)]
    return np.array([row.Last_Gain for row in mine])


def mean(rows: Entry, family: str, variant: str) -> float:
    """Mean gain over the prompts."""
    return float(np.mean(gains(rows, family, variant)))


def delta(rows: Entry, family: str) -> float:
    """Change of the mean gain by the tuning."""
    return mean(rows, family, "instruct") - mean(rows, family, "base")


def ratio(rows: Entry, family: str) -> float:
    """Mean gain of the tuned model over that of the base model."""
    return mean(rows, family, "instruct") / mean(rows, family, "base")


def same_side(rows: Entry, family: str) -> bool:
    """Whether both gains dampen or both expand."""
    return (mean(rows, family, "base") > 1) == (mean(rows, family, "instruct") > 1)


def of(family: str) -> Rules:
    """The rules of one pair of models."""
    return {
        "base/std_gain": lambda rows: float(np.std(gains(rows, family, "base"))),
        "instruct/std_gain": lambda rows: float(np.std(gains(rows, family, "instruct"))),
        "Base_Gain": lambda rows: mean(rows, family, "base"),
        "Instruct_Gain": lambda rows: mean(rows, family, "instruct"),
        "Delta": lambda rows: delta(rows, family),
        "Ratio": lambda rows: ratio(rows, family),
        "RLHF_Effect": lambda rows: effect(delta(rows, family)),
        "Same_Sign": lambda rows: same_side(rows, family),
    }


STUDY = {
    "n_total_measurements": lambda rows: sum(
        len(gains(rows, family, variant)) for family in FAMILIES for variant in VARIANTS
    ),
    "sign_kept": lambda rows: all(same_side(rows, family) for family in FAMILIES),
    "largest_change_pct": lambda rows: round(max(100 * abs(1 - ratio(rows, f)) for f in FAMILIES)),
}
DOCUMENTS = {
    family: Document(
        ROWS,
        {"": of(family)},
        places={"": (SUMMARY, f"/hypothesis_results/{number}")}
        | {f"/{v}": (SUMMARY, f"/twin_summary/{family}/{v}") for v in VARIANTS},
        shows=False,
    )
    for number, family in enumerate(FAMILIES)
} | {"study": Document(ROWS, {"": STUDY}, places={"": (SUMMARY, "")}, shows=False)}
