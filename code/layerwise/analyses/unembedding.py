"""Unembedding norms: the Mistral investigation and the LLaMA hypothesis tests (Paper 3)."""

import math

from layerwise.analyses.derivation import Document
from layerwise.analyses.sequence_gains import PROJECTED, PROJECTOR
from layerwise.places.result_files import HYPOTHESES, MISTRAL

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
    model: Document(f"{HYPOTHESES}#{PROJECTOR}/{model}", {"": OF_MODEL}, shows=False)
    for model in PROJECTED
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
