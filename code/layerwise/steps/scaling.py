"""scaling.json <- the layers.json of several analyses."""

from collections.abc import Sequence
from pathlib import Path

from layerwise.analyses.scaling import compare
from layerwise.errors import LayerwiseError
from layerwise.files import dated, read_json, write_json


def run(folders: Sequence[Path], out: Path) -> str:
    """Compare the layer curves of several `layerwise analyze` folders, in the order given."""
    if len(folders) < 2:
        raise LayerwiseError(
            f"scaling compares at least two models, found {len(folders)}; "
            "name the --out folders of several `layerwise analyze` runs"
        )
    curves = {}
    for folder in folders:
        document = read_json(folder / "layers.json")
        found = set(document) if isinstance(document, dict) else set()
        missing = {"model", "model_display", "n_layers", "strategies"} - found
        if missing:
            raise LayerwiseError(
                f"{folder / 'layers.json'}: lacks {', '.join(sorted(missing))}; "
                "run `layerwise analyze` for this model again"
            )
        display = document["model_display"]
        if display in curves:
            raise LayerwiseError(
                f"{folder}: two of the folders hold a model named {display!r}; name each model once"
            )
        curves[display] = document
    write_json(out / "scaling.json", dated(compare(curves)))
    return f"scaling.json of {', '.join(curves)} in {out}"
