"""Norms of the unembedding: the Mistral investigation and the LLaMA hypothesis tests (Paper 3)."""

import math

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry
from layerwise.papers.paper3.rules.sequence_gains import PROJECTED, PROJECTOR
from layerwise.papers.shared.names.result_files import HYPOTHESES, MISTRAL

MODEL = "mistral-7b"


def unembedding_over_embedding(f: Entry) -> float:
    """The Frobenius norms of the two."""
    of = f.unembedding_analysis[MODEL]
    return of.unembedding.frobenius_norm / of.embedding.frobenius_norm


OF_MODEL: Rules = {
    # the notebook typed the last gain
    "effective_amplification": Rule(
        lambda m: m.spectral_norm * m.last_gain, "spectral norm times last gain"
    ),
    "spectral_per_sqrt_vocab": Rule(
        lambda m: m.spectral_norm / math.sqrt(m.vocab_size),
        "spectral norm over the root of the size of the vocabulary",
    ),
}
OF_MISTRAL: Rules = {
    "matrices/wu_we_ratio": unembedding_over_embedding,
    "output/effective_vocab": Rule(
        lambda f: math.exp(f.entropy_analysis[MODEL].entropy),
        "exponential of the entropy of the output",
    ),
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
    ),
}
