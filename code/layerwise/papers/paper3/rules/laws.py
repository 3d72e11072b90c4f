"""The three laws of Paper 3 compared, and its equation 4."""

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from scipy.special import softmax

from layerwise.engine.derivation import Document, Rule, Rules, all_of, count
from layerwise.engine.evidence import Evidence
from layerwise.measures import sheaf
from layerwise.papers.paper3.rules import depth_gain, lab_heritage, spectral_norms
from layerwise.papers.paper3.rules.gain_files import gain
from layerwise.papers.shared.names.result_files import HUNT, SPECTRAL, SWEEP

LEVEL = 0.05
TOKENS, HIDDEN = 8, 16  # of the attention that stands for any in equation 4
ROUNDING = 1e-9  # of the norm: a smaller trace is none
P_VALUES: dict[str, Callable[[Evidence], float]] = {
    "depth_gain": lambda evidence: depth_gain.depth_correlation(evidence[SWEEP].models, float)["p"],
    "lab_heritage": lambda evidence: lab_heritage.fisher_p(lab_heritage.signs(evidence[HUNT])),
    "spectral_norms": lambda evidence: spectral_norms.lab_test(evidence)[1],
}
FIRST_TWO = ("depth_gain", "lab_heritage")


def is_below_level(evidence: Evidence, law: str) -> bool:
    """Return whether the p of a law's test is significant."""
    return P_VALUES[law](evidence) < LEVEL


def are_below_level(evidence: Evidence, laws: Iterable[str] = tuple(P_VALUES)) -> bool:
    """Return whether the p of every one of these laws is significant."""
    return all_of(is_below_level(evidence, law) for law in laws)


def equation4_word(evidence: Evidence, mass: Callable[[np.ndarray], np.ndarray]) -> str:
    """Say whether a mass of causal attention makes equation 4's trace zero."""
    rng = np.random.default_rng(evidence.draws.seed)
    scores = rng.standard_normal((TOKENS, TOKENS))
    visible = np.tril(np.ones_like(scores, dtype=bool))
    attention = softmax(np.where(visible, scores, -np.inf), axis=1)
    norms = sheaf.squared_norms(rng.standard_normal((1, HIDDEN, HIDDEN)).astype(np.float32))
    trace = sheaf.traces(mass(attention[None]), norms)["mean_map"]
    return "nonzero trace" if abs(trace) > ROUNDING * norms.sum() else "zero trace"


def models_behind_laws(evidence: Evidence) -> str:
    """Say how many models are behind each law: of the sweep, of the survey, with norms."""
    swept, hunted = (
        count(group, gain) for group in (evidence[SWEEP].models, evidence[HUNT].tested_results)
    )
    decomposed = count(evidence[SPECTRAL].results, lambda model: model.W_V_spectral_norm[:])
    return f"{swept}, {hunted} and {decomposed} models"


LAW_RULES: Rules = {
    "n_models": models_behind_laws,
    "below/all": Rule(are_below_level, "whether the p of each of the three laws is below 0.05"),
    "below/first_two": Rule(
        partial(are_below_level, laws=FIRST_TWO),
        "whether the p of the first two laws is below 0.05",
    ),
    "equation4/printed": Rule(
        lambda evidence: equation4_word(evidence, sheaf.excess_mass),
        "equation 4's trace, with the mass as printed",
    ),
    "equation4/coded": Rule(
        lambda evidence: equation4_word(evidence, sheaf.off_diagonal_mass),
        "equation 4's trace, with the mass as coded",
    ),
}
DOCUMENTS = {"laws": Document(None, {"": LAW_RULES})}
