"""The sheaf trace on larger models: what the 4-bit run would have measured on real weights.

Paper 3's extended trace notebook. The published numbers of `H4_v2_extended` are no traces: the run
read W_V where bitsandbytes keeps it packed, so their "W_V" are raw bytes, two 4-bit codes each
(their mean square is that of uniform bytes for every model). A measurement cannot come near them,
and is not put in their places: the claims on them stay `not measured`, for the reason that the
ledger gives (`unmeasured`).

`beyond/h4ext`, at /<slug>, has the same traces of the same four texts from the real weights, in
float16: `legacy` and `correct` (slices of W_V), each `value_traces.summary`, beside the typed
`behavior` and `known_gain`, `n_layers` and `n_heads`. Half-precision attention leaves NaN layers.
"""

from __future__ import annotations

import numpy as np

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import published_slug, texts
from layerwise.experiments.value_traces import SLICINGS, squared_norms, summary
from layerwise.inputs.published import pointer
from layerwise.measures import sheaf

FILES: tuple[str, ...] = ()
LEFT_OUT = "paper3/Results/H4_v2_extended_20260106_012606.json"
PROMPTS = "sheaf_trace"
# Typed into the notebook.
TYPED = {
    "pythia-1b": ("DAMPEN", 1.216),
    "pythia-2p8b": ("DAMPEN", 0.927),
    "pythia-6p9b": ("DAMPEN", 0.994),
    "mistral-7b": ("EXPAND", 1.05),
    "gemma-2b": ("UNKNOWN", 1.0),
}


def fragments(subject: Subject) -> Fragments:
    """Traces of the real weights; nothing for the published file.

    Raises:
        LayerwiseError: see `published_slug`.
    """
    slug, weights = published_slug(subject, TYPED), subject.weights
    behavior, gain = TYPED[slug]
    masses = np.stack([_masses(subject, text) for text in texts(subject, PROMPTS)])
    found = {s: summary(masses, squared_norms(subject, s)) for s in SLICINGS}
    shape = {"n_layers": weights.n_layers, "n_heads": weights.n_heads}
    typed = {"behavior": behavior, "known_gain": gain}
    return {"beyond/h4ext": {pointer(slug): {**typed, **shape, **found}}}


def _masses(subject: Subject, text: str) -> np.ndarray:
    """Off-diagonal mass by block and head."""
    maps = subject.trace(text, attention=True).attention
    return np.stack([sheaf.off_diagonal_mass(of) for of in maps])
