"""Unembedding norms: the Mistral investigation and the LLaMA hypothesis tests (Paper 3)."""

from __future__ import annotations

import math

from layerwise.analyses.derivation import Document
from layerwise.analyses.gain_files import R

MISTRAL = R + "mistral_paradox_investigation_results.json"
HYPOTHESES = R + "llama_anomaly_hypothesis_tests.json"
TESTS = "hypothesis_1_titanium_projector"
MODEL = "mistral-7b"

OF_MODEL = {
    # the notebook typed the last gain
    "effective_amplification": lambda m: m.spectral_norm * m.last_gain,
    "spectral_per_sqrt_vocab": lambda m: m.spectral_norm / math.sqrt(m.vocab_size),
}
OF_MISTRAL = {
    "matrices/wu_we_ratio": lambda f: (
        f.unembedding_analysis[MODEL].unembedding.frobenius_norm
        / f.unembedding_analysis[MODEL].embedding.frobenius_norm
    ),
    "output/effective_vocab": lambda f: math.exp(f.entropy_analysis[MODEL].entropy),
}
DOCUMENTS = {
    model: Document(
        lambda e, model=model: e[HYPOTHESES].at(TESTS, "results", model),  # type: ignore[misc]
        {"": OF_MODEL},
        shows=False,
    )
    for model in ("llama3.1-8b", "mistral-7b", "gemma2-9b")
} | {
    "mistral": Document(
        MISTRAL,
        {"": OF_MISTRAL},
        places={
            "/matrices": (MISTRAL, f"/unembedding_analysis/{MODEL}"),
            "/output": (MISTRAL, f"/entropy_analysis/{MODEL}"),
        },
        shows=False,
    )
}
