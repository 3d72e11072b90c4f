"""Paper 2: asymmetry against preference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.figures import style
from layerwise.figures.numbers import Numbers

REFERENCE_MARKERS = ("x", "+", "1", "2")
LEGEND_COLUMNS = 3
MOST_NAMED = 21  # categories: more names do not fit below the panel


def validation(numbers: Numbers) -> Figure:
    """UA against preference, a point per category (notebook 003).

    One panel per model: the categories, their mean with its interval, Paper 1's models.
    """
    documents = numbers.models("validation", "_global_stats/ua_output_correlation")
    columns = min(2, len(documents))
    rows = -(-len(documents) // columns)
    longest = max(map(_n_entries, documents.values()))
    legend_rows = -(-longest // LEGEND_COLUMNS)
    figure, grid = style.panels(numbers, rows, columns, row_height=2.8, legend_rows=legend_rows)
    axes = list(grid.flat)
    for panel, (model, document) in zip(axes, documents.items(), strict=False):
        _scatter(panel, model, document)
    for spare in axes[len(documents) :]:
        spare.set_axis_off()
    style.legend_below(figure, axes[: len(documents)], LEGEND_COLUMNS)
    return figure


def _categories(document: Mapping[str, Any]) -> list[str]:
    return [name for name in document if not name.startswith("_")]


def _n_entries(document: Mapping[str, Any]) -> int:
    """Entries of the legend: the categories, their mean, Paper 1's models."""
    categories = len(_categories(document))
    named = categories if categories <= MOST_NAMED else 1
    return named + 1 + len(_references(document))


def _references(document: Mapping[str, Any]) -> dict[str, Any]:
    """Paper 1's models, as far as they were measured."""
    all_of_them = (document.get("_reference") or {}).items()
    return {name: of for name, of in all_of_them if None not in (of["ua"], of["pref"])}


def _scatter(axes: Axes, model: str, document: Mapping[str, Any]) -> None:
    categories = _categories(document)
    named = len(categories) <= MOST_NAMED
    for number, name in enumerate(categories if named else []):
        round_trip = number // len(style.COLOURS)  # the same colour again, with another marker
        axes.plot(
            document[name]["asymmetry"],
            document[name]["output_preference"],
            linestyle="none",
            color=style.COLOURS[number % len(style.COLOURS)],
            marker=style.MARKERS[(number + round_trip) % len(style.MARKERS)],
            markersize=6,
            label=name.replace("_", " "),
        )
    if not named:
        axes.plot(
            [document[name]["asymmetry"] for name in categories],
            [document[name]["output_preference"] for name in categories],
            linestyle="none",
            marker=style.MARKERS[0],
            color=style.COLOURS[0],
            label="a category",
        )
    statistics = document["_global_stats"]
    low, high = statistics["bootstrap_95ci"]
    preference = statistics["mean_output_preference"]
    axes.hlines(preference, low, high, color=style.GREY, linewidth=1.5)
    axes.plot(
        statistics["mean_asymmetry"],
        preference,
        linestyle="none",
        marker="|",
        markersize=11,
        color=style.GREY,
        label="mean, 95% interval of mean UA",
    )
    for number, (name, values) in enumerate(_references(document).items()):
        axes.plot(
            values["ua"],
            values["pref"],
            linestyle="none",
            marker=REFERENCE_MARKERS[number % len(REFERENCE_MARKERS)],
            color="black",
            markersize=7,
            label=f"{name}, scientific facts",
        )
    style.zero_line(axes)
    axes.axvline(0.0, color=style.GREY, linestyle="--", linewidth=0.8, zorder=1)
    axes.set_xlabel("UA (cosine, no unit)")
    axes.set_ylabel("mean preference (nats)")
    r = statistics["ua_output_correlation"]
    axes.set_title(f"{model}: r = {r:+.3f} (n = {len(categories)} categories)")
