"""Models that the full reproduction does without: `full.left_out` in params.yaml.

A gated model whose licence was not accepted, or one whose revision nobody has resolved, must not
stop the others. It is left out by name, in a file of the repository; its stages then write these
marks instead of results, and its claims are `not measured` with that cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import atomic_path, read_json, write_json

_INDEX = "index.json"
_MARK = "left_out"


def is_left_out(slug: str, params: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Whether the section `full` of params.yaml leaves a model out.

    Raises:
        LayerwiseError: if it names a model that the registry does not have.
    """
    if unknown := sorted(set(params["left_out"]) - set(known)):
        raise LayerwiseError(
            f"params.yaml: full.left_out names {', '.join(unknown)}, which the registry does not "
            "have; correct the slug"
        )
    return slug in params["left_out"]


def wanted_models(registry: Mapping[str, Any], params: Mapping[str, Any]) -> list[Any]:
    """The models of the hub that the full reproduction measures.

    Raises:
        LayerwiseError: as `is_left_out`.
    """
    return [
        model
        for model in registry.values()
        if not model.built and not is_left_out(model.slug, params, registry)
    ]


def mark_states(folder: Path) -> None:
    """Leave the mark where hidden states would be."""
    write_json(folder / _INDEX, {_MARK: True})


def states_left_out(folder: Path) -> bool:
    """Whether a folder of hidden states holds the mark only."""
    path = folder / _INDEX
    return path.is_file() and _MARK in read_json(path)


def mark_values(path: Path) -> None:
    """Leave the mark where values would be."""
    import numpy as np  # the marks of models are read where it may be missing

    with atomic_path(path) as part, part.open("wb") as handle:
        np.savez(handle, left_out=np.array(True))


def values_left_out(path: Path) -> bool:
    """Whether a values file holds the mark only."""
    import numpy as np  # the marks of models are read where it may be missing

    with np.load(path) as found:
        return list(found.files) == [_MARK]
