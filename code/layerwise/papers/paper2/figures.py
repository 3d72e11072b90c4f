"""Figures of Paper 2: r by layer over the pairs, and over the categories."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.engine.answer_words import YES
from layerwise.engine.published import PUBLISHED, answers_by_model
from layerwise.engine.question import count_words
from layerwise.engine.words import category_labels
from layerwise.papers.shared.result_files import CATEGORIES, METRIC
from layerwise.present.figures import style
from layerwise.present.figures.numbers import Numbers
from layerwise.present.figures.points import note_points

METRICS = {
    "centroid_asymmetry": "own centroid",
    "cross_centroid": "other framing's centroid",
    "within_pair_sim": "similarity within a pair",
    "knn_density_asymmetry": "density of neighbours",
    "margin_asymmetry": "distance to the midpoint",
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
MOST_PANELS, MOST_POINTS = 9, 1000  # of the scatter of pairs
MOST_COLOURED = 6  # categories with a colour each


def pairs(numbers: Numbers) -> Figure:
    """Five pair-level metrics against preference, by layer (the pair-level notebook).

    r with its bootstrap interval; black where r has opposite signs at the first layer and the last.
    """
    keys = ("results", "n_pairs", "metrics_tested", "drawn/turning", "drawn/turning_clearly")
    model, document = numbers.model("pairs", *keys)
    metrics, results = document["metrics_tested"], document["results"]
    layers = style.layers_of(results)
    first, last = layers[0], layers[-1]
    turning = document["drawn"]["turning"]
    clear = len(document["drawn"]["turning_clearly"])
    title = f"r of {len(metrics)} measures and preference at layer {last}"
    if first != last:
        title = f"In {len(turning)} of {len(metrics)} measures r has opposite signs at layers "
        title += f"{first} and {last}, in {clear} with both intervals excluding zero"
    remark = f"{numbers.names[model]}, n = {document['n_pairs']} pairs. {style.HOLDS_ZERO} "
    remark += f"{style.FINAL_NORM} {numbers.grey}"
    shape: dict[str, Any] = {"n": len(metrics), "columns": 3, "sharey": True}
    figure, panels = style.panels(numbers, title, 2.0, remark, **shape)
    for axes, metric in zip(panels, metrics, strict=True):
        of_metric = {layer: row[metric] for layer, row in results.items()}
        colour = style.INK if metric in turning else style.BLUE
        style.intervals_by_layer(axes, of_metric, colour)
        axes.set_title(METRICS.get(metric, metric))
    for axes in filter(style.in_first_column, panels):
        axes.set_ylabel("r(measure, preference)")
    panels[0].set_ylim(-1, 1)
    style.draw_papers_curves(numbers, dict(zip(metrics, panels, strict=True)), last)
    return figure


def by_pair(numbers: Numbers) -> Figure:
    """Asymmetry of every pair against the model's preference in it, at up to nine layers.

    A point per pair, by category where there are few. The title of a panel is r of the two and its
    bootstrap interval.
    """
    model, drawn = numbers.model("by_pair", "asymmetry", "preference", "category")
    results = numbers.document("pairs", model, "results", "n_pairs")["results"]
    layers = thin(style.layers_of(drawn["asymmetry"]), MOST_PANELS)
    correlations = {layer: style.interval(results[str(layer)][METRIC]) for layer in layers}
    ends = {
        layer: f"{style.signed_interval(r, (low, high))} at layer {layer}"
        for layer, (r, low, high, _) in correlations.items()
    }
    title = "r of a pair's asymmetry and preference is "
    title += ", and ".join(ends[layer] for layer in dict.fromkeys((layers[0], layers[-1])))
    kept = thin(range(len(drawn["preference"])), MOST_POINTS)
    n_pairs = numbers.document("pairs", model, "n_pairs")["n_pairs"]
    remark = f"{numbers.names[model]}, n = {n_pairs} pairs"
    remark += f", {len(kept)} of them drawn." if len(kept) < n_pairs else "."
    remark += f" Layer {layers[-1]} is read after the final norm."
    shape: dict[str, Any] = {"n": len(layers), "columns": min(3, len(layers)), "sharey": True}
    figure, panels = style.panels(numbers, title, 1.9, remark, **shape)
    categories = dict.fromkeys(drawn["category"])
    for axes, layer in zip(panels, layers, strict=True):
        asymmetry = drawn["asymmetry"][str(layer)]
        for category, look in _looks_of(categories).items():
            members = [n for n in kept if category in (None, drawn["category"][n])]
            x, y = ([series[n] for n in members] for series in (asymmetry, drawn["preference"]))
            axes.plot(x, y, linestyle="none", markersize=3, alpha=0.7, label=category, **look)
        for line in (axes.axhline, axes.axvline):
            line(0, **style.REFERENCE)
        axes.set_title(f"layer {layer}: r = {style.signed(correlations[layer][0], 2)}")
        axes.locator_params(axis="x", nbins=4)
        axes.set_xlabel("asymmetry")
    for axes in filter(style.in_first_column, panels):
        axes.set_ylabel("preference (nats)")
    if len(categories) <= MOST_COLOURED:
        style.legend_below(figure, 3)
    return figure


def thin(values: Sequence[int], most: int) -> list[int]:
    """Return at most so many values, evenly spaced, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(n * (len(values) - 1) / (most - 1))] for n in range(most)]


