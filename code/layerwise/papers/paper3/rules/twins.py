"""Base models and their instruction-tuned versions (Paper 3, section 5.5; twin notebook)."""

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, all_of, count
from layerwise.papers.paper3.rules.gain_files import Rows, rows_reader
from layerwise.papers.shared.names.result_files import TWIN_ROWS, TWINS
from layerwise.statistics.correlation import pearson_r

FAMILIES = ("Mistral-7B", "Gemma-7B", "LLaMA-3.1-8B")
VARIANTS = ("base", "instruct")
EFFECT = 0.05  # a change of the mean gain that counts


def effect_word(delta: float) -> str:
    """Return the twin notebook's word for a change of the mean gain."""
    if abs(delta) <= EFFECT:
        return "NEUTRAL"
    return "AMPLIFIES" if delta > 0 else "DAMPENS"


def last_gains(family: Rows, variant: str) -> np.ndarray:
    """Return the last gain by prompt of the base model or of the tuned one."""
    return family.where(Variant=variant)["Last_Gain"]


def base_gain(family: Rows) -> float:
    """Return the mean last gain of the base model over the prompts."""
    return float(np.mean(last_gains(family, "base")))


def tuned_gain(family: Rows) -> float:
    """Return the mean last gain of the tuned model over the prompts."""
    return float(np.mean(last_gains(family, "instruct")))


def keeps_side(family: Rows) -> bool:
    """Return whether base and tuned model lie on one side of 1."""
    return (base_gain(family) > 1) == (tuned_gain(family) > 1)


def base_tuned_r(rows: Rows) -> float:
    """Return r of the base and the tuned models' mean gains over the families."""
    families = rows.by("Family").values()
    return pearson_r(*np.array([(base_gain(twins), tuned_gain(twins)) for twins in families]).T)


def count_turned_prompts(family: Rows) -> int:
    """Return the number of prompts whose gain lies on another side of 1 in the tuned model."""
    base, tuned = (last_gains(family, variant) > 1 for variant in VARIANTS)
    return int(np.sum(base != tuned))


def largest_change(rows: Rows) -> float:
    """Return the largest change of a family's mean gain by tuning, percent."""
    families = rows.by("Family").values()
    return max(100 * abs(1 - tuned_gain(twins) / base_gain(twins)) for twins in families)


FAMILY_RULES: Rules = {
    "base/std_gain": Rule(
        lambda family: np.std(last_gains(family, "base")),
        "population SD of the base model's last gain",
    ),
    "instruct/std_gain": Rule(
        lambda family: np.std(last_gains(family, "instruct")),
        "population SD of the tuned model's last gain",
    ),
    "Base_Gain": base_gain,
    "Instruct_Gain": tuned_gain,
    "Delta": Rule(
        lambda family: tuned_gain(family) - base_gain(family),
        "by how much tuning moves the mean last gain",
    ),
    "Ratio": Rule(
        lambda family: tuned_gain(family) / base_gain(family),
        "the tuned mean last gain over that of the base",
    ),
    "RLHF_Effect": Rule(
        lambda family: effect_word(tuned_gain(family) - base_gain(family)),
        "the notebook's word for that difference",
    ),
    "Same_Sign": keeps_side,
}
STUDY_RULES: Rules = {
    "n_total_measurements": Rule(
        lambda rows: count(rows["Last_Gain"]), "the prompts of all models"
    ),
    "sign_kept": Rule(
        lambda rows: all_of(map(keeps_side, rows.by("Family").values())),
        "whether tuning keeps every family on its side of 1",
    ),
    "n_damping_bases": Rule(
        lambda rows: sum(base_gain(family) < 1 for family in rows.by("Family").values()),
        "the base models that damp",
    ),
    "base_tuned_r": base_tuned_r,
    "criterion": Rule(
        lambda rows: "above 0.8" if base_tuned_r(rows) > 0.8 else "0.8 or less",
        "whether base and tuned gains correlate above 0.8",
    ),
    "n_prompts_turned": Rule(
        lambda rows: sum(map(count_turned_prompts, rows.by("Family").values())),
        "the prompts that tuning takes to the other side of 1",
    ),
    "n_prompt_pairs": Rule(
        lambda rows: sum(len(last_gains(family, "base")) for family in rows.by("Family").values()),
        "the prompts of base models",
    ),
    "largest_change_pct": largest_change,
}
DOCUMENTS = {
    family: Document(
        rows_reader(TWIN_ROWS, Family=family),
        {"": FAMILY_RULES},
        places={"": (TWINS, f"/hypothesis_results/{number}")}
        | {f"/{v}": (TWINS, f"/twin_summary/{family}/{v}") for v in VARIANTS},
        derived_only=True,
    )
    for number, family in enumerate(FAMILIES)
} | {
    "study": Document(
        rows_reader(TWIN_ROWS), {"": STUDY_RULES}, places={"": (TWINS, "")}, derived_only=True
    )
}
