"""Means over prompts, whose gains hang together within a category.

The notebooks ask five prompts of each of five categories. Within a category the gains correlate
(0.5 to 0.9 in three of the benchmark's four models), so that the five categories decide what is
said of prompts, and not the 25 prompts.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from layerwise.engine.evidence import Entry
from layerwise.errors import LayerwiseError
from layerwise.papers.paper3.rules.thermodynamic_benchmark import (
    CATEGORIES as BENCHMARK_CATEGORIES,
)
from layerwise.papers.shared.result_files import SWEEP
from layerwise.statistics.by_category import FEWEST_CATEGORIES, mean_over_categories
from layerwise.statistics.estimates import Estimate, mean_estimate

UNIT = "categories of prompts"
CATEGORIES = "prompt_categories"  # of a reader's prompts, one of each
# The sweep's file has a gain a prompt and no column for its category: its notebook lists five
# prompts of each category of the benchmark, in the order that the benchmark's table has.
PER_CATEGORY = 5
SWEPT_CATEGORIES = [name for name in BENCHMARK_CATEGORIES for _ in range(PER_CATEGORY)]


def prompts_estimate(
    gains: Sequence[float] | np.ndarray, categories: Sequence[str] | None, where: str = ""
) -> Estimate:
    """Return the mean over prompts: that of the categories' means, unweighted.

    Student's t over the categories decides, never narrower than if all prompts were alike, by the
    variance within the categories, pooled. Prompts of one category, or of none that is told, have
    the interval over the prompts, which decides nothing.

    Arguments:
        categories: of each prompt; None where none is told.

    Raises:
        LayerwiseError: if there are not as many categories as prompts.
    """
    values = np.asarray(gains, dtype=np.float64)
    if categories is None or len(set(categories)) < FEWEST_CATEGORIES:
        return replace(mean_estimate(values, "prompts", where=where), uncategorised=True)
    if len(categories) != len(values):
        raise LayerwiseError(
            f"every prompt must have a category, found {len(values)} prompts and "
            f"{len(categories)} categories; give one of each"
        )
    named = np.asarray(categories)
    groups = [values[named == name] for name in dict.fromkeys(categories)]
    squares = sum(float(np.sum((group - group.mean()) ** 2)) for group in groups)
    within = squares / max(len(values) - len(groups), 1)  # zero where each has a single prompt
    estimate = mean_over_categories(
        [float(group.mean()) for group in groups],
        [within / len(group) for group in groups],
        where,
    )
    return replace(estimate, unit=UNIT)


def categories_of(model: Entry) -> Sequence[str] | None:
    """Return the category of each prompt behind a model's gains; None where none is told.

    The survey's five prompts come in none, and its file has their mean and deviation alone.
    """
    if CATEGORIES in model:
        return list(model[CATEGORIES])
    return SWEPT_CATEGORIES if model.cell[0] == SWEEP else None
