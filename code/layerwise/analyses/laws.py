"""The three laws of Paper 3 side by side, and its equation 4."""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import softmax

from layerwise.analyses import depth_gain, lab_heritage, spectral_norms
from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Evidence
from layerwise.analyses.gain_files import gains_of
from layerwise.measures import sheaf
from layerwise.places.result_files import HUNT, SPECTRAL, SWEEP

LEVEL = 0.05
TOKENS, HIDDEN = 8, 16  # of the attention that stands for any in equation 4
ROUNDING = 1e-9  # of the norm: a smaller trace is none


P_VALUES: dict[str, Callable[[Evidence], float]] = {
    "depth_gain": lambda e: depth_gain.correlation(e[SWEEP].models, float)["p"],
    "lab_heritage": lambda e: lab_heritage.fisher_p(lab_heritage.signs(e[HUNT])),
    "spectral_norms": lambda e: spectral_norms.lab_test(e)[1],
}


def equation4(e: Evidence, mass: Callable[[np.ndarray], np.ndarray]) -> str:
    """What a mass of causal attention makes of equation 4's trace: zero, or a number."""
    rng = np.random.default_rng(e.draws.seed)
    scores = rng.standard_normal((TOKENS, TOKENS))
    visible = np.tril(np.ones_like(scores, dtype=bool))
    attention = softmax(np.where(visible, scores, -np.inf), axis=1)
    norms = sheaf.squared_norms(rng.standard_normal((1, HIDDEN, HIDDEN)).astype(np.float32))
    trace = sheaf.traces(mass(attention[None]), norms)["mean_map"]
    return "nonzero trace" if abs(trace) > ROUNDING * norms.sum() else "zero trace"


def behind(e: Evidence) -> str:
    """Models behind each law: the sweep's, the hunt's, those whose matrices were decomposed."""
    decomposed = [m.W_V_spectral_norm[:] for m in e[SPECTRAL].results]
    first, second = (len(gains_of(group)) for group in (e[SWEEP].models, e[HUNT].tested_results))
    return f"{first}, {second} and {len(decomposed)} models"


LAWS: Rules = {
    **{f"below/{law}": partial(lambda p, e: p(e) < LEVEL, p) for law, p in P_VALUES.items()},
    "n_models": behind,
    "below/all": lambda e: all(p(e) < LEVEL for p in P_VALUES.values()),
    "below/first_two": lambda e: all(p(e) < LEVEL for p in list(P_VALUES.values())[:2]),
    "equation4/printed": lambda e: equation4(e, sheaf.excess_mass),
    "equation4/coded": lambda e: equation4(e, sheaf.off_diagonal_mass),
}
DOCUMENTS = {"laws": Document(None, {"": LAWS})}
