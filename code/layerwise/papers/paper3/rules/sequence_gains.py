"""Gains of whole-sequence norms: four models, Mistral, input dependency, and one stream per head.

The norm is that of all tokens together, so the first token rules it (Paper 3, appendices).
"""

from collections.abc import Callable

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import pointer
from layerwise.errors import LayerwiseError
from layerwise.papers.paper3.rules.gain_files import contracting_percent
from layerwise.papers.shared.names.result_files import (
    FOUR,
    HEADS,
    HYPOTHESES,
    INPUTS,
    LLAMAS,
    MISTRAL,
)
from layerwise.statistics.correlation import Correlation, pearson
from layerwise.statistics.samples import spearman

PROJECTOR = "/hypothesis_1_titanium_projector/results"
PROJECTED = ("llama3.1-8b", "mistral-7b", "gemma2-9b")
MODELS = ("pythia-6.9b", "gemma-7b", "apertus-8b", "llama3.1-8b")
LLAMA = "llama3.1-8b"
BENCHMARKED = {"Pythia-6.9B": "pythia-6.9b", "Gemma-7B": "gemma-7b", "LLaMA-3.1-8B": LLAMA}
OFFSET = 1e-10  # added to a gain before its logarithm, as published
LAST_LAYERS = {"pythia-6.9b": 31, "gpt-j-6b": 27}


def ratios(stream: Entry, part: slice = slice(None)) -> np.ndarray:
    """Return each norm over the one before it: one gain fewer than norms.

    Raises:
        LayerwiseError: for fewer than two norms, or one that is not positive and finite.
    """
    norms = stream.norms[part]
    if len(norms) < 2 or not np.all(np.isfinite(norms)) or not np.all(norms > 0):
        raise LayerwiseError(
            f"gains need at least two norms, all positive and finite, found {norms}; "
            "check the hidden states they came from"
        )
    return norms[1:] / norms[:-1]


def last_gain(stream: Entry) -> float:
    """Return the gain of the last block."""
    return float(ratios(stream, slice(-2, None))[0])


def mistral_stream(evidence: Evidence) -> Entry:
    """Return Mistral-7B's stream, from block 0 on."""
    return evidence[MISTRAL].residual_stream_analysis["mistral-7b"]


def entropy_correlation(evidence: Evidence, correlation: Callable[..., Correlation]) -> Correlation:
    """Return r of entropy and last gain over the texts of the input dependency."""
    texts = evidence[INPUTS].results.values()
    return correlation(*np.array([(text.entropy, text.gains[-1]) for text in texts]).T)


def llama_gain_by_token(evidence: Evidence) -> float:
    """Return LLaMA's last gain, norms taken token by token."""
    return last_gain(evidence[LLAMAS].models[LLAMA].residual)


def llama_gain_of_sequence(evidence: Evidence) -> float:
    """Return LLaMA's last gain, norms of the whole sequence."""
    return last_gain(evidence[FOUR].results[LLAMA])


def models_in_order(evidence: Evidence) -> str:
    """Return the benchmark's models by last gain, the smallest first."""
    gains = {name: last_gain(evidence[FOUR].results[model]) for name, model in BENCHMARKED.items()}
    gains["Mistral-7B"] = last_gain(mistral_stream(evidence))
    return " < ".join(sorted(gains, key=gains.__getitem__))


def product_of_gains(stream: Entry) -> float:
    """Return the product of all gains, as the notebook took it."""
    return float(np.exp(np.cumsum(np.log(ratios(stream) + OFFSET))[-1]))


def ratio_of_rounded(evidence: Evidence) -> float:
    """Return LLaMA's last gain by token over that of the sequence, both rounded first."""
    return round(llama_gain_by_token(evidence), 2) / round(llama_gain_of_sequence(evidence), 2)


