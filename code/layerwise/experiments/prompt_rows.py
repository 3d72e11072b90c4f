"""A row per prompt, gain and entropy: the benchmark, the twins, GPT-2 and GPT-J (Paper 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.experiments import BEYOND, Fragments, Subject, dotted, is_about
from layerwise.experiments.depth_gains import readings
from layerwise.inputs.published import pointer
from layerwise.measures import entropy
from layerwise.measures.residual_gain import gain_definitions, last_block_gain, total_amplification
from layerwise.measures.traces import Trace

COMPLEXITY = {"Factual": 1, "Cliche": 2, "Nonsense": 3, "Novel": 4, "Syntactic": 5}
RMS_NORM = ("llama", "mistral", "gemma")


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


@dataclass(frozen=True)
class PromptRows:
    """The rows of a published table that are about one model, each prompt in its place.

    The gain is that of the last block at the last token, norms in the dtype of the model.

    Attributes:
        file: the table, with the columns Model and Category.
        prompts: the set, {category: texts} in the order of the rows.
        output: the columns that rest on the next token.
        names: by slug, the name in the table of models that are called otherwise there.
    """

    file: str
    prompts: str
    output: Callable[[Trace], dict[str, float]] = clipped
    names: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, subject: Subject) -> Fragments:
        """The model's rows.

        Raises:
            LayerwiseError: if a category has not one prompt per row.
        """
        table = subject.published.document(self.file)
        slug, rows, found = subject.model.slug, {}, []
        name = self.names.get(slug, dotted(slug))
        for row, text in self._places(table, name, subject.prompt_set(self.prompts)):
            trace = subject.trace(text)
            columns = {
                "Complexity": COMPLEXITY[table[row]["Category"]],
                "Norm_Type": "RMSNorm" if subject.model.family in RMS_NORM else "LayerNorm",
                "N_Layers": trace.n_layers,
                "Last_Gain": last_block_gain(trace),
                "Total_Amp": total_amplification(trace),
                **self.output(trace),
            }
            rows[pointer(row)] = {name: columns[name] for name in columns if name in table[row]}
            found.append(gain_definitions(trace))
        ours = {pointer(slug): {"gains": readings(found)}}
        return {self.file: rows, f"{BEYOND}{subject.experiment}": ours}

    def _places(
        self, table: Sequence[Mapping[str, Any]], name: str, texts: Mapping[str, Sequence[str]]
    ) -> list[tuple[int, str]]:
        """Row and text of each prompt; the table keeps the order within a category."""
        rows: dict[str, list[int]] = {}
        for row, entry in enumerate(table):
            if is_about(entry["Model"], name):
                rows.setdefault(entry["Category"], []).append(row)
        counts = {category: len(some) for category, some in rows.items()}
        given = {category: len(some) for category, some in texts.items()}
        if counts != given:
            raise LayerwiseError(
                f"{self.file}: its rows about {name} ask for the prompts {counts}, by category, "
                f"found {given}; complete the prompt set, or take the experiment out of the "
                "model's experiments in models.yaml"
            )
        return [pair for c in rows for pair in zip(rows[c], texts[c], strict=True)]
