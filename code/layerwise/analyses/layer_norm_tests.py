"""GPT-2 and GPT-J against a gain of one, over 25 prompts (notebooks of Paper 3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from layerwise.analyses.derivation import Document
from layerwise.analyses.evidence import Entry
from layerwise.analyses.gain_files import R
from layerwise.statistics import gains
from layerwise.statistics.correlation import pearson_p, pearson_r
from layerwise.statistics.two_samples import require_sample

GPT2 = R + "gpt2_layernorm_validation_20260105_150306.csv"
GPTJ = R + "gptj_parallel_test_20260105_152333.csv"


def by(column: str, rows: Entry) -> dict[str, list[Entry]]:
    """The rows of a table by the label in a column."""
    found: dict[str, list[Entry]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found


def numbers(rows: list[Entry], column: str = "Last_Gain") -> np.ndarray:
    """A column of some rows."""
    return np.array([row[column] for row in rows], dtype=np.float64)


def means(rows: Entry) -> list[float]:
    """Mean gain of each model."""
    return [float(np.mean(numbers(some))) for some in by("Model", rows).values()]


def against_one(rows: list[Entry]) -> dict[str, Callable[[], float]]:
    """Student's t of a model's gains against 1, and its distance from 1 with the entropy."""

    def found() -> np.ndarray:
        return require_sample(numbers(rows))

    def r() -> float:
        return pearson_r(numbers(rows, "Entropy"), np.abs(numbers(rows) - 1))

    return {
        "mean": lambda: float(np.mean(numbers(rows))),
        "sd": lambda: float(np.std(numbers(rows), ddof=1)),
        "min": lambda: float(np.min(numbers(rows))),
        "max": lambda: float(np.max(numbers(rows))),
        "t": lambda: float(stats.ttest_1samp(found(), 1.0).statistic),
        "p_less": lambda: float(stats.ttest_1samp(found(), 1.0, alternative="less").pvalue),
        "bentov_r": r,
        "bentov_p": lambda: float(pearson_p(r(), len(rows))),
    }


TESTS = {
    "tests": lambda rows: {
        m: lambda some=s: against_one(some) for m, s in by("Model", rows).items()
    }
}
DOCUMENTS = {
    "gpt2": Document(
        GPT2,
        {"": TESTS | {"expand_pct": lambda rows: gains.percent([g >= 1 for g in means(rows)])}},
        places={"/rows": (GPT2, "")},
    ),
    "gptj": Document(
        GPTJ,
        {
            "": TESTS
            | {
                "categories": lambda rows: {
                    name: lambda some=some: float(np.mean(numbers(some)))
                    for name, some in by("Category", rows).items()
                }
            }
        },
        places={"/rows": (GPTJ, "")},
    ),
}
