"""the statement pairs and prompts <- upstream, or a mirror of it; the models' weights <- the hub.

The texts are checked by sha256, weights against what the hub calls them.
"""

from collections.abc import Sequence
from pathlib import Path

from layerwise.errors import LayerwiseError, require_extra
from layerwise.files import sha256_of, write_json
from layerwise.home import here
from layerwise.models.registry import find_model, read_models
from layerwise.papers.fetching import upstream
from layerwise.progress import say
from layerwise.run.steps import Place, elsewhere, program
from layerwise.shapes import read_choices


def run(out: Path | None = None, mirror: str | None = None) -> str:
    """Put the pinned `dataset.json` and `prompts.json` into OUT; whole ones are left alone."""
    out = out or upstream.papers_folder()
    upstream.fetch(out, mirror)
    return f"statement pairs and prompts in {out}, as pinned"


def fetch_weights(slugs: Sequence[str], models: Path | None = None) -> tuple[str, int]:
    """Bring the weights of the papers' models into the hub's cache; no GPU is needed.

    One that is not to be had, or has no room beside its hidden states, leaves the others alone.

    Arguments:
        slugs: of models in the registry; none: all that are measured.

    Returns:
        What is there, and an exit code: 1 where a model could not be had.
    """
    require_extra("models")
    from layerwise.models.hub import fetch, look_up_registered, states_beside

    root = here()
    registry = read_models(models or root / "models.yaml")
    choices = read_choices(root / "params.yaml", "measure")
    wanted = [find_model(registry, slug) for slug in slugs] or [*registry.values()]
    present, missing = [], []
    for model in wanted:
        try:
            if model.skipped:
                raise LayerwiseError(model.skipped)
            beside = states_beside(model, choices, root / "results" / "scratch")
            files = fetch(look_up_registered(model), beside=beside)
            present.append(f"{model.slug}: {files.folder}")
            say(present[-1])
        except (LayerwiseError, OSError) as error:
            missing.append((model, f"not {model.slug}: {error}"))
    said = "\n".join([f"weights of {len(present)} models are there", *(why for _, why in missing)])
    return said, int(any(not model.skipped for model, _ in missing))


def stage(out: Place, stamp: Place, params: Place = Path("params.yaml")) -> str:
    """The same, as the first stage of what is measured; STAMP says which bytes there are.

    Raises:
        LayerwiseError: without torch or the device of params.yaml, before the network is asked.
    """
    with elsewhere():
        require_extra("models")
        from layerwise.models.devices import require_accelerator

        require_accelerator(read_choices(params, "measure")["device"])
        said = run(out)
    write_json(stamp, {name: sha256_of(out / name) for name in upstream.DATA_FILES})
    return said


if __name__ == "__main__":
    program(stage)
