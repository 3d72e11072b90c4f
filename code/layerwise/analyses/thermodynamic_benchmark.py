"""The unified benchmark: four models, 25 prompts each (Paper 3, abstract; benchmark notebook)."""

import numpy as np
from jaxtyping import Float32

from layerwise.analyses.derivation import Document, Rules, each, together
from layerwise.analyses.gain_files import Rows, rows_of
from layerwise.inputs.published import pointer
from layerwise.places.result_files import BENCHMARK, BENCHMARK_ROWS
from layerwise.statistics.correlation import pearson
from layerwise.statistics.samples import pooled_d, pooled_t, spearman

MODELS = ("Pythia-6.9B", "Gemma-7B", "Mistral-7B", "LLaMA-3.1-8B")
CATEGORIES = ("Factual", "Syntactic", "Cliche", "Novel", "Nonsense")

Prompts = Float32[np.ndarray, " prompt"]


def distance(m: Rows) -> np.ndarray:
    return np.abs(m["Last_Gain"] - 1)


def entropies(m: Rows, category: str) -> Prompts:
    """Of the prompts of a category, in single precision, as stored."""
    return m.where(Category=category)["Entropy"].astype(np.float32)


def compared(m: Rows) -> tuple[Prompts, Prompts]:
    """The entropies of the two categories that the notebook tests."""
    return entropies(m, "Cliche"), entropies(m, "Novel")


def single(m: Rows) -> np.ndarray:
    """All entropies, as far as single precision goes."""
    return m["Entropy"].astype(np.float32).astype(np.float64)


OF_CATEGORY: Rules = {
    "gain": lambda c: np.mean(c["Last_Gain"]),
    "dev": lambda c: np.mean(distance(c)),
    "entropy": lambda c: np.mean(c["Entropy"]),
}
OF_MODEL: Rules = {
    "base_level": lambda m: np.mean(m["Last_Gain"]),
    "range/min": lambda m: np.min(m["Last_Gain"]),
    "range/max": lambda m: np.max(m["Last_Gain"]),
    "range/range": lambda m: np.ptp(m["Last_Gain"]),
    "entropy/Pearson_r": lambda m: pearson(single(m), m["Last_Gain"]).r,
    "entropy/Pearson_p": lambda m: pearson(single(m), m["Last_Gain"]).p,
    "entropy/Spearman_r": lambda m: spearman(single(m), m["Last_Gain"]).r,
    "entropy/Spearman_p": lambda m: spearman(single(m), m["Last_Gain"]).p,
    "complexity/Complexity_Spearman_r": lambda m: spearman(m["Complexity"], m["Last_Gain"]).r,
    "complexity/Complexity_Spearman_p": lambda m: spearman(m["Complexity"], m["Last_Gain"]).p,
    "distance_r": lambda m: pearson(single(m), distance(m)).r,
    # the shortest decimals of the single-precision means
    "p3/Cliche_mean": lambda m: float(str(entropies(m, "Cliche").mean())),
    "p3/Novel_mean": lambda m: float(str(entropies(m, "Novel").mean())),
    "p3/t_stat": lambda m: pooled_t(*compared(m))[0],
    "p3/p_val": lambda m: pooled_t(*compared(m))[1],
    "p3/cohens_d": lambda m: pooled_d(*compared(m)),
    "category": each(
        lambda m: {name: m.where(Category=name) for name in CATEGORIES}, together(OF_CATEGORY)
    ),
}
STUDY: Rules = {
    "n_measurements": lambda rows: len(rows["Last_Gain"]),
    # by mean gain, the smallest first
    "order": lambda rows: " < ".join(
        sorted(MODELS, key=lambda model: np.mean(rows.where(Model=model)["Last_Gain"]))
    ),
}


def places(number: int, model: str) -> dict[str, tuple[str, str]]:
    """Where the summary has the statistics of a model."""
    platitude = pointer("p3_platitude_tunnel", number)
    return {
        "/base_level": (BENCHMARK, pointer("base_levels", model)),
        "/range": (BENCHMARK, pointer("modulation_ranges", model)),
        "/entropy": (BENCHMARK, pointer("entropy_correlations", number)),
        "/complexity": (BENCHMARK, pointer("complexity_correlations", number)),
        **{f"/p3/{q}": (BENCHMARK, f"{platitude}/{q}") for q in ("t_stat", "p_val", "cohens_d")},
    }


DOCUMENTS = {
    model: Document(
        rows_of(BENCHMARK_ROWS, Model=model),
        {"": OF_MODEL},
        places=places(number, model),
        shows=False,
    )
    for number, model in enumerate(MODELS)
} | {
    "study": Document(
        rows_of(BENCHMARK_ROWS),
        {"": STUDY},
        places={"/n_measurements": (BENCHMARK, "/n_measurements")},
        shows=False,
    )
}
