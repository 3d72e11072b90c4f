"""The unified benchmark: four models, 25 prompts each (Paper 3, abstract; benchmark notebook)."""

from __future__ import annotations

import numpy as np

from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Entry
from layerwise.analyses.gain_files import R
from layerwise.inputs.published import pointer
from layerwise.statistics.correlation import pearson_p, pearson_r
from layerwise.statistics.ranks import spearman
from layerwise.statistics.two_samples import TTest, pooled_d, pooled_t

ROWS = R + "thermodynamic_benchmark_20260105_141034.csv"
SUMMARY = R + "thermodynamic_benchmark_20260105_141034.json"
MODELS = ("Pythia-6.9B", "Gemma-7B", "Mistral-7B", "LLaMA-3.1-8B")
CATEGORIES = ("Factual", "Syntactic", "Cliche", "Novel", "Nonsense")
SIMPLE, NEW = "Cliche", "Novel"  # the two categories whose entropies are compared


def column(rows: Entry, name: str, **where: str) -> np.ndarray:
    """A column of the rows with these labels; entropies in single precision, as stored."""
    chosen = [row for row in rows if all(row[key] == label for key, label in where.items())]
    kind = np.float32 if name == "Entropy" else np.float64
    return np.array([row[name] for row in chosen], dtype=kind)


def order(rows: Entry) -> str:
    """The models by mean gain, the smallest first."""
    means = {model: np.mean(column(rows, "Last_Gain", Model=model)) for model in MODELS}
    return " < ".join(sorted(means, key=means.__getitem__))


def of(model: str) -> Rules:
    """The rules of one model."""

    def gains(rows: Entry) -> np.ndarray:
        return column(rows, "Last_Gain", Model=model)

    def entropies(rows: Entry) -> np.ndarray:
        return column(rows, "Entropy", Model=model).astype(np.float64)

    def complexities(rows: Entry) -> np.ndarray:
        return column(rows, "Complexity", Model=model)

    def pearson(rows: Entry) -> float:
        return pearson_r(entropies(rows), gains(rows))

    def of_category(rows: Entry, name: str) -> np.ndarray:
        return column(rows, "Entropy", Model=model, Category=name)

    def compared(rows: Entry) -> tuple[np.ndarray, np.ndarray]:
        return of_category(rows, SIMPLE), of_category(rows, NEW)

    def test(rows: Entry) -> TTest:
        return pooled_t(*compared(rows))

    return {
        "base_level": lambda rows: float(np.mean(gains(rows))),
        "range/min": lambda rows: float(np.min(gains(rows))),
        "range/max": lambda rows: float(np.max(gains(rows))),
        "range/range": lambda rows: float(np.ptp(gains(rows))),
        "entropy/Pearson_r": pearson,
        "entropy/Pearson_p": lambda rows: float(pearson_p(pearson(rows), len(gains(rows)))),
        "entropy/Spearman_r": lambda rows: spearman(entropies(rows), gains(rows)).r,
        "entropy/Spearman_p": lambda rows: spearman(entropies(rows), gains(rows)).p,
        "complexity/Complexity_Spearman_r": lambda rows: (
            spearman(complexities(rows), gains(rows)).r
        ),
        "complexity/Complexity_Spearman_p": lambda rows: (
            spearman(complexities(rows), gains(rows)).p
        ),
        "distance_r": lambda rows: pearson_r(entropies(rows), np.abs(gains(rows) - 1)),
        # as printed: the shortest decimal of the single-precision mean
        "p3/Cliche_mean": lambda rows: float(str(of_category(rows, SIMPLE).mean())),
        "p3/Novel_mean": lambda rows: float(str(of_category(rows, NEW).mean())),
        "p3/t_stat": lambda rows: test(rows).t,
        "p3/p_val": lambda rows: test(rows).p_value,
        "p3/cohens_d": lambda rows: pooled_d(*compared(rows)),
    } | {
        f"category/{name}/{statistic}": rule
        for name in CATEGORIES
        for statistic, rule in by_category(model, name).items()
    }


def by_category(model: str, name: str) -> Rules:
    """Mean gain, distance from 1 and entropy over the prompts of a category."""

    def gains(rows: Entry) -> np.ndarray:
        return column(rows, "Last_Gain", Model=model, Category=name)

    return {
        "gain": lambda rows: float(np.mean(gains(rows))),
        "dev": lambda rows: float(np.mean(np.abs(gains(rows) - 1))),
        "entropy": lambda rows: float(
            np.mean([row.Entropy for row in rows if (row.Model, row.Category) == (model, name)])
        ),
    }


STUDY = {
    "n_measurements": lambda rows: len(column(rows, "Last_Gain")),
    "order": order,
}


def places(number: int, model: str) -> dict[str, tuple[str, str]]:
    """Where the summary has the statistics of a model."""
    platitude = pointer("p3_platitude_tunnel", number)
    return {
        "/base_level": (SUMMARY, pointer("base_levels", model)),
        "/range": (SUMMARY, pointer("modulation_ranges", model)),
        "/entropy": (SUMMARY, pointer("entropy_correlations", number)),
        "/complexity": (SUMMARY, pointer("complexity_correlations", number)),
        **{f"/p3/{q}": (SUMMARY, f"{platitude}/{q}") for q in ("t_stat", "p_val", "cohens_d")},
    }


DOCUMENTS = {
    model: Document(ROWS, {"": of(model)}, places=places(number, model), shows=False)
    for number, model in enumerate(MODELS)
} | {
    "study": Document(
        ROWS,
        {"": STUDY},
        places={"/n_measurements": (SUMMARY, "/n_measurements")},
        shows=False,
    )
}
