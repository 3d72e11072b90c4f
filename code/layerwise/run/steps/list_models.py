"""the papers' models, and what each takes <- the registry and the local cache."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from layerwise.engine.words import studies
from layerwise.errors import require_extra
from layerwise.models import needs
from layerwise.models.hub import cache_state
from layerwise.models.registry import Model, read_models
from layerwise.present.terminal import grid, prose, said

HEADS = ("model", "GB", "licence", "commit", "cached", "time", "measured for")
COMMIT = 7  # digits shown
NOTE = (
    "GB: weights and a batch in the widest dtype that an experiment asks for. time: an estimate "
    "for a GPU; download, singular values, replicates and controls come on top (`layerwise doctor` "
    "counts the last two, on the device of params.yaml). licence: of the weights; a "
    "gated one is accepted on the hub first."
)

ARCHITECTURE_HEADS = ("family", "class", "decoder", "layout of its weights")
ARCHITECTURE_NOTE = (
    "A decoder is measured if its own forward bears out the blocks that its class declares "
    "(docs/architectures.md has what came of each). Spectral norms need the layout of its weights."
)


def run(models: Path, as_json: bool) -> Any:
    """Return all models with experiments, memory, gate, revision, cached or not, and time."""
    registry = list(read_models(models).values())
    if as_json:
        return json.dumps({"models": [as_document(model) for model in registry]}, indent=1)
    return as_table(registry)


def run_architectures(as_json: bool) -> Any:
    """Return the architectures that transformers has here, and whether their weights are known."""
    require_extra("models")
    from layerwise.models.architectures import list_architectures

    listed = list_architectures()
    if as_json:
        return json.dumps({"architectures": listed}, indent=1)
    table = grid(ARCHITECTURE_HEADS)
    for architecture in listed:
        measured = f"no: {architecture['refused']}" if architecture["refused"] else "yes"
        known = "known" if architecture["spectral"] else "not known"
        table.add_row(*map(said, (architecture["family"], architecture["class"], measured, known)))
    return Group(table, *(prose(said(line)) for line in ["", ARCHITECTURE_NOTE]))


def as_document(model: Model) -> dict[str, object]:
    """Return what is known of a model, for another program."""
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
        "memory_gb": memory_gb(model),
        "licence": model.licence,
        "gated": model.gated,
        "revision": model.revision,
        "skipped": model.skipped,
        "cached": cache_state(model.hub, model.revision),
        "estimated_seconds": round(needs.seconds(model, "cuda"), 1),
        "experiments": of_pairs | dict(model.experiments),
    }


def memory_gb(model: Model) -> dict[str, float]:
    """Return the memory in each dtype; a model that no experiment asks for has one too."""
    return {
        dtype: round(needs.memory(model, dtype) / 1e9, 2)
        for dtype in (model.dtypes or [model.dtype])
    }


def as_table(models: Sequence[Model]) -> RenderableType:
    """Return a row per model, why some are not measured, and how the columns are to be read."""
    table = grid(HEADS, ("GB", "time"))
    for model in models:
        cells = (
            model.display,
            f"{max(memory_gb(model).values()):.1f}",
            f"{model.licence}, gated" if model.gated else model.licence,
            model.revision[:COMMIT] if model.revision else "unresolved",
            cache_state(model.hub, model.revision),
            needs.spell_seconds(needs.seconds(model, "cuda")),
            "; ".join(f"{dtype}: {studies(names)}" for dtype, names in model.dtypes.items()),
        )
        table.add_row(*map(said, cells))
    skipped = [
        f"{model.display} is not measured: {model.skipped}" for model in models if model.skipped
    ]
    return Group(table, *(prose(said(line)) for line in ["", *skipped, NOTE]))