def _looks_of(categories: Iterable[str]) -> dict[str | None, dict[str, Any]]:
    """Return the look of each category; of many one look for all pairs."""
    names = list(categories)
    if len(names) > MOST_COLOURED:
        return {None: {"marker": "o", "color": style.BLUE}}
    return {name: style.look(number) for number, name in enumerate(names)}


def layer_curves(numbers: Numbers) -> Figure:
    """r of centroid asymmetry and preference over pairs, by layer (Paper 2, figure 1).

    Bootstrap intervals of every layer. Thick line: the mean r of the late layers, on which the
    paper's late inversion rests, with its 95% interval over the pairs.
    """
    curves_by_model = {
        name: numbers.statistics.get(analysis, {}).get(name, {}).get(place, {})
        for name, analysis, place, _ in CURVES
    }
    entries = {name: {"r": curve} for name, curve in curves_by_model.items()}
    drawn_models = numbers.having("pairs and cross_model", entries, "r")
    late = {
        name: numbers.document("phases", name, "means/late", "partition") for name in drawn_models
    }
    means = {name: document["means"]["late"] for name, document in late.items()}
    drawn = numbers.document("phases", "paper", "drawn/n_models")["drawn"]
    title = f"Mean r of the late layers is negative in {drawn['n_negative_late']} of "
    title += f"{drawn['n_models']} models"
    asked = _answers_of(numbers, drawn_models)
    if answered := count_words(asked).get(PUBLISHED):  # none, while few models are measured
        title += f", its interval below zero in {answered[YES]}"
    first = next(iter(means))
    title += f"; in {numbers.names[first]} it is {style.signed(means[first])}"
    by_model = {
        name: {n: row[METRIC] if by_metric else row for n, row in curves_by_model[name].items()}
        for name, _, _, by_metric in CURVES
        if name in drawn_models
    }
    starts = {name: style.interval(rows["0"]) for name, rows in by_model.items() if "0" in rows}
    below = {name: r for name, (r, _, high, _) in starts.items() if high < 0}
    remark = f"{style.HOLDS_ZERO} {style.FINAL_NORM}"
    for name, r in below.items():
        remark += f" {numbers.names[name]} begins below zero, r = {style.signed(r, 2)} at layer 0: "
        remark += "the embeddings, before any block."
    shape: dict[str, Any] = {"n": len(drawn_models), "columns": 2, "sharey": True}
    figure, panels = style.panels(numbers, title, 2.1, remark, **shape)
    curves = (entry for entry in CURVES if entry[0] in drawn_models)
    for axes, (name, analysis, *_) in zip(panels, curves, strict=True):
        style.intervals_by_layer(axes, by_model[name])
        if name in below:
            word = style.signed(below[name], 2)
            axes.annotate(word, (0, below[name]), (6, -3), textcoords="offset points")
        answer = asked["models"].get(name, {}).get(PUBLISHED)
        _draw_late_mean(axes, means[name], late[name]["partition"]["late"], answer)
        n_pairs = numbers.document(analysis, name, "n_pairs")["n_pairs"]
        late_mean = style.signed(means[name])
        axes.set_title(f"{numbers.names[name]}: late mean {late_mean}, n = {n_pairs}")
    for axes in filter(style.in_first_column, panels):
        axes.set_ylabel("r of asymmetry\nand preference")
    panels[0].set_ylim(*RANGE)
    return figure


