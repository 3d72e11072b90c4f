"""measured numbers in the published files' places <- surveys and values of all models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.experiments.of_pairs import pair_values
from layerwise.inputs.left_out import values_left_out
from layerwise.inputs.measured import Fragments, merge, read_fragments, write_fragments
from layerwise.inputs.models import extractions_of, read_models
from layerwise.inputs.pairs import read_pairs
from layerwise.inputs.published import Published, read_published
from layerwise.measures.values import load


def run(
    surveys: Path,
    values: Path,
    pairs: Path,
    published: Path,
    models: Path,
    out: Path,
    params: dict[str, Any],
) -> str:
    """Merge what every study measured into `{file: {pointer: part}}`.

    Raises:
        LayerwiseError: if a folder holds no result, or two results claim one place.
    """
    tables = read_published(published)
    parts = [pair_values.of_pairs(read_pairs(pairs)), *_surveys(surveys)]
    parts += _values(values, models, tables, params)
    merged = merge(parts)
    write_fragments(out, merged)
    return f"{sum(map(len, merged.values()))} parts of {len(merged)} files in {out}"


def _surveys(folder: Path) -> Iterator[Fragments]:
    for path in _files(folder, "*.json"):
        yield read_fragments(path).get("fragments", {})  # none: left out


def _values(
    folder: Path, models: Path, tables: Published, params: dict[str, Any]
) -> Iterator[Fragments]:
    extractions = extractions_of(read_models(models))
    for path in _files(folder, "*.npz"):
        if path.stem in extractions and not values_left_out(path):
            yield pair_values.fragments(extractions[path.stem], load(path), tables, **params)


def _files(folder: Path, pattern: str) -> list[Path]:
    found = sorted(folder.glob(pattern))
    if not found:
        raise LayerwiseError(
            f"{folder}: nothing measured here ({pattern}); run the stages before this one"
        )
    return found
