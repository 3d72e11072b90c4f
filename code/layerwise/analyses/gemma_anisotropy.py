"""The anisotropy profile of Gemma-2B (Paper 3, supplement)."""

import numpy as np
from jaxtyping import Float32

from layerwise.analyses.anisotropy import SHAPE
from layerwise.analyses.derivation import Document
from layerwise.analyses.evidence import Entry
from layerwise.inputs.result_files import ANISOTROPY, GEMMA_ANISOTROPY, PROMPTS


def single(f: Entry) -> Float32[np.ndarray, " layer"]:
    """The shares in single precision, which they were computed in."""
    return f.intrinsic_dim_ratio[:].astype(np.float32)


def spread(f: Entry) -> float:
    """Largest less smallest share."""
    return float(np.ptp(single(f)))


PROFILE = {
    **SHAPE,
    "n_prompts": lambda f: int(f.of(PROMPTS).anisotropy.n_prompts),
    "profile_variance": lambda f: np.var(single(f)),
    "profile_range": spread,
    "max_anisotropy": lambda f: np.max(f.intrinsic_dim_ratio),
    "is_flatter_than_measured": lambda f: spread(f) < np.ptp(f.of(ANISOTROPY).intrinsic_dim_ratio),
    "gauge_theory_test/gemma_profile_range": spread,
    "gauge_theory_test/is_flatter": lambda f: spread(f) < f.gauge_theory_test.pythia_profile_range,
}
DOCUMENTS = {"gemma-2b": Document(GEMMA_ANISOTROPY, {"": PROFILE})}
