"""Base models and their instruction-tuned twins (Paper 3, section 5.5; twin notebook)."""

from __future__ import annotations

import numpy as np

from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.gain_files import Rows, rows_of
from layerwise.inputs.result_files import TWIN_ROWS, TWINS

FAMILIES = ("Mistral-7B", "Gemma-7B", "LLaMA-3.1-8B")
VARIANTS = ("base", "instruct")
EFFECT = 0.05  # a change of the mean gain that counts


def effect(delta: float) -> str:
    """Word for the change of the mean gain (twin notebook)."""
    if abs(delta) <= EFFECT:
        return "NEUTRAL"
    return "AMPLIFIES" if delta > 0 else "DAMPENS"


def means(family: Rows) -> tuple[float, float]:
    """Mean last gain over the prompts, of the base model and of the tuned one."""
    base, tuned = (float(np.mean(family.where(Variant=v)["Last_Gain"])) for v in VARIANTS)
    return base, tuned


def delta(family: Rows) -> float:
    """Change of the mean gain by the tuning."""
    base, tuned = means(family)
    return tuned - base


def ratio(family: Rows) -> float:
    """Mean gain of the tuned model over that of the base model."""
    base, tuned = means(family)
    return tuned / base


def same_side(family: Rows) -> bool:
    """Whether both gains dampen or both expand."""
    base, tuned = means(family)
    return (base > 1) == (tuned > 1)


def families(rows: Rows) -> list[Rows]:
    """The pairs of models."""
    return [rows.where(Family=family) for family in FAMILIES]


OF_FAMILY: Rules = {
    "base/std_gain": lambda f: np.std(f.where(Variant="base")["Last_Gain"]),
    "instruct/std_gain": lambda f: np.std(f.where(Variant="instruct")["Last_Gain"]),
    "Base_Gain": lambda f: np.mean(f.where(Variant="base")["Last_Gain"]),
    "Instruct_Gain": lambda f: np.mean(f.where(Variant="instruct")["Last_Gain"]),
    "Delta": delta,
    "Ratio": ratio,
    "RLHF_Effect": lambda f: effect(delta(f)),
    "Same_Sign": same_side,
}
STUDY: Rules = {
    "n_total_measurements": lambda rows: sum(len(f["Last_Gain"]) for f in families(rows)),
    "sign_kept": lambda rows: all(map(same_side, families(rows))),
    "largest_change_pct": lambda rows: max(100 * abs(1 - ratio(f)) for f in families(rows)),
}
DOCUMENTS = {
    family: Document(
        rows_of(TWIN_ROWS, Family=family),
        {"": OF_FAMILY},
        places={"": (TWINS, f"/hypothesis_results/{number}")}
        | {f"/{v}": (TWINS, f"/twin_summary/{family}/{v}") for v in VARIANTS},
        shows=False,
    )
    for number, family in enumerate(FAMILIES)
} | {"study": Document(rows_of(TWIN_ROWS), {"": STUDY}, places={"": (TWINS, "")}, shows=False)}
