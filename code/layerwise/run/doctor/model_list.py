"""The papers' models as a table: what each takes, what is cached, and an estimate of time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult

from layerwise.engine.words import studies
from layerwise.models import needs
from layerwise.models.hub import cache_state
from layerwise.models.registry import Model
from layerwise.present.terminal import grid, prose, said

HEADS = ("model", "GB", "widest", "gated", "commit", "cached", "time", "what it is measured for")
NUMBERS = ("GB", "widest", "time")
COMMIT = 7  # digits shown
WIDE = 100  # columns that the table needs
NOTES = (
    "GB: weights in the usual dtype, plus a batch of {tokens} tokens: inside a block {tokens} * "
    "{inside} * hidden size, after every block the pooled states of {statements} statements, and "
    "256 rows of 256,000 float32 logits; widest: in the widest dtype that an experiment asks for; "
    "what ran in 4 bits is measured in float16.",
    "time: an estimate. 2 * parameters * tokens at {tflops:g} TFLOP/s (a GPU), and weights read at "
    "1 GB/s once per dtype; download, singular values of weights, replicates and controls come on "
    "top (`layerwise doctor` counts the last two, on the device of params.yaml).",
)


def as_document(models: Sequence[Model]) -> dict[str, Any]:
    """Return experiments, memory, gate, revision, cached or not, and time, for another program."""
    return {"models": [_entry(model) for model in models]}


@dataclass(frozen=True)
class Listing:
    """The same as a table, and how to read it; of a narrow one the last column is left out."""

    models: Sequence[Model]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shown = len(HEADS) if options.max_width >= WIDE else len(HEADS) - 1
        table = grid(HEADS[:shown], NUMBERS)
        for model in self.models:
            table.add_row(*map(said, _row(model, _entry(model))[:shown]))
        yield table
        skipped = [f"  {model.display}: {model.skipped}" for model in self.models if model.skipped]
        counted = f"{len(self.models)} models."
        if skipped:
            counted += f" {len(skipped)} are not measured, and their claims stay so:"
        batch = {
            "tokens": needs.BATCH_TOKENS,
            "inside": needs.NUMBERS_PER_TOKEN,
            "statements": needs.BATCH_STATEMENTS,
        }
        notes = [note.format(tflops=needs.GPU_RATE / 1e12, **batch) for note in NOTES]
        if shown < len(HEADS):
            notes.append(f"What each is measured for, a terminal of {WIDE} columns shows too.")
        yield from (prose(said(line)) for line in ["", counted, *skipped, *notes])


def _entry(model: Model) -> dict[str, Any]:
    of_pairs = {
        name: extraction.dtype
        for extraction in model.extractions.values()
        for name in extraction.experiments
    }
    return {
        "slug": model.slug,
        "hub": model.hub,
        "lab": model.lab,
        "family": model.family,
        "parameters_billions": model.parameters,
        "dtype": model.dtype,
        "memory_gb": {
            # that of a model which no experiment asks for too
            dtype: round(needs.memory(model, dtype) / 1e9, 2)
            for dtype in (model.dtypes or [model.dtype])
        },
        "gated": model.gated,
        "revision": model.revision,
        "skipped": model.skipped,
        "cached": cache_state(model.hub, model.revision),
        "estimated_seconds": round(needs.seconds(model, "cuda"), 1),
        "experiments": of_pairs | dict(model.experiments),
    }


def _row(model: Model, entry: dict[str, Any]) -> tuple[str, ...]:
    memory = entry["memory_gb"]
    return (
        model.display,
        f"{memory[model.dtype]:.1f}",
        f"{max(memory.values()):.1f}",
        "yes" if model.gated else "no",
        model.revision[:COMMIT] if model.revision else "unresolved",
        entry["cached"],
        needs.spell_seconds(entry["estimated_seconds"]),
        "; ".join(f"{dtype}: {studies(names)}" for dtype, names in model.dtypes.items()),
    )
