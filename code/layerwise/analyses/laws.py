"""The three laws of Paper 3 side by side, and its equation 4."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from layerwise.analyses import depth_gain, lab_heritage
from layerwise.analyses.derivation import Document
from layerwise.analyses.evidence import Evidence
from layerwise.analyses.gain_files import HUNT, SWEEP, R
from layerwise.statistics import attention_trace
from layerwise.statistics.ranks import mann_whitney

SPECTRAL = R + "restriction_map_spectral_20260105_202448.json"
LEVEL = 0.05
TOKENS, HIDDEN = 8, 16  # of the attention that stands for any in equation 4


def value_norms(e: Evidence, *, eleuther: bool) -> np.ndarray:
    """Mean spectral norm of W_V of EleutherAI's models, or of the others."""
    return np.array(
        [
            np.mean(m.W_V_spectral_norm[:])
            for m in e[SPECTRAL].results
            if (m.lab == lab_heritage.ELEUTHER) == eleuther
        ]
    )


P_VALUES: dict[str, Callable[[Evidence], float]] = {
    "depth_gain": lambda e: depth_gain.correlation(e[SWEEP].models, float)["p"],
    "lab_heritage": lambda e: lab_heritage.fisher_p(lab_heritage.signs(e[HUNT])),
    "spectral_norms": lambda e: mann_whitney(
        value_norms(e, eleuther=True), value_norms(e, eleuther=False)
    )[1],
}


def equation4(e: Evidence, trace: Callable[[np.ndarray, np.ndarray], float]) -> str:
    """What a form of equation 4's trace is of any attention: zero, or a number."""
    rng = np.random.default_rng(e.draws.seed)
    attention = attention_trace.softmax_rows(rng.standard_normal((TOKENS, TOKENS)))
    value = rng.standard_normal((HIDDEN, HIDDEN))
    return attention_trace.trace_word(trace(attention, value), float(np.sum(value**2)))


LAWS = {
    **{f"p/{name}": p for name, p in P_VALUES.items()},
    "below/all": lambda e: all(p(e) < LEVEL for p in P_VALUES.values()),
    "below/first_two": lambda e: all(p(e) < LEVEL for p in list(P_VALUES.values())[:2]),
    "equation4/printed": lambda e: equation4(e, attention_trace.printed_trace),
    "equation4/coded": lambda e: equation4(e, attention_trace.coded_trace),
}
OF_MODEL = {
    # in float32, as the norms were measured
    "W_V_mean_spectral": lambda m: float(np.mean(m.W_V_spectral_norm[:].astype(np.float32)))
}
DOCUMENTS = {
    "spectral": Document(SPECTRAL, {"results/*": OF_MODEL}),
    "laws": Document(None, {"": LAWS}),
}
