"""Paper 2: UA and preference over the categories."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.engine.words import category_labels
from layerwise.papers.shared.names.curves import CATEGORIES
from layerwise.present.figures import style
from layerwise.present.figures.numbers import Numbers

MOST_NAMED = 21  # categories: more rows do not fit on a page
MOST_BESIDE = 8  # categories whose names fit beside their points
POOLINGS = ("mean_pooled", "last_token", "first_token")
Points = dict[str, tuple[float, float]]  # UA and preference by category


# --- the headline correlation -------------------------------------------------------------------


def validation(numbers: Numbers) -> Figure:
    """Asymmetry against preference over the categories, and r without each of them (notebook 003).

    Left: a point per category, with the marker that it has on the right. Right: r with its 95%
    interval (Fisher's), over all categories and when one is left out. Black diamond: the category
    whose loss changes r most.
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
