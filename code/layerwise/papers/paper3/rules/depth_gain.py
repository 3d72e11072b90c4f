"""Depth and residual gain of the eight Pythia sizes (Paper 3, section 4.1)."""

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, any_of, count, for_each_group
from layerwise.engine.evidence import Entry, floats, measured_among
from layerwise.papers.paper3.rules.gain_files import (
    damps,
    density,
    final_gain,
    gain,
    models,
)
from layerwise.papers.shared.names.result_files import HUNT, MLP_SCALING, SWEEP, own_file
from layerwise.papers.shared.terms import AXIS, depth_bound
from layerwise.statistics.correlation import pearson
from layerwise.statistics.estimates import mean_estimate

EXCEPTION = "pythia-1b"


def correlation(
    models: Iterable[Entry], x: Callable[[int], float], y: Callable[[Entry], float] = gain
) -> dict[str, float]:
    """r and p of a function of depth with the gains."""
    pairs = floats([(x(m.n_layers), y(m)) for m in models])
    return pearson(*pairs.T)._asdict()


def bound(points: Iterable[tuple[float, int]]) -> str:
    """Whether no gain, each with its depth, exceeds equation 3's bound."""
    return "violated" if any_of(one > depth_bound(n) for one, n in points) else "holds"


def n_prompts(f: Entry) -> int:
    """The prompts of every size, the same for all."""
    (n,) = {count(m.residual_gain_all) for m in f.models}
    return n


def size_gain(f: Entry) -> dict[str, float]:
    """r and p of the logarithm of the parameters with the gains."""
    n_params = [m.n_params for m in f.of(MLP_SCALING).models]
    return pearson(np.log10(n_params), np.array([gain(m) for m in f.models]))._asdict()


def n_under_1(f: Entry) -> int:
    """The sizes whose gain behind the final norm is under 1."""
    return sum(final_gain(m) < 1 for m in f.models)


def all_under_1(f: Entry) -> str:
    """Whether those are all of them, in words."""
    n = n_under_1(f)
    return "all models" if n == len(f.models) else f"{n} of {len(f.models)} models"


def consistency(f: Entry) -> str:
    """Whether all sizes lie on one side of 1."""
    return "consistent" if len({damps(m) for m in f.models}) == 1 else "both damp and expand"


def outside_axis(f: Entry) -> int:
    """Gains of single prompts outside the axis of figure A4."""
    low, high = AXIS
    return sum(not low <= one <= high for m in f.models for one in m.residual_gain_all)


def n_interior_expanding(f: Entry) -> int:
    """The sizes whose inner blocks together expand."""
    return sum(float(np.prod(m.all_layer_gains[1:-1])) > 1 for m in f.models)


def largest_interior_product(f: Entry) -> float:
    """The largest product of the gains of all blocks between the first and the last."""
    return max(float(np.prod(m.all_layer_gains[1:-1])) for m in f.models)


def total_bound(f: Entry) -> float:
    """What the bound allows all blocks together; ten, whatever the depth."""
    return max(depth_bound(m.n_layers) ** m.n_layers for m in f.models)


def bound_of_means(f: Entry, without: str = "") -> str:
    """Whether the mean gains keep the bound, without one size."""
    return bound((gain(m), m.n_layers) for m in f.models if m.model != without)


def bound_of_inner_blocks(f: Entry) -> str:
    """Whether every inner block's gain keeps it."""
    return bound((one, m.n_layers) for m in f.models for one in m.all_layer_gains[1:-1])


def is_above_bound(m: Entry) -> bool:
    """Whether a model's mean gain exceeds the bound of its depth."""
    return gain(m) > depth_bound(len(m.all_layer_gains))


def drawn_above_bound(f: Entry) -> list[str]:
    """The same, of the models that were measured."""
    there = measured_among(models(f), is_above_bound)
    return [name for name, m in there.items() if is_above_bound(m)]


def above_bound(f: Entry) -> list[str]:
    """The models of a file whose mean gain exceeds the bound of their depth."""
    return [name for name, m in models(f).items() if is_above_bound(m)]


def interval(m: Entry) -> list[float]:
    """The 95% interval of a model's mean gain over its prompts (Student's)."""
    found = mean_estimate(m.residual_gain_all[:], "prompts")
    return [found.low, found.high] if found.has_interval else []


