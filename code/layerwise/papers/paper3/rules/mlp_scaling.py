"""Gains of the attention and MLP modules, and the scaling law of the last MLP."""

import numpy as np

from layerwise.engine.derivation import Document, Rules, all_of, count
from layerwise.engine.evidence import Entry, floats
from layerwise.papers.paper3.rules.gain_files import contracting_percent
from layerwise.papers.shared.names.result_files import MLP_SCALING, MODULES
from layerwise.statistics.correlation import Line, power_law

# What pages predict of models that were not measured, by their parameters.


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
}
