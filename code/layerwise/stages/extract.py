"""hidden states <- checkpoint, statements, prompts."""

from pathlib import Path
from typing import Any

from layerwise import upstream
from layerwise.hidden_states import extract
from layerwise.models import find_model, read_models
from layerwise.pairs import read_pairs
from layerwise.prompts import read_prompts
from layerwise.weights import load_built, load_registered, require_accelerator


def run(
    slug: str,
    models: Path,
    checkpoints: Path | None,
    pairs: Path,
    prompts: Path,
    out: Path,
    params: dict[str, Any],
    device: str | None,
) -> str:
    """Extract one registered model.

    A built model comes from the folder of tiny checkpoints; any other from the hub at its pinned
    revision, on an accelerator, and over upstream's data, which is verified first.
    """
    model = find_model(read_models(models), slug)
    if checkpoints is None:
        require_accelerator(device)
        upstream.verify_data(pairs.parent)
    statements, texts = read_pairs(pairs).statements, read_prompts(prompts)
    if checkpoints is None:
        checkpoint = load_registered(model, device=device or "cuda")
    else:
        checkpoint = load_built(model, checkpoints / slug, device=device or "cpu")
    states = extract(
        checkpoint, statements, texts, out, tokens_per_batch=params["tokens_per_batch"]
    )
    return f"{states.n_layers + 1} layers of {len(statements)} statements in {states.folder}"
