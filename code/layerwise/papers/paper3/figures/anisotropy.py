"""Paper 3: anisotropy over depth."""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from layerwise.present.figures import style
from layerwise.present.figures.numbers import Numbers

SERIES = {
    "intrinsic_dim_ratio": ("first-PC share", "share of variance"),
    "effective_rank": ("effective rank", "dimensions"),
    "avg_cos_sim": ("mean cosine to the mean", "cosine"),
    "eigenvalue_variance": ("eigenvalue variance", "variance"),
}
PEAK: dict[str, Any] = {"marker": "D", "color": style.INK}
OTHER: dict[str, Any] = {"marker": ".", "color": style.BLUE}
SHARE, VARIANCE = "intrinsic_dim_ratio", "eigenvalue_variance"


def anisotropy(numbers: Numbers) -> Figure:
    """Measures of anisotropy over all layers (notebook 004).

    Black diamond: L*, the layer of the largest share of the first principal component.
    """
    keys = ("n_layers", "n_prompts", "L_star_anisotropy", SHARE)
    model, document = numbers.model("anisotropy", *keys)
    peak, shares = document["L_star_anisotropy"], document[SHARE]
    title = f"The first component holds most of the variance at layer {peak} of "
    title += f"{document['n_layers']}: {told_from_one(shares[peak])} of it"
    title += _fall(shares, document["drawn"]["half_layer"])
    series = {key: document[key] for key in SERIES if None not in (document.get(key) or [None])}
    remark = f"{numbers.names[model]}; n: all tokens of {document['n_prompts']} prompts. Black: "
    remark += f"layer {peak}."
    if steepest := document["drawn"].get("steepest_rise"):
        remark += f" It rises most, by {steepest[1]:.2f}, into layer {steepest[0]}."
    remark += f" {style.FINAL_NORM} {numbers.grey}"
    shape = {"n": len(series), "columns": 2 if len(series) == 4 else len(series)}
    figure, panels = style.panels(numbers, title, 2.0, remark, **shape)
    for axes, (key, values) in zip(panels, series.items(), strict=True):
        axes.plot(values, color=style.BLUE)
        for layer, value in enumerate(values):
            look = PEAK if layer == peak else OTHER
            style.draw_points(axes, [f"layer {layer}"], [layer], [value], **look)
        if key == VARIANCE:
            style.log_axis(axes, "y")
        style.layer_axis(axes, range(len(values)), most=6)
        name, unit = SERIES[key]
        axes.set(ylabel=unit, title=name)
    style.draw_papers_curves(numbers, dict(zip(series, panels, strict=True)), document["n_layers"])
    return figure


def told_from_one(value: float) -> str:
    """Return a share with as many digits as tell it from 1."""
    missing = 1 - value
    return f"{value:.{3 if missing <= 0 else max(3, 1 - math.floor(math.log10(missing)))}f}"


def _fall(shares: Sequence[float], half: int | None) -> str:
    """Say how the share goes on beyond its peak; the last layer is read after the final norm."""
    last = len(shares) - 1
    if half == last:
        before, after = (told_from_one(shares[layer]) for layer in (last - 1, last))
        return f"; still {before} at layer {last - 1}, and {after} behind the final norm"
    if half is None and max(shares) == shares[last]:
        return ""
    if half is None:
        return ", and more than half of that at every later layer"
    return f", and less than half of that from layer {half} on"
