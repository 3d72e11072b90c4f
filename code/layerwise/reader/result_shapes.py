"""The result files of `analyze` as far as `compare` reads them: what must stand where."""

from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import AfterValidator, Field

from layerwise.analyses.scaling import by_name
from layerwise.inputs.shapes import Loose, Strict, Whole, require_shape

AGAIN = "run `layerwise analyze` for this model again"

Number = Annotated[float, Field(allow_inf_nan=False)]
Numbers = Annotated[list[Number], Field(min_length=1)]
R = Annotated[Number, Field(ge=-1 - 1e-9, le=1 + 1e-9)]  # rounding may exceed 1
LayerName = Annotated[str, Field(pattern=r"^(0|[1-9]\d{0,5})$")]


class OfReading(Loose):
    """r over categories of a layer or a pooling."""

    correlation: R | None  # None: a side is constant, as the first token of every text
    p_value: Number | None


def _with_r(strategies: dict[str, Any]) -> dict[str, Any]:
    """A layer has its r: without one there would be no results."""
    for layer, of in by_name(strategies).items():
        if of["correlation"] is None:
            raise ValueError(f"layer_{layer}: a layer must have its correlation, found None")
    return strategies


class Layers(Loose):
    """layers.json."""

    model: str
    model_display: str
    n_layers: Whole
    strategies: Annotated[dict[str, OfReading], AfterValidator(_with_r)]


class Interval(Loose):
    """r and its interval."""

    r: R
    ci_lower: Number
    ci_upper: Number
    p_value: Number
    includes_zero: bool


class CategoryBootstrap(Loose):
    """category_bootstrap.json."""

    n_categories: Whole
    layer_results: Annotated[dict[LayerName, Interval], Field(min_length=1)]


class OfMetrics(Strict):
    """The measures of a pair, at a layer."""

    centroid_asymmetry: Interval
    cross_centroid: Interval
    within_pair_sim: Interval
    knn_density_asymmetry: Interval
    margin_asymmetry: Interval


class Pairs(Loose):
    """pairs.json."""

    results: Annotated[dict[LayerName, OfMetrics], Field(min_length=1)]


class Anisotropy(Loose):
    """anisotropy.json."""

    intrinsic_dim_ratio: Annotated[Numbers, Field(min_length=2)]
    effective_rank: Annotated[Numbers, Field(min_length=2)]
    avg_cos_sim: Annotated[Numbers, Field(min_length=2)]
    spectra: dict[LayerName, Numbers]


class Gains(Loose):
    """gains.json."""

    n_layers: Whole
    all_layer_gains: Numbers
    residual_gain_all: Numbers
    residual_gain_mean: Number


class Spectral(Loose):
    """spectral.json."""

    W_V_spectral_norm: Numbers
    W_O_spectral_norm: Numbers
    W_Q_spectral_norm: Numbers
    W_K_spectral_norm: Numbers
    W_V_over_W_O: Number


class OfRun(Loose):
    """What the texts were, where they were not as the papers'."""

    limit: NotRequired[Whole]
    chat_template: NotRequired[bool]


class Validation(Loose):
    """validation.json, beside its categories."""

    _metadata: NotRequired[OfRun]


class OfCategory(Loose):
    """A category in validation.json."""

    uniformity_a: Number
    uniformity_b: Number
    output_preference: Number


SHAPES = {
    "layers": Layers,
    "category_bootstrap": CategoryBootstrap,
    "pairs": Pairs,
    "anisotropy": Anisotropy,
    "gains": Gains,
    "spectral": Spectral,
    "validation": Validation,
}


def require_whole(path: Path, document: Any) -> None:
    """Refuse a result file that lacks something which is read of it.

    Raises:
        LayerwiseError: naming the file and the place in it.
    """
    require_shape(path, SHAPES.get(path.stem, Loose), document, AGAIN)
    if path.stem == "validation":
        categories = {name: of for name, of in document.items() if name[:1] != "_"}
        require_shape(path, dict[str, OfCategory], categories, AGAIN)
