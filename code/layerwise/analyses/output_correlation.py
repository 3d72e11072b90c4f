"""Paper 1's supplement: UA against the preference of the outputs, over categories and models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.analyses.calibration_text import MODELS, NUMERIC
from layerwise.analyses.documents import Draws, Replay, asymmetry
from layerwise.analyses.validation import FACTS, OUTPUT_CORRELATION
from layerwise.errors import LayerwiseError
from layerwise.inputs.published import Published, pointer
from layerwise.statistics.correlation import pearson_p, pearson_r

CONTRIBUTIONS = "extended_results/data/contribution_by_category.csv"
CLASSES = "extended_results/data/category_classification.csv"
DIVERGENCE = "extended_results/data/cross_model_divergence.csv"
REGIMES = ("LIE_REGIME", "BULLSHIT_REGIME", "MIXED")
SCALE = 10  # of UA against the preference, in the gap


def derive(work: Replay, draws: Draws) -> None:
    """Correlations, gaps, divergences, counts of regimes, and the noise between the two runs."""
    published = work.published
    rows = Rows(published)
    work.start(
        "correlation", published.document(OUTPUT_CORRELATION), {"": (OUTPUT_CORRELATION, "")}
    )
    divergences = published.document(DIVERGENCE)
    work.start("divergence", {"rows": divergences}, {"/rows": (DIVERGENCE, "")})
    work.start("classification", {}, {})
    work.start("rerun", {}, {})
    for model in MODELS:
        for name, compute in _correlations(rows, model).items():
            work.derive("correlation", pointer("numeric_split", model, name), compute)
        work.derive("correlation", pointer("rlhf_masking", model, "gap"), _gap, rows, model)
        work.derive("rerun", pointer(model), _rerun_noise, rows, model)
    for number, row in enumerate(divergences):
        for name, compute in _divergence(rows, row["category"]).items():
            work.derive("divergence", pointer("rows", number, name), compute)
    for regime in REGIMES:
        work.derive("classification", pointer(regime), _cells_in, published, regime)


class Rows:
    """The supplement's cells, one row per model and category."""

    def __init__(self, published: Published) -> None:
        self.published = published
        self.number: dict[str, dict[tuple[str, str], int]] = {
            file: {
                (row["model"], row["category"]): number
                for number, row in enumerate(published.document(file))
            }
            for file in (CONTRIBUTIONS, CLASSES)
        }
        self.categories = list(
            dict.fromkeys(category for _, category in self.number[CONTRIBUTIONS])
        )

    def value(self, file: str, model: str, category: str, name: str) -> float:
        """A number of one row.

        Raises:
            LayerwiseError: if there is no row of that model and category.
        """
        number = self.number[file].get((model, category))
        if number is None:
            raise LayerwiseError(f"{file}: no row of {model} and {category}; restore the table")
        return self.published.number(file, pointer(number, name))

    def ua(self, model: str, category: str) -> float:
        return self.value(CONTRIBUTIONS, model, category, "ua")

    def preference(self, model: str, category: str) -> float:
        """Mean preference, nats: NLL of B minus NLL of A."""
        b, a = (self.value(CLASSES, model, category, f"nll_{side}") for side in "ba")
        return b - a


def _correlations(rows: Rows, model: str) -> dict[str, Callable[[], float]]:
    def r(without: tuple[str, ...] = ()) -> tuple[float, int]:
        kept = [category for category in rows.categories if category not in without]
        ua = np.array([rows.ua(model, category) for category in kept])
        preference = np.array([rows.preference(model, category) for category in kept])
        return pearson_r(ua, preference), len(kept)

    return {
        "full_r": lambda: r()[0],
        "full_p": lambda: float(pearson_p(*r())),
        "r_without_numeric": lambda: r((NUMERIC,))[0],
        "p_without_numeric": lambda: float(pearson_p(*r((NUMERIC,)))),
        "delta_r": lambda: r((NUMERIC,))[0] - r()[0],
    }


def _gap(rows: Rows, model: str) -> float:
    """10 |UA| - |preference| on scientific facts."""
    return SCALE * abs(rows.ua(model, FACTS)) - abs(rows.preference(model, FACTS))


def _rerun_noise(rows: Rows, model: str) -> float:
    """Largest difference of a category's UA between Paper 1's run and the supplement's."""
    return max(
        abs(rows.ua(model, category) - asymmetry(rows.published, MODELS[model], category))
        for category in rows.categories
    )


def _divergence(rows: Rows, category: str) -> dict[str, Callable[[], Any]]:
    def ua() -> list[float]:
        return [rows.ua(model, category) for model in MODELS]

    def preference() -> list[float]:
        return [rows.preference(model, category) for model in MODELS]

    return {
        "ua_std": lambda: float(np.std(ua())),
        "ua_range": lambda: float(np.ptp(ua())),
        "pref_std": lambda: float(np.std(preference())),
        "pref_range": lambda: float(np.ptp(preference())),
        "total_divergence": lambda: float(np.std(ua()) + np.std(preference())),
    }


def _cells_in(published: Published, regime: str) -> int:
    n = len(published.document(CLASSES))
    return sum(published[CLASSES, pointer(row, "classification")] == regime for row in range(n))
