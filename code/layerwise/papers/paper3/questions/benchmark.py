"""The questions of Paper 3 on the benchmark, its order of models, and tuned models."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from layerwise.engine.evidence import Evidence
from layerwise.engine.published import PUBLISHED
from layerwise.engine.question import OF_MEAN, Question, Range
from layerwise.papers.paper3.questions.gains import (
    FEWEST_FOR_MAJORITY,
    MAJORITY,
    all_models_together,
)
from layerwise.papers.paper3.rules.gain_files import Rows
from layerwise.papers.paper3.rules.twins import VARIANTS, keeps_side, last_gains
from layerwise.papers.shared.names.choices import Choice
from layerwise.statistics.estimates import Estimate, family_level, mean_estimate, share_estimate


def rows_by_model(evidence: Evidence) -> dict[str, Rows]:
    """Return the rows of the four models, and those of the tuned families, by name and variant."""
    rows_by_name: dict[str, Rows] = {}
    for table in evidence.role("benchmark").values():
        rows_by_name |= Rows(table).by("Model")
    for family, twins in tuned_families(evidence).items():
        for variant, rows in twins.by("Variant").items():
            rows_by_name[f"{family} {variant}"] = rows
    return rows_by_name


EXPANSION = Question(
    name="expansion",
    paper=3,
    says="The last block, before the final norm, expands the residual stream.",
    number="mean last gain",
    unit="prompts",
    models=rows_by_model,
    choices={
        PUBLISHED: lambda rows: mean_estimate(rows["Last_Gain"], "prompts"),
        Choice.MODELS_AT_ONCE: lambda rows: mean_estimate(
            rows["Last_Gain"], "prompts", family_level(len(rows_by_model(rows.table.evidence)))
        ),
    },
    within=Range(above=1.0),
)


# --- the benchmark's order, and tuned models beside their bases -----------------------------------

# Neighbours in the abstract's order, and the name of each comparison.
ORDER = ("Pythia-6.9B", "Mistral-7B", "LLaMA-3.1-8B", "Gemma-7B")


@dataclass(frozen=True)
class Neighbours:
    """The rows of two models of the benchmark; the second is said to have the larger gain."""

    first: Rows
    second: Rows


def neighbouring_models(evidence: Evidence) -> dict[str, Neighbours]:
    """Return the neighbours in the printed order, by their comparison."""
    by_name = rows_by_model(evidence)
    pairs = pairwise(ORDER) if by_name else ()
    return {f"{a} < {b}": Neighbours(by_name[a], by_name[b]) for a, b in pairs}


def rise_of_gain(neighbours: Neighbours, n_tests: int = 1) -> Estimate:
    """Return the second's mean gain less the first's, paired: both saw the same prompts."""
    first, second = (
        np.asarray(rows["Last_Gain"], dtype=float) for rows in (neighbours.first, neighbours.second)
    )
    return mean_estimate(second - first, "prompts", family_level(n_tests))


GAIN_ORDER = Question(
    name="gain_order",
    paper=3,
    says="The last gains of the four benchmarked models stand in the printed order.",
    number="the larger mean last gain less the next smaller",
    unit="prompts",
    models=neighbouring_models,
    choices={
        PUBLISHED: rise_of_gain,
        Choice.MODELS_AT_ONCE: lambda neighbours: rise_of_gain(neighbours, len(ORDER) - 1),
    },
    within=Range(above=0.0),
    effect=OF_MEAN,
)


def tuned_families(evidence: Evidence) -> dict[str, Rows]:
    """Return the rows of a base model and its tuned twin, by family."""
    by_family: dict[str, Rows] = {}
    for table in evidence.role("tuned").values():
        by_family |= Rows(table).by("Family")
    return by_family


def share_of_families(evidence: Evidence) -> Estimate:
    """Return the share of the families whose tuned model stays on its base's side of 1.

    The unit is the family: a claim on what tuning can do is about models, not about prompts.
    """
    kept = [keeps_side(family) for family in tuned_families(evidence).values()]
    return share_estimate(kept, "families")


def tuned_from_one(family: Rows, n_tests: int = 1) -> Estimate:
    """Return the tuned model's mean gain less 1, counted towards the side of its base.

    It is negative where tuning turned the side; of a base whose interval includes 1 neither side
    is, and the ends say so.
    """
    level = family_level(n_tests)
    base, tuned = (
        mean_estimate(last_gains(family, variant), "prompts", level) for variant in VARIANTS
    )
    distance, low, high = tuned.value - 1, tuned.low - 1, tuned.high - 1
    if base.value < 1:
        distance, low, high = -distance, -high, -low
    if base.low <= 1 <= base.high:
        low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
    return replace(tuned, value=distance, low=low, high=high)


SIDE_KEPT = Question(
    name="side_kept",
    paper=3,
    says="The tuned model's gain stays on its base's side of 1.",
    number="distance of the tuned gain from 1, towards its base's side",
    unit="prompts",
    models=tuned_families,
    choices={
        PUBLISHED: tuned_from_one,
        Choice.MODELS_AT_ONCE: lambda family: tuned_from_one(
            family, len(tuned_families(family.table.evidence))
        ),
    },
    within=Range(above=0.0),
)


TUNED_FAMILIES = Question(
    name="tuned_families",
    paper=3,
    says="In most families of models tuning keeps the gain on its side of 1.",
    number="share of the families that do",
    unit="families",
    models=all_models_together,
    choices={PUBLISHED: share_of_families},
    within=Range(above=MAJORITY),
    fewest=FEWEST_FOR_MAJORITY,
)


QUESTIONS = (EXPANSION, GAIN_ORDER, SIDE_KEPT, TUNED_FAMILIES)
