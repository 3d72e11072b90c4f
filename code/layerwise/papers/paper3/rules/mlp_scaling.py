"""Gains of the attention and MLP modules, and the scaling law of the last MLP."""

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, all_of, count
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
    "last_layer_mlp_gain": Rule(lambda m: m.mlp_gains[-1], "gain of the last MLP"),
    "attn_contracting_pct": Rule(
        lambda m: contracting_percent(m.attn_gains[:]),
        "percent of the attention blocks that contract",
    ),
    "mlp_contracting_pct": Rule(
        lambda m: contracting_percent(m.mlp_gains[:]), "percent of the MLPs that contract"
    ),
    "max_mlp_gain": Rule(lambda m: np.max(m.mlp_gains[:]), "the largest gain of an MLP"),
    "max_mlp_layer": Rule(
        lambda m: np.argmax(m.mlp_gains[:]), "the layer of the largest gain of an MLP"
    ),
}
OVER_SIZES: Rules = {
    "n_models": Rule(lambda f: count(f.models, lambda m: m.n_params), "the sizes of the family"),
    "scaling_law/exponent_alpha": Rule(
        lambda f: law(f).slope, "exponent of the last MLP gain over the parameters"
    ),
    "scaling_law/exponent_std_err": Rule(lambda f: law(f).slope_error, "its standard error"),
    "scaling_law/intercept": Rule(
        lambda f: law(f).intercept, "intercept of the line of logarithms"
    ),
    "scaling_law/r_squared": Rule(lambda f: law(f).r ** 2, "r squared of that line"),
    "scaling_law/p_value": Rule(lambda f: law(f).p, "p of that line"),
    "hypothesis_test/measured_alpha": Rule(
        lambda f: law(f).slope, "exponent of the last MLP gain over the parameters"
    ),
    "hypothesis_test/difference": miss,
    "hypothesis_test/within_1_std_err": within_one_error,
}
OF_MODULE: Rules = {
    "min_gain": Rule(lambda module: np.min(module.gains[:]), "the smallest gain"),
    "max_gain": Rule(lambda module: np.max(module.gains[:]), "the largest gain"),
    "n_contracting": Rule(lambda module: np.sum(module.gains[:] < 1), "the blocks that contract"),
    "n_expanding": Rule(lambda module: np.sum(module.gains[:] > 1), "the blocks that expand"),
}
BY_LAYER: dict[str, Rules] = {
    "attention": {
        **OF_MODULE,
        "L_star_min": Rule(
            lambda module: np.argmin(module.gains[:]), "the layer of the smallest gain"
        ),
    },
    "mlp": {
        **OF_MODULE,
        "L_star_max": Rule(
            lambda module: np.argmax(module.gains[:]), "the layer of the largest gain"
        ),
    },
}
COMBINED: Rules = {  # of the product of both modules' gains, layer by layer
    "combined/n_net_contracting": Rule(
        lambda f: np.sum(f.attention.gains[:] * f.mlp.gains[:] < 1),
        "the blocks whose two gains together contract",
    ),
    "combined/n_net_expanding": Rule(
        lambda f: np.sum(f.attention.gains[:] * f.mlp.gains[:] > 1),
        "the blocks whose two gains together expand",
    ),
}
HYPOTHESIS: Rules = {
    **COMBINED,
    "hypothesis_test/attention_contracts": contracts,
    "hypothesis_test/mlp_expands": expands,
    "hypothesis_test/hypothesis_confirmed": Rule(
        lambda f: all_of([contracts(f), expands(f)]),
        "whether attention contracts and the MLPs expand",
    ),
}
DOCUMENTS = {
    "family": Document(MLP_SCALING, {"": OVER_SIZES, "models/*": OF_SIZE}),
    "pythia-1p4b": Document(MODULES["pythia-1p4b"], {**BY_LAYER, "": HYPOTHESIS}),
    "pythia-6p9b": Document(MODULES["pythia-6p9b"], {**BY_LAYER, "": COMBINED}),
}
