"""scaling.json, scaling.html <- the result files of several analyses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from layerwise.analyses import OF_READER, depth_curves
from layerwise.analyses.evidence import Draws, Evidence
from layerwise.analyses.scaling import compare
from layerwise.errors import LayerwiseError
from layerwise.files import dated, read_json, sha256_of, together, write_json
from layerwise.inputs.published import read_published
from layerwise.inputs.shapes import LOOSE, Whole, require_shape
from layerwise.pages.own_model import OF_WEIGHTS, figures, page
from layerwise.pages.own_model.across import page_of
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED

PART, PAGE = Path("scaling"), "scaling.html"
AGAIN = "run `layerwise analyze` for this model again"


class OfLayer(TypedDict):
    """r over categories."""

    __pydantic_config__ = LOOSE  # type: ignore[misc]
    correlation: float
    p_value: float


class Layers(TypedDict):
    """What `compare` reads of a layers.json."""

    __pydantic_config__ = LOOSE  # type: ignore[misc]
    model: str
    model_display: str
    n_layers: Whole
    strategies: dict[str, OfLayer]


def run(folders: Sequence[Path], out: Path) -> str:
    """Compare several `layerwise analyze` folders, in the order given: data, page, figures, tables.

    Raises:
        LayerwiseError: for fewer than two folders, one without `layers.json`, a result file of
            another shape, or two of one model.
    """
    if len(folders) < 2:
        raise LayerwiseError(
            f"scaling compares at least two models, found {len(folders)}; "
            "name the --out folders of several `layerwise analyze` runs"
        )
    page.require_templates()
    models: dict[str, dict[str, Any]] = {}
    for folder in folders:
        results = _results(folder)
        display = results["layers"]["model_display"]
        if display in models:
            raise LayerwiseError(
                f"{folder}: two of the folders hold a model named {display!r}; name each model once"
            )
        models[display] = results
    comparison = compare({display: of["layers"] for display, of in models.items()})
    evidence = Evidence(read_published(page.ROOT / "published"), Draws(N_RESAMPLES, LEVEL, SEED))
    is_random = any(map(_is_random, folders))
    try:
        own = page_of(models, comparison, evidence)
        drawn = figures.draw(
            models, figures.ACROSS, random_weights=is_random,
            beside=depth_curves.published(evidence),
        )  # fmt: skip
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise LayerwiseError(
            f"a result file of {', '.join(map(str, folders))} lacks {error}; run `layerwise "
            "analyze` for these models again"
        ) from None
    files = [(str(folder), sha256_of(folder / "layers.json")) for folder in folders]
    settings = [*own.settings, *((f"{of}/layers.json", f"sha256:{sha}") for of, sha in files)]
    own = replace(own, settings=settings, random_weights=is_random)
    with together(out) as part:
        write_json(part / "scaling.json", dated(comparison))
        page.write(own, drawn, part, PART, PAGE)
    said = f"scaling.json of {', '.join(models)} in {out}\nthe page: {out / PAGE}; tables: "
    return said + f"{out / PART / 'tables'}; figures: {out / PART / 'figures'}"


def _results(folder: Path) -> dict[str, Any]:
    """The result documents of a folder, of which that on layers must be there."""
    require_shape(folder / "layers.json", Layers, read_json(folder / "layers.json"), AGAIN)
    others = [name for name in (*OF_READER, *OF_WEIGHTS) if (folder / f"{name}.json").is_file()]
    return {name: read_json(folder / f"{name}.json") for name in others}


def _is_random(folder: Path) -> bool:
    index = folder / "hidden_states" / "index.json"
    return index.is_file() and bool(read_json(index).get("random_weights"))
