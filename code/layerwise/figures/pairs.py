"""Paper 2: correlations over the pairs, by layer."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from layerwise.analyses.questions.question import PUBLISHED, YES
from layerwise.analyses.questions.table import words
from layerwise.figures import style
from layerwise.figures.numbers import Numbers
from layerwise.places.curves import METRIC

METRICS = {
    "centroid_asymmetry": "own centroid",
    "cross_centroid": "other side's centroid",
    "within_pair_sim": "similarity in the pair",
    "knn_density_asymmetry": "density of neighbours",
    "margin_asymmetry": "distance to the middle",
}
# document, analysis, where its results stand, and whether they are by metric
CURVES = (
    ("pythia-6p9b", "pairs", "results", True),
    ("llama-3p1-8b", "cross_model", "pair_level_results", True),
    ("apertus-8b", "cross_model", "results", False),
    ("gemma-2b", "cross_model", "results", False),
)
INSTRUCT = "llama-3p1-8b-instruct"
RANGE = (-0.8, 0.8)


def pairs(numbers: Numbers) -> Figure:
    """Five pair-level metrics against preference, by layer (the pair-level notebook).

    r with its bootstrap interval, a cross where that holds zero; red where the sign of r at the
    last layer is not that of the first.
    """
    keys = ("results", "n_pairs", "metrics_tested", "drawn/turning")
    model, document = numbers.model("pairs", *keys)
    metrics, results = document["metrics_tested"], document["results"]
    first, *_, last = style.layers_of(results)
    turning = document["drawn"]["turning"]
    title = f"{len(turning)} of {len(metrics)} metrics have another sign of r at layer {last} "
    title += f"than at layer {first}"
    remark = f"{numbers.names[model]}, n = {document['n_pairs']} pairs. {style.HOLDS_ZERO} "
    remark += numbers.grey
    shape: dict[str, Any] = {"n": len(metrics), "columns": 3, "sharey": True}
    figure, panels = style.panels(numbers, title, 2.0, remark, **shape)
    for axes, metric in zip(panels, metrics, strict=True):
        of_metric = {layer: row[metric] for layer, row in results.items()}
        colour = style.RED if metric in turning else style.BLUE
        style.intervals_by_layer(axes, of_metric, colour)
        axes.set_title(METRICS.get(metric, metric))
    for axes in panels[::3]:
        axes.set_ylabel("r(measure, preference)")
    panels[0].set_ylim(-1, 1)
    style.draw_papers_curves(numbers, dict(zip(metrics, panels, strict=True)), last)
    return figure


def layer_curves(numbers: Numbers) -> Figure:
    """r of centroid asymmetry and preference over pairs, by layer (Paper 2, figure 1).

    Bootstrap intervals, a cross where they hold zero. Red: the mean r of the late layers, on which
    the paper's late inversion rests.
    """
    found = {
        name: numbers.statistics.get(analysis, {}).get(name, {}).get(place, {})
        for name, analysis, place, _ in CURVES
    }
    there = numbers.having("pairs and cross_model", {n: {"r": c} for n, c in found.items()}, "r")
    late = {name: numbers.document("phases", name, "means/late", "partition") for name in there}
    means = {name: document["means"]["late"] for name, document in late.items()}
    drawn = numbers.document("phases", "paper", "drawn/n_models")["drawn"]
    title = f"Mean r of the late layers is negative in {drawn['n_negative_late']} of "
    title += f"{drawn['n_models']} models"
    asked = numbers.statistics.get("questions", {}).get("late")
    if asked:
        title += f", told from zero in {words(asked)[PUBLISHED][YES]}"
    first = next(iter(means))
    title += f"; in {numbers.names[first]} it is {style.signed(means[first])}"
    shape: dict[str, Any] = {"n": len(there), "columns": 2, "sharey": True}
    figure, panels = style.panels(numbers, title, 2.2, style.HOLDS_ZERO, **shape)
    curves = (entry for entry in CURVES if entry[0] in there)
    for axes, (name, analysis, _, by_metric) in zip(panels, curves, strict=True):
        rows = {n: row[METRIC] if by_metric else row for n, row in found[name].items()}
        style.intervals_by_layer(axes, rows)
        ends = list(map(int, late[name]["partition"]["late"].split("-")))
        axes.hlines(means[name], *ends, color=style.RED, linewidth=2.5, zorder=4)
        n_pairs = numbers.document(analysis, name, "n_pairs")["n_pairs"]
        late_mean = style.signed(means[name])
        axes.set_title(f"{numbers.names[name]}, n = {n_pairs} pairs: late mean {late_mean}")
    for axes in panels[::2]:
        axes.set_ylabel("r")
    panels[0].set_ylim(*RANGE)
    return figure


def template_comparison(numbers: Numbers) -> Figure:
    """r over the pairs of the instruct model with and without chat template (Paper 2, figure 2).

    Bootstrap intervals, a cross where they hold zero.
    """
    series = {name: f"results_{name}_template" for name in ("with", "without")}
    keys = (*series.values(), "verdict", "drawn/n_negative")
    document = numbers.document("cross_model", INSTRUCT, *keys)
    negative = document["drawn"]["n_negative"]
    n = len(document[series["with"]])
    title = f"With the template r is negative at {negative['with']} of {n} layers, without it "
    title += f"at {negative['without']}"
    remark = f"The notebook's word for it: {document['verdict']}. {style.HOLDS_ZERO}"
    figure, (axes,) = style.panels(numbers, title, 2.9, remark)
    looks: Mapping[str, Any] = {"with": (style.BLUE, "o"), "without": (style.ORANGE, "s")}
    for name, place in series.items():
        style.intervals_by_layer(axes, document[place], *looks[name], label=f"{name} template")
    axes.set(ylim=RANGE, ylabel="r(centroid asymmetry, preference)")
    axes.set_title(f"{numbers.names[INSTRUCT]}, n = {document['n_pairs']} pairs")
    style.legend_below(figure, 2)
    return figure
