"""Gains of the attention and MLP modules, and the scaling law of the last MLP."""

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, all_of
from layerwise.engine.evidence import Entry, floats
from layerwise.papers.shared.names.result_files import MLP_SCALING, MODULES
from layerwise.statistics.correlation import Line, power_law


def scaling_line(results: Entry) -> Line:
    """Return the line of log10 last MLP gain on log10 parameters."""
    return power_law(*floats([(model.n_params, model.mlp_gains[-1]) for model in results.models]).T)


def within_one_error(results: Entry) -> str:
    """Say whether the expected exponent is nearer than a standard error; the file holds a word."""
    line, expected = scaling_line(results), results.hypothesis_test.hypothesized_alpha
    return str(abs(line.slope - expected) < line.slope_error)


def attention_contracts(results: Entry) -> bool:
    """Return whether more than half of the attention's gains are under 1."""
    return bool(np.mean(results.attention.gains[:] < 1) > 1 / 2)


def mlp_expands(results: Entry) -> bool:
    """Return whether more than half of the MLP's gains are above 1."""
    return bool(np.mean(results.mlp.gains[:] > 1) > 1 / 2)


HYPOTHESIS_RULES: Rules = {
    "hypothesis_test/hypothesis_confirmed": Rule(
        lambda results: all_of([attention_contracts(results), mlp_expands(results)]),
        "whether most attention blocks contract and most MLPs expand",
    ),
}
MLP_RULES: Rules = {
    "max_gain": Rule(lambda mlp: np.max(mlp.gains[:]), "the largest gain of an MLP"),
}
DOCUMENTS = {
    "family": Document(MLP_SCALING, {"": {"hypothesis_test/within_1_std_err": within_one_error}}),
    "pythia-1p4b": Document(MODULES["pythia-1p4b"], {"": HYPOTHESIS_RULES, "mlp": MLP_RULES}),
    "pythia-6p9b": Document(MODULES["pythia-6p9b"], {"mlp": MLP_RULES}),
}
