"""tiny checkpoints <- declared shapes: random weights, one per architecture family."""

import shutil
from pathlib import Path

from layerwise.files import publish_folder
from layerwise.models import read_models
from layerwise.pairs import read_pairs
from layerwise.prompts import read_prompts
from layerwise.weights import build_tiny


def run(models: Path, pairs: Path, prompts: Path, out: Path) -> str:
    """Build every `built` model of the registry; their tokenizers are trained on the texts."""
    texts = [*read_pairs(pairs).statements, *read_prompts(prompts)]
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    built = [model for model in read_models(models).values() if model.built]
    for model in built:
        build_tiny(model, texts, part / model.slug)
    publish_folder(part, out)
    return f"{len(built)} tiny checkpoints in {out}"
