"""figures <- statistics."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.figures import FIGURES, papers
from layerwise.figures.style import save
from layerwise.files import publish_folder, read_json
from layerwise.inputs.models import Model, extractions_of, read_models
from layerwise.inputs.published import read_published
from layerwise.steps import Place, Source, program


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


def every(
    source: Source,
    statistics: Place,
    out: Place,
    published: Place = Path("published"),
    models: Place = Path("models.yaml"),
) -> str:
    """Draw all figures of a source, the papers' own among them."""
    numbers = read_published(published)
    part = out.with_name(f"{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    for figure in (name for name in FIGURES if name != "anisotropy_spectra"):
        run(figure, source, statistics, models, part)
    for figure in papers.FIGURES:
        draw = import_module(f"layerwise.figures.{figure}").draw
        save(draw(papers.collect(figure, numbers), source=source), part, figure)
    publish_folder(part, out)
    return f"{len(list(out.glob('*.png')))} figures in {out}"


if __name__ == "__main__":
    program(every)
