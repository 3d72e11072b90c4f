"""A row per prompt, gain and entropy: what the benchmark, the twins, GPT-2 and GPT-J share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from layerwise.errors import LayerwiseError
from layerwise.experiments import Fragments, Subject
from layerwise.experiments.depth_gains import summaries
from layerwise.inputs.published import pointer
from layerwise.measures import entropy
from layerwise.measures.residual_gain import gain_definitions, last_block_gain, total_amplification
from layerwise.measures.traces import Trace

COMPLEXITY = {"Factual": 1, "Cliche": 2, "Nonsense": 3, "Novel": 4, "Syntactic": 5}
RMS_NORM = ("llama", "mistral", "gemma")
Output = Callable[[Trace], dict[str, float]]


def stored_in_half(trace: Trace) -> dict[str, float]:
    """Of a softmax in float16 (benchmark), as the shortest decimals of float32 and float16."""
    return {
        "Entropy": float(str(entropy.half_entropy(trace.logits))),
        "Top_Prob": float(str(entropy.half_top_probability(trace.logits))),
    }


def clipped(trace: Trace) -> dict[str, float]:
    """Of a softmax clipped at 1e-10 (twins, GPT-2, GPT-J)."""
    return {
        "Entropy": entropy.clipped_entropy(trace.logits),
        "Top_Prob": float(entropy.clipped_softmax(trace.logits).max()),
    }


def measure(
    study: str,
    subject: Subject,
    file: str,
    model: str,
    prompts: str,
    output: Output,
) -> Fragments:
    """The rows of a published table that are about one model, each prompt in its place.

    The gain is that of the last block at the last token, norms in the dtype of the model.

    Raises:
        LayerwiseError: if a category has not one prompt per row.
    """
    rows: dict[str, Any] = {}
    readings, entropies = [], []
    table = subject.published.document(file)
    for row, text in _places(table, file, model, subject.prompts[prompts]["prompts"]):
        trace = subject.trace(text)
        columns = {
            "Complexity": COMPLEXITY[table[row]["Category"]],
            "Norm_Type": "RMSNorm" if subject.model.family in RMS_NORM else "LayerNorm",
            "N_Layers": trace.n_layers,
            "Last_Gain": last_block_gain(trace),
            "Total_Amp": total_amplification(trace),
            **output(trace),
        }
        rows[pointer(row)] = {name: columns[name] for name in columns if name in table[row]}
        readings.append(gain_definitions(trace))
        entropies.append(entropy.entropy(trace.logits))
    further = {
        "gains": summaries(readings),
        "entropy": {"all": entropies, "mean": float(np.mean(entropies))},
    }
    return {file: rows, f"beyond/{study}": {pointer(subject.model.slug): further}}


def _places(
    table: Sequence[Mapping[str, Any]], file: str, model: str, texts: Mapping[str, Sequence[str]]
) -> list[tuple[int, str]]:
    """Row and text of each prompt; the table keeps the order within a category."""
    rows: dict[str, list[int]] = {}
    for row, entry in enumerate(table):
        if entry["Model"] == model:
            rows.setdefault(entry["Category"], []).append(row)
    counts = {name: len(some) for name, some in rows.items()}
    found = {name: len(some) for name, some in texts.items()}
    if counts != found:
        raise LayerwiseError(
            f"{file}: its rows about {model} ask for the prompts {counts}, by category, found "
            f"{found}; complete the prompt set"
        )
    return [pair for name in rows for pair in zip(rows[name], texts[name], strict=True)]
