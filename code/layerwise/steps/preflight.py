"""Can anything be measured here? Asked before the first model, and what the texts fill."""

from __future__ import annotations

from pathlib import Path

from layerwise.experiments.of_pairs.pair_values import of_pairs
from layerwise.extraction.load import require_accelerator
from layerwise.extraction.provenance import describe_environment
from layerwise.files import write_json
from layerwise.inputs import upstream
from layerwise.inputs.measured import NAME, write_fragments
from layerwise.inputs.models import read_models
from layerwise.inputs.pairs import read_pairs
from layerwise.steps import Place, choices, elsewhere, program
from layerwise.steps.measure import unavailable


def run(
    environment: Place,
    texts: Place,
    data: Place = Path("data"),
    models: Place = Path("models.yaml"),
    params: Place = Path("params.yaml"),
) -> str:
    """Write hardware and versions to ENVIRONMENT, what the statement pairs fill to TEXTS.

    Raises:
        LayerwiseError: in one sentence: what is missing, and the targets that need none of it.
    """
    with elsewhere():
        require_accelerator(choices(params, "measure")["device"])
        upstream.verify_data(data)
        reasons = {model.slug: unavailable(model) for model in read_models(models).values()}
    write_json(environment, describe_environment())
    fragments = of_pairs(read_pairs(data / upstream.DATASET))
    runs = {"pairs": {"file": upstream.DATASET, "fragments": fragments}}
    write_fragments(texts / NAME, {"model": None, "runs": runs, "absent": {}})
    absent = [f"\n  not {slug}: {reason}" for slug, reason in reasons.items() if reason]
    n_there = len(reasons) - len(absent)
    return f"{n_there} models can be measured here, {len(absent)} cannot{''.join(absent)}"


if __name__ == "__main__":
    program(run)
