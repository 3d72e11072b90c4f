"""Statistics of the statement categories that several analyses share."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.engine.derivation import Function, Rule
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import DATASET
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.names.categories import SERIES
from layerwise.papers.shared.names.result_files import CLASSES
from layerwise.statistics import curves
from layerwise.statistics.correlation import Correlation, leave_one_out, pearson_p, pearson_r


def categories(f: Entry | Evidence) -> list[str]:
    """The categories of the statement pairs, in the order of the streams."""
    return list(f.of(DATASET))


def n_categories(f: Entry | Evidence) -> int:
    """Return the number of categories of the statement pairs."""
    return len(f.of(DATASET))


def n_pairs(f: Entry | Evidence, category: str) -> int:
    return int(f.of(DATASET)[category].n_pairs)


def p_over_categories(f: Entry | Evidence, r: float) -> float:
    return float(pearson_p(r, len(f.of(DATASET))))


def total_pairs(f: Entry | Evidence) -> int:
    """Return the number of statement pairs."""
    return sum(n_pairs(f, category) for category in f.of(DATASET))


def asymmetry(of_category: Entry) -> float:
    """UA of a category: its two mean pairwise cosines, subtracted."""
    return of_category.uniformity_a - of_category.uniformity_b


def asymmetries(ua: Entry) -> Float[np.ndarray, " category"]:
    """UA by category, of a file on one model."""
    return np.array([asymmetry(ua[category]) for category in categories(ua)])


def preferences(ua: Entry) -> Float[np.ndarray, " category"]:
    """Mean preference by category, nats."""
    return np.array([ua[category].output_preference for category in categories(ua)])


def r_over_categories(ua: Entry) -> float:
    """Return r of UA and preference over the categories."""
    return pearson_r(asymmetries(ua), preferences(ua), SERIES)


def ends(interval: Entry) -> curves.Ends:
    return interval.ci_lower, interval.ci_upper


def includes_zero(interval: Entry) -> bool:
    """Return whether the interval of r includes zero."""
    return curves.includes_zero(ends(interval))


OVER_CATEGORIES: dict[str, Function] = {
    "p_value": Rule(lambda m: p_over_categories(m, m.r), "two-sided p of r"),
    "includes_zero": includes_zero,
}
OVER_PAIRS: dict[str, Function] = {
    "p_value": Rule(lambda m: float(pearson_p(m.r, total_pairs(m))), "two-sided p of r"),
    "includes_zero": includes_zero,
}


def without_a_category(validation: Mapping[str, Any]) -> dict[str, Correlation]:
    """r of UA and preference over the other categories at the last layer, by the one left out.

    Arguments:
        validation: the result document; none of fewer than four categories.
    """
    of = {name: one for name, one in validation.items() if not name.startswith("_")}
    return leave_one_out(
        {name: (one["asymmetry"], one["output_preference"]) for name, one in of.items()}
    )


def decisive_category(validation: Mapping[str, Any]) -> str | None:
    """The category without which r over the categories has another sign, or under half its size."""
    r, left = validation["_global_stats"]["ua_output_correlation"], without_a_category(validation)
    makes = [name for name, one in left.items() if one.r * r < 0.5 * r**2]
    return min(makes, key=lambda name: left[name].r * r, default=None)


def shared_value(values: Iterable[Any]) -> Any:
    """The one value that all files share."""
    found = set(values)
    if len(found) != 1:
        raise LayerwiseError(
            f"the result files must agree on a setting, found {sorted(found)}; restore the table"
        )
    return found.pop()


def preference(f: Entry | Evidence, model: str, category: str) -> float:
    """Mean preference, nats: NLL of B minus NLL of A."""
    row = f.of(CLASSES).row(model=model, category=category)
    return row.nll_b - row.nll_a
