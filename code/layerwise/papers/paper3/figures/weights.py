"""Paper 3: spectral norms of the projections, and the critical layer."""

import numpy as np
from matplotlib.figure import Figure

from layerwise.engine.questions.question import OVER_MODELS, PUBLISHED
from layerwise.present.figures import style
from layerwise.present.figures.numbers import Numbers

NORMS = "W_V_spectral_norm"
MEANS = ("W_V_mean_spectral", "W_O_mean_spectral")
SLICE = "For Pythia and BLOOM the published slice of the fused matrix is not W_V alone."
MIDDLE = 50  # percent of depth


def spectral_norms(numbers: Numbers) -> Figure:
    """Spectral norms of W_V and W_O (Paper 3, figures 3, A1 and A5).

    Left: means over the layers on logarithmic axes; dashed: equal norms. Right: W_V over depth.
    """
    documents = numbers.statistics.get("spectral_norms", {})
    models = {name: document for name, document in documents.items() if "lab" in document}
    kept = numbers.having("spectral_norms", models, *MEANS, NORMS)
    means = {name: [document[key] for key in MEANS] for name, document in kept.items()}
    drawn = numbers.document("spectral_norms", "study", "drawn/n_value_larger")["drawn"]
    title = f"The mean norm of W_V exceeds that of W_O in {drawn['n_value_larger']} of "
    title += f"{drawn['n_models']} models"
    figure, (left, right) = style.panels(numbers, title, 3.5, SLICE, columns=2)
    for number, (name, document) in enumerate(kept.items()):
        look = style.look(number)
        label = f"{numbers.shown(name)} ({document['lab']})"
        left.plot(*means[name], linestyle="none", label=label, zorder=3, **look)
        norms = document[NORMS]
        depth = (np.arange(len(norms)) + 1) / len(norms)
        right.plot(depth, norms, markersize=3, linewidth=0.9, **look)
    ends = np.ravel(list(means.values()))
    limits = min(1, ends.min() / 1.5), max(100, ends.max() * 1.5)
    left.plot(limits, limits, color=style.GREY, linestyle="--", linewidth=0.8)
    style.log_axis(left, "x")
    style.log_axis(left, "y")
    style.log_axis(right, "y")
    left.set(xlim=limits, ylim=limits, title=f"n = {len(kept)} models")
    left.set_xlabel("spectral norm of W_V, mean over layers")
    left.set_ylabel("spectral norm of W_O, mean over layers")
    right.set(xlabel="relative depth (layer / L)", ylabel="spectral norm of W_V")
    style.legend_below(figure, 3)
    return figure


def critical_layer(numbers: Numbers) -> Figure:
    """L* by the formula, half of the depth, and L* of the attention trace (Paper 3, figure A2).

    A row per model, in percent of its depth: the formula's layer (bar), and the trace's with its
    population standard deviation over five prompts (point). Dashed: L/2. Red: the largest error of
    the formula.
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
        first, drawn = place == 0, row["drawn"]
        colour = style.RED if name == worst else style.BLUE
        axes.plot(drawn["predicted"], place, "|", markersize=14, markeredgewidth=2,
                  color=style.GREEN, label="formula" if first else None)  # fmt: skip
        axes.errorbar(drawn["empirical"], place, xerr=drawn["std"], marker="o", color=colour,
                      label="trace, mean and SD over prompts" if first else None)  # fmt: skip
    axes.set(xlim=(0, 100), xlabel="L* (% of depth)", title=f"n = {len(rows)} models")
    style.legend_below(figure, 3)
    return figure


def _difference(numbers: Numbers) -> str:
    """The interval of the difference of the two errors over the models."""
    asked = numbers.statistics.get("questions", {}).get("lstar", {}).get("models", {})
    answer = asked.get(OVER_MODELS, {}).get(PUBLISHED)
    if answer is None or answer["low"] is None:
        return ""
    ends = (style.signed(answer[end], 0) for end in ("low", "high"))
    return f" (95% interval of the difference {' to '.join(ends)})"
