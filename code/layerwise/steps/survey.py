"""fragments of the published files <- checkpoints, prompts: every study of one model."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.experiments import Fragments, Subject
from layerwise.experiments.table import measure_experiment
from layerwise.extraction import tracing
from layerwise.extraction.load import Checkpoint, load_registered, require_accelerator
from layerwise.extraction.projections import Weights
from layerwise.files import read_json
from layerwise.inputs import upstream
from layerwise.inputs.measured import merge, write_fragments
from layerwise.inputs.models import Model, find_model, read_models
from layerwise.inputs.published import Published, read_published
from layerwise.progress import meter, say

Load = Callable[[str], Checkpoint]  # dtype -> the model in it


@dataclass(frozen=True)
class Survey:
    """What the studies of one model gave; `failed` says of the others why they could not run."""

    fragments: Fragments
    failed: dict[str, str]


def survey(
    model: Model, load: Load, prompts: dict[str, Any], published: Published, *, shown: bool = False
) -> Survey:
    """All studies of one model; the checkpoint is loaded once per dtype.

    A study that this model cannot have (states that overflow, say) leaves the others alone: it is
    reported, kept in the result, and its claims stay `not measured`. `shown`: say how
    far it is and what fails.
    """
    wanted = dict(model.experiments)
    found: list[Fragments] = []
    failed: dict[str, str] = {}
    checkpoint: Checkpoint | None = None
    subject: Subject | None = None
    with meter(model.slug, "studies", len(wanted), shown=shown) as advance:
        for dtype in dict.fromkeys(map(_loaded, wanted.values())):
            advance(0, f"loading in {dtype}")
            if checkpoint is not None:  # two dtypes of a large model do not fit together
                checkpoint = subject = None
                gc.collect()
            checkpoint = load(dtype)
            subject = Subject(
                model=model,
                dtype=dtype,
                trace=partial(tracing.trace, checkpoint),
                weights=Weights.open(checkpoint.folder, dtype),
                prompts=prompts,
                published=published,
            )
            for study in [name for name, of in wanted.items() if _loaded(of) == dtype]:
                advance(0, f"{study} in {dtype}")
                try:
                    found.append(measure_experiment(study, subject))
                except LayerwiseError as error:
                    failed[study] = str(error)
                    if shown:
                        say(f"{model.slug}: {study} failed: {error}")
                advance()
    return Survey(merge(found), failed)


def _loaded(dtype: str) -> str:
    """The dtype to load for a study: 4-bit weights are measured unquantised."""
    return dtype.removeprefix("nf4/")


def write(model: Model, revision: str | None, found: Survey | None, out: Path) -> None:
    """Write one model's survey; None stands for a model that was left out."""
    document: dict[str, Any] = {"model": model.slug, "hub": model.hub, "revision": revision}
    if found is None:
        document["left_out"] = True
    else:
        document |= {"failed": found.failed, "fragments": found.fragments}
    write_fragments(out, document)


def run(
    slug: str,
    models: Path,
    prompts: Path,
    published: Path,
    out: Path,
    device: str | None,
) -> str:
    """Survey one model of the papers on an accelerator, over upstream's prompts, verified."""
    registry = read_models(models)
    model = find_model(registry, slug)
    if model.skipped:
        write(model, None, None, out)
        return f"{slug} is skipped: {model.skipped}; its claims stay `not measured`"
    require_accelerator(device)
    upstream.verify_data(prompts.parent)

    def load(dtype: str) -> Checkpoint:
        return load_registered(model, dtype, device=device or "cuda")

    texts = read_json(prompts)
    found = survey(model, load, texts, read_published(published), shown=True)
    write(model, model.revision, found, out)
    failed = f"; failed: {', '.join(found.failed)}" if found.failed else ""
    return f"the studies of {slug} in {out}{failed}"
