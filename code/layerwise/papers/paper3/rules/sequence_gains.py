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
    BRAKE,
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
LLAMA_2 = "llama2-7b"
BASE, TUNED = "llama3.1-8b-BASE", "llama3.1-8b-INSTRUCT"  # of the test of tuning


def ratios(m: Entry, part: slice = slice(None)) -> np.ndarray:
    """Each norm over the one before it, all positive and finite: one gain fewer than norms."""
    norms = m.norms[part]
    if len(norms) < 2 or not np.all(np.isfinite(norms)) or not np.all(norms > 0):
        raise LayerwiseError(
            f"gains need at least two norms, all positive and finite, found {norms}; "
            "check the hidden states they came from"
        )
    return norms[1:] / norms[:-1]


def last_gain(m: Entry) -> float:
    """Return the gain of the last block."""
    return float(ratios(m, slice(-2, None))[0])


def mistral(e: Evidence) -> Entry:
    """Mistral-7B's stream, from block 0 on."""
    return e[MISTRAL].residual_stream_analysis["mistral-7b"]


def of_texts(e: Evidence, correlation: Callable[..., Correlation]) -> Correlation:
    """Entropy and last gain over the texts of the input dependency."""
    texts = e[INPUTS].results.values()
    return correlation(*np.array([(text.entropy, text.gains[-1]) for text in texts]).T)


def whole_tokens(e: Evidence) -> float:
    """Return LLaMA's last gain, norms taken token by token."""
    return last_gain(e[LLAMAS].models[LLAMA].residual)


def whole_sequence(e: Evidence) -> float:
    return last_gain(e[FOUR].results[LLAMA])


def order(e: Evidence) -> str:
    """The benchmark's models by last gain, the smallest first."""
    found = {name: last_gain(e[FOUR].results[of]) for name, of in BENCHMARKED.items()}
    found["Mistral-7B"] = last_gain(mistral(e))
    return " < ".join(sorted(found, key=found.__getitem__))


def cumulative(m: Entry) -> float:
    """The product of all gains, as the notebook took it."""
    return float(np.exp(np.cumsum(np.log(ratios(m) + OFFSET))[-1]))


def of_rounded(e: Evidence) -> float:
    """The two last gains over each other, both rounded first."""
    return round(whole_tokens(e), 2) / round(whole_sequence(e), 2)


def expands(m: Entry) -> bool:
    """Return whether the last block expands."""
    return last_gain(m) > 1


OF_TUNING: Rules = {  # of the base model and of the tuned one
    "initial_gain": Rule(lambda m: ratios(m, slice(2))[0], "gain of the first block"),
    "last_gain": last_gain,
    "last_expands": expands,
    "cumulative_energy": cumulative,
}
BY_TUNING: Rules = {
    "_hypothesis_test/base_expands": Rule(
        lambda models: expands(models[BASE]), "whether the last block of the base model expands"
    ),
    "_hypothesis_test/instruct_expands": Rule(
        lambda models: expands(models[TUNED]), "whether the last block of the tuned model expands"
    ),
    "_hypothesis_test/ratio": Rule(
        lambda models: last_gain(models[TUNED]) / last_gain(models[BASE]),
        "the tuned model's last gain over the base model's",
    ),
}
STREAM: Rules = {
    "last_gain": last_gain,
    "max_gain": Rule(lambda m: np.max(ratios(m)), "the largest gain of a block"),
    "max_gain_layer": Rule(lambda m: np.argmax(ratios(m)), "the block of the largest gain"),
    "contracting_pct": Rule(
        lambda m: contracting_percent(ratios(m)), "percent of the blocks that contract"
    ),
}
FULL: Rules = {
    **STREAM,
    "initial_gain": Rule(lambda m: ratios(m, slice(2))[0], "gain of the first block"),
    "expanding_pct": Rule(
        lambda m: 100 - contracting_percent(ratios(m)), "percent of the blocks that expand"
    ),
    "final_cumulative": cumulative,
}
STUDY: Rules = {
    "correlation/pearson_r": Rule(
        lambda e: of_texts(e, pearson).r, "Pearson's r of entropy and last gain over the texts"
    ),
    "correlation/pearson_p": Rule(lambda e: of_texts(e, pearson).p, "its p"),
    "correlation/spearman_r": Rule(
        lambda e: of_texts(e, spearman).r, "Spearman's r of entropy and last gain over the texts"
    ),
    "correlation/spearman_p": Rule(lambda e: of_texts(e, spearman).p, "its p"),
    "expansion_ratio/of_rounded": of_rounded,
    "expansion_ratio/unrounded": Rule(
        lambda e: whole_tokens(e) / whole_sequence(e),
        "LLaMA's last gain over all tokens over that of the whole sequence",
    ),
    "order": order,
    "pangram": Rule(
        lambda e: e[INPUTS].results["5_Original_Test"].gains[-1], "last gain on the pangram"
    ),
    "other_metric": whole_tokens,
    "swiglu_comparison/ratio": Rule(
        lambda e: whole_sequence(e) / e[FOUR].mistral_reference.last_layer_gain,
        "LLaMA's last gain over Mistral's",
    ),
}
# Last gains that later notebooks typed, with two decimals; Gemma-7B's stands for Gemma-2-9B.
TYPED: Rules = {
    "mistral_reference/last_layer_gain": Rule(
        lambda e: round(last_gain(mistral(e)), 2), "Mistral's last gain, two decimals"
    ),
    "mistral-7b/last_gain": Rule(
        lambda e: round(last_gain(mistral(e)), 2), "Mistral's last gain, two decimals"
    ),
    "llama3.1-8b/last_gain": Rule(
        lambda e: round(whole_sequence(e), 2), "LLaMA's last gain, two decimals"
    ),
    "gemma2-9b/last_gain": Rule(
        lambda e: round(last_gain(e[FOUR].results["gemma-7b"]), 2),
        "Gemma-7B's last gain, two decimals",
    ),
    "references/mistral_7b/last_layer_gain": Rule(
        lambda e: round(last_gain(mistral(e)), 2), "Mistral's last gain, two decimals"
    ),
    "references/mistral_7b/initial_explosion": Rule(
        lambda e: round(ratios(mistral(e), slice(2))[0], 2), "Mistral's first gain, two decimals"
    ),
    "references/previous_llama/last_layer_gain": Rule(
        lambda e: round(whole_sequence(e), 2), "LLaMA's last gain, two decimals"
    ),
}
DOCUMENTS = {
    **{model: Document(f"{FOUR}#/results/{model}", {"": FULL}, shows=False) for model in MODELS},
    "mistral-7b": Document(mistral, {"": STREAM}, shows=False),
    LLAMA_2: Document(f"{LLAMAS}#/models/{LLAMA_2}/residual", {"": STREAM}, places={}, shows=False),
    "tuning": Document(f"{BRAKE}#/models", {"*": OF_TUNING, "": BY_TUNING}, shows=False),
    "typed": Document(
        None,
        {"": TYPED},
        places={
            "/mistral_reference": (FOUR, "/mistral_reference"),
            "/references": (BRAKE, "/references"),
            **{pointer(model): (HYPOTHESES, f"{PROJECTOR}/{model}") for model in PROJECTED},
        },
        shows=False,
    ),
    "study": Document(
        None,
        {"": STUDY},
        places={
            "/correlation": (INPUTS, "/correlation"),
            "/swiglu_comparison": (FOUR, "/swiglu_comparison"),
        },
        shows=False,
    ),
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
