"""Depth and residual gain of the eight Pythia sizes (Paper 3, section 4.1)."""

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from layerwise.engine.derivation import (
    NOWHERE,
    Document,
    Rule,
    Rules,
    any_of,
    count,
    for_each_group,
)
from layerwise.engine.evidence import Entry, floats
from layerwise.measures.residual_gain import GainReading
from layerwise.papers.paper3.rules.gain_files import (
    damps,
    density,
    final_gain,
    gain,
    head_size,
    models_by_name,
)
from layerwise.papers.shared.names.result_files import HUNT, MLP_SCALING, SWEEP, own_file
from layerwise.papers.shared.terms import AXIS, depth_bound, models_in_words
from layerwise.statistics.correlation import pearson
from layerwise.statistics.estimates import mean_estimate

EXCEPTION = "pythia-1b"


def depth_correlation(
    models: Iterable[Entry], x: Callable[[int], float], y: Callable[[Entry], float] = gain
) -> dict[str, float]:
    """Return r and p of a function of depth and the gains."""
    pairs = floats([(x(model.n_layers), y(model)) for model in models])
    return pearson(*pairs.T)._asdict()


def bound_word(points: Iterable[tuple[float, int]]) -> str:
    """Say whether no gain, each with its depth, exceeds equation 3's bound."""
    return "violated" if any_of(value > depth_bound(depth) for value, depth in points) else "holds"


def n_prompts(results: Entry) -> int:
    """Return the number of prompts, the same for every size."""
    (n,) = {count(model.residual_gain_all) for model in results.models}
    return n


def size_gain_correlation(results: Entry) -> dict[str, float]:
    """Return r and p of the logarithm of the parameters and the gains."""
    n_params = [model.n_params for model in results.of(MLP_SCALING).models]
    gains = np.array([gain(model) for model in results.models])
    return pearson(np.log10(n_params), gains)._asdict()


def consistency_word(results: Entry) -> str:
    """Say whether all sizes lie on one side of 1."""
    sides = {damps(model) for model in results.models}
    return "consistent" if len(sides) == 1 else "both damp and expand"


def count_outside_axis(results: Entry) -> int:
    """Return the number of gains of single prompts that lie outside the axis of figure A4."""
    low, high = AXIS
    gains = [value for model in results.models for value in model.residual_gain_all]
    return sum(not low <= value <= high for value in gains)


def interior_product(model: Entry) -> float:
    """Return the product of the gains of all blocks between the first and the last."""
    return float(np.prod(model.all_layer_gains[1:-1]))


def n_interior_expanding(results: Entry) -> int:
    """Return the number of sizes whose inner blocks together expand."""
    return sum(interior_product(model) > 1 for model in results.models)


def largest_interior_product(results: Entry) -> float:
    """Return the largest product of the inner blocks' gains over the sizes."""
    return max(interior_product(model) for model in results.models)


def total_bound(results: Entry) -> float:
    """Return the bound on the gain of all blocks together: ten, whatever the depth."""
    return max(depth_bound(model.n_layers) ** model.n_layers for model in results.models)


def bound_word_of_means(results: Entry, without: str = "") -> str:
    """Say whether the mean gains keep the bound, without one size."""
    return bound_word(
        (gain(model), model.n_layers) for model in results.models if model.model != without
    )


def bound_word_of_inner_blocks(results: Entry) -> str:
    """Say whether every inner block's gain keeps the bound."""
    return bound_word(
        (value, model.n_layers) for model in results.models for value in model.all_layer_gains[1:-1]
    )


def is_above_bound(model: Entry) -> bool:
    """Return whether a model's mean gain exceeds the bound of its depth."""
    return gain(model) > depth_bound(len(model.all_layer_gains))


def models_above_bound(results: Entry) -> list[str]:
    """Return the models of a file whose mean gain exceeds the bound of their depth."""
    return [name for name, model in models_by_name(results).items() if is_above_bound(model)]


def gain_interval(model: Entry) -> list[float]:
    """Return Student's 95% interval of a model's mean gain over its prompts, or nothing."""
    estimate = mean_estimate(model.residual_gain_all[:], "prompts")
    return [estimate.low, estimate.high] if estimate.has_interval else []


def damping_blocks_text(results: Entry) -> str:
    """Say how many blocks of the damping models damp themselves, the last ones left out."""
    gains = [model.all_layer_gains[:-1] for model in results.models if damps(model)]
    n_damping = int(sum((model_gains < 1).sum() for model_gains in gains))
    n_blocks = sum(map(len, gains))
    return "each layer" if n_damping == n_blocks else f"{n_damping} of {n_blocks} blocks"


