"""What callers give, as types: `True` is no number, `"3"` none either, and `""` no place."""

import json
import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, JsonValue
from pydantic import Strict as Exact

from layerwise.shapes import Seed, converted


def _plain(given: Any) -> Any:
    """Return NumPy's numbers, and lists of any kind, as Python's own; all else as it is.

    NumPy is not imported for it: reading the claims does without.
    """
    given = given.tolist() if type(given).__module__ == "numpy" else given
    return list(given) if isinstance(given, tuple | range | set | frozenset) else given


def _storable(given: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return values that a JSON file can hold."""
    try:
        json.dumps(given, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as error:  # no finite number, or half of a surrogate pair
        raise ValueError(
            f"must be what a JSON file can hold, found {given!r:.80} ({error!s:.80}); correct it"
        ) from None
    return given


def _not_empty(text: str) -> str:
    """Return a text, which an unset variable of a shell would leave empty."""
    if not text.strip():
        raise ValueError(
            f"must not be empty, as of an unset variable, found {text!r}; give it, or leave it out"
        )
    return text


def _place(given: Any) -> Any:
    """Return a path whose beginning `~` is the home folder; what is no path as it is."""
    if isinstance(given, str):
        _not_empty(given)
    if not isinstance(given, str | Path):
        return given
    try:
        return Path(given).expanduser()
    except RuntimeError:
        raise ValueError(
            f"must begin with the home folder of a known user, found {os.fspath(given)!r}; "
            "name the place itself"
        ) from None


def _by_name(given: Any) -> Any:
    """Return the name of a dtype or a device of torch; all else as it is."""
    is_torch = type(given).__module__ == "torch" and type(given).__name__ in ("dtype", "device")
    return str(given).removeprefix("torch.") if is_torch else given


PLAIN, BY_NAME = BeforeValidator(_plain), BeforeValidator(_by_name)
Text = Annotated[str, AfterValidator(_not_empty)]
Place = Annotated[Path, BeforeValidator(_place), Exact(False)]  # of a text too
Folder = Place | None
Layers = Annotated[list[Annotated[int, PLAIN]], PLAIN] | None
Draw = Annotated[Seed, PLAIN]
Options = Annotated[dict[str, JsonValue], AfterValidator(_storable)] | None  # of a chat template


def read_place(name: str, given: Any) -> Path:
    """Return the path that was given under a name.

    Raises:
        LayerwiseError: for an empty text, or what is no path.
    """
    place: Path = converted(name, Place, given)
    return place


def read_model(model: Any) -> Any:
    """Return a model as it was given: a path or hub id with its home folder, or a loaded model.

    Raises:
        LayerwiseError: for an empty text.
    """
    if isinstance(model, str) and not model.startswith("~"):
        return converted("model", Text, model)
    return read_place("model", model) if isinstance(model, str | Path) else model
