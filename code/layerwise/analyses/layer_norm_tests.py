"""GPT-2 and GPT-J against a gain of one, over 25 prompts (notebooks of Paper 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from layerwise.analyses import gain_files as files
from layerwise.analyses.documents import Draws, Replay
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import gains
from layerwise.statistics.correlation import pearson_p, pearson_r
from layerwise.statistics.student import mean_test

GAIN, ENTROPY = "Last_Gain", "Entropy"


def derive(work: Replay, draws: Draws) -> None:
    """Both tests from the gains of the prompts."""
    published = work.published
    for document, file in (("gpt2", files.GPT2), ("gptj", files.GPTJ)):
        work.start(document, {"rows": published.document(file)}, {"/rows": (file, "")})
        for model, rows in files.rows_of(published, file, "Model").items():
            for name, compute in _of_model(published, file, rows).items():
                work.derive(document, pointer("tests", model, name), compute)
    for category, rows in files.rows_of(published, files.GPTJ, "Category").items():
        work.derive("gptj", pointer("categories", category), _mean, published, files.GPTJ, rows)
    gpt2 = files.rows_of(published, files.GPT2, "Model")
    work.derive(
        "gpt2",
        "/expand_pct",
        lambda: gains.percent([not gains.dampens(gain) for gain in gpt2_means(published, gpt2)]),
    )


def gpt2_means(published: Published, rows: Mapping[str, Sequence[int]]) -> list[float]:
    """Mean gain of each GPT-2 model, from its rows of the table."""
    return [_mean(published, files.GPT2, some) for some in rows.values()]


def _mean(published: Published, file: str, rows: Sequence[int]) -> float:
    return float(np.mean(files.column(published, file, GAIN, rows)))


def _of_model(published: Published, file: str, rows: Sequence[int]) -> dict[str, Callable[[], Any]]:
    def found() -> np.ndarray:
        return files.column(published, file, GAIN, rows)

    def r() -> float:
        return pearson_r(files.column(published, file, ENTROPY, rows), np.abs(found() - 1))

    return {
        "mean": lambda: _mean(published, file, rows),
        "sd": lambda: float(np.std(found(), ddof=1)),
        "min": lambda: float(np.min(found())),
        "max": lambda: float(np.max(found())),
        "t": lambda: mean_test(found(), 1.0).t,
        "p_less": lambda: mean_test(found(), 1.0).p_less,
        "bentov_r": r,
        "bentov_p": lambda: float(pearson_p(r(), len(rows))),
    }
