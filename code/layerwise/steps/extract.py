"""hidden states <- checkpoint, statements, prompts."""

from pathlib import Path
from typing import Any

from layerwise.extraction.hidden_states import extract
from layerwise.extraction.load import load_registered, require_accelerator
from layerwise.inputs import upstream
from layerwise.inputs.left_out import mark_states
from layerwise.inputs.models import extractions_of, read_models
from layerwise.inputs.pairs import read_pairs
from layerwise.inputs.prompts import read_prompts


def run(
    key: str,
    models: Path,
    pairs: Path,
    prompts: Path,
    out: Path,
    params: dict[str, Any],
    device: str | None,
) -> str:
    """Run one extraction of the registry.

    The model comes from the hub at its pinned revision, on an accelerator, and over upstream's
    data, which is verified first.
    """
    registry = read_models(models)
    extraction = extractions_of(registry)[key]
    model = registry[extraction.slug]
    if model.skipped:
        mark_states(out)
        return f"{model.slug} is skipped: {model.skipped}; its claims stay `not measured`"
    require_accelerator(device)
    upstream.verify_data(pairs.parent)
    checkpoint = load_registered(model, extraction.dtype, device=device or "cuda")
    statements, texts = read_pairs(pairs).statements, read_prompts(prompts)
    states = extract(
        checkpoint,
        statements,
        texts,
        out,
        template=extraction.template,
        tokens_per_batch=params["extract"]["tokens_per_batch"],
    )
    return f"{states.n_layers + 1} layers of {len(statements)} statements in {states.folder}"
