"""tiny checkpoints <- declared shapes: random weights, one per architecture family."""

import shutil
from pathlib import Path

from layerwise.extraction.load import build_tiny
from layerwise.files import publish_folder
from layerwise.inputs.models import read_models
from layerwise.inputs.pairs import read_pairs
from layerwise.inputs.prompts import read_prompts


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
