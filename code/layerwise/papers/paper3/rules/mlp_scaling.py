"""Gains of the attention and MLP modules, and the scaling law of the last MLP."""

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, all_of, count
from layerwise.engine.evidence import Entry, floats
from layerwise.papers.paper3.rules.gain_files import contracting_percent
from layerwise.papers.shared.names.result_files import MLP_SCALING, MODULES
from layerwise.statistics.correlation import Line, power_law


def scaling_line(results: Entry) -> Line:
    """Return the line of log10 last MLP gain on log10 parameters."""
    return power_law(*floats([(model.n_params, model.mlp_gains[-1]) for model in results.models]).T)


def exponent_miss(results: Entry) -> float:
    """Return the distance of the exponent from the one that the notebook expected."""
    return abs(scaling_line(results).slope - results.hypothesis_test.hypothesized_alpha)


def attention_contracts(results: Entry) -> bool:
    """Return whether more than half of the attention's gains are under 1."""
    return bool(np.mean(results.attention.gains[:] < 1) > 1 / 2)


def mlp_expands(results: Entry) -> bool:
    """Return whether more than half of the MLP's gains are above 1."""
    return bool(np.mean(results.mlp.gains[:] > 1) > 1 / 2)


def within_one_error(results: Entry) -> str:
    """Say whether the expected exponent is nearer than a standard error; the file holds a word."""
    return str(exponent_miss(results) < scaling_line(results).slope_error)


SIZE_RULES: Rules = {
    "last_layer_mlp_gain": Rule(lambda model: model.mlp_gains[-1], "gain of the last MLP"),
    "attn_contracting_pct": Rule(
        lambda model: contracting_percent(model.attn_gains[:]),
        "percent of the attention blocks that contract",
    ),
    "mlp_contracting_pct": Rule(
        lambda model: contracting_percent(model.mlp_gains[:]), "percent of the MLPs that contract"
    ),
    "max_mlp_gain": Rule(lambda model: np.max(model.mlp_gains[:]), "the largest gain of an MLP"),
    "max_mlp_layer": Rule(
        lambda model: np.argmax(model.mlp_gains[:]), "the layer of the largest gain of an MLP"
    ),
}
FAMILY_RULES: Rules = {
    "n_models": Rule(
        lambda results: count(results.models, lambda model: model.n_params),
        "the sizes of the family",
    ),
    "scaling_law/exponent_alpha": Rule(
        lambda results: scaling_line(results).slope,
        "exponent of the last MLP gain over the parameters",
    ),
    "scaling_law/exponent_std_err": Rule(
        lambda results: scaling_line(results).slope_error,
        "standard error of the exponent of the last MLP gain over the parameters",
    ),
    "scaling_law/intercept": Rule(
        lambda results: scaling_line(results).intercept, "intercept of the line of logarithms"
    ),
    "scaling_law/r_squared": Rule(
        lambda results: scaling_line(results).r ** 2,
        "r squared of the logarithms of the last MLP gain and the parameters",
    ),
    "scaling_law/p_value": Rule(
        lambda results: scaling_line(results).p, "p of the slope of the line of logarithms"
    ),
    "hypothesis_test/measured_alpha": Rule(
        lambda results: scaling_line(results).slope,
        "exponent of the last MLP gain over the parameters",
    ),
    "hypothesis_test/difference": exponent_miss,
    "hypothesis_test/within_1_std_err": within_one_error,
}
MODULE_RULES: Rules = {
    "min_gain": Rule(lambda module: np.min(module.gains[:]), "the smallest gain"),
    "max_gain": Rule(lambda module: np.max(module.gains[:]), "the largest gain"),
    "n_contracting": Rule(lambda module: np.sum(module.gains[:] < 1), "the blocks that contract"),
    "n_expanding": Rule(lambda module: np.sum(module.gains[:] > 1), "the blocks that expand"),
}
RULES_BY_MODULE: dict[str, Rules] = {
    "attention": {
        **MODULE_RULES,
        "L_star_min": Rule(
            lambda module: np.argmin(module.gains[:]), "the layer of the smallest gain"
        ),
    },
    "mlp": {
        **MODULE_RULES,
        "L_star_max": Rule(
            lambda module: np.argmax(module.gains[:]), "the layer of the largest gain"
        ),
    },
}
COMBINED_RULES: Rules = {  # of the product of both modules' gains, layer by layer
    "combined/n_net_contracting": Rule(
        lambda results: np.sum(results.attention.gains[:] * results.mlp.gains[:] < 1),
        "the blocks whose two gains together contract",
    ),
    "combined/n_net_expanding": Rule(
        lambda results: np.sum(results.attention.gains[:] * results.mlp.gains[:] > 1),
        "the blocks whose two gains together expand",
    ),
}
HYPOTHESIS_RULES: Rules = {
    **COMBINED_RULES,
    "hypothesis_test/attention_contracts": attention_contracts,
    "hypothesis_test/mlp_expands": mlp_expands,
    "hypothesis_test/hypothesis_confirmed": Rule(
        lambda results: all_of([attention_contracts(results), mlp_expands(results)]),
        "whether most attention blocks contract and most MLPs expand",
    ),
}
DOCUMENTS = {
    "family": Document(MLP_SCALING, {"": FAMILY_RULES, "models/*": SIZE_RULES}),
    "pythia-1p4b": Document(MODULES["pythia-1p4b"], {**RULES_BY_MODULE, "": HYPOTHESIS_RULES}),
    "pythia-6p9b": Document(MODULES["pythia-6p9b"], {**RULES_BY_MODULE, "": COMBINED_RULES}),
}
