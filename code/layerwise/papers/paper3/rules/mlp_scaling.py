"""Gains of the attention and MLP modules, and the scaling law of the last MLP."""

import numpy as np
from jaxtyping import Float64

from layerwise.engine.derivation import Document, Rule, Rules, Section, all_of, count
from layerwise.engine.evidence import Entry, floats
from layerwise.papers.paper3.rules.gain_files import contracting_percent
from layerwise.papers.shared.result_files import MLP_SCALING, MODULES
from layerwise.statistics.correlation import Line, power_law

# --- the scaling law of the last MLP ---


def gains_of_size(model: Entry) -> Rules:
    """The gains of the modules of one Pythia size."""
    return {
        "last_layer_mlp_gain": Rule(lambda: model.mlp_gains[-1], "gain of the last MLP"),
        "attn_contracting_pct": Rule(
            lambda: contracting_percent(model.attn_gains[:]),
            "percent of the attention blocks that contract",
        ),
        "mlp_contracting_pct": Rule(
            lambda: contracting_percent(model.mlp_gains[:]), "percent of the MLPs that contract"
        ),
        "max_mlp_gain": Rule(lambda: np.max(model.mlp_gains[:]), "the largest gain of an MLP"),
        "max_mlp_layer": Rule(
            lambda: np.argmax(model.mlp_gains[:]), "the layer of the largest gain of an MLP"
        ),
    }


def law_of_scaling(results: Entry) -> Rules:
    """The line of the logarithms of the last MLP gain and of the parameters."""

    def line() -> Line:
        points = [(model.n_params, model.mlp_gains[-1]) for model in results.models]
        return power_law(*floats(points).T)

    def exponent_miss() -> float:
        """Return the distance of the exponent from the one that the notebook expected."""
        return abs(line().slope - results.hypothesis_test.hypothesized_alpha)

    exponent = Rule(lambda: line().slope, "exponent of the last MLP gain over the parameters")
    return {
        "n_models": Rule(
            lambda: count(results.models, lambda model: model.n_params), "the sizes of the family"
        ),
        "scaling_law/exponent_alpha": exponent,
        "scaling_law/exponent_std_err": Rule(
            lambda: line().slope_error,
            "standard error of the exponent of the last MLP gain over the parameters",
        ),
        "scaling_law/intercept": Rule(
            lambda: line().intercept, "intercept of the line of logarithms"
        ),
        "scaling_law/r_squared": Rule(
            lambda: line().r ** 2,
            "r squared of the logarithms of the last MLP gain and the parameters",
        ),
        "scaling_law/p_value": Rule(lambda: line().p, "p of the slope of the line of logarithms"),
        "hypothesis_test/measured_alpha": exponent,
        "hypothesis_test/difference": exponent_miss,
        "hypothesis_test/within_1_std_err": Rule(
            lambda: str(exponent_miss() < line().slope_error),
            "whether the expected exponent is nearer than a standard error; the file holds a word",
        ),
    }


# --- the gains of the two modules, block by block ---


def module_statistics(module: Entry) -> Rules:
    """The gains of the attention or of the MLP."""
    return {
        "min_gain": Rule(lambda: np.min(module.gains[:]), "the smallest gain"),
        "max_gain": Rule(lambda: np.max(module.gains[:]), "the largest gain"),
        "n_contracting": Rule(lambda: np.sum(module.gains[:] < 1), "the blocks that contract"),
        "n_expanding": Rule(lambda: np.sum(module.gains[:] > 1), "the blocks that expand"),
    }


def attention_gains(attention: Entry) -> Rules:
    """The gains of the attention, and where they are smallest."""
    return {
        **module_statistics(attention),
        "L_star_min": Rule(lambda: np.argmin(attention.gains[:]), "the layer of the smallest gain"),
    }


def mlp_gains(mlp: Entry) -> Rules:
    """The gains of the MLP, and where they are largest."""
    return {
        **module_statistics(mlp),
        "L_star_max": Rule(lambda: np.argmax(mlp.gains[:]), "the layer of the largest gain"),
    }


def combined_gains(results: Entry) -> Rules:
    """The products of both modules' gains."""

    def products() -> Float64[np.ndarray, " block"]:
        return results.attention.gains[:] * results.mlp.gains[:]

    return {
        "combined/n_net_contracting": Rule(
            lambda: np.sum(products() < 1), "the blocks whose two gains together contract"
        ),
        "combined/n_net_expanding": Rule(
            lambda: np.sum(products() > 1), "the blocks whose two gains together expand"
        ),
    }


def hypothesis_of_modules(results: Entry) -> Rules:
    """The products, and whether attention contracts and MLPs expand as the notebook supposed."""

    def attention_contracts() -> bool:
        """Return whether more than half of the attention's gains are under 1."""
        return bool(np.mean(results.attention.gains[:] < 1) > 1 / 2)

    def mlp_expands() -> bool:
        """Return whether more than half of the MLP's gains are above 1."""
        return bool(np.mean(results.mlp.gains[:] > 1) > 1 / 2)

    return {
        **combined_gains(results),
        "hypothesis_test/attention_contracts": attention_contracts,
        "hypothesis_test/mlp_expands": mlp_expands,
        "hypothesis_test/hypothesis_confirmed": Rule(
            lambda: all_of([attention_contracts(), mlp_expands()]),
            "whether most attention blocks contract and most MLPs expand",
        ),
    }


BY_MODULE: dict[str, Section] = {"attention": attention_gains, "mlp": mlp_gains}
DOCUMENTS = {
    "family": Document(MLP_SCALING, {"": law_of_scaling, "models/*": gains_of_size}),
    "pythia-1p4b": Document(MODULES["pythia-1p4b"], {**BY_MODULE, "": hypothesis_of_modules}),
    "pythia-6p9b": Document(MODULES["pythia-6p9b"], {**BY_MODULE, "": combined_gains}),
}
