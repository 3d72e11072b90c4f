"""Several models in one call: each analysed into a folder of its own, then compared."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.given import Folder
from layerwise.reader.request import Request, requested_of_each
from layerwise.reader.results_folder import PART, check_comparison_folder
from layerwise.shapes import converted


def places(models: Sequence[Any], asked: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every model with its choices: the folder of each is called by it, in `out`.

    Arguments:
        asked: the choices of all, as `analyze` takes them.

    Raises:
        LayerwiseError: for fewer than two models, one that is no folder or hub id, two of one
            name, a name that the comparison has, or a revision, which belongs to one model.
    """
    if len(models) < 2:
        raise LayerwiseError(
            f"several models are two at least, found {len(models)}; name one model, or more"
        )
    if wrong := [one for one in models if not isinstance(one, str | Path)]:
        raise LayerwiseError(
            "of several models each is a folder or a hub id, found "
            f"{type(wrong[0]).__name__}; analyze loaded ones one by one, then compare the results"
        )
    if asked["revision"] is not None:
        raise LayerwiseError(
            f"a revision is of one model, found {len(models)} models; fetch that revision into a "
            "folder, or analyze the models one by one"
        )
    names = [Path(one).resolve().name if Path(one).exists() else str(one) for one in models]
    names = [name.rpartition("/")[2] for name in names]
    if twice := [name for name in names if names.count(name) > 1]:
        raise LayerwiseError(
            f"two of the models are called {twice[0]!r}, which names the folder of each; analyze "
            "them one by one, then compare the folders"
        )
    if PART in names:
        raise LayerwiseError(
            f"each model has a folder of its own name in --out, found {PART!r}, which is that of "
            "the comparison; rename that model's folder"
        )
    out = converted("analyze: out", Folder, asked["out"])
    if out is not None:
        check_comparison_folder(out)
    folders = [None if out is None else out / name for name in names]
    return [
        (str(one), {**asked, "out": folder}) for one, folder in zip(models, folders, strict=True)
    ]


def request_each(
    models: Sequence[Any], pairs: Any, prompts: Any, asked: Mapping[str, Any]
) -> list[tuple[str, Request]]:
    """The request of every model, with all of it checked that needs neither model nor torch.

    Raises:
        LayerwiseError: as `requested` does.
    """
    found = places(models, asked)
    requests = requested_of_each(found, pairs, prompts)
    return [(model, request) for (model, _), request in zip(found, requests, strict=True)]
