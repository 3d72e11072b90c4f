"""What callers of the Python interface give, as types: `True` is no number, `"3"` none either."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic import Strict as Exact

from layerwise.shapes import Seed


def _plain(given: Any) -> Any:
    """Return NumPy's numbers, and lists of any kind, as Python's own; all else as it is.

    NumPy is not imported for it: reading the claims does without.
    """
    given = given.tolist() if type(given).__module__ == "numpy" else given
    return list(given) if isinstance(given, tuple | range | set | frozenset) else given


PLAIN = BeforeValidator(_plain)
Folder = Annotated[Path, Exact(False)] | None  # of a text too
Layers = Annotated[list[Annotated[int, PLAIN]], PLAIN] | None
Draw = Annotated[Seed, PLAIN]
