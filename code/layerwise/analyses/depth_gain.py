"""Depth and residual gain of the eight Pythia sizes (Paper 3, section 4.1)."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from layerwise.analyses.derivation import Document
from layerwise.analyses.evidence import Entry
from layerwise.analyses.gain_files import damps, density, depth_bound, final_gain, gain, models
from layerwise.places.result_files import HUNT, MLP_SCALING, SWEEP
from layerwise.statistics.correlation import pearson

AXIS = (0.82, 1.38)  # the gains that figure A4 shows; points outside are clipped to its edges
EXCEPTION = "pythia-1b"


def correlation(
    models: Iterable[Entry], x: Callable[[int], float], y: Callable[[Entry], float] = gain
) -> dict[str, float]:
    """r and p of a function of depth with the gains."""
    pairs = np.array([(x(m.n_layers), y(m)) for m in models], dtype=np.float64)
    return pearson(*pairs.T)._asdict()


def bound(points: Iterable[tuple[float, int]]) -> str:
    """Whether no gain, each with its depth, exceeds equation 3's bound."""
    return "violated" if sum(one > depth_bound(n) for one, n in points) else "holds"


def only(values: Iterable[Any]) -> Any:
    """The one value that all share."""
    (value,) = set(values)
    return value


def above_bound(f: Entry) -> list[str]:
    """The models of a file whose mean gain exceeds the bound of their depth."""
    found = models(f).items()
    return [name for name, m in found if gain(m) > depth_bound(len(m.all_layer_gains))]


def damping_blocks(f: Entry) -> str:
    """How many blocks of the models that damp do so themselves; the last one is left out."""
    gains = [m.all_layer_gains[:-1] for m in f.models if damps(m)]
    n, of = int(sum((one < 1).sum() for one in gains)), sum(map(len, gains))
    return "each layer" if n == of else f"{n} of {of} blocks"


def turned_prompts(f: Entry) -> str:
    """How many prompts have a gain on the other side of 1 than the mean gain of their size."""
    turned = [(m.residual_gain_all[:] < 1) != damps(m) for m in f.models]
    n, of = int(sum(map(np.sum, turned))), sum(map(len, turned))
    return "stable" if n == 0 else f"{n} of {of} prompts turn it"


def sides(f: Entry, *names: str) -> str:
    """Whether the mean gains of two sizes lie on one side of 1."""
    damping = {damps(m) for m in f.models if m.model in names}
    return "alike" if len(damping) == 1 else "on two sides of 1"


OF_SIZE = {
    "n_layers": lambda m: len(m.all_layer_gains[:]),
    "residual_gain_mean": gain,
    "residual_gain_std": lambda m: np.std(m.residual_gain_all),
    "gain_with_ln_mean": final_gain,
    "bound": lambda m: depth_bound(m.n_layers),
    "is_dampening": damps,
    "class": lambda m: "dampener" if damps(m) else "expander",
}
OVER_SIZES = {
    "n_models": lambda f: len([gain(m) for m in f.models]),
    "n_prompts": lambda f: only(len(m.residual_gain_all[:]) for m in f.models),
    "depth_gain/depth": lambda f: correlation(f.models, float),
    "depth_gain/inverse_depth": lambda f: correlation(f.models, lambda n: 1 / n),
    "depth_gain/bound": lambda f: correlation(f.models, depth_bound),
    "depth_gain/final_norm": lambda f: correlation(f.models, float, final_gain),
    # blocks whose own gain is under 1, of the sizes that damp: the last, behind the norm, left out
    "damping_blocks": damping_blocks,
    "turned_prompts": turned_prompts,
    "size_gain": lambda f: pearson(
        np.log10([m.n_params for m in f.of(MLP_SCALING).models]),
        np.array([gain(m) for m in f.models]),
    )._asdict(),
    "smallest_and_largest": lambda f: sides(f, "pythia-160m", "pythia-12b"),
    "consistency": lambda f: (
        "consistent" if len({damps(m) for m in f.models}) == 1 else "both damp and expand"
    ),
    "final_norm/all_damp": lambda f: (
        "all models"
        if (n := sum(final_gain(m) < 1 for m in f.models)) == len(f.models)
        else f"{n} of {len(f.models)} models"
    ),
    "final_norm/n_under_1": lambda f: sum(final_gain(m) < 1 for m in f.models),
    "figure_a4/outside": lambda f: sum(
        not AXIS[0] <= one <= AXIS[1] for m in f.models for one in m.residual_gain_all
    ),
    "figure_a4/n_dampening": lambda f: sum(map(damps, f.models)),
    "bound/word": lambda f: bound((gain(m), m.n_layers) for m in f.models),
    "bound/word_without_1b": lambda f: bound(
        (gain(m), m.n_layers) for m in f.models if m.model != EXCEPTION
    ),
    "bound/word_inner_blocks": lambda f: bound(
        (one, m.n_layers) for m in f.models for one in m.all_layer_gains[1:-1]
    ),
    "bound/above": above_bound,
    "bound/n_interior_expanding": lambda f: sum(
        float(np.prod(m.all_layer_gains[1:-1])) > 1 for m in f.models
    ),
    "bound/total": lambda f: max(depth_bound(m.n_layers) ** m.n_layers for m in f.models),
}


def final_range(f: Entry) -> list[float]:
    """The smallest and the largest gain behind the final norm over a file's models."""
    found = [final_gain(m) for m in f.tested_results]
    return [min(found), max(found)]


OF_OWN = {
    **{key: rule for key, rule in OF_SIZE.items() if key not in ("bound", "class")},
    "n_prompts": lambda m: len(m.residual_gain_all),
    "d_head": lambda m: m.d_model // m.n_heads,  # of the notebooks; Gemma's heads are wider
    "rho": density,
    "gain_with_ln_std": lambda m: np.std(m.readings.final_norm.all),
}
OF_READING = {"mean": lambda one: np.mean(one.all), "std": lambda one: np.std(one.all)}
READER = Document(SWEEP, {"": OF_OWN, "readings/*": OF_READING})
DOCUMENTS = {
    "family": Document(SWEEP, {"": OVER_SIZES, "models/*": OF_SIZE}),
    "hunt": Document(
        HUNT,
        {"": {"bound/above": above_bound, "final_norm/range": final_range}},
        places={},
        shows=False,
    ),
}
