"""Paper 3: anisotropy over depth."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import Numbers

SERIES = {
    "intrinsic_dim_ratio": ("first-PC share", "share of variance"),
    "effective_rank": ("effective rank", "dimensions"),
    "avg_cos_sim": ("mean cosine to the mean", "cosine"),
    "eigenvalue_variance": ("eigenvalue variance", "variance"),
}
SHARE, VARIANCE = "intrinsic_dim_ratio", "eigenvalue_variance"


def anisotropy(numbers: Numbers) -> Figure:
    """Measures of anisotropy over all layers (notebook 004).

    Red: L*, the layer of the largest share of the first principal component.
    """
    keys = ("n_layers", "n_prompts", "L_star_anisotropy", SHARE)
    model, document = numbers.model("anisotropy", *keys)
    peak, shares = document["L_star_anisotropy"], document[SHARE]
    title = f"The share of the first component peaks at layer {peak} of {document['n_layers']}"
    title += _fall(shares, document["drawn"]["half_layer"])
    series = {key: document[key] for key in SERIES if None not in (document.get(key) or [None])}
    remark = f"{numbers.names[model]}; n: all tokens of {document['n_prompts']} prompts. Red: "
    remark += f"layer {peak}, where the share is {told_from_one(shares[peak])}. {numbers.grey}"
    shape = {"n": len(series), "columns": 2 if len(series) == 4 else len(series)}
    figure, panels = style.panels(numbers, title, 2.0, remark, **shape)
    for axes, (key, values) in zip(panels, series.items(), strict=True):
        axes.plot(values, marker=".", color=style.BLUE)
        axes.plot(peak, values[peak], "D", color=style.RED)
        if key == VARIANCE:
            style.log_axis(axes, "y")
        style.layer_axis(axes, range(len(values)), most=6)
        name, unit = SERIES[key]
        axes.set(ylabel=unit, title=name)
    style.draw_papers_curves(numbers, dict(zip(series, panels, strict=True)), document["n_layers"])
    return figure


def told_from_one(value: float) -> str:
    """With as many digits as tell it from 1."""
    missing = 1 - value
    return f"{value:.{3 if missing <= 0 else max(3, 1 - math.floor(math.log10(missing)))}f}"


def _fall(shares: Sequence[float], half: int | None) -> str:
    """How the share goes on behind its peak; the last layer is taken behind the final norm."""
    last = len(shares) - 1
    if half == last:
        return ", stays over half of it, and behind the final norm is " + told_from_one(
            shares[last]
        )
    return " and stays over half of it" if half is None else f" and is down to half at layer {half}"


def anisotropy_spectra(numbers: Numbers) -> Figure:
    """Eigenvalue spectra of the token covariance at the key layers (notebook 004).

    Each is divided by the sum of the eigenvalues kept. The notebook plotted but did not save them.
    """
    keys = ("spectra", "L_star_anisotropy", "n_prompts")
    model, document = numbers.model("anisotropy", *keys)
    spectra = document["drawn"]["spectra"]
    shares = {layer: spectra[str(layer)] for layer in style.layers_of(spectra)}
    top = max(shares, key=lambda layer: shares[layer][0])
    title = f"Of the layers shown the first eigenvalue weighs most at layer {top}: "
    title += f"{told_from_one(shares[top][0])} of the sum"
    figure, (axes,) = style.panels(numbers, title, 2.8)
    for number, (layer, share) in enumerate(shares.items()):
        dashes = ("-", "--", "-.", ":", (0, (5, 1)))[number % 5]
        colour = style.RED if layer == top else style.COLOURS[number % 5]
        ranks = np.arange(1, len(share) + 1)
        axes.plot(ranks, share, color=colour, linestyle=dashes, label=f"layer {layer}")
    style.log_axis(axes, "y")
    axes.set(xlabel="rank of the eigenvalue", ylabel="share of the eigenvalues kept")
    axes.set_title(f"{numbers.names[model]}, tokens of {document['n_prompts']} prompts")
    style.legend_below(figure, 5)
    return figure
