"""What a reader wants analyzed: texts and choices, checked; torch is not imported for that."""

import contextlib
from collections.abc import Iterator, Sequence
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
from layerwise.reader.results_folder import check_results_folder, check_states_folder
from layerwise.shapes import Device, Strict, Times, converted


class Choices(Strict):
    """What a caller is left to choose, as `analyze` explains it."""

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


@dataclass(frozen=True)
class Request:
    """Texts and choices of a reader.

    Attributes:
        pairs_name, prompts_name: what errors call the texts that were given.
    """

    pairs: StatementPairs
    prompts: Sequence[str]
    pairs_name: str
    prompts_name: str
    choices: Choices
    n_given: int  # pairs, before `limit`

    @property
    def texts(self) -> dict[str, Sequence[str]]:
        """What the model is to take."""
        return {"statements": self.pairs.statements, "prompts": self.prompts}

    @property
    def loading(self) -> dict[str, Any]:
        """How the model is loaded, and the texts that its tokenizer is tried on, as templated."""
        return {
            "dtype": self.choices["dtype"] or "float32",
            "device": self.choices["device"] or "cpu",
            "revision": self.choices["revision"],
            "texts": self.texts,
            "template": self.template,
        }

    @property
    def template(self) -> Wrapping:
        """What every statement is put into."""
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


def requested(model: Any, pairs: Any, prompts: Any, asked: dict[str, Any]) -> Request:
    """The request, if all that can be checked without the model's weights is right.

    Arguments:
        asked: `Choices`, as they were given.

    Raises:
        LayerwiseError: if it is not.
    """
    return requested_of_each([(model, asked)], pairs, prompts)[0]


def requested_of_each(
    models: Sequence[tuple[Any, dict[str, Any]]], pairs: Any, prompts: Any
) -> list[Request]:
    """The same of every model with its choices; the texts are read once.

    Raises:
        LayerwiseError: if one of them is not right.
    """
    require_extra("models")
    every: list[Choices] = [converted("analyze", Choices, asked) for _, asked in models]
    n_processes()
    require_address_space()
    statement_pairs = read_pairs(pairs)
    texts = () if prompts is None else read_prompts(prompts)
    names = named(pairs), named(prompts)
    for (model, _), choices in zip(models, every, strict=True):
        if isinstance(model, str | Path) and is_there(Path(model)):
            check_folder(Path(model))
        if choices["out"] is not None:
            check_results_folder(choices["out"], (pairs, prompts))
            check_states_folder(choices["out"])
    return [
        Request(_limited(statement_pairs, choices), texts, *names, choices, len(statement_pairs))
        for choices in every
    ]


def _limited(pairs: StatementPairs, choices: Choices) -> StatementPairs:
    return pairs if choices["limit"] is None else pairs.first(choices["limit"])


def named(given: Any) -> str:
    """What errors call the pairs or prompts that were given."""
    return str(given) if isinstance(given, str | Path) else f"the given {type(given).__name__}"
