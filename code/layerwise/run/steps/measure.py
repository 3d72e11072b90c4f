"""one model's numbers in the places of the published ones <- its weights, statements, prompts."""

import gc
import shutil
from functools import partial
from pathlib import Path

from layerwise.engine.measured import (
    NAME,
    absent_document,
    failures,
    read_places,
    said_of,
    write_fragments,
)
from layerwise.models.needs import spell_bytes
from layerwise.models.passing import DROP
from layerwise.models.registry import find_model, read_models
from layerwise.papers.fetching import upstream
from layerwise.papers.shared.result_files import CONSTANTS
from layerwise.progress import say
from layerwise.run.steps import Place, program
from layerwise.shapes import read_choices


def run(
    slug: str,
    out: Place,
    scratch: Place = Path("results/scratch"),
    data: Place = Path("data"),
    places: Place = Path("results/measured/places.json"),
    models: Place = Path("models.yaml"),
    params: Place = Path("params.yaml"),
) -> tuple[str, int]:
    """Write OUT/measured.json: what each run measured, on what, and why some gave nothing.

    Beside it stand `noise`, replicates with noise of the size of rounding, which say how far a
    number may move; and `control`, the same of several draws of random weights of the same
    architecture: what these give too says nothing of the model.

    What fails stops nothing else: its reason is written as `absent`, and its claims stay `not
    measured`. Then the exit code is 1, so that DVC does not call it done: the next run takes it up,
    and what was measured waits, with hidden states, in SCRATCH/SLUG.

    Weights that this run fetched are removed if LAYERWISE_DROP_WEIGHTS=1 asks for it, whether
    something failed or not; those that did not arrive whole wait for the next run.

    Raises:
        LayerwiseError: without the device of params.yaml, or if the data are not the pinned ones.
    """
    model, choices = find_model(read_models(models), slug), read_choices(params, "measure")
    if model.skipped:
        names = (*model.extractions, *model.experiments)
        document = absent_document(model.slug, model.hub, names, model.skipped)
        write_fragments(out / NAME, document)
        return said_of(document, out / NAME), 0
    # torch takes seconds: a model that is left out does without
    from layerwise.measuring.given_texts import read_texts
    from layerwise.measuring.registered_models import measure_registered
    from layerwise.models.devices import require_accelerator
    from layerwise.models.hub import cached_folder, drop_fetched

    gc.freeze()  # what was imported is no garbage: every run's collection looks at the rest
    again = model.repeats(choices)
    choices = {**choices, "replicates": again["replicates"], "control": again["control"]}
    quiet_downloads()
    require_accelerator(choices["device"])
    upstream.verify_data(data)
    document = measure_registered(
        model,
        read_texts(data),
        read_places(places, CONSTANTS),
        scratch / slug,
        choices=choices,
        draws=read_choices(params, "analyse"),
        keep=partial(write_fragments, out / NAME),
    )
    write_fragments(out / NAME, document)
    failed = failures(document)
    if not failed:
        shutil.rmtree(scratch / slug, ignore_errors=True)
    if cached_folder(model.hub, model.revision) and (n_bytes := drop_fetched(model)):
        say(f"{slug}: {spell_bytes(n_bytes)} of weights removed, as {DROP} asks")
    return said_of(document, out / NAME), 1 if failed else 0


def quiet_downloads() -> None:
    """Keep the hub client's "Trying to resume" off the terminal: a failure has its own sentence."""
    from huggingface_hub.utils import logging

    logging.set_verbosity_error()


if __name__ == "__main__":
    program(run)