def _draw_late_mean(
    axes: Axes, mean: float, partition: str, answer: Mapping[str, Any] | None
) -> None:
    """Draw the mean over the late layers as a bar, and its interval as a field.

    Arguments:
        partition: the first and the last of these layers.
    """
    first, last = map(int, partition.split("-"))
    bar = axes.hlines(mean, first, last, color=style.INK, linewidth=2.5, zorder=4)
    field = None
    if answer is not None and answer["low"] is not None:
        field = answer["low"], answer["high"]
        axes.fill_between(
            (first, last), *field, color=style.INK, alpha=0.15, linewidth=0, zorder=0.5
        )
    note_points(bar, [f"mean of layers {first} to {last}"], y=[mean], y_ends=[field])


def _answers_of(numbers: Numbers, names: Collection[str]) -> dict[str, Any]:
    """Return the answers on the late mean of some models; the table has others too."""
    asked = answers_by_model(numbers.statistics, "late")
    return {"models": {name: answers for name, answers in asked.items() if name in names}}


def template_comparison(numbers: Numbers) -> Figure:
    """r over the pairs of the instruct model with and without chat template (Paper 2, figure 2).

    Bootstrap intervals.
    """
    series = {name: f"results_{name}_template" for name in ("with", "without")}
    keys = (*series.values(), "drawn/n_below_zero")
    document = numbers.document("cross_model", INSTRUCT, *keys)
    below = document["drawn"]["n_below_zero"]
    n = len(document[series["with"]])
    title = (
        f"With the template the interval of r lies below zero at {below['with']} of {n} layers, "
    )
    title += f"without it at {below['without']}"
    remark = f"{style.HOLDS_ZERO} {style.FINAL_NORM}"
    figure, (axes,) = style.panels(numbers, title, 2.4, remark)
    looks: Mapping[str, Any] = {"with": (style.BLUE, "o"), "without": (style.ORANGE, "s")}
    for name, place in series.items():
        style.intervals_by_layer(axes, document[place], *looks[name], label=f"{name} template")
    axes.set(ylim=RANGE, ylabel="r(asymmetry, preference)")
    axes.set_title(f"{numbers.names[INSTRUCT]}, n = {document['n_pairs']} pairs")
    style.legend_below(figure, 2)
    return figure


MOST_NAMED = 21  # categories: more rows do not fit on a page
MOST_BESIDE = 8  # categories whose names fit beside their points
POOLINGS = ("mean_pooled", "last_token", "first_token")
Points = dict[str, tuple[float, float]]  # UA and preference by category


# --- the headline correlation -------------------------------------------------------------------


def validation(numbers: Numbers) -> Figure:
    """Asymmetry against preference over the categories, and r without each of them (notebook 003).

    Left: a point per category, with the marker that it has on the right. Right: r with its 95%
    interval (exact under ten categories, else Fisher's), over all and when one is left out.
    Diamond: the category whose loss changes r most.
    """
    keys = ("_global_stats/ua_output_correlation", "_without_one", "_interval")
    model, document = numbers.model("validation", *keys)
    points, without = _points(document), _left_out(document)
    r = document["_global_stats"]["ua_output_correlation"]
    title = f"r over the categories is {style.signed_interval(r, document['_interval'])} in "
    title += numbers.names[model]
    if without:
        name, most = next(iter(without.items()))
        title += f", and {style.signed_interval(most['r'], most.get('interval'))} without {name}"
    height = max(2.3, 0.9 + 0.17 * min(len(without) or 1, MOST_NAMED))
    shape: dict[str, Any] = {"columns": 2, "width_ratios": (4, 3)}
    figure, (left, right) = style.panels(numbers, title, height, **shape)
    looks = _looks(points, without)
    _scatter(left, points, looks)
    left.set_title(f"n = {len(points)} categories")
    _without(right, r, document["_interval"], without, looks)
    if len(points) <= MOST_BESIDE:
        left.margins(0.35, 0.35)  # room for names
        style.name_points(left, points, bold=list(without)[:1])
    return figure


def _points(document: Mapping[str, Any]) -> Points:
    labels = category_labels(name for name in document if not name.startswith("_"))
    return {
        label: (document[name]["asymmetry"], document[name]["output_preference"])
        for name, label in labels.items()
    }


