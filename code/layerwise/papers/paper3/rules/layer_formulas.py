"""The formulas for L* that the pages on it tried, on the eight models of the paper's."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from layerwise.engine.derivation import Document, Rules
from layerwise.engine.evidence import Entry, Evidence, Missing, floats
from layerwise.papers.paper3.rules.critical_layer import (
    PAPER,
    by_formula,
    calibrated,
    depth_error,
    depth_miss,
    fit,
    layer,
    printed,
)
from layerwise.papers.paper3.rules.sheaf_trace import prior
from layerwise.papers.shared.names.result_files import V2
from layerwise.statistics.correlation import pearson_r
from layerwise.statistics.critical_layer import least_absolute_deviations

DAMPING = "DAMPEN"  # the runs' word for a model's side; Gemma-2B's is UNKNOWN
MODELS = (
    *("pythia-160m", "pythia-410m", "pythia-1b", "pythia-2.8b", "pythia-6.9b"),
    *("opt-125m", "gpt2", "gemma-2b"),
)
FEW_HEADS, MANY_HEADS = 8, 16
GIVEN = ((32, 32), (12, 8))  # layers and heads that the pages try the paper's formula on
Predict = Callable[[Entry], float]


def share(m: Entry) -> float:
    """L* over the number of blocks."""
    return layer(m) / m.n_layers


# --- the formulas, with the coefficients that the pages print ---


def by_side(m: Entry) -> float:
    """Of depth and side; the script gives a model of unknown side the expanders' coefficients."""
    constant, depth = (0.55, 0.008) if m.behavior == DAMPING else (0.60, 0.010)
    return m.n_layers * (constant + depth * m.n_layers)


def linear(m: Entry) -> float:
    return m.n_layers * (0.544 + 0.0087 * m.n_layers)


def logarithmic(m: Entry) -> float:
    return m.n_layers * (0.31 + 0.17 * math.log(m.n_layers))


def with_load(m: Entry) -> float:
    """Of depth, heads and blocks per head."""
    load = m.n_layers / m.n_heads
    return m.n_layers * (-0.13 + 0.021 * m.n_layers + 8.5 / m.n_heads - 0.16 * load)


def with_gain(m: Entry) -> float:
    """Of these and of the gain that the scripts typed."""
    load, loss = m.n_layers / m.n_heads, 1 - m.known_gain
    ratio = -0.20 + 0.029 * m.n_layers + 12.3 / m.n_heads - 0.41 * load + 0.38 * loss
    return m.n_layers * ratio


def of_paper(m: Entry) -> float:
    """The paper's, with its printed coefficients."""
    return by_formula(printed(m.of(PAPER)))(m)


def paper_share(e: Evidence, n_layers: int, n_heads: int) -> float:
    """L*/L of a model by the paper's formula."""
    return printed(e[PAPER]).layer(n_layers, n_heads) / n_layers


def heads_term(e: Evidence, n_heads: int) -> float:
    """What the heads of a model add to its L*/L by the paper's formula."""
    return printed(e[PAPER]).heads / n_heads


def fitted(m: Entry) -> float:
    """The paper's, with the coefficients that are not yet rounded."""
    return by_formula(fit(m.evidence))(m)


FORMULAS: dict[str, Predict] = {
    "by_side": by_side,
    "linear": linear,
    "logarithmic": logarithmic,
    "with_load": with_load,
    "with_gain": with_gain,
}


def mean_error(e: Evidence, formula: Predict) -> float:
    """Mean error over the eight models, in percent of depth."""
    return float(np.mean([depth_miss(formula(m), m) for m in calibrated(e)]))


def improvement(e: Evidence) -> float:
    """By how much the formula with the gain errs less than the first one, in percent of that."""
    return 100 * (1 - mean_error(e, with_gain) / mean_error(e, prior))


# --- the smallest mean error that a formula can have on the eight models ---

HEADS: tuple[Predict, ...] = (lambda m: 1.0, lambda m: m.n_layers, lambda m: 1 / m.n_heads)
GAIN: tuple[Predict, ...] = (lambda m: m.known_gain - 1,)
SIDE: tuple[Predict, ...] = (lambda m: float(m.behavior == DAMPING),)
LOAD: tuple[Predict, ...] = (lambda m: m.n_layers / m.n_heads,)


def least_error(e: Evidence, terms: Sequence[Predict]) -> float:
    """Of L*/L as a sum of terms, each with the coefficient that fits best, in percent of depth."""
    models = calibrated(e)
    columns = np.array([[term(m) for term in terms] for m in models])
    shares = np.array([share(m) for m in models])
    best = least_absolute_deviations(columns, shares)
    found = np.sum(columns * best, axis=1)  # a product by the BLAS differs between processors
    return float(100 * np.mean(np.abs(found - shares)))


LEAST = {
    "heads": HEADS,
    "heads_and_side": (*HEADS, *SIDE),
    "heads_and_gain": (*HEADS, *GAIN),
    "heads_gain_and_side": (*HEADS, *GAIN, *SIDE),
    "heads_and_load": (*HEADS, *LOAD),
    "heads_load_and_gain": (*HEADS, *LOAD, *GAIN),
}

