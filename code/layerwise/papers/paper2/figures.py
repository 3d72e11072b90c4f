"""Figures of Paper 2: r by layer over the pairs, and over the categories."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.engine.answers import Answer
from layerwise.engine.published import PUBLISHED
from layerwise.engine.words import category_labels, key_in_words
from layerwise.files import JsonObject
from layerwise.papers.shared import quantities
from layerwise.papers.shared.result_files import CATEGORIES, METRIC
from layerwise.present.figures import signs, style
from layerwise.present.figures.names import draw_papers_curves, name_points
from layerwise.present.figures.numbers import NothingToDraw, Numbers
from layerwise.present.figures.points import note_points

# document, analysis, where its results stand, and whether they are by metric
CURVES = (
    ("pythia-6p9b", "pairs", "results", True),
    ("llama-3p1-8b", "cross_model", "pair_level_results", True),
    ("apertus-8b", "cross_model", "results", False),
    ("gemma-2b", "cross_model", "results", False),
)
INSTRUCT = "llama-3p1-8b-instruct"
RANGE = (-0.8, 0.8)
MOST_ROWS = 40  # categories with a row each
T = TypeVar("T")
MOST_PANELS, MOST_POINTS = 9, 1000  # of the scatter of pairs


def pairs(numbers: Numbers) -> Figure:
    """Correlation of five measures of a pair with the model's preference in it, by layer (the
    pair-level notebook).

    A point is r over all pairs at one layer, with the papers' 95% bootstrap interval; the measure
    turns where r has opposite signs at the first layer and the last, clearly where both intervals
    exclude zero.
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
    remark = f"{numbers.names[model]}, n = {document['n_pairs']} pairs."
    figure, panels = style.panels(
        numbers, title, 2.0, remark, n=len(metrics), columns=3, sharey=True
    )
    for axes, metric in zip(panels, metrics, strict=True):
        rows_of_metric = {layer: row[metric] for layer, row in results.items()}
        turns: signs.Look = {
            "color": signs.SINGLED_OUT,
            "words": f"r of opposite signs at layers {first} and {last}",
        }
        look = turns if metric in turning else {}
        style.intervals_by_layer(axes, rows_of_metric, unit=numbers.depth_unit(last), **look)
        axes.set_title(key_in_words(metric))
    for axes in filter(style.in_first_column, panels):
        axes.set_ylabel(quantities.R_OF_MEASURE)
    panels[0].set_ylim(-1, 1)
    draw_papers_curves(numbers, dict(zip(metrics, panels, strict=True)))
    return figure


def by_pair(numbers: Numbers) -> Figure:
    """Asymmetry of every pair against the model's preference in it, at up to nine layers.

    A point is a pair. Black: the category without which r over the categories changes most. Above a
    panel stands r of the two over all pairs; the title has its 95% bootstrap interval too.
    """
    model, drawn = numbers.model("by_pair", "asymmetry", "preference", "category")
    results = numbers.document("pairs", model, "results", "n_pairs")["results"]
    layers = thin(style.layers_of(drawn["asymmetry"]), MOST_PANELS)
    correlations = {layer: style.r_and_ends(results[str(layer)][METRIC]) for layer in layers}
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
    figure, panels = style.panels(
        numbers, title, 1.9, remark, n=len(layers), columns=min(3, len(layers)), sharey=True
    )
    groups = _groups_of_pairs(kept, drawn["category"], _decisive_category(numbers, model))
    for axes, layer in zip(panels, layers, strict=True):
        asymmetry = drawn["asymmetry"][str(layer)]
        for label, color, members in groups:
            x, y = ([series[n] for n in members] for series in (asymmetry, drawn["preference"]))
            look = {"color": color, "markersize": 3, "alpha": 0.7}
            axes.plot(x, y, signs.DOT, label=label if members else None, **look)
        for line in (axes.axhline, axes.axvline):
            line(0, **signs.REFERENCE)
        axes.set_title(f"layer {layer}: r = {style.signed(correlations[layer][0], 2)}")
        axes.locator_params(axis="x", nbins=4)
        axes.set_xlabel(quantities.CENTROID)
    for axes in filter(style.in_first_column, panels):
        axes.set_ylabel(quantities.PREFERENCE)
    signs.legend_below(figure)
    return figure


