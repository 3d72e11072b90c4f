"""Mistral-7B: unembedding and embedding, whole-sequence norms and output entropy of one text.

Paper 3's Mistral investigation, float16; only this model succeeded there. Its gains begin with
block 1 over block 0, so "layer 0" is block 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float32, Float64

from layerwise.experiments import Fragments, Subject, fourmodel
from layerwise.experiments.lookup import CAPITAL, published_name, text
from layerwise.experiments.streams import pick, summary, without_first_token
from layerwise.inputs.published import pointer
from layerwise.measures.entropy import effective_vocabulary, shifted_entropy, top_mass
from layerwise.measures.residual_gain import gain_definitions
from layerwise.measures.stream_norms import sequence_norms
from layerwise.measures.unembedding import MatrixNorms, are_tied, matrix_norms

FILE = "paper3/Results/mistral_paradox_investigation_results.json"
BEYOND = "beyond/mistral"
NAMES = {"mistral-7b": "mistral-7b"}


def fragments(subject: Subject) -> Fragments:
    """The three analyses, and the two gains that later notebooks typed as a reference."""
    name = published_name(subject, NAMES)
    trace = subject.trace(text(subject, CAPITAL))
    stream = summary(sequence_norms(trace, embedding=False))
    reference = {"last_layer_gain": stream["last_gain"], "initial_explosion": stream["max_gain"]}
    return {
        FILE: {
            pointer("unembedding_analysis", name): _matrices(subject),
            pointer("residual_stream_analysis", name): _stream(stream),
            pointer("entropy_analysis", name): _output(trace.logits),
        },
        fourmodel.FILE: {
            pointer("mistral_reference", key): round(gain, 2) for key, gain in reference.items()
        },
        fourmodel.HYPOTHESES: fourmodel.typed_gain(name, stream["last_gain"]),
        BEYOND: {
            pointer(subject.model.slug): {
                "last_gains": gain_definitions(trace),
                "gains_without_first_token": without_first_token(trace),
            }
        },
    }


def _matrices(subject: Subject) -> dict[str, Any]:
    out = subject.weights.unembedding()
    into = out if subject.weights.tied else subject.weights.embedding()
    unembedding, embedding = matrix_norms(out), matrix_norms(into)
    return {
        "unembedding": _norms(unembedding),
        "embedding": _norms(embedding),
        "wu_we_ratio": unembedding.frobenius / embedding.frobenius,
        "tied_embeddings": are_tied(out, into),
    }


def _norms(norms: MatrixNorms) -> dict[str, Any]:
    return {
        "shape": [norms.vocabulary, norms.width],
        "frobenius_norm": norms.frobenius,
        "spectral_norm": norms.spectral,
        "max_singular": norms.spectral,
        "mean_row_norm": norms.mean_row,
        "std_row_norm": norms.std_row,
        "max_row_norm": norms.max_row,
        "min_row_norm": norms.min_row,
        "mean_abs": norms.mean_abs,
        "std_abs": norms.std_abs,
        "frobenius_normalized": norms.frobenius_per_entry,
        "spectral_normalized": norms.spectral_per_root_width,
    }


def _stream(stream: dict[str, Any]) -> dict[str, Any]:
    names = ("gains", "norms", "contracting_pct", "last_gain", "max_gain", "max_gain_layer")
    gains: list[float] = stream["gains"]
    return {
        "n_layers": len(gains),  # as published: the gains, one fewer than the blocks
        **pick(stream, *names),
        "expansion_layers": [[layer, gain] for layer, gain in enumerate(gains) if gain > 1],
    }


def _output(logits: Float32[np.ndarray, " vocabulary"]) -> dict[str, float]:
    values: Float64[np.ndarray, " vocabulary"] = logits.astype(np.float64)
    nats = shifted_entropy(logits)
    return {
        "logit_mean": float(values.mean()),
        "logit_std": float(values.std(ddof=1)),
        "logit_max": float(values.max()),
        "logit_min": float(values.min()),
        "logit_range": float(values.max() - values.min()),
        "entropy": nats,
        "effective_vocab": effective_vocabulary(nats),
        "top10_prob_mass": top_mass(logits),
    }
