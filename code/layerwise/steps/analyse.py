"""statistics <- the numbers of one source: all analyses, in one process."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from layerwise.analyses import TABLES, analyse_all
from layerwise.analyses.derivation import evidence_of
from layerwise.errors import LayerwiseError
from layerwise.files import together, write_json
from layerwise.inputs.measured import (
    CONTROL,
    NOISE,
    Measurements,
    all_fragments,
    controls,
    is_random,
    mapped,
    measured,
    read_measurements,
    replicates,
)
from layerwise.inputs.published import Published, read_published
from layerwise.inputs.shapes import read_choices
from layerwise.places.models import RANDOM
from layerwise.statistics.bootstrap import Draws
from layerwise.steps import Place, Source, program

WRITTEN = ("documents", "derived", "given", "undefined")
KEPT: dict[Source, tuple[str, ...]] = {
    "published": WRITTEN,
    "measured": (*WRITTEN, "missing"),
}


def run(
    source: Source,
    out: Place,
    numbers: Place = Path("published"),
    published: Place = Path("published"),
    params: Place = Path("params.yaml"),
) -> str:
    """Write OUT/ANALYSIS.json: documents, and what in them was derived or given, from which cells.

    What the numbers do not have is `undefined`, with the reason. Of a measured source NUMBERS is
    the folder of the models' measurements; what was not measured is `missing`, with its cell. The
    same statistics of every replicate with rounding noise go to OUT/noise/NUMBER, those of every
    draw of random weights to OUT/control/NUMBER.
    """
    tables, draws = read_published(published), Draws(**read_choices(params, "analyse"))
    wanted: list[tuple[str, Published, dict[str, Any]]] = [("", tables, {})]
    if source == "measured":
        measurements = read_measurements(numbers)
        wanted = [
            (folder, measured(tables, all_fragments(side)), {RANDOM: is_random(side)})
            for folder, side in {
                "": measurements,
                **numbered(NOISE, replicates(measurements)),
                **numbered(CONTROL, controls(measurements)),
            }.items()
        ]
    with together(out.parent) as part:
        for folder, cells, head in wanted:
            with _of_numbers(numbers):
                analyses = analyse_all(evidence_of(cells, draws, TABLES))
            for name, found in analyses.items():
                parts = {key: getattr(found, key, {}) for key in KEPT[source]}
                path = part / out.name / folder / f"{name}.json"
                write_json(path, {"analysis": name, **head, **mapped(parts, _finite)})
    return f"{len(TABLES)} analyses of the {source} numbers in {out}"


def numbered(folder: str, sides: Sequence[Measurements]) -> dict[str, Measurements]:
    """Each with the folder that its statistics get."""
    return {f"{folder}/{number}": side for number, side in enumerate(sides)}


@contextlib.contextmanager
def _of_numbers(folder: Path) -> Iterator[None]:
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


def _finite(leaf: Any) -> Any:
    """Half precision leaves some layers without a number; a result file calls that null."""
    return None if isinstance(leaf, float) and not math.isfinite(leaf) else leaf


if __name__ == "__main__":
    program(run)
