"""Rules that several papers share: statistics of the statement categories."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.engine.derivation import Rule, Rules, Section
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import DATASET
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject
from layerwise.papers.shared.names import SERIES
from layerwise.papers.shared.result_files import CLASSES, UA_FILES
from layerwise.statistics import curves
from layerwise.statistics.correlation import Correlation, leave_one_out, pearson_p, pearson_r


def join_sections(*sections: Section) -> Section:
    """Return the section that has the rules of several, in their order."""
    return lambda entry: {
        name: rule for section in sections for name, rule in section(entry).items()
    }


def categories(source: Entry | Evidence) -> list[str]:
    """Return the categories of the statement pairs, in the order of the streams."""
    return list(source.of(DATASET))


def n_categories(source: Entry | Evidence) -> int:
    """Return the number of categories of the statement pairs."""
    return len(source.of(DATASET))


def n_pairs(source: Entry | Evidence, category: str) -> int:
    """Return the number of statement pairs of a category."""
    return int(source.of(DATASET)[category].n_pairs)


def p_over_categories(source: Entry | Evidence, r: float) -> float:
    """Return the two-sided p of r over the categories."""
    return float(pearson_p(r, len(source.of(DATASET))))


def total_pairs(source: Entry | Evidence) -> int:
    """Return the number of statement pairs."""
    return sum(n_pairs(source, category) for category in source.of(DATASET))


def asymmetry(category: Entry) -> float:
    """Return UA of a category: its two mean pairwise cosines, subtracted."""
    return category.uniformity_a - category.uniformity_b


def asymmetries(ua: Entry) -> Float[np.ndarray, " category"]:
    """Return UA by category from a file on one model."""
    return np.array([asymmetry(ua[category]) for category in categories(ua)])


def preferences(ua: Entry) -> Float[np.ndarray, " category"]:
    """Return the mean preference by category, nats."""
    return np.array([ua[category].output_preference for category in categories(ua)])


def r_over_categories(ua: Entry) -> float:
    """Return r of UA and preference over the categories."""
    return pearson_r(asymmetries(ua), preferences(ua), SERIES)


def last_layer(slug: str, key: str, test: Entry) -> Rules:
    """The r of a test of the last layer: the file on UA is about the states of that layer.

    Arguments:
        key: of r in the test.
    """
    return {
        key: Rule(
            lambda: r_over_categories(test.of(UA_FILES[slug])),
            "r of UA and preference over the categories, last layer",
        )
    }


def read_ends(interval: Entry) -> curves.Ends:
    """Return the lower and the upper end of an interval."""
    return interval.ci_lower, interval.ci_upper


def covers_zero(interval: Entry) -> bool:
    """Return whether the interval of r includes zero."""
    return curves.includes_zero(read_ends(interval))


def category_states(category: Entry) -> Rules:
    """The statistics of a category that need no preference: an embedding model has none."""
    return {
        "n_pairs": Rule(
            lambda: n_pairs(category, category.called), "the statement pairs of the category"
        ),
        "asymmetry": partial(asymmetry, category),
    }


def category_test(test: Entry) -> Rules:
    """A test of r over the categories."""
    return {
        "p_value": Rule(lambda: p_over_categories(test, test.r), "two-sided p of r"),
        "includes_zero": partial(covers_zero, test),
    }


def pair_test(test: Entry) -> Rules:
    """A test of r over the pairs."""
    return {
        "p_value": Rule(lambda: float(pearson_p(test.r, total_pairs(test))), "two-sided p of r"),
        "includes_zero": partial(covers_zero, test),
    }


def r_without_each_category(validation: JsonObject) -> dict[str, Correlation]:
    """Return r of UA and preference over the other categories, by the category left out.

    Arguments:
        validation: the result document; none of fewer than four categories.
    """
    return leave_one_out(
        {
            name: (category["asymmetry"], category["output_preference"])
            for name, category in validation.items()
            if not name.startswith("_")
        }
    )


def decisive_category(validation: JsonObject) -> str | None:
    """Return the category without which r has another sign or under half its size; None without."""
    r: float = validation["_global_stats"]["ua_output_correlation"]
    left_out = r_without_each_category(validation)
    decisive = [name for name, correlation in left_out.items() if correlation.r * r < 0.5 * r**2]
    return min(decisive, key=lambda name: left_out[name].r * r, default=None)


def shared_value(values: Iterable[Any]) -> Any:
    """Return the one value that all files share.

    Raises:
        LayerwiseError: if they do not agree.
    """
    distinct = set(values)
    if len(distinct) != 1:
        raise LayerwiseError(
            f"the result files must agree on a setting, found {sorted(distinct)}; restore the table"
        )
    return distinct.pop()


def preference(source: Entry | Evidence, model: str, category: str) -> float:
    """Return the mean preference of a category, nats: NLL of B minus NLL of A."""
    row = source.of(CLASSES).row(model=model, category=category)
    return row.nll_b - row.nll_a
