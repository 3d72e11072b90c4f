"""What the heads of Pythia-6.9B and GPT-J-6B add to the residual stream, and its last gains.

Paper 3's per-head notebook, float16, five stubs, last token. Its "heads" are chunks of the
attention's output behind W_O; `beyond/perhead` has what each head really adds, which needs the
attention maps and so a second pass: eager attention can be NaN in half precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import published_name, texts
from layerwise.inputs.published import pointer
from layerwise.measures.heads import chunk_norms, contribution_norms, contributions, low
from layerwise.measures.residual_gain import gain_definitions
from layerwise.measures.stream_norms import last_token_norm
from layerwise.measures.traces import Trace
from layerwise.statistics.gains import head_density

FILE = "paper3/Results/beautiful_ones_analysis_20260105_164639.json"
BEYOND = "beyond/perhead"
NAMES = {"pythia-6p9b": "pythia-6.9b", "gpt-j-6b": "gpt-j-6b"}
OFFSET = 1e-10  # keeps a ratio finite where a block reads zeros


def fragments(subject: Subject) -> Fragments:
    """This model's entry, layer by layer, and the heads' own contributions beside it."""
    name = published_name(subject, NAMES)
    prompts = texts(subject, "per_head")
    traces = [subject.trace(text, modules=True) for text in prompts]
    mapped = [subject.trace(text, attention=True, modules=True) for text in prompts]
    n_heads = subject.weights.n_heads
    layers = [_layer(traces, block, n_heads) for block in range(traces[0].n_layers)]
    hidden = subject.weights.hidden_size
    entry = {
        "n_layers": len(layers),
        "n_heads": n_heads,
        "d_head": hidden // n_heads,
        "rho": head_density(n_heads, hidden),
        "layers": layers,
        "beautiful_ones_last_layer": _low(np.array(layers[-1]["head_norms"])),
        "last_layer_residual_ratio": layers[-1]["residual_ratio"],
    }
    own = [_own(subject, mapped, block) for block in range(len(layers))]
    return {
        FILE: {pointer("models", name): entry},
        BEYOND: {
            pointer(subject.model.slug): {
                "layers": own,
                "last_gains_by_prompt": [gain_definitions(trace) for trace in traces],
            }
        },
    }


def _layer(traces: Sequence[Trace], block: int, n_heads: int) -> dict[str, Any]:
    """Chunk norms, growth and gain of one block, each the mean over the prompts."""
    chunks = [chunk_norms(t.modules[block].attention_output, n_heads)[-1] for t in traces]
    before, after = np.array([stream_norms(trace, block) for trace in traces]).T
    return {
        "layer": block,
        "head_norms": np.mean(chunks, axis=0).tolist(),
        "residual_growth": float(np.mean(after - before)),
        "residual_ratio": float(np.mean(after / (before + OFFSET))),
    }


def stream_norms(trace: Trace, block: int) -> tuple[float, float]:
    """Norms of the last token before and after a block, the last one before the final norm."""
    return last_token_norm(trace.states[block]), last_token_norm(trace.block_outputs[block])


def _own(subject: Subject, traces: Sequence[Trace], block: int) -> dict[str, Any]:
    values = subject.weights.value_heads(block, "correct")
    output = subject.weights.matrix(block, "W_O", "correct")
    norms = np.mean([_last_token(trace, block, values, output) for trace in traces], axis=0)
    return {"layer": block, "head_norms": norms.tolist(), "low_heads": _low(norms)}


def _last_token(
    trace: Trace, block: int, values: np.ndarray, output: np.ndarray
) -> Float64[np.ndarray, " head"]:
    inputs = trace.modules[block].attention_input
    found = contributions(trace.attention[block], inputs, values, output)
    norms: np.ndarray = contribution_norms(found)[-1]
    return norms


def _low(norms: Float64[np.ndarray, " head"]) -> list[int]:
    return np.flatnonzero(low(norms)).tolist()