def _groups_of_pairs(
    pairs: Sequence[int], categories: Sequence[str], decisive: str | None
) -> list[tuple[str, str, list[int]]]:
    """Return name, colour and members of the pairs of most categories, and of the decisive one.

    Arguments:
        pairs: their numbers.
        categories: of all pairs, by number.
        decisive: as a label; None where there is none.
    """
    labels = category_labels(dict.fromkeys(categories))
    apart = [n for n in pairs if labels[categories[n]] == decisive]
    return [
        ("a pair", signs.ESTIMATE, [n for n in pairs if labels[categories[n]] != decisive]),
        (f"a pair of {decisive}", signs.SINGLED_OUT, apart),
    ]


def within_categories(numbers: Numbers) -> Figure:
    """Correlation of a pair's asymmetry and preference in each category, at the first layer and the
    last.

    A point is r over the pairs of a category with its 95% interval (Fisher's z). Black: the mean
    category, whose interval over the categories (Student's t) decides. Grey: r over all pairs
    together, as the papers take it, with the interval of leaving out one category in turn.
    """
    model, document = numbers.model("sensitivity", "within_categories")
    if (by_layer := document["within_categories"]) is None:
        raise NothingToDraw("r by category needs three sampled layers, the last among them")
    if all(row["mean"] is None for row in by_layer.values()):
        raise NothingToDraw("r by category needs two categories of four pairs or more")
    layers = style.layers_of(by_layer)
    ends = [*dict.fromkeys((layers[0], layers[-1]))]
    means = [
        f"{style.signed_interval(mean['r'], mean['interval'])} at layer {layer}"
        for layer in ends
        if (mean := by_layer[str(layer)]["mean"]) is not None
    ]
    title = f"In the mean category r is {' and '.join(means)}" if means else "r by category"
    remark = f"{numbers.names[model]}. Layer {layers[-1]} is read after the final norm."
    all_names = [*by_layer[str(layers[0])]["by_category"]]
    names = thin(all_names, MOST_ROWS)
    if len(names) < len(all_names):
        remark += f" {len(names)} of {len(all_names)} categories are drawn."
    height = 0.9 + 0.16 * len(names)
    figure, panels = style.panels(
        numbers, title, height, remark, n=len(ends), columns=len(ends), sharey=True
    )
    for axes, layer in zip(panels, ends, strict=True):
        _draw_categories(axes, by_layer[str(layer)], names)
        axes.set_title(f"layer {layer}")
    signs.legend_below(figure)
    return figure


def _draw_categories(axes: Axes, layer: JsonObject, names: Sequence[str]) -> None:
    """Draw a row for r in each category of a layer, in the mean category and over all pairs."""
    rows = [(layer["by_category"].get(name), signs.ESTIMATE, "a category") for name in names]
    rows += [
        (layer["mean"], signs.SINGLED_OUT, "the mean category, which decides"),
        ({"r": layer["r"], "interval": layer["interval"]}, signs.CONTEXT, "all pairs together"),
    ]
    for place, (estimate, color, label) in enumerate(rows):
        if estimate is None:
            continue
        axes.plot(estimate["r"], place, signs.DOT, color=color, markersize=4, label=label)
        if estimate["interval"] is not None:
            axes.hlines(place, *estimate["interval"], color=color, linewidth=1.4)
    axes.axvline(0, **signs.REFERENCE)
    axes.set(xlim=(-1, 1), xlabel=quantities.R_WITHIN)
    axes.set_yticks(range(len(rows)), [*names, "mean category", "all pairs"])
    axes.set_ylim(len(rows) - 0.5, -0.5)


