"""The three laws of Paper 3 compared, and its equation 4."""

from collections.abc import Callable

import numpy as np
from scipy.special import softmax

from layerwise.engine.derivation import Document, Rule, Rules, all_of, count
from layerwise.engine.evidence import Evidence
from layerwise.measures import sheaf
from layerwise.papers.paper3.rules import depth_gain, lab_heritage, spectral_norms
from layerwise.papers.paper3.rules.gain_files import gain
from layerwise.papers.shared.result_files import HUNT, SPECTRAL, SWEEP

LEVEL = 0.05
TOKENS, HIDDEN = 8, 16  # of the attention that stands for any in equation 4
ROUNDING = 1e-9  # of the norm: a smaller trace is none


def equation4_word(evidence: Evidence, mass: Callable[[np.ndarray], np.ndarray]) -> str:
    """Say whether a mass of causal attention makes equation 4's trace zero."""
    rng = np.random.default_rng(evidence.draws.seed)
    scores = rng.standard_normal((TOKENS, TOKENS))
    visible = np.tril(np.ones_like(scores, dtype=bool))
    attention = softmax(np.where(visible, scores, -np.inf), axis=1)
    norms = sheaf.squared_norms(rng.standard_normal((1, HIDDEN, HIDDEN)).astype(np.float32))
    trace = sheaf.traces(mass(attention[None]), norms)["mean_map"]
    return "nonzero trace" if abs(trace) > ROUNDING * norms.sum() else "zero trace"


def law_statistics(evidence: Evidence) -> Rules:
    """Models behind the three laws, their p values, and the trace of equation 4."""

    def models_behind_laws() -> str:
        """Say how many models are behind each law: of the sweep, of the survey, with norms."""
        swept, hunted = (
            count(group, gain) for group in (evidence[SWEEP].models, evidence[HUNT].tested_results)
        )
        decomposed = count(evidence[SPECTRAL].results, lambda model: model.W_V_spectral_norm[:])
        return f"{swept}, {hunted} and {decomposed} models"

    def first_two() -> list[float]:
        """Return the p of depth and gain, and that of the labs."""
        return [
            depth_gain.depth_correlation(evidence[SWEEP].models, float)["p"],
            lab_heritage.fisher_p(lab_heritage.signs(evidence[HUNT])),
        ]

    def all_three() -> list[float]:
        """Return these, and the p of the spectral norms."""
        return [*first_two(), spectral_norms.lab_test(evidence)[1]]

    return {
        "n_models": models_behind_laws,
        "below/all": Rule(
            lambda: all_of(p < LEVEL for p in all_three()),
            "whether the p of each of the three laws is below 0.05",
        ),
        "below/first_two": Rule(
            lambda: all_of(p < LEVEL for p in first_two()),
            "whether the p of the first two laws is below 0.05",
        ),
        "equation4/printed": Rule(
            lambda: equation4_word(evidence, sheaf.excess_mass),
            "equation 4's trace, with the mass as printed",
        ),
        "equation4/coded": Rule(
            lambda: equation4_word(evidence, sheaf.off_diagonal_mass),
            "equation 4's trace, with the mass as coded",
        ),
    }


DOCUMENTS = {"laws": Document(None, {"": law_statistics})}
