"""The unified benchmark: four models, 25 prompts each (Paper 3, abstract; benchmark notebook)."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from jaxtyping import Float32

from layerwise.engine.derivation import Document, Rule, Rules, bind_each, count
from layerwise.engine.published import pointer
from layerwise.papers.paper3.rules.gain_files import Rows, r_and_p, rows_reader
from layerwise.papers.shared.result_files import BENCHMARK, BENCHMARK_ROWS
from layerwise.papers.shared.terms import models_in_words
from layerwise.statistics.correlation import Correlation, pearson
from layerwise.statistics.samples import pooled_d, pooled_t, spearman

MODELS = ("Pythia-6.9B", "Gemma-7B", "Mistral-7B", "LLaMA-3.1-8B")
PYTHIA = "Pythia-6.9B"
CATEGORIES = ("Factual", "Syntactic", "Cliche", "Novel", "Nonsense")

Prompts = Float32[np.ndarray, " prompt"]


def last_gain_distances(rows: Rows) -> np.ndarray:
    """Return the distance of each prompt's last gain from 1."""
    return np.abs(rows["Last_Gain"] - 1)


def mean_last_gain(rows: Rows) -> float:
    """Return the mean last gain over prompts."""
    return float(np.mean(rows["Last_Gain"]))


def all_entropies(model: Rows) -> np.ndarray:
    """Return the entropies of all prompts, nats, rounded to single precision."""
    return model["Entropy"].astype(np.float32).astype(np.float64)


def entropy_statistics(model: Rows) -> Rules:
    """Entropy and complexity of the prompts, with the last gains and their distance from 1."""

    def correlation(
        key: str, measure: Callable[..., Correlation], x: Callable[[], np.ndarray], says: str
    ) -> Rules:
        return r_and_p(lambda: measure(x(), model["Last_Gain"]), key, f"{says} and last gain")

    def entropy() -> np.ndarray:
        return all_entropies(model)

    def complexity() -> np.ndarray:
        return model["Complexity"]

    return {
        **correlation("entropy/Pearson_", pearson, entropy, "Pearson's r of entropy"),
        **correlation("entropy/Spearman_", spearman, entropy, "Spearman's r of entropy"),
        **correlation(
            "complexity/Complexity_Spearman_", spearman, complexity, "Spearman's r of complexity"
        ),
        "mean_distance": Rule(
            lambda: np.mean(last_gain_distances(model)), "mean distance of the last gain from 1"
        ),
        "distance_of_mean": Rule(
            lambda: abs(mean_last_gain(model) - 1), "distance of the mean last gain from 1"
        ),
        "distance_r": Rule(
            lambda: pearson(entropy(), last_gain_distances(model)).r,
            "r of entropy and the distance of the gain from 1",
        ),
    }


def cliche_statistics(model: Rows) -> Rules:
    """The entropies of clichés beside those of novel prompts, as the notebook tests them."""

    def entropies(category: str) -> Prompts:
        """Return the entropies of a category, nats, in single precision as stored."""
        return model.where(Category=category)["Entropy"].astype(np.float32)

    def cliche_and_novel() -> tuple[Prompts, Prompts]:
        return entropies("Cliche"), entropies("Novel")

    return {
        "p3/t_stat": Rule(
            lambda: pooled_t(*cliche_and_novel())[0],
            "Student's t between clichés and novel prompts",
        ),
        "p3/p_val": Rule(
            lambda: pooled_t(*cliche_and_novel())[1],
            "two-sided p of Student's t between clichés and novel prompts",
        ),
        "p3/cohens_d": Rule(
            lambda: pooled_d(*cliche_and_novel()), "Cohen's d between clichés and novel prompts"
        ),
    }


def model_statistics(model: Rows) -> Rules:
    """Gains, entropies and categories of one model (notebook's summary)."""
    return {
        "base_level": Rule(lambda: mean_last_gain(model), "mean last gain over all prompts"),
        "range/min": Rule(lambda: np.min(model["Last_Gain"]), "the smallest last gain"),
        "range/max": Rule(lambda: np.max(model["Last_Gain"]), "the largest last gain"),
        "range/range": Rule(lambda: np.ptp(model["Last_Gain"]), "range of the last gain"),
        **entropy_statistics(model),
        **cliche_statistics(model),
        "category": Rule(
            lambda: bind_each(category_gains, rows_by_category(model)),
            "the prompts of a category",
        ),
    }


