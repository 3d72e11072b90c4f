"""A reader's request: models, texts and choices, checked before torch is imported."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from layerwise.errors import LayerwiseError, TextError, require_extra
from layerwise.files import is_there, n_processes
from layerwise.given import PLAIN, Draw, Folder, Layers
from layerwise.models.checkpoint_folder import check_folder
from layerwise.models.needs import require_address_space
from layerwise.models.registry import Dtype
from layerwise.models.texts import MIN_PAIRS_PER_CATEGORY, StatementPairs, place_of
from layerwise.models.token_ids import Wrapping
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.reader.results_folder import (
    PART,
    check_comparison_folder,
    check_results_folder,
    check_states_folder,
)
from layerwise.shapes import Device, Strict, Times, converted


class Choices(Strict):
    """The choices of a caller, as `analyze` explains them."""

    out: Folder
    revision: str | None
    dtype: Dtype | None
    device: Device | None
    layers: Layers
    seed: Draw
    without: Annotated[list[Literal["gains", "spectral"]], PLAIN]
    limit: Annotated[int, Field(ge=MIN_PAIRS_PER_CATEGORY), PLAIN] | None
    chat_template: bool
    replicates: Annotated[Times, PLAIN]
    control: Annotated[Times, PLAIN]
    keep_states: bool


@dataclass(frozen=True)
class Request:
    """The texts and choices of a reader, for one model.

    Attributes:
        pairs_name, prompts_name: what errors call the texts that were given.
        n_given: pairs, before `limit`.
    """

    pairs: StatementPairs
    prompts: Sequence[str]
    pairs_name: str
    prompts_name: str
    choices: Choices
    n_given: int

    @property
    def texts(self) -> dict[str, Sequence[str]]:
        """The texts that the model is to take, by kind."""
        return {"statements": self.pairs.statements, "prompts": self.prompts}

    @property
    def loading(self) -> dict[str, Any]:
        """How the model is loaded, with the texts that its tokenizer is tried on."""
        return {
            "dtype": self.choices["dtype"] or "float32",
            "device": self.choices["device"] or "cpu",
            "revision": self.choices["revision"],
            "texts": self.texts,
            "template": self.template,
        }

    @property
    def template(self) -> Wrapping:
        """The template that every statement is put into."""
        return "own" if self.choices["chat_template"] else "none"

    @contextlib.contextmanager
    def blamed(self) -> Iterator[None]:
        """Inside the block, an error about a text says where that text stands."""
        try:
            yield
        except TextError as error:
            place = self.prompts_name
            if error.kind == "statements":
                place = place_of(self.pairs, error.number)
            raise LayerwiseError(f"{place}: {error}") from None


def requests_of(
    models: Any, pairs: Any, prompts: Any, asked: Mapping[str, Any]
) -> list[tuple[Any, Request]]:
    """Return the request on each model, once all that needs neither weights nor torch is right.

    Arguments:
        models: one model, or a list of folders and hub ids: each of these gets a folder of its own
            name in `out`.
        asked: `Choices`, as they were given.

    Raises:
        LayerwiseError: if one of them is not right.
    """
    require_extra("models")
    is_list = isinstance(models, list | tuple)
    folders = _folders_of(models, asked) if is_list else [asked["out"]]
    each = [converted("analyze", Choices, {**asked, "out": folder}) for folder in folders]
    n_processes()
    require_address_space()
    statement_pairs = read_pairs(pairs)
    texts = () if prompts is None else read_prompts(prompts)
    names = name_of(pairs), name_of(prompts)
    requests = []
    for model, choices in zip(models if is_list else [models], each, strict=True):
        if isinstance(model, str | Path) and is_there(Path(model)):
            check_folder(Path(model))
        if choices["out"] is not None:
            check_results_folder(choices["out"], (pairs, prompts))
            check_states_folder(choices["out"])
        limit = choices["limit"]
        chosen = statement_pairs if limit is None else statement_pairs.first(limit)
        requests.append((model, Request(chosen, texts, *names, choices, len(statement_pairs))))
    return requests


def _folders_of(models: Sequence[Any], asked: Mapping[str, Any]) -> list[Path | None]:
    """Return the folder of each of several models, which is called by it, in `out`.

    Raises:
        LayerwiseError: for fewer than two models, one that is no folder or hub id, two of one
            name, a name that the comparison has, or a revision, which belongs to one model.
    """
    if len(models) < 2:
        raise LayerwiseError(
            f"several models are two at least, found {len(models)}; name one model, or more"
        )
    if wrong := [model for model in models if not isinstance(model, str | Path)]:
        raise LayerwiseError(
            "each of several models is a folder or a hub id, found "
            f"{type(wrong[0]).__name__}; analyze loaded ones one by one, then compare the results"
        )
    if asked["revision"] is not None:
        raise LayerwiseError(
            f"a revision belongs to one model, found {len(models)} models; fetch that revision "
            "into a folder, or analyze the models one by one"
        )
    paths = [Path(model) for model in models]
    names = [path.resolve().name if path.exists() else path.name for path in paths]
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
    out: Path | None = converted("analyze: out", Folder, asked["out"])
    if out is None:
        return [None] * len(models)
    check_comparison_folder(out)
    return [out / name for name in names]


def name_of(given: Any) -> str:
    """Return what errors call the pairs or prompts that were given."""
    return str(given) if isinstance(given, str | Path) else f"the given {type(given).__name__}"
