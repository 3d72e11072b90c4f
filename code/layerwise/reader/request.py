"""A reader's request: model, texts and choices, checked before torch is imported."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from layerwise.errors import Faults, LayerwiseError, TextError, require_extra
from layerwise.files import n_processes
from layerwise.models.chat_templates import OwnTemplate, Wrapping
from layerwise.models.checkpoint import CheckpointFiles, open_folder
from layerwise.models.registry import Dtype
from layerwise.models.texts import MIN_PAIRS_PER_CATEGORY, StatementPairs, place_of
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.reader.results_folder import check_results_folder, check_states_folder
from layerwise.shapes import (
    BY_NAME,
    PLAIN,
    Device,
    Draw,
    Folder,
    Layers,
    Options,
    Strict,
    Text,
    Times,
    converted,
)


class Choices(Strict):
    """The choices of a caller, as `analyze` explains them."""

    out: Folder
    revision: Text | None
    dtype: Annotated[Dtype, BY_NAME] | None
    device: Annotated[Device, BY_NAME] | None
    layers: Layers
    seed: Draw
    without: Annotated[list[Literal["gains", "spectral"]], PLAIN]
    limit: Annotated[int, Field(ge=MIN_PAIRS_PER_CATEGORY), PLAIN] | None
    chat_template: bool
    template_options: Options
    replicates: Annotated[Times, PLAIN]
    control: Annotated[Times, PLAIN]
    keep_states: bool
    private_texts: bool


@dataclass(frozen=True)
class Request:
    """The texts and choices of a reader.

    Attributes:
        pairs_name, prompts_name: what errors call the texts that were given.
        n_given: pairs, before `limit`.
        files: of a checkpoint folder.
    """

    pairs: StatementPairs
    prompts: Sequence[str]
    pairs_name: str
    prompts_name: str
    choices: Choices
    n_given: int
    files: CheckpointFiles | None = None

    @property
    def texts(self) -> dict[str, Sequence[str]]:
        """The texts that the model is to take, by kind."""
        return {"statements": self.pairs.statements, "prompts": self.prompts}

    @property
    def template(self) -> Wrapping:
        """The template that every statement is put into."""
        if not self.choices["chat_template"]:
            return "none"
        return OwnTemplate(self.choices["template_options"] or {})

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


def request_of(model: Any, pairs: Any, prompts: Any, choices: Mapping[str, object]) -> Request:
    """Return the request on a model, once all that needs neither weights nor torch is right.

    Arguments:
        choices: `Choices`, as they were given.

    Raises:
        LayerwiseError: if one of them is not right.
    """
    require_extra("models")
    chosen: Choices = converted("analyze", Choices, dict(choices))
    if chosen["template_options"] and not chosen["chat_template"]:
        raise LayerwiseError(
            "--template-options (template_options=...) are options of the chat template, which is "
            "not asked for; add --chat-template (chat_template=True), or leave them out"
        )
    n_processes()
    faults, files = Faults(), None
    texts: Sequence[str] = ()
    is_stored = isinstance(model, str | Path)
    with faults.noted():
        statement_pairs = read_pairs(pairs)
    with faults.noted():
        texts = () if prompts is None else read_prompts(prompts)
    with faults.noted():
        if is_stored and Path(model).exists():
            files = open_folder(model, chosen["revision"])
        elif is_stored and faults.errors:  # else asked once all texts are right
            from layerwise.models.hub import look_up

            look_up(str(model), chosen["revision"])
    with faults.noted():
        if chosen["out"] is not None:
            check_results_folder(chosen["out"], (pairs, prompts))
            check_states_folder(chosen["out"])
    faults.raise_all()
    limit = chosen["limit"]
    first = statement_pairs if limit is None else statement_pairs.first(limit)
    names = name_of(pairs), name_of(prompts)
    return Request(first, texts, *names, chosen, len(statement_pairs), files)


def name_of(given: Any) -> str:
    """Return what errors call the pairs or prompts that were given."""
    return str(given) if isinstance(given, str | Path) else f"the given {type(given).__name__}"