def rows_by_category(model: Rows) -> dict[str, Rows]:
    """Return the rows of each category of prompts."""
    return {name: model.where(Category=name) for name in CATEGORIES}


def category_gains(category: Rows) -> Rules:
    """Mean gain and entropy of a category's prompts."""
    return {
        "gain": Rule(
            lambda: np.mean(category["Last_Gain"]), "mean last gain of the category's prompts"
        ),
        "dev": Rule(
            lambda: np.mean(last_gain_distances(category)), "mean distance of the gain from 1"
        ),
        "entropy": Rule(lambda: np.mean(category["Entropy"]), "mean entropy of the prompts"),
    }


def rank_categories(models: Mapping[str, Rows]) -> dict[str, dict[str, int]]:
    """Return the rank of each category of each model by its mean distance from 1, nearest first."""
    distances = {
        (model, name): float(np.mean(last_gain_distances(prompts)))
        for model, rows in models.items()
        for name, prompts in rows_by_category(rows).items()
    }
    order = sorted(distances, key=distances.__getitem__)
    ranks: dict[str, dict[str, int]] = {model: {} for model in models}
    for rank, (model, name) in enumerate(order, 1):
        ranks[model][name] = rank
    return ranks


def study_statistics(rows: Rows) -> Rules:
    """The four models compared, by prompts and categories (abstract)."""
    models = {model: rows.where(Model=model) for model in MODELS}

    def above_base(category: str) -> Rule:
        def is_above(model: Rows) -> bool:
            means = {name: mean_last_gain(part) for name, part in rows_by_category(model).items()}
            return means[category] > mean_last_gain(model)

        return Rule(
            lambda: models_in_words(map(is_above, models.values())),
            "in how many models a category's mean gain is above that of all prompts",
        )

    def pythia_direction() -> str:
        """Say whether a higher entropy comes with a higher or a lower gain in Pythia."""
        r = pearson(all_entropies(models[PYTHIA]), models[PYTHIA]["Last_Gain"]).r
        return "lower gain" if r < 0 else "higher gain"

    def models_by_gain() -> str:
        gains = {model: mean_last_gain(prompts) for model, prompts in models.items()}
        return " < ".join(sorted(gains, key=gains.__getitem__))

    return {
        "pythia_direction": pythia_direction,
        "ranks": partial(rank_categories, models),
        "above_base/Syntactic": above_base("Syntactic"),
        "above_base/Novel": above_base("Novel"),
        "above_base/Nonsense": above_base("Nonsense"),
        "n_measurements": Rule(lambda: count(rows["Last_Gain"]), "the prompts of all models"),
        "order": Rule(models_by_gain, "the models by mean gain, the smallest first"),
    }


def summary_places(number: int, model: str) -> dict[str, tuple[str, str]]:
    """Return the places in the summary that hold the statistics of a model."""
    platitude = pointer("p3_platitude_tunnel", number)
    return {
        "/base_level": (BENCHMARK, pointer("base_levels", model)),
        "/range": (BENCHMARK, pointer("modulation_ranges", model)),
        "/entropy": (BENCHMARK, pointer("entropy_correlations", number)),
        "/complexity": (BENCHMARK, pointer("complexity_correlations", number)),
        **{
            f"/p3/{name}": (BENCHMARK, f"{platitude}/{name}")
            for name in ("t_stat", "p_val", "cohens_d")
        },
    }


DOCUMENTS = {
    model: Document(
        rows_reader(BENCHMARK_ROWS, Model=model),
        {"": model_statistics},
        places=summary_places(number, model),
        derived_only=True,
    )
    for number, model in enumerate(MODELS)
} | {
    "study": Document(
        rows_reader(BENCHMARK_ROWS),
        {"": study_statistics},
        places={"/n_measurements": (BENCHMARK, "/n_measurements")},
        derived_only=True,
    )
}