STREAM_RULES: Rules = {
    "last_gain": last_gain,
    "max_gain": Rule(lambda stream: np.max(ratios(stream)), "the largest gain of a block"),
    "max_gain_layer": Rule(
        lambda stream: np.argmax(ratios(stream)), "the block of the largest gain"
    ),
    "contracting_pct": Rule(
        lambda stream: contracting_percent(ratios(stream)), "percent of the blocks that contract"
    ),
}
FULL_RULES: Rules = {
    **STREAM_RULES,
    "initial_gain": Rule(lambda stream: ratios(stream, slice(2))[0], "gain of the first block"),
    "expanding_pct": Rule(
        lambda stream: 100 - contracting_percent(ratios(stream)),
        "percent of the blocks that expand",
    ),
    "final_cumulative": product_of_gains,
}
STUDY_RULES: Rules = {
    "correlation/pearson_r": Rule(
        lambda evidence: entropy_correlation(evidence, pearson).r,
        "Pearson's r of entropy and last gain over the texts",
    ),
    "correlation/pearson_p": Rule(
        lambda evidence: entropy_correlation(evidence, pearson).p,
        "p of Pearson's r of entropy and last gain over the texts",
    ),
    "correlation/spearman_r": Rule(
        lambda evidence: entropy_correlation(evidence, spearman).r,
        "Spearman's r of entropy and last gain over the texts",
    ),
    "correlation/spearman_p": Rule(
        lambda evidence: entropy_correlation(evidence, spearman).p,
        "p of Spearman's r of entropy and last gain over the texts",
    ),
    "expansion_ratio/of_rounded": ratio_of_rounded,
    "expansion_ratio/unrounded": Rule(
        lambda evidence: llama_gain_by_token(evidence) / llama_gain_of_sequence(evidence),
        "LLaMA's last gain over all tokens over that of the whole sequence",
    ),
    "order": models_in_order,
    "other_metric": llama_gain_by_token,
    "swiglu_comparison/ratio": Rule(
        lambda evidence: (
            llama_gain_of_sequence(evidence) / evidence[FOUR].mistral_reference.last_layer_gain
        ),
        "LLaMA's last gain over Mistral's",
    ),
}
# Last gains that later notebooks typed, with two decimals; Gemma-7B's stands for Gemma-2-9B.
TYPED_RULES: Rules = {
    "mistral_reference/last_layer_gain": Rule(
        lambda evidence: round(last_gain(mistral_stream(evidence)), 2),
        "Mistral's last gain, two decimals",
    ),
    "mistral-7b/last_gain": Rule(
        lambda evidence: round(last_gain(mistral_stream(evidence)), 2),
        "Mistral's last gain, two decimals",
    ),
    "llama3.1-8b/last_gain": Rule(
        lambda evidence: round(llama_gain_of_sequence(evidence), 2),
        "LLaMA's last gain, two decimals",
    ),
    "gemma2-9b/last_gain": Rule(
        lambda evidence: round(last_gain(evidence[FOUR].results["gemma-7b"]), 2),
        "Gemma-7B's last gain, two decimals",
    ),
}
DOCUMENTS = {
    **{
        model: Document(f"{FOUR}#/results/{model}", {"": FULL_RULES}, shows=False)
        for model in MODELS
    },
    "mistral-7b": Document(mistral_stream, {"": STREAM_RULES}, shows=False),
    "typed": Document(
        None,
        {"": TYPED_RULES},
        places={
            "/mistral_reference": (FOUR, "/mistral_reference"),
            **{pointer(model): (HYPOTHESES, f"{PROJECTOR}/{model}") for model in PROJECTED},
        },
        shows=False,
    ),
    "study": Document(
        None,
        {"": STUDY_RULES},
        places={
            "/correlation": (INPUTS, "/correlation"),
            "/swiglu_comparison": (FOUR, "/swiglu_comparison"),
        },
        shows=False,
    ),
    "texts": Document(INPUTS, {}),  # as it stands: a claim names one of its cells
    "per_head": Document(
        HEADS,
        {},
        places={
            pointer(model, "last_layer", "residual_ratio"): (
                HEADS,
                pointer("models", model, "layers", layer, "residual_ratio"),
            )
            for model, layer in LAST_LAYERS.items()
        },
    ),
}
