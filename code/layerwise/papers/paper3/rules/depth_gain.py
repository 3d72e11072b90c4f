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
    bind_each,
    count,
    words_of,
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
from layerwise.papers.paper3.rules.prompts import categories_of, prompts_estimate
from layerwise.papers.shared.result_files import HUNT, MLP_SCALING, SWEEP, own_file
from layerwise.papers.shared.rules import join_sections
from layerwise.papers.shared.terms import AXIS, depth_bound, models_in_words
from layerwise.statistics.correlation import pearson

EXCEPTION = "pythia-1b"


def depth_correlation(
    models: Iterable[Entry], x: Callable[[int], float], y: Callable[[Entry], float] = gain
) -> dict[str, float]:
    """Return r and p of a function of depth and the gains."""
    pairs = floats([(x(model.n_layers), y(model)) for model in models])
    return pearson(*pairs.T)._asdict()


def gain_interval(model: Entry) -> list[float]:
    """Return the 95% interval of a mean gain over the categories of prompts, or the prompts."""
    estimate = prompts_estimate(model.residual_gain_all[:], categories_of(model))
    return [estimate.low, estimate.high] if estimate.has_interval else []


def models_above_depth_bound(results: Entry) -> list[str]:
    """Return the models of a file whose mean gain exceeds the bound of their depth."""
    models = models_by_name(results)
    return [
        name
        for name, model in models.items()
        if gain(model) > depth_bound(len(model.all_layer_gains))
    ]


def swept_model(model: Entry) -> Rules:
    """The table of the Pythia sizes."""
    return {
        **moments(model),
        "bound": Rule(lambda: depth_bound(model.n_layers), "equation 3's bound at this depth"),
        "is_dampening": Rule(lambda: damps(model), "whether the mean gain damps"),
        "class": Rule(
            lambda: "dampener" if damps(model) else "expander",
            "whether the mean gain damps or expands",
        ),
    }


def moments(model: Entry) -> Rules:
    """The moments of the gain of a size of the papers or of a reader's model."""
    return {
        "n_layers": Rule(lambda: count(model.all_layer_gains), "the blocks of the model"),
        "residual_gain_mean": partial(gain, model),
        "residual_gain_std": Rule(
            lambda: np.std(model.residual_gain_all), "population SD of the gain over the prompts"
        ),
        "gain_with_ln_mean": partial(final_gain, model),
    }


def prompts_of_sizes(results: Entry) -> int:
    """Return the number of prompts, the same for every size."""
    (n,) = {count(model.residual_gain_all) for model in results.models}
    return n


def damping_blocks(results: Entry) -> str:
    """Say how many blocks of the damping models damp themselves, the last ones left out."""
    gains = [model.all_layer_gains[:-1] for model in results.models if damps(model)]
    n_damping = int(sum((model_gains < 1).sum() for model_gains in gains))
    n_blocks = sum(map(len, gains))
    return "each layer" if n_damping == n_blocks else f"{n_damping} of {n_blocks} blocks"


def size_correlation(results: Entry) -> dict[str, float]:
    """Return r and p of the logarithm of the parameters and the gains."""
    n_params = [model.n_params for model in results.of(MLP_SCALING).models]
    gains = np.array([gain(model) for model in results.models])
    return pearson(np.log10(n_params), gains)._asdict()


def depth_statistics(results: Entry) -> Rules:
    """Depth and gain over the sizes (section 4.1)."""

    def r_of(says: str, x: Callable[[int], float], y: Callable[[Entry], float] = gain) -> Rule:
        return Rule(lambda: depth_correlation(results.models, x, y), f"r and p of {says}")

    return {
        "n_models": Rule(lambda: count(results.models, gain), "the models with a gain"),
        "n_prompts": partial(prompts_of_sizes, results),
        "depth_gain/depth": r_of("depth and gain", float),
        "depth_gain/inverse_depth": r_of("one over depth and gain", lambda n: 1 / n),
        "depth_gain/bound": r_of("equation 3's bound and gain", depth_bound),
        "depth_gain/final_norm": r_of("depth and gain after the final norm", float, final_gain),
        "damping_blocks": partial(damping_blocks, results),
        "size_gain": partial(size_correlation, results),
    }


