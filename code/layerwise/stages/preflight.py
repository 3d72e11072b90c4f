"""Can the full reproduction run here? Asked first, so that it stops at once where it cannot."""

from pathlib import Path

from layerwise import upstream
from layerwise.errors import LayerwiseError
from layerwise.files import write_json
from layerwise.models import read_models
from layerwise.weights import describe_environment, require_accelerator, require_hub

OFFLINE = "`dvc repro typeset@published` and `dvc repro typeset@mini` run here"


def run(models: Path, data: Path, out: Path) -> str:
    """Write hardware and versions, if there is a GPU, upstream's data, and the hub or its cache.

    Raises:
        LayerwiseError: in one sentence: what is missing, and the two targets that need none of it.
    """
    try:
        require_accelerator()
        upstream.verify_data(data)
        require_hub([model for model in read_models(models).values() if not model.built])
    except LayerwiseError as error:
        raise LayerwiseError(f"the full reproduction cannot run here: {error}; {OFFLINE}") from None
    write_json(out, describe_environment())
    return f"the full reproduction can run here; hardware and versions in {out}"
