"""Norms of the unembedding: the Mistral investigation and the LLaMA hypothesis tests (Paper 3)."""

import math

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry
from layerwise.papers.paper3.rules.sequence_gains import PROJECTED, PROJECTOR
from layerwise.papers.shared.names.result_files import HYPOTHESES, MISTRAL

MODEL = "mistral-7b"


def unembedding_over_embedding(investigation: Entry) -> float:
    """Return the Frobenius norm of the unembedding over that of the embedding."""
    matrices = investigation.unembedding_analysis[MODEL]
    return matrices.unembedding.frobenius_norm / matrices.embedding.frobenius_norm


MODEL_RULES: Rules = {
    # the notebook typed the last gain
    "effective_amplification": Rule(
        lambda projector: projector.spectral_norm * projector.last_gain,
        "spectral norm times last gain",
    ),
    "spectral_per_sqrt_vocab": Rule(
        lambda projector: projector.spectral_norm / math.sqrt(projector.vocab_size),
        "spectral norm over the root of the size of the vocabulary",
    ),
}
MISTRAL_RULES: Rules = {
    "matrices/wu_we_ratio": unembedding_over_embedding,
    "output/effective_vocab": Rule(
        lambda investigation: math.exp(investigation.entropy_analysis[MODEL].entropy),
        "exponential of the entropy of the output",
    ),
}


DOCUMENTS = {
    model: Document(f"{HYPOTHESES}#{PROJECTOR}/{model}", {"": MODEL_RULES}, shows=False)
    for model in PROJECTED
} | {
    "mistral": Document(
        MISTRAL,
        {"": MISTRAL_RULES},
        places={
            "/matrices": (MISTRAL, f"/unembedding_analysis/{MODEL}"),
            "/output": (MISTRAL, f"/entropy_analysis/{MODEL}"),
        },
        shows=False,
    ),
}