# --- what is said of L*/L over the models ---


def correlation(e: Evidence) -> float:
    """r of depth and L*/L."""
    return pearson_r(*floats([(m.n_layers, share(m)) for m in calibrated(e)]).T)


def shares_where(e: Evidence, holds: Callable[[Entry], bool]) -> list[float]:
    """The smallest and the largest L*/L of the models of which something holds."""
    found = [share(m) for m in calibrated(e) if holds(m)]
    return [min(found), max(found)]


def mean_share(e: Evidence, holds: Callable[[Entry], bool]) -> float:
    """Their mean."""
    return float(np.mean([share(m) for m in calibrated(e) if holds(m)]))


def later_side(e: Evidence) -> str:
    """The side whose models have the larger mean L*/L."""
    sides = {side: mean_share(e, partial(is_of, side=side)) for side in (DAMPING, "EXPAND")}
    return max(sides, key=sides.__getitem__)


def is_of(m: Entry, side: str) -> bool:
    return bool(m.behavior == side)


def rising(e: Evidence) -> str:
    """In how many models the trace by heads rises at every layer up to L*."""
    found = [bool(np.all(np.diff(traces(m)[: layer(m) + 1]) > 0)) for m in calibrated(e)]
    return f"{sum(found)} of {len(found)}"


def traces(m: Entry) -> np.ndarray:
    """By heads, of whichever run."""
    return np.array(m["traces_multihead" if "traces_multihead" in m else "traces_mh"])


OVER_MODELS: Rules = {
    **{f"error/{name}": partial(mean_error, formula=of) for name, of in FORMULAS.items()},
    "improvement_pct": improvement,
    **{f"least_error/{name}": partial(least_error, terms=terms) for name, terms in LEAST.items()},
    "correlation": correlation,
    "shares/damping": lambda e: shares_where(e, partial(is_of, side=DAMPING)),
    "shares/expanding": lambda e: shares_where(e, partial(is_of, side="EXPAND")),
    "shares/of_12_layers": lambda e: shares_where(e, lambda m: m.n_layers == 12),
    "shares/of_32_layers": lambda e: shares_where(e, lambda m: m.n_layers == 32),
    "shares/of_many_heads": lambda e: shares_where(e, lambda m: m.n_heads >= MANY_HEADS),
    "mean_share/of_8_heads": lambda e: mean_share(e, lambda m: m.n_heads == FEW_HEADS),
    "mean_share/of_12_heads": lambda e: mean_share(e, lambda m: m.n_heads == 12),
    "later_side": later_side,
    "rising": rising,
    **{f"paper/share/{n}x{h}": partial(paper_share, n_layers=n, n_heads=h) for n, h in GIVEN},
    **{f"paper/heads/{h}": partial(heads_term, n_heads=h) for h in (8, 12, 32)},
}

# --- model by model ---


def named(e: Evidence, model: str) -> Entry:
    models = {m.model.rpartition("/")[2]: m for m in calibrated(e)}
    if model not in models:
        raise Missing(f"no calibration model is called {model}; restore its results")
    return models[model]


def of_model(e: Evidence, model: str, rule: Predict) -> float:
    return rule(named(e, model))


OF_MODEL: dict[str, Predict] = {
    "layers": lambda m: m.n_layers,
    "heads": lambda m: m.n_heads,
    "gain": lambda m: m.known_gain,
    "layer": layer,
    "share": share,
    "paper/layer": of_paper,
    "paper/error": lambda m: depth_miss(of_paper(m), m),
    "paper/fitted": fitted,
    "with_gain/layer": with_gain,
    "with_gain/error": lambda m: depth_miss(with_gain(m), m),
}

# --- the first formula, on the four models of the trace script ---


def prior_error(m: Entry) -> float:
    """By how many layers the first formula misses."""
    return abs(prior(m) - layer(m))


def prior_error_pct(e: Evidence) -> float:
    """Its mean over the four, in percent of depth."""
    return float(np.mean([depth_error(prior(m), layer(m), m.n_layers) for m in e[V2].results]))


def prior_relative_pct(e: Evidence) -> float:
    """Its mean over the four, in percent of L*."""
    return float(np.mean([100 * prior_error(m) / layer(m) for m in e[V2].results]))


TRACED = ("pythia-160m", "pythia-410m", "opt-125m", "gpt2")
FIRST: Rules = {
    **{f"{name}/miss": partial(of_model, model=name, rule=prior_error) for name in TRACED},
    "error_pct": prior_error_pct,
    "relative_pct": prior_relative_pct,
}

DOCUMENTS = {
    "formulas": Document(None, {"": OVER_MODELS}),
    "models": Document(
        None,
        {
            "": {
                f"{model}/{name}": partial(of_model, model=model, rule=rule)
                for model in MODELS
                for name, rule in OF_MODEL.items()
            }
        },
    ),
    "first_formula": Document(None, {"": FIRST}),
}
