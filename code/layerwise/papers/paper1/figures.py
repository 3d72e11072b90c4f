"""Figures of Paper 1: asymmetry of the categories."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.engine.words import category_labels
from layerwise.papers.shared import quantities
from layerwise.papers.shared.terms import BAND
from layerwise.present.figures import signs, style
from layerwise.present.figures.numbers import Numbers

MODELS = ("gemma", "llama", "mistral", "apertus")
REFERENCE = "lifestyle"


def asymmetry_by_category(numbers: Numbers) -> Figure:
    """Asymmetry of uniformity (UA) by category and model, at the last layer (Paper 1, figure 1).

    A point is a model's asymmetry in the category of its row, of n pairs; within a row points are
    shifted up or down only to be seen. Light blue: the zone around zero that the paper claims on
    lifestyle; a model's point inside it agrees. No interval of a single category is published.
    """
    documents = numbers.statistics.get("calibration", {})
    models = numbers.having(
        "calibration", {name: documents.get(name) for name in MODELS}, f"{REFERENCE}/asymmetry"
    )
    asymmetries = {
        numbers.shown(name): {
            category: row["asymmetry"]
            for category, row in document.items()
            if not category.startswith("_")
        }
        for name, document in models.items()
    }
    first = next(iter(models.values()))
    counts = {category: first[category]["n_pairs"] for category in next(iter(asymmetries.values()))}
    drawn = numbers.document("calibration", "models", "drawn/n_models")["drawn"]
    title = f"On {REFERENCE} {drawn['n_within']} of {drawn['n_models']} models lie within {BAND} "
    title += f"of zero; on numeric facts the asymmetry is negative in {drawn['n_negative']} of "
    title += f"{drawn['n_models']}"
    figure, (axes,) = style.panels(numbers, title, 3.1)
    _shade_claimed(axes, list(counts).index(REFERENCE))
    labels = category_labels(counts)
    names = [f"{labels[category]}, n = {n}" for category, n in counts.items()]
    style.category_axis(axes, names)
    _draw_models(axes, asymmetries, labels)
    axes.axvline(0, **signs.REFERENCE)
    axes.set_xlabel(quantities.ASYMMETRY)
    axes.set_title(f"{first['_global_stats']['total_pairs']} pairs")
    signs.legend_below(figure)
    return figure


def _shade_claimed(axes: Axes, row: int) -> None:
    """Shade the zone around zero that the paper claims on the category of a row."""
    axes.fill_betweenx(
        [row - 0.45, row + 0.45],
        -BAND,
        BAND,
        label=f"claimed on {REFERENCE}: within {BAND}",
        **signs.CLAIMED,
    )


def _draw_models(
    axes: Axes, asymmetries: Mapping[str, Mapping[str, float]], labels: Mapping[str, str]
) -> None:
    """Draw the asymmetry of each model by category, the models of a row a little apart."""
    for number, (model, values) in enumerate(asymmetries.items()):
        offset = 0.13 * (number - (len(asymmetries) - 1) / 2)
        style.draw_points(
            axes,
            [labels[category] for category in values],
            [*values.values()],
            [row + offset for row in range(len(values))],
            series=model,
            in_rows=True,
            label=model,
            **signs.series_look(number, len(asymmetries)),
        )
