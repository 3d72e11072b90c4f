"""hidden states <- checkpoint, statements, prompts."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from layerwise.extraction.hidden_states import extract
from layerwise.extraction.load import load_built, load_registered, require_accelerator
from layerwise.extraction.templates import NONE
from layerwise.inputs import upstream
from layerwise.inputs.extractions import EXTRACTIONS
from layerwise.inputs.left_out import is_left_out, mark_states
from layerwise.inputs.models import find_model, read_models
from layerwise.inputs.pairs import read_pairs
from layerwise.inputs.prompts import read_prompts


def run(
    key: str,
    models: Path,
    checkpoints: Path | None,
    pairs: Path,
    prompts: Path,
    out: Path,
    params: dict[str, Any],
    device: str | None,
) -> str:
    """Extract one model: a slug of the registry, or a key of `EXTRACTIONS` with its own settings.

    A built model comes from the folder of tiny checkpoints; any other from the hub at its pinned
    revision, on an accelerator, and over upstream's data, which is verified first.
    """
    registry = read_models(models)
    extraction = EXTRACTIONS.get(key)
    model = find_model(registry, extraction.slug if extraction else key)
    template = NONE
    if extraction:
        model, template = replace(model, dtype=extraction.dtype), extraction.template
    if checkpoints is not None:
        checkpoint = load_built(model, checkpoints / model.slug, device=device or "cpu")
    elif is_left_out(model.slug, params["full"], registry):
        mark_states(out)
        return f"{model.slug} is left out by params.yaml; its claims stay `not measured`"
    else:
        require_accelerator(device)
        upstream.verify_data(pairs.parent)
        checkpoint = load_registered(model, device=device or "cuda")
    statements, texts = read_pairs(pairs).statements, read_prompts(prompts)
    states = extract(
        checkpoint,
        statements,
        texts,
        out,
        template=template,
        tokens_per_batch=params["extract"]["tokens_per_batch"],
    )
    return f"{states.n_layers + 1} layers of {len(statements)} statements in {states.folder}"
