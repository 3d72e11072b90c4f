"""Base models and their instruction-tuned twins (Paper 3, section 5.5; twin notebook)."""

import numpy as np

from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.gain_files import Rows, rows_of
from layerwise.places.result_files import TWIN_ROWS, TWINS

FAMILIES = ("Mistral-7B", "Gemma-7B", "LLaMA-3.1-8B")
VARIANTS = ("base", "instruct")
EFFECT = 0.05  # a change of the mean gain that counts


def effect(delta: float) -> str:
    """Word for the change of the mean gain (twin notebook)."""
    if abs(delta) <= EFFECT:
        return "NEUTRAL"
    return "AMPLIFIES" if delta > 0 else "DAMPENS"


def base(family: Rows) -> float:
    """Mean last gain of the base model over the prompts."""
    return float(np.mean(family.where(Variant="base")["Last_Gain"]))


def tuned(family: Rows) -> float:
    """The same of the tuned one."""
    return float(np.mean(family.where(Variant="instruct")["Last_Gain"]))


def same_side(family: Rows) -> bool:
    return (base(family) > 1) == (tuned(family) > 1)


OF_FAMILY: Rules = {
    "base/std_gain": lambda f: np.std(f.where(Variant="base")["Last_Gain"]),
    "instruct/std_gain": lambda f: np.std(f.where(Variant="instruct")["Last_Gain"]),
    "Base_Gain": base,
    "Instruct_Gain": tuned,
    "Delta": lambda f: tuned(f) - base(f),
    "Ratio": lambda f: tuned(f) / base(f),
    "RLHF_Effect": lambda f: effect(tuned(f) - base(f)),
    "Same_Sign": same_side,
}
STUDY: Rules = {
    "n_total_measurements": lambda rows: len(rows["Last_Gain"]),
    "sign_kept": lambda rows: all(map(same_side, rows.by("Family").values())),
    "largest_change_pct": lambda rows: max(
        100 * abs(1 - tuned(f) / base(f)) for f in rows.by("Family").values()
    ),
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
