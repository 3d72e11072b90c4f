"""Base models and their instruction-tuned versions (Paper 3, section 5.5; twin notebook)."""

from collections.abc import Collection
from functools import partial

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, all_of, count
from layerwise.papers.paper3.rules.gain_files import Rows, rows_reader
from layerwise.papers.shared.result_files import TWIN_ROWS, TWINS
from layerwise.statistics.correlation import pearson_r

FAMILIES = ("Mistral-7B", "Gemma-7B", "LLaMA-3.1-8B")
VARIANTS = ("base", "instruct")
EFFECT = 0.05  # a change of the mean gain that counts


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


def family_statistics(family: Rows) -> Rules:
    """The gains of a base model and of its tuned twin (summary of the notebook)."""

    def change() -> float:
        return tuned_gain(family) - base_gain(family)

    def effect() -> str:
        if abs(change()) <= EFFECT:
            return "NEUTRAL"
        return "AMPLIFIES" if change() > 0 else "DAMPENS"

    return {
        "base/std_gain": Rule(
            lambda: np.std(last_gains(family, "base")),
            "population SD of the base model's last gain",
        ),
        "instruct/std_gain": Rule(
            lambda: np.std(last_gains(family, "instruct")),
            "population SD of the tuned model's last gain",
        ),
        "Base_Gain": partial(base_gain, family),
        "Instruct_Gain": partial(tuned_gain, family),
        "Delta": Rule(change, "by how much tuning moves the mean last gain"),
        "Ratio": Rule(
            lambda: tuned_gain(family) / base_gain(family),
            "the tuned mean last gain over that of the base",
        ),
        "RLHF_Effect": Rule(effect, "the notebook's word for that difference"),
        "Same_Sign": partial(keeps_side, family),
    }


def study_of_twins(rows: Rows) -> Rules:
    """The effect of tuning in all families (section 5.5)."""

    def families() -> Collection[Rows]:
        return rows.by("Family").values()

    def base_tuned_r() -> float:
        """Return r of the base and the tuned models' mean gains over the families."""
        return pearson_r(
            *np.array([(base_gain(twins), tuned_gain(twins)) for twins in families()]).T
        )

    def count_turned_prompts(family: Rows) -> int:
        base, tuned = (last_gains(family, variant) > 1 for variant in VARIANTS)
        return int(np.sum(base != tuned))

    return {
        "n_total_measurements": Rule(lambda: count(rows["Last_Gain"]), "the prompts of all models"),
        "sign_kept": Rule(
            lambda: all_of(map(keeps_side, families())),
            "whether tuning keeps every family on its side of 1",
        ),
        "n_damping_bases": Rule(
            lambda: sum(base_gain(family) < 1 for family in families()), "the base models that damp"
        ),
        "base_tuned_r": base_tuned_r,
        "criterion": Rule(
            lambda: "above 0.8" if base_tuned_r() > 0.8 else "0.8 or less",
            "whether base and tuned gains correlate above 0.8",
        ),
        "n_prompts_turned": Rule(
            lambda: sum(map(count_turned_prompts, families())),
            "the prompts that tuning takes to the other side of 1",
        ),
        "n_prompt_pairs": Rule(
            lambda: sum(len(last_gains(family, "base")) for family in families()),
            "the prompts of base models",
        ),
        "largest_change_pct": Rule(
            lambda: max(
                100 * abs(1 - tuned_gain(family) / base_gain(family)) for family in families()
            ),
            "the largest change of a family's mean gain by tuning, percent",
        ),
    }


DOCUMENTS = {
    family: Document(
        rows_reader(TWIN_ROWS, Family=family),
        {"": family_statistics},
        places={"": (TWINS, f"/hypothesis_results/{number}")}
        | {f"/{variant}": (TWINS, f"/twin_summary/{family}/{variant}") for variant in VARIANTS},
        derived_only=True,
    )
    for number, family in enumerate(FAMILIES)
} | {
    "study": Document(
        rows_reader(TWIN_ROWS), {"": study_of_twins}, places={"": (TWINS, "")}, derived_only=True
    )
}
