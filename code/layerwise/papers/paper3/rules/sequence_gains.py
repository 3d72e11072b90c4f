"""Gains of whole-sequence norms: four models, Mistral, and the input dependency.

The norm is that of all tokens together, so the first token rules it (Paper 3, appendices).
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry, Evidence
from layerwise.errors import LayerwiseError
from layerwise.papers.paper3.rules.gain_files import contracting_percent, r_and_p
from layerwise.papers.shared.result_files import FOUR, INPUTS, LLAMAS, MISTRAL
from layerwise.statistics.correlation import Correlation, pearson
from layerwise.statistics.samples import spearman

MODELS = ("pythia-6.9b", "gemma-7b", "apertus-8b", "llama3.1-8b")
LLAMA = "llama3.1-8b"
BENCHMARKED = {"Pythia-6.9B": "pythia-6.9b", "Gemma-7B": "gemma-7b", "LLaMA-3.1-8B": LLAMA}
OFFSET = 1e-10  # added to a gain before its logarithm, as published


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


def stream_statistics(stream: Entry) -> Rules:
    """The gains of one stream, block by block."""
    return {
        "last_gain": partial(last_gain, stream),
        "max_gain": Rule(lambda: np.max(ratios(stream)), "the largest gain of a block"),
        "max_gain_layer": Rule(lambda: np.argmax(ratios(stream)), "the block of the largest gain"),
        "contracting_pct": Rule(
            lambda: contracting_percent(ratios(stream)), "percent of the blocks that contract"
        ),
    }


def whole_stream_statistics(stream: Entry) -> Rules:
    """The same, and what the notebook of four models adds."""
    return {
        **stream_statistics(stream),
        "initial_gain": Rule(lambda: ratios(stream, slice(2))[0], "gain of the first block"),
        "expanding_pct": Rule(
            lambda: 100 - contracting_percent(ratios(stream)), "percent of the blocks that expand"
        ),
        "final_cumulative": Rule(
            lambda: float(np.exp(np.cumsum(np.log(ratios(stream) + OFFSET))[-1])),
            "the product of all gains, as the notebook took it",
        ),
    }


def study_of_streams(evidence: Evidence) -> Rules:
    """The input dependency, and the benchmark's models by the other norm (appendices)."""

    def entropy_and_gain(correlation: Callable[..., Correlation]) -> Correlation:
        texts = evidence[INPUTS].results.values()
        return correlation(*np.array([(text.entropy, text.gains[-1]) for text in texts]).T)

    def llama_by_token() -> float:
        return last_gain(evidence[LLAMAS].models[LLAMA].residual)

    def llama_of_sequence() -> float:
        return last_gain(evidence[FOUR].results[LLAMA])

    def order() -> str:
        results = evidence[FOUR].results
        gains = {name: last_gain(results[model]) for name, model in BENCHMARKED.items()}
        gains["Mistral-7B"] = last_gain(mistral_stream(evidence))
        return " < ".join(sorted(gains, key=gains.__getitem__))

    return {
        **r_and_p(
            lambda: entropy_and_gain(pearson),
            "correlation/pearson_",
            "Pearson's r of entropy and last gain over the texts",
        ),
        **r_and_p(
            lambda: entropy_and_gain(spearman),
            "correlation/spearman_",
            "Spearman's r of entropy and last gain over the texts",
        ),
        "expansion_ratio/of_rounded": Rule(
            lambda: round(llama_by_token(), 2) / round(llama_of_sequence(), 2),
            "LLaMA's last gain by token over that of the sequence, both rounded first",
        ),
        "expansion_ratio/unrounded": Rule(
            lambda: llama_by_token() / llama_of_sequence(),
            "LLaMA's last gain over all tokens over that of the whole sequence",
        ),
        "order": Rule(order, "the benchmark's models by last gain, the smallest first"),
        "other_metric": Rule(llama_by_token, "LLaMA's last gain, norms taken token by token"),
    }


DOCUMENTS = {
    **{
        model: Document(
            f"{FOUR}#/results/{model}", {"": whole_stream_statistics}, derived_only=True
        )
        for model in MODELS
    },
    "mistral-7b": Document(mistral_stream, {"": stream_statistics}, derived_only=True),
    "study": Document(
        None,
        {"": study_of_streams},
        places={"/correlation": (INPUTS, "/correlation")},
        derived_only=True,
    ),
    "texts": Document(INPUTS, {}),  # as it stands: a claim names one of its cells
}
