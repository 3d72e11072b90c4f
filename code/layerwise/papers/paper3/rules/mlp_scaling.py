"""Gains of the attention and MLP modules, and the scaling law of the last MLP."""

import math
from functools import partial

import numpy as np
import scipy  # and of it `stats`, half a second, where it is used

from layerwise.engine.derivation import Document, Rules, all_of, count
from layerwise.engine.evidence import Entry, Evidence, floats
from layerwise.papers.paper3.rules.gain_files import contracting_percent
from layerwise.papers.shared.names.result_files import MLP_SCALING, MODULES
from layerwise.statistics.correlation import Line, power_law

# What pages predict of models that were not measured, by their parameters.
PREDICTED = {
    **{"7B": 7e9, "13B": 13e9, "70B": 70e9, "175B": 175e9, "1T": 1e12},
    **{"1.8T": 1.8e12, "10T": 1e13},
}
SMALL = 3  # the smallest sizes, of which the discussion gives a range


def law(f: Entry) -> Line:
    """Line of log10 last MLP gain on log10 parameters."""
    return power_law(*floats([(m.n_params, m.mlp_gains[-1]) for m in f.models]).T)


def miss(f: Entry) -> float:
    """Distance of the exponent from the one that the notebook expected."""
    return abs(law(f).slope - f.hypothesis_test.hypothesized_alpha)


def contracts(f: Entry) -> bool:
    """Whether more than half of the attention's gains are under 1."""
    return bool(np.mean(f.attention.gains[:] < 1) > 1 / 2)


def expands(f: Entry) -> bool:
    """Whether more than half of the MLP's gains are above 1."""
    return bool(np.mean(f.mlp.gains[:] > 1) > 1 / 2)


def interval(f: Entry, level: float = 0.95) -> list[float]:
    """Interval of the exponent, by Student's t with two degrees of freedom less than sizes."""
    line = law(f)
    half = scipy.stats.t.ppf((1 + level) / 2, len(f.models) - 2) * line.slope_error
    return [float(line.slope - half), float(line.slope + half)]


def residuals(f: Entry) -> dict[str, float]:
    """Distance of each size's log10 gain from the law."""
    line = law(f)
    return {m.model: math.log10(m.mlp_gains[-1]) - log_gain(line, m.n_params) for m in f.models}


def log_gain(line: Line, n_params: float) -> float:
    """What the line gives for that many parameters."""
    return line.intercept + line.slope * math.log10(n_params)


def predicted(f: Entry) -> dict[str, float]:
    """Last MLP gain of the models that were not measured, by the line."""
    line = law(f)
    return {name: float(10 ** log_gain(line, n)) for name, n in PREDICTED.items()}


def errors_around(f: Entry, n: int) -> list[float]:
    """The exponent, some standard errors to either side."""
    return [float(law(f).slope + n * law(f).slope_error * sign) for sign in (-1, 1)]


def mean_contracting(f: Entry) -> float:
    """Mean over the sizes of the share of attention modules that contract, percent."""
    return float(np.mean([contracting_percent(m.attn_gains[:]) for m in f.models]))


def ends(values: list[float]) -> list[float]:
    """The smallest and the largest."""
    return [min(values), max(values)]


def net_contracting(m: Entry) -> float:
    """Share of a size's layers whose attention and MLP together contract, percent."""
    return contracting_percent(m.attn_gains[:] * m.mlp_gains[:])


def net_of_two(e: Evidence) -> list[float]:
    """The same of the two sizes that have a run of their own, the smaller first."""
    files = (e[file] for file in MODULES.values())
    return sorted(contracting_percent(f.attention.gains[:] * f.mlp.gains[:]) for f in files)


def course_of_contraction(f: Entry) -> str:
    """How the share of MLPs that contract changes with size."""
    shares = [contracting_percent(m.mlp_gains[:]) for m in f.models]
    return "decreasing" if np.all(np.diff(shares) <= 0) else "up and down"


