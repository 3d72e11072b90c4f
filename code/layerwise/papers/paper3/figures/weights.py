"""Paper 3: spectral norms of the projections, and the critical layer."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from layerwise.engine.published import PUBLISHED, answers_by_model
from layerwise.present.figures import style
from layerwise.present.figures.numbers import Numbers

RATIO, GAIN, LAW = "spectral_norms", "damping", "spectral_predicts"  # questions
SLICE = "In Pythia and BLOOM the published rows of the fused matrix also hold queries and keys."
MIDDLE = 50  # percent of depth


def spectral_norms(numbers: Numbers) -> Figure:
    """Ratio of the spectral norms of W_V and W_O against the gain (Paper 3, figures 3 and A5).

    A point per model that has both numbers, with 95% intervals: of the ratio over the blocks, of
    the gain over the prompts (Student's). Dashed: a gain of one, which parts damping from
    expanding models.
    """
    ratios, gains = (
        {name: answers.get(PUBLISHED, {}) for name, answers in models.items()}
        for models in (answers_by_model(numbers.statistics, name) for name in (RATIO, GAIN))
    )
    both = {name: {"x": ratio, "y": gains.get(name)} for name, ratio in ratios.items()}
    points = numbers.having("ratio and gain", both, "x/value", "y/value")
    answer = numbers.answer(LAW)
    title = f"Ratio and gain of {len(points)} models"
    if answer is not None and answer["low"] is not None:
        r = style.signed_interval(answer["value"], (answer["low"], answer["high"]))
        title += f": their correlation is {r}"
    figure, (axes,) = style.panels(numbers, title, 2.7, SLICE)
    x, y = ([point[side] for point in points.values()] for side in ("x", "y"))
    style.draw_points(
        axes,
        [numbers.shown(name) for name in points],
        [answer["value"] for answer in x],
        [answer["value"] for answer in y],
        x_ends=[_ends(answer) for answer in x],
        y_ends=[_ends(answer) for answer in y],
        marker="o",
        color=style.BLUE,
    )
    style.log_axis(axes, "x")
    axes.margins(x=0.25, y=0.15)  # room for names
    axes.axhline(1, **style.REFERENCE)
    axes.set_xlabel("mean spectral norm of $W_V$ over that of $W_O$")
    axes.set_ylabel("mean gain over the prompts")
    style.name_points(
        axes,
        {
            numbers.shown(name): (point["x"]["value"], point["y"]["value"])
            for name, point in points.items()
        },
    )
    return figure


def _ends(answer: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the ends of an answer's interval."""
    return None if answer["low"] is None else (answer["low"], answer["high"])


def critical_layer(numbers: Numbers) -> Figure:
    """L* by the formula, half of the depth, and L* of the attention trace (Paper 3, figure A2).

    A row per model, in percent of its depth: the formula's layer (bar), and the trace's with its
    population standard deviation over five prompts (point). Dashed: L/2. Black diamond: the largest
    error of the formula.
    """
    document = numbers.document("critical_layer", "argmax", "results")
    rows = {row["model"].split("/")[-1]: row for row in document["results"]}
    keys = ("drawn/predicted", "drawn/empirical", "drawn/std", "error_pct", "L_star_std", "L")
    rows = numbers.having("critical_layer", rows, *keys)
    errors = {name: row["error_pct"] for name, row in rows.items()}
    worst = max(errors, key=lambda name: errors[name])
    title = f"The formula misses L* by {errors[worst]:.1f}% of depth in {numbers.shown(worst)}"
    if document.get("overall_mape") is not None:  # over all models, or none
        title = f"The formula misses L* by {document['overall_mape']:.1f}% of depth on average, "
        title += f"L/2 by {document['half_depth']:.1f}%{_difference(numbers)}"
    steady = [numbers.shown(name) for name, row in rows.items() if row["L_star_std"] == 0]
    remark = f"{', '.join(steady)}: all prompts give the same layer." if steady else ""
    figure, (axes,) = style.panels(numbers, title, 0.9 + 0.28 * len(rows), remark)
    names = [f"{numbers.shown(name)}, {row['L']} blocks" for name, row in rows.items()]
    style.category_axis(axes, names)
    axes.axvline(MIDDLE, label="L/2", **style.REFERENCE)
    for place, (name, row) in enumerate(rows.items()):
        drawn, is_worst = row["drawn"], name == worst
        style.draw_points(
            axes,
            [numbers.shown(name)],
            [drawn["predicted"]],
            [place],
            series="formula",
            in_rows=True,
            marker="|",
            markersize=14,
            markeredgewidth=2,
            color=style.GREEN,
            label="formula",
        )
        mean, deviation = drawn["empirical"], drawn["std"]
        style.draw_points(
            axes,
            [numbers.shown(name)],
            [mean],
            [place],
            x_ends=[(mean - deviation, mean + deviation)],
            series="trace",
            in_rows=True,
            marker="D" if is_worst else "o",
            color=style.INK if is_worst else style.BLUE,
            label="the same, largest error" if is_worst else "trace, mean and SD over prompts",
        )
    axes.set(xlim=(0, 100), xlabel="L* (% of depth)", title=f"n = {len(rows)} models")
    style.legend_below(figure, 4)
    return figure


def _difference(numbers: Numbers) -> str:
    """Return the interval of the difference of the two errors over the models."""
    answer = numbers.answer("lstar")
    if answer is None or answer["low"] is None:
        return ""
    ends = (style.signed(answer[end], 0) for end in ("low", "high"))
    return f" (95% interval of the difference {' to '.join(ends)})"
