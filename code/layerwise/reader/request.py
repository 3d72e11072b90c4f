"""What a reader wants analyzed: texts and choices, checked; torch is not imported for that."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from typing_extensions import TypedDict

from layerwise.errors import LayerwiseError, TextError
from layerwise.extraction.checkpoint_folder import check_folder
from layerwise.inputs.models import Dtype
from layerwise.inputs.shapes import Device, Seed, Times, converted
from layerwise.inputs.texts import StatementPairs, place_of, read_pairs, read_prompts
from layerwise.pages.own_model import require_templates


class Choices(TypedDict):
    """What a caller is left to choose, as `analyze` explains it."""

    out: Path | None
    revision: str | None
    dtype: Dtype | None
    device: Device | None
    layers: list[int] | None
    seed: Seed
    without: list[Literal["gains", "spectral"]]
    replicates: Times
    control: Times


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

    @property
    def texts(self) -> dict[str, Sequence[str]]:
        """What the model is to take."""
        return {"statements": self.pairs.statements, "prompts": self.prompts}

    @property
    def loading(self) -> dict[str, Any]:
        """How the model is loaded, and the texts that its tokenizer is tried on."""
        return {
            "dtype": self.choices["dtype"] or "float32",
            "device": self.choices["device"] or "cpu",
            "revision": self.choices["revision"],
            "texts": self.texts,
        }

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
    choices: Choices = converted("analyze", Choices, asked)
    statement_pairs = read_pairs(pairs)
    texts = () if prompts is None else read_prompts(prompts)
    if isinstance(model, str | Path) and Path(model).exists():
        check_folder(Path(model))
    if (out := choices["out"]) is not None:
        if out.exists() and not out.is_dir():
            raise LayerwiseError(
                f"{out}: --out must be a folder, found a file; choose another place"
            )
        require_templates()
    return Request(statement_pairs, texts, named(pairs), named(prompts), choices)


def named(given: Any) -> str:
    """What errors call the pairs or prompts that were given."""
    return str(given) if isinstance(given, str | Path) else f"the given {type(given).__name__}"