def thin(values: Sequence[T], most: int) -> list[T]:
    """Return at most so many values, evenly spaced, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(n * (len(values) - 1) / (most - 1))] for n in range(most)]


def _decisive_category(numbers: Numbers, model: str) -> str | None:
    """Return the category without which r over the categories changes most; None without such."""
    document = numbers.statistics.get("validation", {}).get(model, {})
    return next(iter(_r_without_each(document)), None) if document.get("_without_one") else None


def layer_curves(numbers: Numbers) -> Figure:
    """Correlation of centroid asymmetry and preference over pairs, by layer (Paper 2, figure 1).

    A point is r at one layer, with its 95% bootstrap interval. Thick line: the mean r of the late
    layers, the last third; the paper says that a model inverts where this mean lies below zero.
    Grey field: its 95% interval over all pairs, as the paper takes it; what decides is the mean of
    r within the categories of pairs.
    """
    by_model = _curves_over_pairs(numbers)
    late = {name: numbers.document("phases", name, "means/late", "partition") for name in by_model}
    means = {name: document["means"]["late"] for name, document in late.items()}
    answers = {name: numbers.answer("late", name, PUBLISHED) for name in by_model}
    title = _title_of_late_means(numbers, means, [*filter(None, answers.values())])
    starts = {name: style.r_and_ends(rows["0"]) for name, rows in by_model.items() if "0" in rows}
    below = {name: r for name, (r, _, high, _) in starts.items() if high < 0}
    remark = "".join(
        f"{numbers.names[name]} begins below zero, r = {style.signed(r, 2)} at layer 0: the "
        "embeddings, before any block. "
        for name, r in below.items()
    )
    figure, panels = style.panels(
        numbers, title, 2.1, remark, n=len(by_model), columns=2, sharey=True
    )
    curves = (entry for entry in CURVES if entry[0] in by_model)
    for axes, (name, analysis, *_) in zip(panels, curves, strict=True):
        style.intervals_by_layer(axes, by_model[name])
        if name in below:
            word = style.signed(below[name], 2)
            axes.annotate(word, (0, below[name]), (6, -3), textcoords="offset points")
        _draw_late_mean(axes, means[name], late[name]["partition"]["late"], answers[name])
        n_pairs = numbers.document(analysis, name, "n_pairs")["n_pairs"]
        late_mean = style.signed(means[name])
        axes.set_title(f"{numbers.names[name]}: late mean {late_mean}, {n_pairs} pairs")
    for axes in filter(style.in_first_column, panels):
        axes.set_ylabel(quantities.R_OVER_PAIRS)
    panels[0].set_ylim(*RANGE)
    signs.legend_below(figure)
    return figure


def _curves_over_pairs(numbers: Numbers) -> dict[str, dict[str, JsonObject]]:
    """Return r with its interval by model and layer."""
    curves = {
        name: numbers.statistics.get(analysis, {}).get(name, {}).get(place, {})
        for name, analysis, place, _ in CURVES
    }
    entries = {name: {"r": curve} for name, curve in curves.items()}
    drawn_models = numbers.having("pairs and cross_model", entries, "r")
    return {
        name: {n: row[METRIC] if by_metric else row for n, row in curves[name].items()}
        for name, _, _, by_metric in CURVES
        if name in drawn_models
    }


def _title_of_late_means(
    numbers: Numbers, means: Mapping[str, float], answers: Sequence[Answer]
) -> str:
    """Return how many late means are negative, in how many that is shown, and the first mean."""
    drawn = numbers.document("phases", "paper", "drawn/n_models")["drawn"]
    title = f"Mean r of the late layers is negative in {drawn['n_negative_late']} of "
    title += f"{drawn['n_models']} models"
    if answers:
        n_below = sum(answer.yes for answer in answers)
        title += f", its interval as the paper takes it below zero in {n_below}"
    name, mean = next(iter(means.items()))
    return f"{title}; in {numbers.names[name]} it is {style.signed(mean)}"


def _draw_late_mean(axes: Axes, mean: float, partition: str, answer: Answer | None) -> None:
    """Draw the mean over the late layers as a bar, and its interval as a field.

    Arguments:
        partition: the first and the last of these layers.
    """
    first, last = map(int, partition.split("-"))
    bar = axes.hlines(mean, first, last, color=signs.SINGLED_OUT, linewidth=2.5, zorder=4)
    bar.set_label("mean of the late layers")
    field = None
    if answer is not None and answer.ends is not None:
        field = answer.ends.low, answer.ends.high
        drawn = axes.fill_between((first, last), *field, zorder=0.5)
        drawn.set(facecolor=(0, 0, 0, 0.12), edgecolor=signs.SINGLED_OUT, linewidth=0.6)
        drawn.set_label(f"{signs.INTERVAL} of that mean")
    note_points(bar, [f"mean of layers {first} to {last}"], y=[mean], y_ends=[field])


def template_comparison(numbers: Numbers) -> Figure:
    """Correlation of centroid asymmetry and preference over the pairs of the instruct model, with
    and without its chat template, by layer (Paper 2, figure 2).

    A point is r at one layer with the paper's 95% bootstrap interval, which takes the pairs as
    independent.
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
    figure, (axes,) = style.panels(numbers, title, 2.2)
    for number, (name, place) in enumerate(series.items()):
        words, look = f"{name} template", signs.series_look(number, len(series))
        style.intervals_by_layer(
            axes, document[place], words=f"{words}, {signs.INTERVAL}", series=words, **look
        )
    axes.set(ylim=RANGE, ylabel=quantities.R_OVER_PAIRS)
    axes.set_title(f"{numbers.names[INSTRUCT]}, n = {document['n_pairs']} pairs")
    signs.legend_below(figure)
    return figure


