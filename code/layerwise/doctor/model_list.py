"""The papers' models as a table: what each takes, what is cached, and an estimate of time."""

from collections.abc import Sequence
from typing import Any

from tabulate import tabulate

from layerwise.extraction import needs
from layerwise.extraction.hub import cached
from layerwise.inputs.models import Model

HEADS = ("model", "GB", "widest", "gated", "revision", "cached", "time", "experiments")
WIDTHS = [*[None] * 7, 25]  # of the columns, in characters: the table is at most 110 wide
NOTES = """\
{n_models} models. {n_skipped} are not measured, and their claims stay `not measured`:
{skipped}
GB: weights in the usual dtype, plus a batch of 2048 tokens inside a block and the logits scored
at once (2048 * 40 * hidden size, and 256 rows of 256,000 float32 numbers); widest: in the widest
dtype that an experiment asks for; what ran in 4 bits is measured in float16.
time: an estimate. 2 * parameters * tokens at {tflops:g} TFLOP/s (--tflops), and weights
read at 1 GB/s once per dtype; download and singular values of weights come on top."""


def as_document(models: Sequence[Model], tflops: float) -> dict[str, Any]:
    """Experiments, memory, gate, revision, cached or not, and time, for another program."""
    return {"tflops": tflops, "models": [_entry(model, tflops) for model in models]}


def as_text(models: Sequence[Model], tflops: float) -> str:
    """The same as a table, and how to read it."""
    table = tabulate(
        [_row(model, _entry(model, tflops)) for model in models],
        HEADS,
        "plain",
        maxcolwidths=WIDTHS,
        break_on_hyphens=False,
        disable_numparse=True,
    )
    skipped = [f"  {model.slug}: {model.skipped}" for model in models if model.skipped]
    notes = NOTES.format(
        n_models=len(models), n_skipped=len(skipped), skipped="\n".join(skipped), tflops=tflops
    )
    return f"{table}\n\n{notes}"


def _entry(model: Model, tflops: float) -> dict[str, Any]:
    of_pairs = {name: e.dtype for e in model.extractions.values() for name in e.experiments}
    return {
        "slug": model.slug,
        "hub": model.hub,
        "lab": model.lab,
        "family": model.family,
        "parameters_billions": model.parameters,
        "dtype": model.dtype,
        "memory_gb": {dtype: round(needs.memory(model, dtype) / 1e9, 2) for dtype in model.dtypes},
        "gated": model.gated,
        "revision": model.revision,
        "skipped": model.skipped,
        "cached": cached(model.hub, model.revision),
        "estimated_seconds": round(needs.seconds(model, tflops), 1),
        "experiments": of_pairs | dict(model.experiments),
    }


def _row(model: Model, entry: dict[str, Any]) -> tuple[str, ...]:
    memory, seconds = entry["memory_gb"], entry["estimated_seconds"]
    return (
        model.slug,
        f"{memory[model.dtype]:.1f}",
        f"{max(memory.values()):.1f}",
        "yes" if model.gated else "no",
        (model.revision or "unresolved")[:10],
        entry["cached"],
        f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min",
        "; ".join(f"{dtype}: {', '.join(dict.fromkeys(of))}" for dtype, of in model.dtypes.items()),
    )