def _left_out(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return r over the other categories, the one that changes it most first."""
    whole = document["_global_stats"]["ua_output_correlation"]
    labels = category_labels(document["_without_one"])
    others = {labels[name]: test for name, test in document["_without_one"].items()}
    return dict(sorted(others.items(), key=lambda item: -abs(item[1]["r"] - whole)))


def _looks(points: Points, without: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a marker per category, in another colour when they begin again.

    A black diamond for the first.
    """
    colours = (style.BLUE, style.GREEN, style.PURPLE)
    kept = list(without or points)[:MOST_NAMED]
    looks = {
        name: {"marker": style.MARKERS[number % 7], "color": colours[number // 7 % 3]}
        for number, name in enumerate(kept)
    }
    return looks | {name: {"marker": "D", "color": style.INK} for name in list(without)[:1]}


def _scatter(axes: Axes, points: Points, looks: Mapping[str, dict[str, Any]]) -> None:
    for name, point in points.items():
        look = looks.get(name, {"marker": ".", "color": style.BLUE})
        style.draw_points(axes, [name], *([number] for number in point), label=name, **look)
    axes.axvline(0, **style.REFERENCE)
    axes.axhline(0, **style.REFERENCE)
    axes.set(xlabel="asymmetry (cosine)", ylabel="mean preference (nats)")


def _without(
    axes: Axes,
    r: float,
    interval: Sequence[float] | None,
    without: Mapping[str, Mapping[str, Any]],
    looks: Mapping[str, dict[str, Any]],
) -> None:
    """Draw a row for r over all categories, and one for r without each of them."""
    whole: dict[str, Any] = {"r": r, "interval": interval}
    look_of_all: dict[str, Any] = {"marker": "o", "color": style.INK}
    rows: list[tuple[str, Mapping[str, Any], dict[str, Any]]] = [
        ("all categories", whole, look_of_all)
    ]
    rows += [(name, left_out, looks[name]) for name, left_out in without.items() if name in looks]
    names = [name if not place else f"without {name}" for place, (name, *_) in enumerate(rows)]
    for place, (_, row, look) in enumerate(rows):
        ends = [row.get("interval")]
        style.draw_points(
            axes, [names[place]], [row["r"]], [place], x_ends=ends, in_rows=True, **look
        )
    style.category_axis(axes, names)
    axes.axvline(0, **style.REFERENCE)
    axes.set(xlabel="r(asymmetry, preference)", title="one category left out")


# --- by layer -----------------------------------------------------------------------------------


def layers(numbers: Numbers) -> Figure:
    """r of UA and preference over the categories, by layer and by pooling (notebook 001).

    Left: r with its bootstrap interval; dotted where its sign changes. Right: r of three poolings
    at the last layer.
    """
    keys = ("layer_results", "n_categories", "ci_level", "drawn/n_excluding_zero")
    model, document = numbers.model("category_bootstrap", *keys)
    curve = numbers.document("layers", model, "strategies/mean_pooled", "summary/sign_changes")
    results = document["layer_results"]
    title = f"Over {document['n_categories']} categories the interval of r excludes zero at "
    title += f"{document['drawn']['n_excluding_zero']} of {len(results)} layers"
    remark = f"Bars: {document['ci_level']:.0%} intervals; \u00d7: the interval includes zero. "
    remark += f"{style.FINAL_NORM} {numbers.grey}"
    shape: dict[str, Any] = {"columns": 2, "width_ratios": (3, 1), "sharey": True}
    figure, row = style.panels(numbers, title, 2.5, remark, **shape)
    for change in curve["summary"]["sign_changes"]:
        middle = (change["layer_before"] + change["layer_after"]) / 2
        row[0].axvline(middle, color=style.GREY, linestyle=":", linewidth=0.8)
    style.intervals_by_layer(row[0], results)
    row[0].set(ylim=(-1.05, 1.05), ylabel="r(asymmetry, preference)")
    row[0].set_title(f"{numbers.names[model]}, n = {document['n_categories']} categories")
    _poolings(row[1], curve["strategies"])
    style.draw_papers_curves(numbers, {CATEGORIES: row[0]}, max(map(int, results)))
    return figure


def _poolings(axes: Axes, strategies: Mapping[str, Mapping[str, float | None]]) -> None:
    """Draw r by pooling; of one that was not measured there is none.

    A first token that is always BOS has one state for all statements, hence no r.
    """
    names = [name for name in POOLINGS if name in strategies]
    for place, name in enumerate(names):
        r = strategies[name]["correlation"]
        if r is not None:
            axes.plot(place, r, marker="o", color=style.BLUE)
        word, at = ("no r", 0.0) if r is None else (style.signed(r, 2), r)
        side = 1 if at < 0 else -1
        axes.annotate(
            word, (place, at), (0, 9 * side), textcoords="offset points", ha="center", va="center"
        )
    axes.set_xticks(range(len(names)), [name.replace("_", "\n") for name in names])
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.axhline(0, **style.REFERENCE)
    axes.set_title("last layer, by pooling")
