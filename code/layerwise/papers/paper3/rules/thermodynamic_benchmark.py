"""The unified benchmark: four models, 25 prompts each (Paper 3, abstract; benchmark notebook)."""

from collections.abc import Callable
from functools import partial

import numpy as np
from jaxtyping import Float32

from layerwise.engine.derivation import Document, Rule, Rules, combined, count, for_each_group
from layerwise.engine.published import pointer
from layerwise.papers.paper3.rules.gain_files import Rows, rows_of
from layerwise.papers.shared.names.result_files import BENCHMARK, BENCHMARK_ROWS
from layerwise.statistics.correlation import pearson
from layerwise.statistics.samples import pooled_d, pooled_t, spearman

MODELS = ("Pythia-6.9B", "Gemma-7B", "Mistral-7B", "LLaMA-3.1-8B")
PYTHIA = "Pythia-6.9B"
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


def by_model(rows: Rows) -> dict[str, Rows]:
    return {model: rows.where(Model=model) for model in MODELS}


def means(m: Rows, column: str) -> dict[str, float]:
    """Mean of a column by category of prompts."""
    return {name: float(np.mean(m.where(Category=name)[column])) for name in CATEGORIES}


def n_models(rows: Rows, rule: Callable[[Rows], bool]) -> str:
    """In how many of the models something holds."""
    n = sum(bool(rule(m)) for m in by_model(rows).values())
    return "all models" if n == len(MODELS) else f"{n} of {len(MODELS)} models"


def ranks(rows: Rows) -> dict[str, dict[str, int]]:
    """Place of a model's category by its mean distance of the gain from 1, the nearest first."""
    found = {
        (model, name): float(np.mean(distance(m.where(Category=name))))
        for model, m in by_model(rows).items()
        for name in CATEGORIES
    }
    order = sorted(found, key=found.__getitem__)
    places: dict[str, dict[str, int]] = {model: {} for model in MODELS}
    for place, (model, name) in enumerate(order, 1):
        places[model][name] = place
    return places


def above_base(m: Rows, category: str) -> bool:
    """Whether a category's mean gain is above that of all prompts."""
    return means(m, "Last_Gain")[category] > float(np.mean(m["Last_Gain"]))


def n_above_base(rows: Rows, category: str) -> str:
    """In how many models it is."""
    return n_models(rows, partial(above_base, category=category))


def pythia_direction(rows: Rows) -> str:
    """Whether a higher entropy comes with a higher or a lower gain in Pythia."""
    m = rows.where(Model=PYTHIA)
    r = pearson(single(m), m["Last_Gain"]).r
    return "lower gain" if r < 0 else "higher gain"


def by_mean_gain(rows: Rows) -> str:
    """The models by mean gain, the smallest first."""
    found = {model: float(np.mean(m["Last_Gain"])) for model, m in by_model(rows).items()}
    return " < ".join(sorted(found, key=found.__getitem__))


OF_CATEGORY: Rules = {
    "gain": Rule(lambda c: np.mean(c["Last_Gain"]), "mean last gain of the category's prompts"),
    "dev": Rule(lambda c: np.mean(distance(c)), "mean distance of the gain from 1"),
    "entropy": Rule(lambda c: np.mean(c["Entropy"]), "mean entropy of the prompts"),
}
OF_MODEL: Rules = {
    "base_level": Rule(lambda m: np.mean(m["Last_Gain"]), "mean last gain over all prompts"),
    "range/min": Rule(lambda m: np.min(m["Last_Gain"]), "the smallest last gain"),
    "range/max": Rule(lambda m: np.max(m["Last_Gain"]), "the largest last gain"),
    "range/range": Rule(lambda m: np.ptp(m["Last_Gain"]), "range of the last gain"),
    "entropy/Pearson_r": Rule(
        lambda m: pearson(single(m), m["Last_Gain"]).r, "Pearson's r of entropy and last gain"
    ),
    "entropy/Pearson_p": Rule(lambda m: pearson(single(m), m["Last_Gain"]).p, "its p"),
    "entropy/Spearman_r": Rule(
        lambda m: spearman(single(m), m["Last_Gain"]).r, "Spearman's r of entropy and last gain"
    ),
    "entropy/Spearman_p": Rule(lambda m: spearman(single(m), m["Last_Gain"]).p, "its p"),
    "complexity/Complexity_Spearman_r": Rule(
        lambda m: spearman(m["Complexity"], m["Last_Gain"]).r,
        "Spearman's r of complexity and last gain",
    ),
    "complexity/Complexity_Spearman_p": Rule(
        lambda m: spearman(m["Complexity"], m["Last_Gain"]).p, "its p"
    ),
    "expands": Rule(
        lambda m: bool(np.mean(m["Last_Gain"]) > 1), "whether the mean last gain expands"
    ),
    "mean_distance": Rule(lambda m: np.mean(distance(m)), "mean distance of the last gain from 1"),
    "distance_of_mean": Rule(
        lambda m: abs(np.mean(m["Last_Gain"]) - 1), "distance of the mean last gain from 1"
    ),
    "distance_r": Rule(
        lambda m: pearson(single(m), distance(m)).r,
        "r of entropy and the distance of the gain from 1",
    ),
    # the shortest decimals of the single-precision means
    "p3/Cliche_mean": Rule(
        lambda m: float(str(entropies(m, "Cliche").mean())),
        "mean entropy of the clichés, single precision",
    ),
    "p3/Novel_mean": Rule(
        lambda m: float(str(entropies(m, "Novel").mean())),
        "mean entropy of the novel prompts, single precision",
    ),
    "p3/t_stat": Rule(
        lambda m: pooled_t(*compared(m))[0], "Student's t between clichés and novel prompts"
    ),
    "p3/p_val": Rule(lambda m: pooled_t(*compared(m))[1], "its two-sided p"),
    "p3/cohens_d": Rule(
        lambda m: pooled_d(*compared(m)), "Cohen's d between clichés and novel prompts"
    ),
    "category": for_each_group(
        lambda m: {name: m.where(Category=name) for name in CATEGORIES}, combined(OF_CATEGORY)
    ),
}
SAID: Rules = {  # of the four models together, on the pages beside the paper
    "pythia_direction": pythia_direction,
    "ranks": ranks,
    **{f"above_base/{name}": partial(n_above_base, category=name) for name in CATEGORIES},
}
STUDY: Rules = {
    **SAID,
    "n_measurements": Rule(lambda rows: count(rows["Last_Gain"]), "the prompts of all models"),
    "order": by_mean_gain,
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
