"""GPT-2 and GPT-J against a gain of one, over 25 prompts (notebooks of Paper 3)."""

from typing import Any

import numpy as np
from scipy import stats

from layerwise.analyses.derivation import Document, Rules, each, together
from layerwise.analyses.gain_files import Rows, rows_of
from layerwise.inputs.result_files import GPT2, GPTJ
from layerwise.statistics import gains
from layerwise.statistics.correlation import Correlation, pearson
from layerwise.statistics.samples import require_sample


def mean(rows: Rows) -> float:
    return float(np.mean(rows["Last_Gain"]))


def means(rows: Rows) -> list[float]:
    return [mean(of) for of in rows.by("Model").values()]


def against_one(rows: Rows, **options: str) -> Any:
    return stats.ttest_1samp(require_sample(rows["Last_Gain"]), 1.0, **options)


def bentov(rows: Rows) -> Correlation:
    """The entropies with the gains' distance from 1."""
    return pearson(rows["Entropy"], np.abs(rows["Last_Gain"] - 1))


OF_MODEL: Rules = {
    "mean": mean,
    "sd": lambda rows: np.std(rows["Last_Gain"], ddof=1),
    "min": lambda rows: np.min(rows["Last_Gain"]),
    "max": lambda rows: np.max(rows["Last_Gain"]),
    "t": lambda rows: against_one(rows).statistic,
    "p_less": lambda rows: against_one(rows, alternative="less").pvalue,
    "bentov_r": lambda rows: bentov(rows).r,
    "bentov_p": lambda rows: bentov(rows).p,
}
TESTS = {"tests": each(lambda rows: rows.by("Model"), together(OF_MODEL))}
DOCUMENTS = {
    "gpt2": Document(
        rows_of(GPT2),
        {"": TESTS | {"expand_pct": lambda rows: gains.percent([g >= 1 for g in means(rows)])}},
        places={"/rows": (GPT2, "")},
    ),
    "gptj": Document(
        rows_of(GPTJ),
        {"": TESTS | {"categories": each(lambda rows: rows.by("Category"), mean)}},
        places={"/rows": (GPTJ, "")},
    ),
}
