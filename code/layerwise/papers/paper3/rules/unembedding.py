"""Norms of the unembedding: the Mistral investigation and the LLaMA hypothesis tests (Paper 3)."""

import math
from collections.abc import Callable
from functools import partial

from layerwise.engine.derivation import Document, Rules
from layerwise.engine.evidence import Entry, Evidence
from layerwise.papers.paper3.rules.sequence_gains import PROJECTED, PROJECTOR
from layerwise.papers.shared.names.result_files import HYPOTHESES, MISTRAL

MODEL = "mistral-7b"


def unembedding_over_embedding(f: Entry) -> float:
    """The Frobenius norms of the two."""
    of = f.unembedding_analysis[MODEL]
    return of.unembedding.frobenius_norm / of.embedding.frobenius_norm


OF_MODEL = {
    # the notebook typed the last gain
    "effective_amplification": lambda m: m.spectral_norm * m.last_gain,
    "spectral_per_sqrt_vocab": lambda m: m.spectral_norm / math.sqrt(m.vocab_size),
}
OF_MISTRAL = {
    "matrices/wu_we_ratio": unembedding_over_embedding,
    "output/effective_vocab": lambda f: math.exp(f.entropy_analysis[MODEL].entropy),
}


def projected(e: Evidence, model: str) -> float:
    return e[HYPOTHESES].hypothesis_1_titanium_projector.results[model].spectral_norm


def llama_over_mistral(e: Evidence, quantity: Callable[[Entry], float]) -> float:
    results = e[HYPOTHESES].hypothesis_1_titanium_projector.results
    return quantity(results["llama3.1-8b"]) / quantity(results[MODEL])


STUDY: Rules = {
    "llama_over_mistral/spectral_norm": lambda e: llama_over_mistral(e, lambda m: m.spectral_norm),
    "llama_over_mistral/effective_amplification": lambda e: llama_over_mistral(
        e, OF_MODEL["effective_amplification"]
    ),
    # of the largest singular values; the file's own ratio is of Frobenius norms
    "mistral_unembedding_over_embedding": lambda e: (
        e[MISTRAL].unembedding_analysis[MODEL].unembedding.spectral_norm
        / e[MISTRAL].unembedding_analysis[MODEL].embedding.spectral_norm
    ),
}
# Numbers of the two files that the pages beside them round.
PAGES: Rules = {
    f"{MODEL}/unembedding": lambda e: (
        e[MISTRAL].unembedding_analysis[MODEL].unembedding.spectral_norm
    ),
    f"{MODEL}/embedding": lambda e: e[MISTRAL].unembedding_analysis[MODEL].embedding.spectral_norm,
    f"{MODEL}/entropy": lambda e: e[MISTRAL].entropy_analysis[MODEL].entropy,
    f"{MODEL}/logit_range": lambda e: e[MISTRAL].entropy_analysis[MODEL].logit_range,
    **{f"{model}/spectral_norm": partial(projected, model=model) for model in PROJECTED},
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
    "study": Document(None, {"": STUDY}),
    "pages": Document(None, {"": PAGES}),
}
