"""Paper 2: UA and preference over the categories and over random bins."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.analyses.depth_curves import BINS, CATEGORIES
from layerwise.figures import style
from layerwise.figures.numbers import Numbers

MOST_NAMED = 21  # categories: more rows do not fit on a page
POOLINGS = ("mean_pooled", "last_token", "first_token")
Points = dict[str, tuple[float, float]]  # UA and preference by category


# --- the headline correlation -------------------------------------------------------------------


def validation(numbers: Numbers) -> Figure:
    """UA against preference over the categories, and r without each of them (notebook 003).

    Left: a point per category; the grey bar is the 95% interval of the mean UA. Right: r over the
    others when one category is left out. Red: the category whose loss changes r most.
    """
    documents = numbers.models("validation", "_global_stats/ua_output_correlation", "_without_one")
    points = {model: _points(document) for model, document in documents.items()}
    without = {model: _left_out(document) for model, document in documents.items()}
    r = {model: of["_global_stats"]["ua_output_correlation"] for model, of in documents.items()}
    first = next(iter(documents))
    title = f"r over the categories is {style.signed(r[first])} in {numbers.names[first]}"
    if without[first]:
        name, r_without = next(iter(without[first].items()))
        title += f" and {style.signed(r_without)} without {name}"
    tallest = max(min(len(found), MOST_NAMED) for found in points.values())
    height = max(2.0, 0.6 + 0.17 * tallest)
    figure, panels = style.panels(numbers, title, height, n=2 * len(documents), columns=2)
    for row, (model, document) in zip(panels.reshape(-1, 2), documents.items(), strict=True):
        looks = _looks(points[model], without[model])
        _scatter(row[0], document["_global_stats"], points[model], looks)
        n = len(points[model])
        # the name on a line of its own: a long one leaves no room for more
        name = numbers.names[model]
        row[0].set_title(f"{name}\nr = {style.signed(r[model])}, n = {n} categories")
        _without(row[1], r[model], without[model], looks)
    return figure


def _points(document: Mapping[str, Any]) -> Points:
    return {
        _shown(name): (of["asymmetry"], of["output_preference"])
        for name, of in document.items()
        if not name.startswith("_")
    }


def _left_out(document: Mapping[str, Any]) -> dict[str, float]:
    """r over the other categories, the one that changes it most first; none of under three."""
    whole = document["_global_stats"]["ua_output_correlation"]
    others = {_shown(name): of["r"] for name, of in document["_without_one"].items()}
    return dict(sorted(others.items(), key=lambda item: -abs(item[1] - whole)))


def _shown(category: str) -> str:
    return category.replace("_", " ")


def _looks(points: Points, without: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """A marker per category, in another colour when they begin again; red for the influential."""
    colours = (style.BLUE, style.GREEN, style.PURPLE)
    kept = list(without or points)[:MOST_NAMED]
    looks = {
        name: {"marker": style.MARKERS[number % 7], "color": colours[number // 7 % 3]}
        for number, name in enumerate(kept)
    }
    return looks | {name: looks[name] | {"color": style.RED} for name in list(without)[:1]}


def _scatter(
    axes: Axes, whole: Mapping[str, Any], points: Points, looks: Mapping[str, dict[str, Any]]
) -> None:
    mean, preference = whole["mean_asymmetry"], whole["mean_output_preference"]
    axes.hlines(preference, *whole["bootstrap_95ci"], color=style.GREY)
    axes.plot(mean, preference, marker="|", markersize=9, color=style.GREY)
    for name, at in points.items():
        look = looks.get(name, {"marker": ".", "color": style.BLUE})
        axes.plot(*at, linestyle="none", label=name, **look)
    axes.axvline(0, **style.REFERENCE)
    axes.axhline(0, **style.REFERENCE)
    axes.set(xlabel="UA (cosine, no unit)", ylabel="mean preference (nats)")


def _without(
    axes: Axes, whole: float, without: Mapping[str, float], looks: Mapping[str, dict[str, Any]]
) -> None:
    names = list(looks)
    style.category_axis(axes, names)
    for row, name in enumerate(names):
        if name in without:
            axes.hlines(row, whole, without[name], color=looks[name]["color"], linewidth=1)
            axes.plot(without[name], row, **looks[name])
        else:
            axes.plot(0, row, **looks[name])
    if without:
        axes.axvline(whole, **style.REFERENCE)
        # from the right edge on, over the names of the categories, whatever their length
        axes.set_title("r without one category (dashed: with all)", loc="right")
        axes.set_xlabel("r over the others")
    else:
        axes.set_title("too few categories to leave one out")
        axes.set_xticks([])


# --- by layer -----------------------------------------------------------------------------------


def layers(numbers: Numbers) -> Figure:
    """r of UA and preference over the categories, by layer and by pooling (notebook 001).

    Left: r with its bootstrap interval; dotted where its sign changes. Right: r of three poolings
    at the last layer.
    """
    keys = ("layer_results", "n_categories", "ci_level", "drawn/n_excluding_zero")
    model, document = numbers.model("category_bootstrap", *keys)
    found = numbers.document("layers", model, "strategies/mean_pooled", "summary/sign_changes")
    results = document["layer_results"]
    title = f"Over {document['n_categories']} categories the interval of r excludes zero at "
    title += f"{document['drawn']['n_excluding_zero']} of {len(results)} layers"
    remark = f"Bars: {document['ci_level']:.0%} intervals; a cross where it holds zero. "
    remark += numbers.grey
    shape: dict[str, Any] = {"columns": 2, "width_ratios": (3, 1), "sharey": True}
    figure, row = style.panels(numbers, title, 2.5, remark, **shape)
    for change in found["summary"]["sign_changes"]:
        middle = (change["layer_before"] + change["layer_after"]) / 2
        row[0].axvline(middle, color=style.GREY, linestyle=":", linewidth=0.8)
    style.intervals_by_layer(row[0], results)
    row[0].set(ylim=(-1.05, 1.05), ylabel="r(UA, preference)")
    row[0].set_title(f"{numbers.names[model]}, n = {document['n_categories']} categories")
    _poolings(row[1], found["strategies"])
    style.draw_papers_curves(numbers, {CATEGORIES: row[0]}, max(map(int, results)))
    return figure


def _poolings(axes: Axes, strategies: Mapping[str, Mapping[str, float | None]]) -> None:
    """A first token that is always BOS has one state for all statements, hence no r."""
    for place, name in enumerate(POOLINGS):
        r = strategies[name]["correlation"]
        if r is not None:
            axes.plot(place, r, marker="o", color=style.BLUE)
        word, at = ("no r", 0.0) if r is None else (style.signed(r, 2), r)
        side = 1 if at < 0 else -1
        axes.annotate(word, (place, at), (0, 9 * side), textcoords="offset points", ha="center",
                      va="center")  # fmt: skip
    axes.set_xticks(range(len(POOLINGS)), [name.replace("_", "\n") for name in POOLINGS])
    axes.set_xlim(-0.6, len(POOLINGS) - 0.4)
    axes.axhline(0, **style.REFERENCE)
    axes.set_title("last layer, by pooling")


def bins(numbers: Numbers) -> Figure:
    """r over the categories and over random bins of pairs, by layer (notebook 000).

    Bars are bootstrap intervals, a cross where they hold zero; where the sweep over the number of
    bins was kept, its mean r as well.
    """
    keys = ("bootstrap_results", "original_results", "comparison/new_sig_layers", "k_bins")
    model, document = numbers.model("bins", *keys)
    n, k = document["comparison"]["original_n"], document["k_bins"]
    series = {f"{n} categories": "original_results", f"{k} random bins": "bootstrap_results"}
    clear = {of: document["comparison"][f"{of}_sig_layers"] for of in ("original", "new")}
    sweep = document.get("results_by_k") or {}
    title = f"Over {k} random bins the interval of r excludes zero at {clear['new']} of "
    title += f"{len(document['bootstrap_results'])} layers, over {n} categories at "
    title += f"{clear['original']}"
    shape: dict[str, Any] = {"columns": 3 if sweep else 2, "sharey": True}
    remark = f"{numbers.names[model]}. {style.HOLDS_ZERO} {numbers.grey}"
    figure, row = style.panels(numbers, title, 2.7, remark, **shape)
    for axes, (name, place) in zip(row, series.items(), strict=False):
        style.intervals_by_layer(axes, document[place], most=5 if sweep else 10)
        axes.set_title(f"n = {name}")
    row[0].set(ylim=(-1.05, 1.05), ylabel="r(UA, preference)")
    for number, bins_of in enumerate(sorted(sweep, key=int)):
        layers = style.layers_of(sweep[bins_of])
        means = [sweep[bins_of][str(layer)]["r_mean"] for layer in layers]
        row[2].plot(layers, means, markersize=3.5, label=f"k = {bins_of}", **style.look(number))
        style.layer_axis(row[2], layers, most=5)
        row[2].axhline(0, **style.REFERENCE)
        row[2].set_title(f"mean r of {document['n_permutations']} binnings")
    if sweep:
        style.legend_below(figure, len(sweep))
    last = max(map(int, document["bootstrap_results"]))
    style.draw_papers_curves(numbers, {CATEGORIES: row[0], BINS: row[1]}, last)
    return figure


def scaling(numbers: Numbers) -> Figure:
    """r of UA and preference over the categories by depth, for several models (notebook 002).

    A curve per model; a ring marks its largest r.
    """
    document = numbers.document("scaling", "family", "models", "summary", "drawn/n_models")
    models = numbers.having("scaling", document["models"], "layer_results", "n_layers")
    _, categories = numbers.model("category_bootstrap", "n_categories")
    curves = {
        model: {
            100 * layer / of["n_layers"]: of["layer_results"][str(layer)]["correlation"]
            for layer in style.layers_of(of["layer_results"])
        }
        for model, of in models.items()
    }
    drawn = document["drawn"]
    title = f"At the last layer r is negative in {drawn['n_negative_at_end']} of "
    title += f"{drawn['n_models']} models; {drawn['n_with_positive']} of {drawn['n_models']} have "
    title += "a layer with positive r"
    figure, (axes,) = style.panels(numbers, title, 3.0)
    for number, (model, curve) in enumerate(curves.items()):
        axes.plot(*zip(*curve.items(), strict=True), label=model, **style.look(number))
    peaks = {
        row["model"]: (row["max_pos_pct"], row["max_pos_r"])
        for row in document["summary"]
        if row["model"] in curves
    }
    ring: dict[str, Any] = {"ms": 11, "mfc": "none", "mec": "black", "ls": "none"}
    axes.plot(*zip(*peaks.values(), strict=True), "o", label="largest r", **ring)
    axes.axhline(0, **style.REFERENCE)
    axes.set(ylim=(-1.05, 1.05), xlabel="layer (% of depth)", ylabel="r(UA, preference)")
    axes.set_title(f"n = {categories['n_categories']} categories")
    style.legend_below(figure, 5)
    return figure
