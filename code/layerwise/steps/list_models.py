"""the papers' models, and what each takes <- the registry and the local cache."""

import json
from pathlib import Path
from typing import Any

from tabulate import tabulate

from layerwise.extraction import needs
from layerwise.extraction.hub import cached
from layerwise.inputs.models import Model, read_models

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


def run(models: Path, as_json: bool, tflops: float | None = None) -> str:
    """All models with experiments, memory, gate, revision, cached or not, and time."""
    rate = needs.TFLOPS if tflops is None else tflops
    registry = list(read_models(models).values())
    entries = [_entry(model, rate) for model in registry]
    if as_json:
        return json.dumps({"tflops": rate, "models": entries}, indent=1)
    table = tabulate(
        [_row(model, entry) for model, entry in zip(registry, entries, strict=True)],
        HEADS, "plain", maxcolwidths=WIDTHS, break_on_hyphens=False, disable_numparse=True,
    )  # fmt: skip
    skipped = [f"  {model.slug}: {model.skipped}" for model in registry if model.skipped]
    notes = NOTES.format(
        n_models=len(entries), n_skipped=len(skipped), skipped="\n".join(skipped), tflops=rate
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
