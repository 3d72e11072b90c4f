"""Base models and their instruction-tuned versions (Paper 3, section 5.5; twin notebook)."""

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, all_of, count
from layerwise.papers.paper3.rules.gain_files import Rows, rows_of
from layerwise.papers.shared.names.result_files import TWIN_ROWS, TWINS
from layerwise.statistics.correlation import pearson_r

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
    """Return whether base and tuned model lie on one side of 1."""
    return (base(family) > 1) == (tuned(family) > 1)


def base_tuned(rows: Rows) -> float:
    """r of the base and the tuned models' mean gains over the families."""
    return pearson_r(*np.array([(base(f), tuned(f)) for f in rows.by("Family").values()]).T)


def prompts_turned(family: Rows) -> int:
    """Prompts whose gain lies on one side of 1 in the base and on the other in the tuned model."""
    sides = [family.where(Variant=variant)["Last_Gain"] > 1 for variant in VARIANTS]
    return int(np.sum(sides[0] != sides[1]))


def largest_change(rows: Rows) -> float:
    """The largest change of a family's mean gain by tuning, percent."""
    return max(100 * abs(1 - tuned(f) / base(f)) for f in rows.by("Family").values())


OF_FAMILY: Rules = {
    "base/std_gain": Rule(
        lambda f: np.std(f.where(Variant="base")["Last_Gain"]),
        "population SD of the base model's last gain",
    ),
    "instruct/std_gain": Rule(
        lambda f: np.std(f.where(Variant="instruct")["Last_Gain"]),
        "population SD of the tuned model's last gain",
    ),
    "Base_Gain": base,
    "Instruct_Gain": tuned,
    "Delta": Rule(lambda f: tuned(f) - base(f), "by how much tuning moves the mean last gain"),
    "Ratio": Rule(lambda f: tuned(f) / base(f), "the tuned mean last gain over that of the base"),
    "RLHF_Effect": Rule(
        lambda f: effect(tuned(f) - base(f)), "the notebook's word for that difference"
    ),
    "Same_Sign": same_side,
}
STUDY: Rules = {
    "n_total_measurements": Rule(
        lambda rows: count(rows["Last_Gain"]), "the prompts of all models"
    ),
    "sign_kept": Rule(
        lambda rows: all_of(map(same_side, rows.by("Family").values())),
        "whether tuning keeps every family on its side of 1",
    ),
    "n_damping_bases": Rule(
        lambda rows: sum(base(f) < 1 for f in rows.by("Family").values()),
        "the base models that damp",
    ),
    "base_tuned_r": base_tuned,
    "criterion": Rule(
        lambda rows: "above 0.8" if base_tuned(rows) > 0.8 else "0.8 or less",
        "whether base and tuned gains correlate above 0.8",
    ),
    "n_prompts_turned": Rule(
        lambda rows: sum(map(prompts_turned, rows.by("Family").values())),
        "the prompts that tuning takes to the other side of 1",
    ),
    "n_prompt_pairs": Rule(
        lambda rows: sum(
            len(f.where(Variant="base")["Last_Gain"]) for f in rows.by("Family").values()
        ),
        "the prompts of base models",
    ),
    "largest_change_pct": largest_change,
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
