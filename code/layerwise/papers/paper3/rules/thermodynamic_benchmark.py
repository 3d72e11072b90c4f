"""The unified benchmark: four models, 25 prompts each (Paper 3, abstract; benchmark notebook)."""

from collections.abc import Callable
from functools import partial

import numpy as np
from jaxtyping import Float32

from layerwise.engine.derivation import Document, Rule, Rules, combined, count, for_each_group
from layerwise.engine.published import pointer
from layerwise.papers.paper3.rules.gain_files import Rows, r_and_p_rules, rows_reader
from layerwise.papers.shared.names.result_files import BENCHMARK, BENCHMARK_ROWS
from layerwise.papers.shared.terms import models_in_words
from layerwise.statistics.correlation import pearson
from layerwise.statistics.samples import pooled_d, pooled_t, spearman

MODELS = ("Pythia-6.9B", "Gemma-7B", "Mistral-7B", "LLaMA-3.1-8B")
PYTHIA = "Pythia-6.9B"
CATEGORIES = ("Factual", "Syntactic", "Cliche", "Novel", "Nonsense")

Prompts = Float32[np.ndarray, " prompt"]


def distance_from_one(model: Rows) -> np.ndarray:
    """Return the distance of each prompt's last gain from 1."""
    return np.abs(model["Last_Gain"] - 1)


def entropies(model: Rows, category: str) -> Prompts:
    """Return the entropies of a category's prompts, nats, in single precision as stored."""
    return model.where(Category=category)["Entropy"].astype(np.float32)


def cliche_and_novel(model: Rows) -> tuple[Prompts, Prompts]:
    """Return the entropies of the two categories that the notebook tests."""
    return entropies(model, "Cliche"), entropies(model, "Novel")


def all_entropies(model: Rows) -> np.ndarray:
    """Return the entropies of all prompts, nats, rounded to single precision."""
    return model["Entropy"].astype(np.float32).astype(np.float64)


def rows_by_model(rows: Rows) -> dict[str, Rows]:
    """Return the rows of each of the four models."""
    return {model: rows.where(Model=model) for model in MODELS}


def category_means(model: Rows, column: str) -> dict[str, float]:
    """Return the mean of a column by category of prompts."""
    return {name: float(np.mean(model.where(Category=name)[column])) for name in CATEGORIES}


def count_models(rows: Rows, rule: Callable[[Rows], bool]) -> str:
    """Say in how many of the models a rule holds."""
    return models_in_words(map(rule, rows_by_model(rows).values()))


def rank_categories(rows: Rows) -> dict[str, dict[str, int]]:
    """Return the rank of each category of each model by its mean distance from 1, nearest first."""
    distances = {
        (model, name): float(np.mean(distance_from_one(prompts.where(Category=name))))
        for model, prompts in rows_by_model(rows).items()
        for name in CATEGORIES
    }
    order = sorted(distances, key=distances.__getitem__)
    places: dict[str, dict[str, int]] = {model: {} for model in MODELS}
    for place, (model, name) in enumerate(order, 1):
        places[model][name] = place
    return places


def is_above_base(model: Rows, category: str) -> bool:
    """Return whether a category's mean gain is above that of all prompts."""
    return category_means(model, "Last_Gain")[category] > float(np.mean(model["Last_Gain"]))


def count_above_base(rows: Rows, category: str) -> str:
    """Say in how many models a category's mean gain is above that of all prompts."""
    return count_models(rows, partial(is_above_base, category=category))


def pythia_direction_word(rows: Rows) -> str:
    """Say whether a higher entropy comes with a higher or a lower gain in Pythia."""
    model = rows.where(Model=PYTHIA)
    r = pearson(all_entropies(model), model["Last_Gain"]).r
    return "lower gain" if r < 0 else "higher gain"


def models_by_gain(rows: Rows) -> str:
    """Return the models by mean gain, the smallest first."""
    gains = {
        model: float(np.mean(prompts["Last_Gain"]))
        for model, prompts in rows_by_model(rows).items()
    }
    return " < ".join(sorted(gains, key=gains.__getitem__))


CATEGORY_RULES: Rules = {
    "gain": Rule(
        lambda category: np.mean(category["Last_Gain"]), "mean last gain of the category's prompts"
    ),
    "dev": Rule(
        lambda category: np.mean(distance_from_one(category)), "mean distance of the gain from 1"
    ),
    "entropy": Rule(lambda category: np.mean(category["Entropy"]), "mean entropy of the prompts"),
}
MODEL_RULES: Rules = {
    "base_level": Rule(
        lambda model: np.mean(model["Last_Gain"]), "mean last gain over all prompts"
    ),
    "range/min": Rule(lambda model: np.min(model["Last_Gain"]), "the smallest last gain"),
    "range/max": Rule(lambda model: np.max(model["Last_Gain"]), "the largest last gain"),
    "range/range": Rule(lambda model: np.ptp(model["Last_Gain"]), "range of the last gain"),
    **r_and_p_rules(
        lambda model: pearson(all_entropies(model), model["Last_Gain"]),
        "entropy/Pearson_",
        "Pearson's r of entropy and last gain",
    ),
    **r_and_p_rules(
        lambda model: spearman(all_entropies(model), model["Last_Gain"]),
        "entropy/Spearman_",
        "Spearman's r of entropy and last gain",
    ),
    **r_and_p_rules(
        lambda model: spearman(model["Complexity"], model["Last_Gain"]),
        "complexity/Complexity_Spearman_",
        "Spearman's r of complexity and last gain",
    ),
    "mean_distance": Rule(
        lambda model: np.mean(distance_from_one(model)), "mean distance of the last gain from 1"
    ),
    "distance_of_mean": Rule(
        lambda model: abs(np.mean(model["Last_Gain"]) - 1), "distance of the mean last gain from 1"
    ),
    "distance_r": Rule(
        lambda model: pearson(all_entropies(model), distance_from_one(model)).r,
        "r of entropy and the distance of the gain from 1",
    ),
    "p3/t_stat": Rule(
        lambda model: pooled_t(*cliche_and_novel(model))[0],
        "Student's t between clichés and novel prompts",
    ),
    "p3/p_val": Rule(
        lambda model: pooled_t(*cliche_and_novel(model))[1],
        "two-sided p of Student's t between clichés and novel prompts",
    ),
    "p3/cohens_d": Rule(
        lambda model: pooled_d(*cliche_and_novel(model)),
        "Cohen's d between clichés and novel prompts",
    ),
    "category": for_each_group(
        lambda model: {name: model.where(Category=name) for name in CATEGORIES},
        combined(CATEGORY_RULES),
    ),
}
STUDY_RULES: Rules = {
    "pythia_direction": pythia_direction_word,
    "ranks": rank_categories,
    **{
        f"above_base/{name}": partial(count_above_base, category=name)
        for name in ("Syntactic", "Novel", "Nonsense")
    },
    "n_measurements": Rule(lambda rows: count(rows["Last_Gain"]), "the prompts of all models"),
    "order": models_by_gain,
}


def summary_places(number: int, model: str) -> dict[str, tuple[str, str]]:
    """Return the places in the summary that hold the statistics of a model."""
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
        rows_reader(BENCHMARK_ROWS, Model=model),
        {"": MODEL_RULES},
        places=summary_places(number, model),
        derived_only=True,
    )
    for number, model in enumerate(MODELS)
} | {
    "study": Document(
        rows_reader(BENCHMARK_ROWS),
        {"": STUDY_RULES},
        places={"/n_measurements": (BENCHMARK, "/n_measurements")},
        derived_only=True,
    )
}
