"""figures <- statistics."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.figures import FIGURES
from layerwise.figures.style import save
from layerwise.files import read_json
from layerwise.inputs.models import Model, extractions_of, read_models


def documents_of(figure: str, statistics: Path, models: Path) -> dict[str, Any]:
    """What a figure draws: one document per model display name, or the family's."""
    registry = read_models(models)
    results = read_json(statistics / f"{FIGURES[figure]}.json")["documents"]
    if figure == "scaling":
        return {"scaling": results["family"]}
    if figure == "sensitivity":
        return {
            _extracted(key, registry): document
            for key, document in results.items()
            if key != "summary"
        }
    return {
        registry[slug].display: document if figure != "bins" else _with_categories(document)
        for slug, document in results.items()
        if slug in registry
    }


def _extracted(key: str, registry: Mapping[str, Model]) -> str:
    """Display name of a model, or of one of its extractions."""
    if key in registry:
        return registry[key].display
    extraction = extractions_of(registry).get(key)
    if extraction is None:  # a curve of the published files
        slug, _, condition = key.partition("-instruct-")
        return f"{registry[f'{slug}-instruct'].display}, {condition}"
    return f"{registry[extraction.slug].display}, template {extraction.template}"


def _with_categories(bins: dict[str, Any]) -> dict[str, Any]:
    """The bins and the intervals over categories that they are compared with."""
    original = {
        "n_categories": bins["comparison"]["original_n"],
        "layer_results": bins["original_results"],
    }
    return {"bins": bins, "category_bootstrap": original}


def run(figure: str, source: str, statistics: Path, models: Path, out: Path) -> str:
    """Draw one figure as PDF and PNG."""
    if figure not in FIGURES:
        raise LayerwiseError(f"figure must be one of {', '.join(FIGURES)}, found {figure!r}")
    draw = import_module(f"layerwise.figures.{figure}").draw
    save(draw(documents_of(figure, statistics, models), source=source), out, figure)
    return f"{figure} in {out}"
