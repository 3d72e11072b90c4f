"""one model's numbers in the places of the published ones <- its weights, statements, prompts."""

import shutil
from pathlib import Path

from layerwise.experiments.of_model import Texts, measure_model, why
from layerwise.extraction.hub import fetch
from layerwise.extraction.load import load_registered, require_accelerator
from layerwise.files import read_json
from layerwise.inputs import upstream
from layerwise.inputs.measured import (
    CONTROL,
    NAME,
    NOISE,
    Runs,
    by_reason,
    failures,
    read_places,
    write_fragments,
)
from layerwise.inputs.models import Model, find_model, read_models
from layerwise.inputs.shapes import read_choices
from layerwise.inputs.texts import read_pairs, read_prompts
from layerwise.steps import Place, program


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

    Raises:
        LayerwiseError: without the device of params.yaml, or if the data are not the pinned ones.
    """
    model, chosen = find_model(read_models(models), slug), read_choices(params, "measure")
    require_accelerator(device := chosen["device"])
    upstream.verify_data(data)
    texts = Texts(
        read_pairs(data / upstream.DATASET),
        read_prompts(data / upstream.PROMPTS),
        read_json(data / upstream.PROMPTS),
    )

    def measured(folder: Path, replicates: int = 0, draw: int | None = None) -> Runs:
        return measure_model(
            model,
            lambda dtype: load_registered(model, dtype, device=device, draw=draw),
            texts,
            read_places(places),
            folder,
            choices=chosen,
            draws=read_choices(params, "analyse"),
            replicates=replicates,
            label="" if draw is None else f"random weights, draw {draw}",
        )

    reason = model.skipped or _out_of_reach(model)
    absent = dict.fromkeys((*model.extractions, *model.experiments), reason)
    found: Runs = {"runs": {}, "absent": absent, NOISE: []}
    if not reason:
        found = measured(scratch / slug, chosen["replicates"])
    draws = range(chosen[CONTROL] if found["runs"] else 0)
    control = [measured(scratch / slug / f"{CONTROL}-{draw}", draw=draw) for draw in draws]
    document = {"model": slug, "hub": model.hub, **found, CONTROL: control}
    write_fragments(out / NAME, document)
    failed = {} if model.skipped else failures(document)
    if not failed:
        shutil.rmtree(scratch / slug, ignore_errors=True)
    reasons = by_reason(failures(document)).items()
    said = "".join(f"\n  {', '.join(names)}: {reason}" for reason, names in reasons)
    counts = f"{len(found['runs'])} runs in {out / NAME}, {len(found['absent'])} absent"
    return f"{slug}: {counts}{said}", 1 if failed else 0


def _out_of_reach(model: Model) -> str | None:
    """Why the hub does not give a model; it is asked once, not for every dtype."""
    try:
        if model.revision is not None:
            fetch(model.hub, model.revision, model)
    except Exception as error:
        return why(error)
    return None


if __name__ == "__main__":
    program(run)
