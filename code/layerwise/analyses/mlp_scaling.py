"""Gains of the attention and the MLP modules, and the scaling law of the last MLP."""

from __future__ import annotations

import numpy as np

from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Entry
from layerwise.analyses.gain_files import R
from layerwise.statistics import gains
from layerwise.statistics.correlation import Line, power_law
from layerwise.statistics.norm_ratios import contracting_percent

SCALING = R + "scaling_law_multi_pythia_results.json"
MODULES = {
    "pythia-1p4b": R + "ffn_expansion_results.json",
    "pythia-6p9b": R + "ffn_expansion_pythia69b_results.json",
}


def law(f: Entry) -> Line:
    """Line of log10 last MLP gain on log10 parameters."""
    return power_law(
        np.array([float(m.n_params) for m in f.models]),
        np.array([m.mlp_gains[-1] for m in f.models]),
    )


def miss(f: Entry) -> float:
    """Distance of the exponent from the one that the notebook expected."""
    return abs(law(f).slope - f.hypothesis_test.hypothesized_alpha)


def net(f: Entry) -> np.ndarray:
    """Product of both modules' gains, layer by layer."""
    return f.attention.gains[:] * f.mlp.gains[:]


def most(module: Entry, *, expand: bool) -> bool:
    """Whether most layers expand, or contract."""
    return gains.majority(gains.layer_counts(module.gains[:])[expand], len(module.gains))


OF_SIZE = {
    "last_layer_mlp_gain": lambda m: m.mlp_gains[-1],
    "attn_contracting_pct": lambda m: contracting_percent(m.attn_gains[:]),
    "mlp_contracting_pct": lambda m: contracting_percent(m.mlp_gains[:]),
    "max_mlp_gain": lambda m: float(m.mlp_gains[:].max()),
    "max_mlp_layer": lambda m: int(m.mlp_gains[:].argmax()),
}
OVER_SIZES = {
    "n_models": lambda f: len([m.n_params for m in f.models]),
    "scaling_law/exponent_alpha": lambda f: law(f).slope,
    "scaling_law/exponent_std_err": lambda f: law(f).slope_error,
    "scaling_law/intercept": lambda f: law(f).intercept,
    "scaling_law/r_squared": lambda f: law(f).r ** 2,
    "scaling_law/p_value": lambda f: law(f).p,
    "hypothesis_test/measured_alpha": lambda f: law(f).slope,
    "hypothesis_test/difference": miss,
    # the file holds the word, not a boolean
    "hypothesis_test/within_1_std_err": lambda f: str(miss(f) < law(f).slope_error),
}
OF_MODULE: Rules = {
    "min_gain": lambda module: float(module.gains[:].min()),
    "max_gain": lambda module: float(module.gains[:].max()),
    "n_contracting": lambda module: gains.layer_counts(module.gains[:])[0],
    "n_expanding": lambda module: gains.layer_counts(module.gains[:])[1],
}
BY_LAYER: dict[str, Rules] = {
    "attention": {**OF_MODULE, "L_star_min": lambda module: int(module.gains[:].argmin())},
    "mlp": {**OF_MODULE, "L_star_max": lambda module: int(module.gains[:].argmax())},
    "": {
        "combined/n_net_contracting": lambda f: gains.layer_counts(net(f))[0],
        "combined/n_net_expanding": lambda f: gains.layer_counts(net(f))[1],
    },
}
HYPOTHESIS: Rules = {
    "hypothesis_test/attention_contracts": lambda f: most(f.attention, expand=False),
    "hypothesis_test/mlp_expands": lambda f: most(f.mlp, expand=True),
    "hypothesis_test/hypothesis_confirmed": lambda f: (
        most(f.attention, expand=False) and most(f.mlp, expand=True)
    ),
}
DOCUMENTS = {
    "family": Document(SCALING, {"": OVER_SIZES, "models/*": OF_SIZE}),
    "pythia-1p4b": Document(
        MODULES["pythia-1p4b"], {**BY_LAYER, "": {**BY_LAYER[""], **HYPOTHESIS}}
    ),
    "pythia-6p9b": Document(MODULES["pythia-6p9b"], BY_LAYER),
}
