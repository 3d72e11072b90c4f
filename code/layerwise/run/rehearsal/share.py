"""The models that this machine measures without a GPU: a share, in a copy of the repository.

Chosen are the cheapest first, while memory, time and download allow; the others get a `skip` in the
copy's models.yaml, so their claims stay `not measured`. Everything else is the pipeline itself:
each experiment in its own dtype, with replicates and draws of random weights.
"""

from collections.abc import Mapping
from pathlib import Path

import psutil
import yaml

from layerwise.files import write_text
from layerwise.models import needs
from layerwise.models.registry import BYTES, Model, read_models
from layerwise.run.rehearsal.scratch import choose, copy
from layerwise.shapes import read_choices

ABOUT = """\
A copy of the repository in which a share of the papers' models is measured on a CPU, made by
`make reproduce-small`. Another run goes on here; to begin anew, remove the folder.
"""


def prepare(root: Path, folder: Path, *, hours: float, gigabytes: float) -> dict[str, str]:
    """Make `folder` the copy; why each model that is left out is, by slug.

    Raises:
        LayerwiseError: if the folder is in the repository, or holds what was not made here.
    """
    copy(root, folder, ABOUT)
    choose(folder / "params.yaml", {"device": "cpu"})
    registry = folder / "models.yaml"
    again = read_choices(folder / "params.yaml", "measure")
    left = skip_reasons(
        read_models(registry),
        memory=float(psutil.virtual_memory().available),
        seconds=hours * 3600,
        download=gigabytes * 1e9,
        replicates=again["replicates"],
        control=again["control"],
    )
    document = yaml.safe_load(registry.read_text(encoding="utf-8"))
    for slug, reason in left.items():
        document["models"][slug]["skip"] = reason
    write_text(registry, yaml.safe_dump(document, sort_keys=False))
    return left


def skip_reasons(
    models: Mapping[str, Model],
    *,
    memory: float,
    seconds: float,
    download: float,
    replicates: int,
    control: int,
) -> dict[str, str]:
    """Return why models are not measured, by slug; the cheapest are taken first.

    Arguments:
        memory: bytes that are free.
        seconds: for all models together, by the estimate of `needs`.
        download: bytes of weights, of all models together.
    """

    def cost(model: Model) -> float:
        return needs.seconds(model, "cpu", replicates=replicates, control=model.n_draws(control))

    left = {slug: model.skipped for slug, model in models.items() if model.skipped}
    spent = fetched = 0.0
    for slug, model in sorted(models.items(), key=lambda item: cost(item[1])):
        if slug in left or not model.dtypes:
            continue
        need = max(needs.memory(model, dtype) for dtype in model.dtypes)
        weights = model.parameters * 1e9 * BYTES[model.dtype]
        if need > memory:
            left[slug] = f"it needs {need / 1e9:.1f} GB, {memory / 1e9:.1f} GB are free"
        elif spent + cost(model) > seconds:
            left[slug] = f"it takes {cost(model) / 60:.0f} min, the share is {seconds / 60:.0f}"
        elif fetched + weights > download:
            left[slug] = f"{weights / 1e9:.1f} GB of weights, the share is {download / 1e9:.0f}"
        else:
            spent, fetched = spent + cost(model), fetched + weights
    return left
