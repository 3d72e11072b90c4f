"""What callers of the Python interface give, as types: `True` is no number, `"3"` none either."""

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, JsonValue
from pydantic import Strict as Exact

from layerwise.shapes import Seed


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


PLAIN = BeforeValidator(_plain)
Folder = Annotated[Path, Exact(False)] | None  # of a text too
Layers = Annotated[list[Annotated[int, PLAIN]], PLAIN] | None
Draw = Annotated[Seed, PLAIN]
Options = Annotated[dict[str, JsonValue], AfterValidator(_storable)] | None  # of a chat template
