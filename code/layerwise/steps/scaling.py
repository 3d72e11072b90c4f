"""scaling.json, scaling.html <- the result files of several analyses."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from layerwise.analyses import OF_READER, depth_curves, scaling
from layerwise.analyses.evidence import Evidence
from layerwise.errors import LayerwiseError
from layerwise.files import read_json, sha256_of
from layerwise.inputs.published import read_published
from layerwise.inputs.shapes import Loose, Whole, require_shape
from layerwise.inputs.upstream import PUBLISHED
from layerwise.pages.own_model import require_templates
from layerwise.pages.own_model.across import page_of
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws
from layerwise.steps.results import Result

AGAIN = "run `layerwise analyze` for this model again"


class OfLayer(Loose):
    """r over categories."""

    correlation: float | None  # None: a side is constant, as the first token of every text
    p_value: float | None


class Layers(Loose):
    """What `compare` reads of a layers.json."""

    model: str
    model_display: str
    n_layers: Whole
    strategies: dict[str, OfLayer]


def compare(models: Sequence[Result | str | Path], out: str | Path | None = None) -> Result:
    """Several models beside each other and the papers': curves, peaks and claims, in this order.

    Args:
        models: results of `analyze`, or the folders that hold their files; at least two.
        out: the folder of scaling.json, its page, figures and tables; None: none are written.

    Raises:
        LayerwiseError: for fewer than two models, a folder without `layers.json`, a result file of
            another shape, or two of one name.
    """
    if len(models) < 2:
        raise LayerwiseError(
            f"scaling compares at least two models, found {len(models)}; "
            "name the --out folders of several `layerwise analyze` runs"
        )
    if out is not None:
        require_templates()
    documents: dict[str, Mapping[str, Any]] = {}
    settings, is_random = [], False
    for place, given in enumerate(models):
        if isinstance(given, Result):
            results, is_new = next(iter(given.models.values())), given.page.random_weights
        else:
            folder = Path(given)
            results, is_new = _results(folder), _is_random(folder)
            settings.append(
                (f"{folder}/layers.json", f"sha256:{sha256_of(folder / 'layers.json')}")
            )
        display, is_random = results["layers"]["model_display"], is_random or is_new
        if display in documents and not isinstance(given, Result) and given not in models[:place]:
            display = f"{display} ({Path(given).name})"  # another checkpoint of that model
        if display in documents:
            raise LayerwiseError(
                f"{given if isinstance(given, str | Path) else display}: two of the models are "
                f"named {display!r}; name each model once"
            )
        documents[display] = results
    comparison = scaling.compare({display: of["layers"] for display, of in documents.items()})
    evidence = Evidence(read_published(PUBLISHED), Draws(N_RESAMPLES, LEVEL, SEED))
    try:
        beside = depth_curves.published(evidence)
        own = page_of(documents, comparison, evidence, beside)
        own = replace(own, settings=[*own.settings, *settings], random_weights=is_random)
        found = Result(documents, {"scaling": comparison}, own, beside)
        return found if out is None else found.save(out)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise LayerwiseError(
            f"a result file of {', '.join(documents)} lacks {error}; run `layerwise "
            "analyze` for these models again"
        ) from None


def _results(folder: Path) -> dict[str, Any]:
    """The result documents of a folder, of which that on layers must be there."""
    require_shape(folder / "layers.json", Layers, read_json(folder / "layers.json"), AGAIN)
    others = [name for name in OF_READER if (folder / f"{name}.json").is_file()]
    return {name: read_json(folder / f"{name}.json") for name in others}


def _is_random(folder: Path) -> bool:
    index = folder / "hidden_states" / "index.json"
    return index.is_file() and bool(read_json(index).get("random_weights"))