MOST_NAMED = 21  # categories: more rows do not fit on a page
MOST_BESIDE = 8  # categories whose names fit beside their points
POOLINGS = ("mean_pooled", "last_token", "first_token")
Points = dict[str, tuple[float, float]]  # UA and preference by category


# --- the headline correlation -------------------------------------------------------------------


def validation(numbers: Numbers) -> Figure:
    """Asymmetry against preference over the categories, and r without each of them (notebook 003).

    Left: a point is a category, its mean preference against its asymmetry (UA). Right: r over all
    categories, and without the one that the row names, with the 95% interval that would hold if
    categories were normal (exact under ten of them, else Fisher's); what decides the claim is wider
    and leaves out one category in turn. Black: the category without which r changes most.
    """
    keys = ("_global_stats/ua_output_correlation", "_without_one", "_interval")
    model, document = numbers.model("validation", *keys)
    points, without = _points(document), _r_without_each(document)
    r = document["_global_stats"]["ua_output_correlation"]
    title = f"r over the categories is {style.signed_interval(r, document['_interval'])} in "
    title += numbers.names[model]
    if without:
        name, most = next(iter(without.items()))
        title += f", and {style.signed_interval(most['r'], most.get('interval'))} without {name}"
    height = max(2.3, 0.9 + 0.17 * min(len(without) or 1, MOST_NAMED))
    figure, (left, right) = style.panels(numbers, title, height, columns=2, width_ratios=(4, 3))
    looks = _looks(points, without)
    _draw_scatter(left, points, looks)
    left.set_title(f"n = {len(points)} categories")
    _draw_without_each(right, r, document["_interval"], without, looks)
    for name in list(without)[:1]:
        signs.explain(left, f"{name}: leaving it out changes r most", **looks[name])
    signs.legend_below(figure)
    if len(points) <= MOST_BESIDE:
        left.margins(0.35, 0.35)  # room for names
        name_points(left, points, bold=list(without)[:1])
    return figure


def _points(document: JsonObject) -> Points:
    labels = category_labels(name for name in document if not name.startswith("_"))
    return {
        label: (document[name]["asymmetry"], document[name]["output_preference"])
        for name, label in labels.items()
    }


def _r_without_each(document: JsonObject) -> dict[str, JsonObject]:
    """Return r over the other categories, the one that changes it most first."""
    whole = document["_global_stats"]["ua_output_correlation"]
    labels = category_labels(document["_without_one"])
    others = {labels[name]: test for name, test in document["_without_one"].items()}
    return dict(sorted(others.items(), key=lambda item: -abs(item[1]["r"] - whole)))


def _looks(points: Points, without: Mapping[str, JsonObject]) -> dict[str, signs.Look]:
    """Return a look per category, black for the one that changes r most.

    Shapes part them where there is no room for their names.
    """
    kept = list(without or points)[:MOST_NAMED]
    n = 1 if len(points) <= MOST_BESIDE else len(kept)
    looks = {name: signs.series_look(number, n) for number, name in enumerate(kept)}
    return looks | {name: {**looks[name], "color": signs.SINGLED_OUT} for name in kept[:1]}


def _draw_scatter(axes: Axes, points: Points, looks: Mapping[str, signs.Look]) -> None:
    for name, point in points.items():
        look = looks.get(name, {"marker": ".", "color": signs.ESTIMATE})
        style.draw_points(axes, [name], *([number] for number in point), **look)
    axes.axvline(0, **signs.REFERENCE)
    axes.axhline(0, **signs.REFERENCE)
    axes.set(xlabel=quantities.ASYMMETRY, ylabel=quantities.PREFERENCE)


