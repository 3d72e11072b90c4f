"""a share of the papers' models measured without a GPU <- their weights; in a scratch copy."""

from pathlib import Path
from typing import Annotated

import typer

from layerwise.errors import LayerwiseError
from layerwise.files import locked
from layerwise.models.registry import read_models
from layerwise.run.rehearsal import default_folder, share
from layerwise.run.rehearsal.running import run_pipeline
from layerwise.run.steps import program


def run(
    folder: Annotated[Path | None, typer.Option(help="of the copy")] = None,
    hours: Annotated[float, typer.Option(help="for all models, by the estimate")] = 1.0,
    gigabytes: Annotated[float, typer.Option(help="of weights, of all models")] = 10.0,
    dry_run: Annotated[bool, typer.Option(help="say which models, run nothing")] = False,
) -> str | tuple[str, int]:
    """Measure the models that fit here on the CPU, and judge; the checkout stays as it is.

    A run that was cut off goes on where it was. Exit code 1 where something could not be measured.

    Raises:
        LayerwiseError: where no model fits, or for a folder that is not a copy's, or one in use.
    """
    folder = (folder or default_folder(Path(), "share")).absolute()
    with locked(folder):
        left = share.prepare(Path(), folder, hours=hours, gigabytes=gigabytes)
        chosen = [slug for slug in read_models(folder / "models.yaml") if slug not in left]
        if not chosen:
            raise LayerwiseError(
                f"no model is measured here in {hours:g} hours with {gigabytes:g} GB of weights, "
                f"e.g. {next(iter(left))}: {next(iter(left.values()))}; give --hours, --gigabytes"
            )
        said = f"{len(chosen)} of {len(chosen) + len(left)} models: {', '.join(chosen)}"
        if dry_run:
            return said
        print(f"layerwise: {said}, in {folder}", flush=True)
        return f"all is in {folder}", run_pipeline(folder)


if __name__ == "__main__":
    program(run)
