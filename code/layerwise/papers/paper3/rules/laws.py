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
    "depth_gain": lambda e: depth_gain.correlation(e[SWEEP].models, float)["p"],
    "lab_heritage": lambda e: lab_heritage.fisher_p(lab_heritage.signs(e[HUNT])),
    "spectral_norms": lambda e: spectral_norms.lab_test(e)[1],
}
FIRST_TWO = ("depth_gain", "lab_heritage")


def below_level(e: Evidence, law: str) -> bool:
    """Whether the p of a law's test is significant."""
    return P_VALUES[law](e) < LEVEL


def all_below_level(e: Evidence, laws: Iterable[str] = tuple(P_VALUES)) -> bool:
    """Whether those of all of these laws are."""
    return all_of(below_level(e, law) for law in laws)


def equation4(e: Evidence, mass: Callable[[np.ndarray], np.ndarray]) -> str:
    """What a mass of causal attention makes of equation 4's trace: zero, or a number."""
    rng = np.random.default_rng(e.draws.seed)
    scores = rng.standard_normal((TOKENS, TOKENS))
    visible = np.tril(np.ones_like(scores, dtype=bool))
    attention = softmax(np.where(visible, scores, -np.inf), axis=1)
    norms = sheaf.squared_norms(rng.standard_normal((1, HIDDEN, HIDDEN)).astype(np.float32))
    trace = sheaf.traces(mass(attention[None]), norms)["mean_map"]
    return "nonzero trace" if abs(trace) > ROUNDING * norms.sum() else "zero trace"


def models_behind(e: Evidence) -> str:
    """Models behind each law: the sweep's, the survey's, those whose matrices were decomposed."""
    swept, hunted = (count(group, gain) for group in (e[SWEEP].models, e[HUNT].tested_results))
    decomposed = count(e[SPECTRAL].results, lambda m: m.W_V_spectral_norm[:])
    return f"{swept}, {hunted} and {decomposed} models"


LAWS: Rules = {
    "n_models": models_behind,
    "below/all": all_below_level,
    "below/first_two": partial(all_below_level, laws=FIRST_TWO),
    "equation4/printed": Rule(
        lambda e: equation4(e, sheaf.excess_mass), "equation 4's trace, with the mass as printed"
    ),
    "equation4/coded": Rule(
        lambda e: equation4(e, sheaf.off_diagonal_mass),
        "equation 4's trace, with the mass as coded",
    ),
}
DOCUMENTS = {"laws": Document(None, {"": LAWS})}
