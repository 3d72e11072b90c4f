"""Gains over a set of prompts: of every layer, of attention and MLP, and prompt by prompt."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64

from layerwise.engine.experiment import Content, Experiment, Filled, Subject
from layerwise.errors import LayerwiseError
from layerwise.measures import entropy
from layerwise.measures.residual_gain import (
    GainReading,
    gain_definitions,
    last_block_gain,
    layer_gains,
    module_gains,
)
from layerwise.measures.traces import Stream, Trace
from layerwise.models.registry import lookup_key

# The modules with parameters of a GPT-NeoX.
MODULES = (
    *("embed_in", "embed_out", "input_layernorm", "post_attention_layernorm", "final_layer_norm"),
    *("query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h"),
)
Gains = Float64[np.ndarray, "text block"]
COMPLEXITY = {"Factual": 1, "Cliche": 2, "Nonsense": 3, "Novel": 4, "Syntactic": 5}


# --- of every layer: the sweep, the hunt and the clean pair ---


def mean_gains_by_layer(subject: Subject, texts: Sequence[str]) -> Filled:
    """Return the last token's gains, means over the prompts; the last has the final norm in it."""
    return _mean_gains(subject, *gains_over_texts(subject.trace(text) for text in texts))


def gains_by_layer_and_prompt(subject: Subject, texts: Sequence[str]) -> Filled:
    """Return the same, and every prompt's gain of the second-last block; the sweep saved it."""
    gains, last = gains_over_texts(subject.trace(text) for text in texts)
    of_prompts = last[GainReading.PENULTIMATE]
    return {**_mean_gains(subject, gains, last), "residual_gain_all": of_prompts}


def _mean_gains(subject: Subject, gains: Gains, last: Mapping[str, list[float]]) -> Filled:
    return {
        "n_heads": subject.weights.n_heads,
        "d_model": subject.weights.hidden_size,
        "all_layer_gains": gains.mean(axis=0).tolist(),
        "beyond": {"gains": last},
    }


def gains_by_definition(traces: Iterable[Stream]) -> dict[str, list[float]]:
    """Return the last gain of every text, by its definition."""
    return gains_over_texts(traces)[1]


def gains_over_texts(traces: Iterable[Stream]) -> tuple[Gains, dict[str, list[float]]]:
    """Return the gains of every block, and `readings`; a trace that was read is let go.

    The definition that rounds norms is left out where the dtype cannot hold one of them.
    """
    measured = [(layer_gains(trace), gain_definitions(trace)) for trace in traces]
    last: dict[str, list[float]] = {
        name: [definitions[name] for _, definitions in measured] for name in measured[0][1]
    }
    if not np.isfinite(last[GainReading.LAST_BLOCK_ROUNDED]).all():
        del last[GainReading.LAST_BLOCK_ROUNDED]
    return np.array([gains for gains, _ in measured]), last


# --- of attention and MLP: FFN expansion and the scaling law ---


def module_entry(subject: Subject, texts: Sequence[str]) -> Filled:
    """Return the entry of the FFN expansion files."""
    attention, mlp = module_gains([subject.trace(text, modules=True) for text in texts])
    return {"attention": {"gains": attention.tolist()}, "mlp": {"gains": mlp.tolist()}}


def size_entry(subject: Subject, texts: Sequence[str]) -> Filled:
    """Return the entry of the scaling law."""
    attention, mlp = module_gains([subject.trace(text, modules=True) for text in texts])
    return {
        "n_params": count_parameters(subject.weights),
        "attn_gains": attention.tolist(),
        "mlp_gains": mlp.tolist(),
    }


def count_parameters(weights: Any) -> int:
    """Return the parameters of a GPT-NeoX checkpoint, from the shapes that its files declare.

    Older checkpoints store causal masks and rotary angles beside the parameters; those belong to
    modules that have no parameters, and are left out.
    """
    stored = weights.tensors.items()
    return sum(math.prod(tensor.shape) for name, tensor in stored if name.split(".")[-2] in MODULES)


# --- a row per prompt, gain and entropy: the benchmark, the twins and GPT-2 ---


def benchmark_entropy(trace: Trace) -> float:
    """Return the entropy of a float16 softmax (benchmark), as the shortest decimals of float32."""
    return float(str(entropy.half_entropy(trace.logits)))


def twins_entropy(trace: Trace) -> float:
    """Return the entropy of a softmax clipped at 1e-10 (twins, GPT-2)."""
    return entropy.clipped_entropy(trace.logits)


def row_numbers(table: Sequence[Mapping[str, str]], model: str) -> dict[str, list[int]]:
    """Return the numbers of the rows about a model, by category of prompts."""
    rows: dict[str, list[int]] = {}
    for row, entry in enumerate(table):
        if lookup_key(entry["Model"]) == lookup_key(model):
            rows.setdefault(entry["Category"], []).append(row)
    return rows


def require_as_many_prompts(
    file: str, model: str, rows: Mapping[str, list[int]], texts: Mapping[str, Sequence[str]]
) -> None:
    """Require a prompt for each row of a table, category by category.

    Raises:
        LayerwiseError: where a category has more or fewer.
    """
    n_rows = {category: len(numbers) for category, numbers in rows.items()}
    n_prompts = {category: len(prompts) for category, prompts in texts.items()}
    if n_rows != n_prompts:
        raise LayerwiseError(
            f"{file}: its rows about {model} ask for the prompts {n_rows}, by category, "
            f"found {n_prompts}; complete the prompt set, or take the experiment out of the "
            "model's experiments in models.yaml"
        )


def prompt_rows(
    file: str,
    prompts: str,
    entropy_of: Callable[[Trace], float] = twins_entropy,
    names: Mapping[str, str] | None = None,
) -> Experiment:
    """Return the experiment for a table's rows about one model, each prompt in its place.

    The gain is that of the last block at the last token, norms in the dtype of the model.

    Arguments:
        file: the table, with the columns Model and Category.
        prompts: the set, {category: texts} in the order of the rows of a category.
        entropy_of: that of the next token.
        names: by slug, the name in the table of models that are called otherwise there.
    """

    def measure(subject: Subject, texts: Mapping[str, Sequence[str]]) -> Filled:
        slug, table = subject.model.slug, subject.published.document(file)
        name = (names or {}).get(slug, slug)
        rows = row_numbers(table, name)
        require_as_many_prompts(file, name, rows, texts)
        traces = {
            row: subject.trace(text)
            for category in rows
            for row, text in zip(rows[category], texts[category], strict=True)
        }
        document: dict[str, Content] = {}
        for row, trace in traces.items():
            numbers = {"Last_Gain": last_block_gain(trace), "Entropy": entropy_of(trace)}
            if "Complexity" in table[row]:
                numbers["Complexity"] = COMPLEXITY[table[row]["Category"]]
            document[str(row)] = numbers
        return {**document, "beyond": {"gains": gains_by_definition(list(traces.values()))}}

    return Experiment(file, None, measure, prompts)