def side_statistics(results: Entry) -> Rules:
    """The sides of 1 on which the sizes lie, and the axis of figure A4."""

    def sides(*names: str) -> set[bool]:
        """Return the sides of 1 on which the mean gains of these sizes lie, or of all."""
        chosen = [model for model in results.models if not names or model.model in names]
        return {damps(model) for model in chosen}

    def count_outside_axis() -> int:
        """Return the number of gains of single prompts that lie outside the axis of figure A4."""
        low, high = AXIS
        gains = [value for model in results.models for value in model.residual_gain_all]
        return sum(not low <= value <= high for value in gains)

    return {
        "smallest_and_largest": Rule(
            lambda: (
                "alike" if len(sides("pythia-160m", "pythia-12b")) == 1 else "on two sides of 1"
            ),
            "whether the smallest and the largest size lie on one side of 1",
        ),
        "consistency": Rule(
            lambda: "consistent" if len(sides()) == 1 else "both damp and expand",
            "whether all sizes lie on one side of 1",
        ),
        "final_norm/all_damp": Rule(
            lambda: models_in_words(final_gain(model) < 1 for model in results.models),
            "how many sizes have a gain under 1 after the final norm",
        ),
        "figure_a4/outside": count_outside_axis,
        "figure_a4/n_dampening": Rule(
            lambda: sum(map(damps, results.models)), "the sizes that damp"
        ),
    }


def bound_statistics(results: Entry) -> Rules:
    """Equation 3's bound on mean gains and on the gains of inner blocks."""

    def word(points: Iterable[tuple[float, int]]) -> str:
        """Say whether no gain, each with its depth, exceeds the bound."""
        exceeds = any_of(value > depth_bound(depth) for value, depth in points)
        return "violated" if exceeds else "holds"

    def mean_points(without: str = "") -> list[tuple[float, int]]:
        return [(gain(size), size.n_layers) for size in results.models if size.model != without]

    def inner_points() -> Iterable[tuple[float, int]]:
        for model in results.models:
            for value in model.all_layer_gains[1:-1]:
                yield value, model.n_layers

    return {
        "bound/word": Rule(
            lambda: word(mean_points()), "whether every size's mean gain keeps the bound"
        ),
        "bound/word_without_1b": Rule(
            lambda: word(mean_points(without=EXCEPTION)),
            "whether every size's mean gain keeps the bound, Pythia-1B left out",
        ),
        "bound/word_inner_blocks": Rule(
            lambda: word(inner_points()), "whether every inner block's gain keeps the bound"
        ),
        "bound/above": partial(models_above_depth_bound, results),
        "drawn/interval": Rule(
            lambda: bind_each(gain_interval, models_by_name(results)), words_of(gain_interval)
        ),
    }


def product_statistics(results: Entry) -> Rules:
    """The gain of several blocks together, and the bound on that of all."""

    def interior_products() -> list[float]:
        return [float(np.prod(model.all_layer_gains[1:-1])) for model in results.models]

    return {
        "bound/n_interior_expanding": Rule(
            lambda: sum(product > 1 for product in interior_products()),
            "the number of sizes whose inner blocks together expand",
        ),
        "bound/largest_interior_product": Rule(
            lambda: max(interior_products()),
            "the largest product of the inner blocks' gains over the sizes",
        ),
        "bound/total": Rule(
            lambda: max(depth_bound(size.n_layers) ** size.n_layers for size in results.models),
            "the bound on the gain of all blocks together: ten, whatever the depth",
        ),
    }


def survey_statistics(hunt: Entry) -> Rules:
    """Bound and final norm over the models of the survey."""

    def range_of_final_gains() -> list[float]:
        """Return the smallest and the largest gain after the final norm over a file's models."""
        gains = [final_gain(model) for model in hunt.tested_results]
        return [min(gains), max(gains)]

    return {
        "bound/above": partial(models_above_depth_bound, hunt),
        "final_norm/range": range_of_final_gains,
    }


def own_statistics(model: Entry) -> Rules:
    """The gains of a reader's model; a state-space model has no heads."""

    def head_rule(number: Callable[[Entry], float], says: str) -> Rule:
        return Rule(lambda: None if model.n_heads is None else number(model), says)

    return {
        **moments(model),
        "is_dampening": partial(damps, model),
        "n_prompts": Rule(lambda: count(model.residual_gain_all), "the prompts of the model"),
        # of the notebooks; Gemma's heads are wider
        "d_head": head_rule(head_size, "width of a head"),
        "rho": head_rule(density, "heads over the width of a head"),
        "gain_with_ln_std": Rule(
            lambda: np.std(model.readings[GainReading.FINAL_NORM].all),
            "population SD of the gain after the final norm",
        ),
    }


def own_reading(reading: Entry) -> Rules:
    """One definition of the gain of a reader's model."""
    return {
        "mean": Rule(lambda: np.mean(reading.all), "mean of the reading over the prompts"),
        "std": Rule(lambda: np.std(reading.all), "population SD of the reading over the prompts"),
    }


READER = Document(own_file("gains"), {"": own_statistics, "readings/*": own_reading})
DOCUMENTS = {
    "family": Document(
        SWEEP,
        {
            "": join_sections(
                depth_statistics, side_statistics, bound_statistics, product_statistics
            ),
            "models/*": swept_model,
        },
    ),
    "hunt": Document(HUNT, {"": survey_statistics}, NOWHERE),
}
