"""Can the full reproduction run here? Asked first, so that it stops at once where it cannot."""

from pathlib import Path

from layerwise.errors import LayerwiseError
from layerwise.extraction.hub import require_hub
from layerwise.extraction.load import require_accelerator
from layerwise.extraction.provenance import describe_environment
from layerwise.files import write_json
from layerwise.inputs import upstream
from layerwise.inputs.models import read_models

OFFLINE = "`dvc repro typeset@published` and `dvc repro typeset@mini` run here"


def run(models: Path, data: Path, out: Path) -> str:
    """Write hardware and versions, if there is a GPU, upstream's data, and the hub or its cache.

    Models that the registry skips are not asked for.

    Raises:
        LayerwiseError: in one sentence: what is missing, and the two targets that need none of it.
    """
    try:
        wanted = [model for model in read_models(models).values() if not model.skipped]
        require_accelerator()
        upstream.verify_data(data)
        require_hub(wanted)
    except LayerwiseError as error:
        raise LayerwiseError(f"the full reproduction cannot run here: {error}; {OFFLINE}") from None
    write_json(out, describe_environment())
    return f"the full reproduction can run here; hardware and versions in {out}"