def sides_word(results: Entry, *names: str) -> str:
    """Say whether the mean gains of two sizes lie on one side of 1."""
    damping = {damps(model) for model in results.models if model.model in names}
    return "alike" if len(damping) == 1 else "on two sides of 1"


SIZE_RULES: Rules = {
    "n_layers": Rule(lambda model: count(model.all_layer_gains), "the blocks of the model"),
    "residual_gain_mean": gain,
    "residual_gain_std": Rule(
        lambda model: np.std(model.residual_gain_all), "population SD of the gain over the prompts"
    ),
    "gain_with_ln_mean": final_gain,
    "bound": Rule(lambda model: depth_bound(model.n_layers), "equation 3's bound at this depth"),
    "is_dampening": damps,
    "class": Rule(
        lambda model: "dampener" if damps(model) else "expander",
        "whether the mean gain damps or expands",
    ),
}
FAMILY_RULES: Rules = {
    "n_models": Rule(lambda results: count(results.models, gain), "the models with a gain"),
    "n_prompts": n_prompts,
    "depth_gain/depth": Rule(
        lambda results: depth_correlation(results.models, float), "r and p of depth and gain"
    ),
    "depth_gain/inverse_depth": Rule(
        lambda results: depth_correlation(results.models, lambda n: 1 / n),
        "r and p of one over depth and gain",
    ),
    "depth_gain/bound": Rule(
        lambda results: depth_correlation(results.models, depth_bound),
        "r and p of equation 3's bound and gain",
    ),
    "depth_gain/final_norm": Rule(
        lambda results: depth_correlation(results.models, float, final_gain),
        "r and p of depth and gain behind the final norm",
    ),
    # blocks whose own gain is under 1, of the sizes that damp: the last, behind the norm, left out
    "damping_blocks": damping_blocks_text,
    "size_gain": size_gain_correlation,
    "smallest_and_largest": Rule(
        lambda results: sides_word(results, "pythia-160m", "pythia-12b"),
        "whether the smallest and the largest size lie on one side of 1",
    ),
    "consistency": consistency_word,
    "final_norm/all_damp": Rule(
        lambda results: models_in_words(final_gain(model) < 1 for model in results.models),
        "how many sizes have a gain under 1 behind the final norm",
    ),
    "figure_a4/outside": count_outside_axis,
    "figure_a4/n_dampening": Rule(
        lambda results: sum(map(damps, results.models)), "the sizes that damp"
    ),
    "bound/word": Rule(bound_word_of_means, "whether every size's mean gain keeps the bound"),
    "bound/word_without_1b": Rule(
        partial(bound_word_of_means, without=EXCEPTION),
        "whether every size's mean gain keeps the bound, Pythia-1B left out",
    ),
    "bound/word_inner_blocks": bound_word_of_inner_blocks,
    "bound/above": models_above_bound,
    "drawn/interval": for_each_group(models_by_name, gain_interval),
    "bound/n_interior_expanding": n_interior_expanding,
    "bound/largest_interior_product": largest_interior_product,
    "bound/total": total_bound,
}


def range_of_final_gains(results: Entry) -> list[float]:
    """Return the smallest and the largest gain behind the final norm over a file's models."""
    gains = [final_gain(model) for model in results.tested_results]
    return [min(gains), max(gains)]


def _of_heads(number: Callable[[Entry], float]) -> Callable[[Entry], float | None]:
    """Return a rule that is null of a model without heads, as state-space models are."""
    return lambda model: None if model.n_heads is None else number(model)


OWN_RULES: Rules = {
    **{key: rule for key, rule in SIZE_RULES.items() if key not in ("bound", "class")},
    "n_prompts": Rule(lambda model: count(model.residual_gain_all), "the prompts of the model"),
    # of the notebooks; Gemma's heads are wider
    "d_head": Rule(_of_heads(head_size), "width of a head"),
    "rho": Rule(_of_heads(density), "heads over the width of a head"),
    "gain_with_ln_std": Rule(
        lambda model: np.std(model.readings[GainReading.FINAL_NORM].all),
        "population SD of the gain behind the final norm",
    ),
}
READING_RULES = {
    "mean": Rule(lambda reading: np.mean(reading.all), "mean of the reading over the prompts"),
    "std": Rule(
        lambda reading: np.std(reading.all), "population SD of the reading over the prompts"
    ),
}
READER = Document(own_file("gains"), {"": OWN_RULES, "readings/*": READING_RULES})
DOCUMENTS = {
    "family": Document(SWEEP, {"": FAMILY_RULES, "models/*": SIZE_RULES}),
    "hunt": Document(
        HUNT,
        {"": {"bound/above": models_above_bound, "final_norm/range": range_of_final_gains}},
        NOWHERE,
    ),
}