def within_one_error(f: Entry) -> str:
    """Whether the expected exponent is nearer than a standard error; the file holds a word."""
    return str(miss(f) < law(f).slope_error)


OF_SIZE: Rules = {
    "last_layer_mlp_gain": lambda m: m.mlp_gains[-1],
    "attn_contracting_pct": lambda m: contracting_percent(m.attn_gains[:]),
    "mlp_contracting_pct": lambda m: contracting_percent(m.mlp_gains[:]),
    "max_mlp_gain": lambda m: np.max(m.mlp_gains[:]),
    "max_mlp_layer": lambda m: np.argmax(m.mlp_gains[:]),
}
OVER_SIZES: Rules = {
    "n_models": lambda f: count(f.models, lambda m: m.n_params),
    "scaling_law/exponent_alpha": lambda f: law(f).slope,
    "scaling_law/exponent_std_err": lambda f: law(f).slope_error,
    "scaling_law/intercept": lambda f: law(f).intercept,
    "scaling_law/r_squared": lambda f: law(f).r ** 2,
    "scaling_law/p_value": lambda f: law(f).p,
    "interval": interval,
    "interval_99": partial(interval, level=0.99),
    "residuals": residuals,
    "one_error": partial(errors_around, n=1),
    "two_errors": partial(errors_around, n=2),
    "predicted": predicted,
    "mean_attn_contracting_pct": mean_contracting,
    "coefficient": lambda f: 10 ** law(f).intercept,
    "ends/attention": lambda f: ends([contracting_percent(m.attn_gains[:]) for m in f.models]),
    "ends/last_mlp": lambda f: ends([m.mlp_gains[-1] for m in f.models]),
    "ends/net": lambda f: ends([net_contracting(m) for m in f.models]),
    "ends/small_mlp": lambda f: ends(
        [contracting_percent(m.mlp_gains[:]) for m in list(f.models)[:SMALL]]
    ),
    "course_of_contraction": course_of_contraction,
    "n_last_expanding": lambda f: sum(m.mlp_gains[-1] > 1 for m in f.models),
    "hypothesis_test/measured_alpha": lambda f: law(f).slope,
    "hypothesis_test/difference": miss,
    "hypothesis_test/within_1_std_err": within_one_error,
}
OF_MODULE: Rules = {
    "min_gain": lambda module: np.min(module.gains[:]),
    "max_gain": lambda module: np.max(module.gains[:]),
    "n_contracting": lambda module: np.sum(module.gains[:] < 1),
    "n_expanding": lambda module: np.sum(module.gains[:] > 1),
}
BY_LAYER: dict[str, Rules] = {
    "attention": {**OF_MODULE, "L_star_min": lambda module: np.argmin(module.gains[:])},
    "mlp": {**OF_MODULE, "L_star_max": lambda module: np.argmax(module.gains[:])},
}
COMBINED: Rules = {  # of the product of both modules' gains, layer by layer
    "combined/n_net_contracting": lambda f: np.sum(f.attention.gains[:] * f.mlp.gains[:] < 1),
    "combined/n_net_expanding": lambda f: np.sum(f.attention.gains[:] * f.mlp.gains[:] > 1),
}
HYPOTHESIS: Rules = {
    **COMBINED,
    "hypothesis_test/attention_contracts": contracts,
    "hypothesis_test/mlp_expands": expands,
    "hypothesis_test/hypothesis_confirmed": lambda f: all_of([contracts(f), expands(f)]),
}
DOCUMENTS = {
    "family": Document(MLP_SCALING, {"": OVER_SIZES, "models/*": OF_SIZE}),
    "pythia-1p4b": Document(MODULES["pythia-1p4b"], {**BY_LAYER, "": HYPOTHESIS}),
    "pythia-6p9b": Document(MODULES["pythia-6p9b"], {**BY_LAYER, "": COMBINED}),
    "two": Document(None, {"": {"net": net_of_two}}),
}