def damping_blocks(f: Entry) -> str:
    """How many blocks of the models that damp do so themselves; the last one is left out."""
    gains = [m.all_layer_gains[:-1] for m in f.models if damps(m)]
    n, of = int(sum((one < 1).sum() for one in gains)), sum(map(len, gains))
    return "each layer" if n == of else f"{n} of {of} blocks"


def sides(f: Entry, *names: str) -> str:
    """Whether the mean gains of two sizes lie on one side of 1."""
    damping = {damps(m) for m in f.models if m.model in names}
    return "alike" if len(damping) == 1 else "on two sides of 1"


OF_SIZE: Rules = {
    "n_layers": Rule(lambda m: count(m.all_layer_gains), "the blocks of the model"),
    "residual_gain_mean": gain,
    "residual_gain_std": Rule(
        lambda m: np.std(m.residual_gain_all), "population SD of the gain over the prompts"
    ),
    "gain_with_ln_mean": final_gain,
    "bound": Rule(lambda m: depth_bound(m.n_layers), "equation 3's bound at this depth"),
    "is_dampening": damps,
    "class": Rule(
        lambda m: "dampener" if damps(m) else "expander", "whether the mean gain damps or expands"
    ),
}
OVER_SIZES: Rules = {
    "n_models": Rule(lambda f: count(f.models, gain), "the models with a gain"),
    "n_prompts": n_prompts,
    "depth_gain/depth": Rule(lambda f: correlation(f.models, float), "r and p of depth and gain"),
    "depth_gain/inverse_depth": Rule(
        lambda f: correlation(f.models, lambda n: 1 / n), "r and p of one over depth and gain"
    ),
    "depth_gain/bound": Rule(
        lambda f: correlation(f.models, depth_bound), "r and p of equation 3's bound and gain"
    ),
    "depth_gain/final_norm": Rule(
        lambda f: correlation(f.models, float, final_gain),
        "r and p of depth and gain behind the final norm",
    ),
    # blocks whose own gain is under 1, of the sizes that damp: the last, behind the norm, left out
    "damping_blocks": damping_blocks,
    "size_gain": size_gain,
    "smallest_and_largest": Rule(
        lambda f: sides(f, "pythia-160m", "pythia-12b"),
        "whether the smallest and the largest size lie on one side of 1",
    ),
    "consistency": consistency,
    "final_norm/all_damp": all_under_1,
    "figure_a4/outside": outside_axis,
    "figure_a4/n_dampening": Rule(lambda f: sum(map(damps, f.models)), "the sizes that damp"),
    "bound/word": bound_of_means,
    "bound/word_without_1b": partial(bound_of_means, without=EXCEPTION),
    "bound/word_inner_blocks": bound_of_inner_blocks,
    "bound/above": above_bound,
    "drawn/above_bound": drawn_above_bound,
    "drawn/interval": for_each_group(models, interval),
    "bound/n_interior_expanding": n_interior_expanding,
    "bound/largest_interior_product": largest_interior_product,
    "bound/total": total_bound,
}


def final_range(f: Entry) -> list[float]:
    """The smallest and the largest gain behind the final norm over a file's models."""
    found = [final_gain(m) for m in f.tested_results]
    return [min(found), max(found)]


OF_OWN: Rules = {
    **{key: rule for key, rule in OF_SIZE.items() if key not in ("bound", "class")},
    "n_prompts": Rule(lambda m: count(m.residual_gain_all), "the prompts of the model"),
    "d_head": Rule(
        lambda m: m.d_model // m.n_heads, "width of a head"
    ),  # of the notebooks; Gemma's heads are wider
    "rho": density,
    "gain_with_ln_std": Rule(
        lambda m: np.std(m.readings.final_norm.all),
        "population SD of the gain behind the final norm",
    ),
}
OF_READING = {
    "mean": Rule(lambda one: np.mean(one.all), "mean of the reading over the prompts"),
    "std": Rule(lambda one: np.std(one.all), "population SD of the reading over the prompts"),
}
READER = Document(own_file("gains"), {"": OF_OWN, "readings/*": OF_READING})
DOCUMENTS = {
    "family": Document(SWEEP, {"": OVER_SIZES, "models/*": OF_SIZE}),
    "hunt": Document(
        HUNT,
        {"": {"bound/above": above_bound, "final_norm/range": final_range}},
        places={},
        shows=False,
    ),
}
