"""What is written of the analyses of one source; which number it was where one is not right."""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from layerwise.engine.derivation import evidence_of
from layerwise.engine.measured import mapped
from layerwise.engine.published import Published
from layerwise.errors import LayerwiseError
from layerwise.papers.across.analyses import TABLES, analyse_all
from layerwise.statistics.bootstrap import Draws

WRITTEN = ("documents", "derived", "given", "undefined")
OF_MEASURED = ("missing",)  # of print nothing is


def statistics_files(numbers: Published, draws: Draws) -> dict[str, dict[str, Any]]:
    """By analysis, its documents and what in them was derived or given, as JSON holds it."""
    evidence = evidence_of(numbers, draws, TABLES)
    kept = (*WRITTEN, *OF_MEASURED) if evidence.measured else WRITTEN
    return {
        name: {key: mapped(getattr(found, key), _finite) for key in kept}
        for name, found in analyse_all(evidence).items()
    }


def _finite(leaf: Any) -> Any:
    """Half precision leaves some layers without a number; a result file calls that null."""
    return None if isinstance(leaf, float) and not math.isfinite(leaf) else leaf


@contextlib.contextmanager
def of_numbers(folder: Path) -> Iterator[None]:
    """Inside the block, a rule that cannot take a number says where the number came from."""
    try:
        yield
    except LayerwiseError as error:
        raise LayerwiseError(f"{folder}, a *.csv or measured.json: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise LayerwiseError(
            f"{folder}: a number in a *.csv or measured.json is not of the kind of the published "
            f"one ({type(error).__name__}: {error!s:.200}); restore it, or measure it again"
        ) from error
