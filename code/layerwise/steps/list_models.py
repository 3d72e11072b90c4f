"""the papers' models, and what each takes <- the registry and the local cache."""

import json
import textwrap
from pathlib import Path
from typing import Any

import huggingface_hub

from layerwise.extraction import needs
from layerwise.files import read_json
from layerwise.inputs.models import Model, read_models

WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
HEADS = ("model", "dtype", "GB", "widest", "gated", "revision", "cached", "time", "experiments")
WIDTH = 110  # of the table, in characters


def run(models: Path, as_json: bool, tflops: float | None = None) -> str:
    """All models with experiments, memory, gate, revision, cached or not, and time."""
    rate = needs.TFLOPS if tflops is None else tflops
    entries = [_entry(model, rate) for model in read_models(models).values()]
    if as_json:
        return json.dumps({"tflops": rate, "models": entries}, indent=1)
    return _table(entries, rate)


def cached(model: Model) -> str:
    """`yes`, `no`, or `part` where only weights are missing; the network is not asked."""

    def find(name: str) -> Path | None:
        found = huggingface_hub.try_to_load_from_cache(model.hub, name, revision=model.revision)
        return Path(found) if isinstance(found, str) else None

    if find("config.json") is None:
        return "no"
    whole, index = (find(name) for name in WEIGHTS)
    shards = set(read_json(index)["weight_map"].values()) if index else set()
    there = whole or (shards and all(find(shard) for shard in shards))
    return "yes" if there else "part"


def _entry(model: Model, tflops: float) -> dict[str, Any]:
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
        "cached": cached(model),
        "estimated_seconds": round(needs.seconds(model, tflops), 1),
        "experiments": _ran(model),
    }


def _table(entries: list[dict[str, Any]], tflops: float) -> str:
    rows = [HEADS, *(_cells(entry) for entry in entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS) - 1)]
    lines = []
    for row in rows:
        start = "  ".join(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True))
        parts = textwrap.wrap(row[-1], WIDTH - len(start) - 2, break_on_hyphens=False)
        lines += [
            f"{start if number == 0 else ' ' * len(start)}  {part}".rstrip()
            for number, part in enumerate(parts)
        ]
    unresolved = sum(entry["revision"] is None for entry in entries)
    return "\n".join([*lines, "", *_notes(len(entries), unresolved, tflops)])


def _cells(entry: dict[str, Any]) -> tuple[str, ...]:
    dtype, memory = entry["dtype"], entry["memory_gb"]
    widest = max(memory, key=lambda name: memory[name])
    return (
        entry["slug"],
        dtype,
        f"{memory[dtype]:.1f}",
        f"{memory[widest]:.1f}" if memory[widest] > memory[dtype] else "",
        "yes" if entry["gated"] else "no",
        (entry["revision"] or "unresolved")[:10],
        entry["cached"],
        _spell(entry["estimated_seconds"]),
        _by_dtype(entry["experiments"], dtype),
    )


def _ran(model: Model) -> dict[str, str]:
    """Every experiment and the dtype in which it ran the model."""
    of_pairs = {name: e.dtype for e in model.extractions.values() for name in e.experiments}
    return of_pairs | dict(model.experiments)


def _by_dtype(experiments: dict[str, str], usual: str) -> str:
    """Experiments in the usual dtype, then those in others under the name of theirs."""
    groups: dict[str, list[str]] = {usual: []}
    for name, dtype in experiments.items():
        groups.setdefault(dtype, []).append(name)
    named = {dtype: ", ".join(names) for dtype, names in groups.items() if names}
    return "; ".join(
        names if dtype == usual else f"{dtype}: {names}" for dtype, names in named.items()
    )


def _spell(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _notes(n_models: int, unresolved: int, tflops: float) -> list[str]:
    return [
        f"{n_models} models, {unresolved} without a recorded revision: these are not loaded until",
        "somebody writes the commit into models.yaml.",
        "GB: weights in dtype, plus a batch of 2048 tokens inside a block and the logits scored at",
        "once (2048 * 16 * hidden size, and 256 rows of 256,000 float32 numbers); widest: in the",
        "widest dtype that an experiment asks for; what ran in 4 bits is measured in float16.",
        f"time: an estimate. 2 * parameters * tokens at {tflops:g} TFLOP/s (--tflops), and weights",
        "read at 1 GB/s once per dtype; download and singular values of weights come on top.",
    ]
