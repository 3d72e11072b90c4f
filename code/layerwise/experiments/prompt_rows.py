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
from layerwise.measures.residual_gain import last_block_gain
from layerwise.measures.traces import Trace

COMPLEXITY = {"Factual": 1, "Cliche": 2, "Nonsense": 3, "Novel": 4, "Syntactic": 5}


def stored_in_half(trace: Trace) -> float:
    """Entropy of a softmax in float16 (benchmark), as the shortest decimals of float32."""
    return float(str(entropy.half_entropy(trace.logits)))


def clipped(trace: Trace) -> float:
    """Entropy of a softmax clipped at 1e-10 (twins, GPT-2, GPT-J)."""
    return entropy.clipped_entropy(trace.logits)


@dataclass(frozen=True)
class PromptRows:
    """The rows of a published table that are about one model, each prompt in its place.

    The gain is that of the last block at the last token, norms in the dtype of the model.

    Attributes:
        file: the table, with the columns Model and Category.
        prompts: the set, {category: texts} in the order of the rows.
        entropy: that of the next token.
        names: by slug, the name in the table of models that are called otherwise there.
    """

    file: str
    prompts: str
    entropy: Callable[[Trace], float] = clipped
    names: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, subject: Subject) -> Fragments:
        """The model's rows.

        Raises:
            LayerwiseError: if a category has not one prompt per row.
        """
        table = subject.published.document(self.file)
        slug = subject.model.slug
        found: dict[str, Any] = {}
        traces: list[Trace] = []
        name = self.names.get(slug, dotted(slug))
        for row, text in self._places(table, name, subject.prompt_set(self.prompts)):
            trace = subject.trace(text)
            traces.append(trace)
            columns = {
                "Complexity": COMPLEXITY[table[row]["Category"]],
                "Last_Gain": last_block_gain(trace),
                "Entropy": self.entropy(trace),
            }
            found |= {pointer(row, name): columns[name] for name in columns if name in table[row]}
        ours = {pointer(slug): {"gains": readings(traces)}}
        return {self.file: found, f"{BEYOND}{subject.experiment}": ours}

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