def _draw_without_each(
    axes: Axes,
    r: float,
    interval: Sequence[float] | None,
    without: Mapping[str, JsonObject],
    looks: Mapping[str, signs.Look],
) -> None:
    """Draw a row for r over all categories, and one for r without each of them."""
    whole: JsonObject = {"r": r, "interval": interval}
    look_of_all = signs.series_look(0, 1)
    rows: list[tuple[str, JsonObject, signs.Look]] = [("all categories", whole, look_of_all)]
    rows += [(name, left_out, looks[name]) for name, left_out in without.items() if name in looks]
    names = [name if not place else f"without {name}" for place, (name, *_) in enumerate(rows)]
    crosses = len({look["marker"] for *_, look in rows}) == 1  # no shapes that part categories
    for place, (_, row, look) in enumerate(rows):
        ends = row.get("interval")
        if crosses and ends and ends[0] <= 0 <= ends[1]:
            look = {**look, "marker": signs.CROSS}
        style.draw_points(
            axes, [names[place]], [row["r"]], [place], x_ends=[ends], in_rows=True, **look
        )
    if any(line.get_marker() == signs.CROSS for line in axes.lines):
        signs.explain_cross(axes, "zero")
    signs.explain(axes, f"r, {signs.INTERVAL}", **look_of_all)
    style.category_axis(axes, names)
    axes.axvline(0, **signs.REFERENCE)
    axes.set(xlabel=quantities.R_OVER_CATEGORIES, title="one category left out")


# --- by layer -----------------------------------------------------------------------------------


def layers(numbers: Numbers) -> Figure:
    """Correlation of UA and preference over the categories, by layer and by pooling (notebook 001).

    Left: a point is r at one layer, with the papers' bootstrap interval over the categories, which
    is too narrow for few of them and decides nothing; dotted where the sign of r changes. Right: r
    at the last layer, by how the states of the tokens are pooled.
    """
    keys = ("layer_results", "n_categories", "ci_level", "drawn/n_excluding_zero")
    model, document = numbers.model("category_bootstrap", *keys)
    curve = numbers.document("layers", model, "strategies/mean_pooled", "summary/sign_changes")
    results = document["layer_results"]
    title = f"Over {document['n_categories']} categories the papers' interval of r excludes zero "
    title += f"at {document['drawn']['n_excluding_zero']} of {len(results)} layers"
    figure, row = style.panels(numbers, title, 2.5, columns=2, width_ratios=(5, 2), sharey=True)
    unit = numbers.depth_unit(max(map(int, results)))
    for change in curve["summary"]["sign_changes"]:
        middle = (change["layer_before"] + change["layer_after"]) / 2 / unit
        row[0].axvline(
            middle, label="sign of r changes", color=signs.CONTEXT, linestyle=":", linewidth=0.8
        )
    words = f"r, {document['ci_level']:.0%} interval"
    style.intervals_by_layer(row[0], results, words=words, unit=unit)
    row[0].set(ylim=(-1.05, 1.05), ylabel=quantities.R_OVER_CATEGORIES)
    row[0].set_title(f"{numbers.names[model]}, n = {document['n_categories']} categories")
    _draw_poolings(row[1], curve["strategies"])
    draw_papers_curves(numbers, {CATEGORIES: row[0]})
    return figure


def _draw_poolings(axes: Axes, strategies: Mapping[str, Mapping[str, float | None]]) -> None:
    """Draw r by pooling; of one that was not measured there is none.

    A first token that is always BOS has one state for all statements, hence no r.
    """
    names = [name for name in POOLINGS if name in strategies]
    for place, name in enumerate(names):
        r = strategies[name]["correlation"]
        if r is not None:
            axes.plot(place, r, **signs.series_look(0, 1))
        word, at = ("no r", 0.0) if r is None else (style.signed(r, 2), r)
        side = 1 if at < 0 else -1
        axes.annotate(
            word, (place, at), (0, 9 * side), textcoords="offset points", ha="center", va="center"
        )
    axes.set_xticks(range(len(names)), [textwrap.fill(key_in_words(name), 8) for name in names])
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.axhline(0, **signs.REFERENCE)
    axes.set_title("last layer, by pooling")
