"""Norms, entropies and anisotropy of the residual stream (Paper 3's notebooks on streams).

Notebooks with one text typed it where no set holds it. The four-model and Mistral notebooks used
the factual text of the input dependency: its first and last gain of Llama-3.1-8B are theirs up to
half precision. Its last text is there as that of the LLaMA 2 and 3.1 test.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Float32

from layerwise.engine.experiment import Content, Filled, Subject
from layerwise.measures.anisotropy import anisotropy, first_share
from layerwise.measures.entropy import half_entropy
from layerwise.measures.residual_gain import mean_token_norms, sequence_norms
from layerwise.papers.experiments.gains import gains_by_definition

CAPITAL, PANGRAM = "1_Factual", "5_Original_Test"
MISTRAL = "mistral-7b"
Named = Mapping[str, Mapping[str, str]]  # a set of named texts


def four_model_norms(subject: Subject, texts: Named) -> Filled:
    """Return whole-sequence norms under autocast, from the embedding module's output on.

    Gemma's is not yet scaled there: its initial gain holds a factor sqrt(3072).
    """
    trace = subject.trace(texts[CAPITAL]["text"], autocast=True)
    return {
        "norms": sequence_norms((trace.embedding, *trace.block_outputs)).tolist(),
        "beyond": {"gains": gains_by_definition([trace])},
    }


def mistral_norms(subject: Subject, texts: Named) -> Filled:
    """Return Mistral-7B's whole-sequence norms, from block 0."""
    trace = subject.trace(texts[CAPITAL]["text"])
    return {
        "residual_stream_analysis": {
            MISTRAL: {"norms": sequence_norms(trace.block_outputs).tolist()}
        },
        "beyond": {"gains": gains_by_definition([trace])},
    }


def input_dependency(subject: Subject, texts: Named) -> Filled:
    """Return whole-sequence gains and the entropy of a float16 softmax, of five texts."""
    traces = {name: subject.trace(entry["text"]) for name, entry in texts.items()}
    results = {}
    for name, trace in traces.items():
        norms = sequence_norms((trace.embedding, *trace.block_outputs))
        results[name] = {
            "entropy": float(half_entropy(trace.logits)),
            "gains": (norms[1:] / norms[:-1]).tolist(),
        }
    return {"results": results, "beyond": {"gains": gains_by_definition(list(traces.values()))}}


def token_mean_norms(subject: Subject, texts: Named) -> Filled:
    """Return mean token norms at all layers, the last one after the final norm (LLaMA 2, 3.1)."""
    trace = subject.trace(texts[PANGRAM]["text"])
    return {
        "residual": {"norms": mean_token_norms(trace).tolist()},
        "beyond": {"gains": gains_by_definition([trace])},
    }


def profile(subject: Subject, texts: Sequence[str]) -> Filled:
    """Return the anisotropy of all tokens of all texts together, in layers 0..n.

    The last layer is taken after the final norm; beyond the files: its share before that norm.
    """
    traces = [subject.trace(text) for text in texts]
    layers = [
        np.concatenate(states) for states in zip(*(trace.states for trace in traces), strict=True)
    ]
    profiles = [anisotropy(tokens) for tokens in layers]
    before = anisotropy(np.concatenate([trace.before_norm for trace in traces]))
    entry: dict[str, Content] = {
        "hidden_dim": subject.weights.hidden_size,
        "intrinsic_dim_ratio": [profile.first_pc_share for profile in profiles],
        "effective_rank": [profile.effective_rank for profile in profiles],
        "avg_cos_sim": [profile.mean_cosine_to_mean for profile in profiles],
        "beyond": {
            "last_share_before_norm": before.first_pc_share,
            "shares_by_prompt": shares_by_prompt([trace.states for trace in traces]),
        },
    }
    if subject.model.family == "gemma":  # Gemma's file alone has these
        entry |= {"normalization": "RMSNorm", "norm_cv": list(map(_variation, layers))}
    return entry


def shares_by_prompt(traces: Iterable[Sequence[np.ndarray]]) -> list[list[float]]:
    """Return the first component's share in the tokens of each prompt, by layer.

    Arguments:
        traces: of each prompt the states of its tokens, by layer; one of under three tokens has no
            share of its own and is left out.
    """
    shares = [[first_share(states) for states in layers] for layers in traces]
    return [profile for profile in shares if not np.isnan(profile).any()]


def _variation(tokens: Float32[np.ndarray, "token _"]) -> float:
    """Return the population SD of the tokens' norms over their mean."""
    norms = np.linalg.norm(tokens.astype(np.float64), axis=1)
    return float(np.std(norms) / np.mean(norms))
