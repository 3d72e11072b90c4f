"""A row per prompt, gain and entropy: the benchmark, the twins, GPT-2 and GPT-J (Paper 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.experiments import Experiment, Subject, dotted, is_about
from layerwise.experiments.depth_gains import readings
from layerwise.measures import entropy
from layerwise.measures.residual_gain import last_block_gain
from layerwise.measures.traces import Trace

COMPLEXITY = {"Factual": 1, "Cliche": 2, "Nonsense": 3, "Novel": 4, "Syntactic": 5}


def stored_in_half(trace: Trace) -> float:
    """Entropy of a softmax in float16 (benchmark), as the shortest decimals of float32."""
    return float(str(entropy.half_entropy(trace.logits)))


def clipped(trace: Trace) -> float:
    """Entropy of a softmax clipped at 1e-10 (twins, GPT-2, GPT-J)."""
    return entropy.clipped_entropy(trace.logits)


def prompt_rows(
    file: str,
    prompts: str,
    entropy_of: Callable[[Trace], float] = clipped,
    names: Mapping[str, str] | None = None,
) -> Experiment:
    """The rows of a published table that are about one model, each prompt in its place.

    The gain is that of the last block at the last token, norms in the dtype of the model.

    Arguments:
        file: the table, with the columns Model and Category.
        prompts: the set, {category: texts} in the order of the rows of a category.
        entropy_of: that of the next token.
        names: by slug, the name in the table of models that are called otherwise there.
    """

    def measure(subject: Subject, texts: Mapping[str, Sequence[str]]) -> dict[Any, Any]:
        slug, table = subject.model.slug, subject.published.document(file)
        name = (names or {}).get(slug, dotted(slug))
        rows: dict[str, list[int]] = {}
        for row, entry in enumerate(table):
            if is_about(entry["Model"], name):
                rows.setdefault(entry["Category"], []).append(row)
        asked, given = ({c: len(some) for c, some in of.items()} for of in (rows, texts))
        if asked != given:
            raise LayerwiseError(
                f"{file}: its rows about {name} ask for the prompts {asked}, by category, "
                f"found {given}; complete the prompt set, or take the experiment out of the "
                "model's experiments in models.yaml"
            )
        traces = {
            row: subject.trace(text)
            for category in rows
            for row, text in zip(rows[category], texts[category], strict=True)
        }
        found: dict[Any, Any] = {"beyond": {"gains": readings(list(traces.values()))}}
        for row, trace in traces.items():
            found[row] = {"Last_Gain": last_block_gain(trace), "Entropy": entropy_of(trace)}
            if "Complexity" in table[row]:
                found[row]["Complexity"] = COMPLEXITY[table[row]["Category"]]
        return found

    return Experiment(file, None, measure, prompts)
