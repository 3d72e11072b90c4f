"""Figures of Paper 3: gains by depth and lab, what weights and traces give, the anisotropy."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.engine.answers import Answer
from layerwise.engine.published import DECIDES
from layerwise.papers.shared import quantities
from layerwise.papers.shared.terms import ELEUTHER, depth_bound
from layerwise.present.figures import signs, style
from layerwise.present.figures.names import draw_papers_curves, name_points
from layerwise.present.figures.numbers import NothingToDraw, Numbers

FAMILY = "pythia-"  # begins the names of the sizes
SURVEY = "depth_gain_of_survey"  # the question
SHADE_OF_LABS = 0.11  # opacity
SHOWN_ABOVE = "shown above the bound, all models at once"
MOST_NAMED = 10  # points of a panel on a phone, where more names would cross each other


def depth_gain(numbers: Numbers) -> Figure:
    """Gain of the second-last block against depth, in the Pythia sizes and in the models of the
    survey (Paper 3, figures 1, A3 and A4).

    A point is a model: its mean gain, with the 95% interval (Student's) over the five categories of
    prompts, in the survey over the five prompts. Curve: the bound 10^(1/L) on the gain of a model
    of L blocks, which the paper claims; light blue: what it allows. Red, with the name in bold: the
    gain is shown to lie above the bound, with all models tested at once.
    """
    family, survey = _sizes(numbers), _survey(numbers)
    over = [f"Pythia-{name}" for name, gain in family.items() if gain.exceeds]
    over += [name for name, gain in survey.items() if gain.exceeds]
    title = f"r of depth and gain is {_law_text(numbers, 'depth_gain')} over "
    title += f"{len(family)} Pythia sizes"
    shown = [("Pythia sizes", family)]
    if survey:
        title += f", {_law_text(numbers, SURVEY)} over {len(survey)} survey models"
        shown += [("models of the survey", survey)]
    title += f"; shown above the bound: {', '.join(over) or 'none'}"
    ratios = (2, 3)[: len(shown)]  # the survey's names are longer
    figure, panels = style.panels(
        numbers, title, 3.2, columns=len(shown), sharey=True, width_ratios=ratios
    )
    for axes, (words, gains) in zip(panels, shown, strict=True):
        _draw_against_depth(axes, gains)
        axes.set_title(f"n = {len(gains)} {words}")
    for axes in filter(style.in_first_column, panels):
        axes.set_ylabel(quantities.SECOND_LAST)
    ends = [end for _, gains in shown for gain in gains.values() for end in gain.ends]
    show_gains(panels[0], ends)
    signs.legend_below(figure)
    for axes, (_, gains) in zip(panels, shown, strict=True):
        outside = [name for name, gain in gains.items() if gain.exceeds]
        named = outside if numbers.narrow and len(gains) > MOST_NAMED else gains
        name_points(
            axes, {name: (gains[name].depth, gains[name].mean) for name in named}, bold=outside
        )
    return figure


@dataclass(frozen=True)
class Gain:
    """The mean gain of a model.

    Attributes:
        depth: blocks.
        interval: 95%, over the prompts or their categories; None with a single prompt.
        exceeds: whether it is shown to lie above the claimed bound.
    """

    depth: int
    mean: float
    interval: Sequence[float] | None
    exceeds: bool

    @property
    def ends(self) -> Sequence[float]:
        """The numbers that an axis has to show."""
        return self.interval or (self.mean,)


def _sizes(numbers: Numbers) -> dict[str, Gain]:
    """Return the gains of the Pythia sizes, "6.9B"."""
    document = numbers.document("depth_gain", "family", "models", "drawn/interval")
    sizes = numbers.having(
        "depth_gain",
        {row["model"].removeprefix(FAMILY).upper(): row for row in document["models"]},
        *("n_layers", "residual_gain_mean"),
    )
    return {
        name: Gain(
            row["n_layers"],
            row["residual_gain_mean"],
            document["drawn"]["interval"].get(row["model"]),
            _exceeds(numbers, row["model"]),
        )
        for name, row in sizes.items()
    }


def _survey(numbers: Numbers) -> dict[str, Gain]:
    """Return the gains of the survey's models; none where they were not measured."""
    try:
        document = numbers.document("lab_heritage", "hunt", "tested_results", "drawn/models")
        blocks = {
            row["model"].split("/")[-1]: row["n_layers"] for row in document["tested_results"]
        }
        drawn = document["drawn"]["models"]
        rows = {name: row | {"depth": blocks[name]} for name, row in drawn.items()}
        rows = numbers.having("lab_heritage", rows, "gain", "depth")
    except NothingToDraw:
        numbers.missing.append("the survey")
        return {}
    return {
        numbers.shown(name): Gain(
            row["depth"], row["gain"], row.get("interval"), _exceeds(numbers, name)
        )
        for name, row in rows.items()
    }


def _exceeds(numbers: Numbers, model: str) -> bool:
    """Return whether a model answers that the bound does not hold."""
    answer = numbers.answer("bound", model)
    return answer is not None and answer.no


def _law_text(numbers: Numbers, question: str) -> str:
    """Return the correlation of depth and gain with its interval."""
    answer = numbers.answer(question)
    if answer is None:
        return "unknown"
    return style.signed_interval(answer.value, _deciding_ends(answer))


def _draw_against_depth(axes: Axes, gains: Mapping[str, Gain]) -> None:
    bound_by_depth(axes)
    for exceeds, colour in ((False, signs.ESTIMATE), (True, signs.OUTSIDE)):
        drawn = {name: gain for name, gain in gains.items() if gain.exceeds == exceeds}
        style.draw_points(
            axes,
            [*drawn],
            [gain.depth for gain in drawn.values()],
            [gain.mean for gain in drawn.values()],
            y_ends=[gain.interval for gain in drawn.values()],
            label=SHOWN_ABOVE if exceeds else f"a model, {signs.INTERVAL}",
            marker=signs.DOT,
            color=colour,
        )


def bound_by_depth(axes: Axes, deepest: int = 40) -> None:
    """Draw the claimed bound with what it allows, and the gain that neither damps nor expands."""
    depths = [*range(3, deepest + 4)]
    bounds = [depth_bound(at) for at in depths]
    axes.plot(depths, bounds, color=signs.CONTEXT, label="claimed bound, $10^{1/L}$")
    axes.fill_between(depths, bounds, label="gains that it allows", **signs.CLAIMED)
    axes.axhline(1, **signs.REFERENCE)
    axes.set(xlabel=quantities.BLOCKS, xlim=(depths[0], depths[-1]))
    axes.locator_params(axis="x", nbins=5)


def show_gains(axes: Axes, ends: Iterable[float]) -> None:
    """Let an axis of gains show these, and the bound from six blocks on."""
    shown = [*ends, 0.88, 1.39]
    axes.set_ylim(min(shown) - 0.03, max(shown) + 0.03)


def lab_heritage(numbers: Numbers) -> Figure:
    """Which models damp, by lab (Paper 3, section 4.2 and figure 2).

    A point is a model of the paper's survey: its mean gain over the prompts, with the 95% interval
    (Student's). A model damps if its gain is below 1, and expands if it is above; the paper says
    that the lab decides which. The difference of the two shares that damp decides, with models
    whose interval includes 1 counted by the chance that they do.
    """
    keys = ("tested_results", "drawn/models", "drawn/counts")
    document = numbers.document("lab_heritage", "hunt", *keys)
    tested = {row["model"].split("/")[-1]: row for row in document["tested_results"]}
    drawn = document["drawn"]
    labs = {name: row["lab"] for name, row in tested.items() if name in drawn["models"]}
    counted = [
        f"{counts['below']} of {counts['n']} models of {name}"
        for name, counts in drawn["counts"].items()
    ]
    title = f"Mean gain is below 1 in {' and '.join(counted)}"
    if (answer := numbers.answer("heritage")) is not None:
        title += (
            f"; the shares differ by {style.signed_interval(answer.value, _deciding_ends(answer))}"
        )
    n = drawn.get("n_prompts")
    remark = f"n = {n} prompts each." if n else ""
    figure, (axes,) = style.panels(numbers, title, 1.0 + 0.15 * len(labs), remark)
    _draw_labs(axes, numbers, drawn["models"], labs)
    signs.legend_below(figure)
    return figure


def _draw_labs(
    axes: Axes, numbers: Numbers, models: Mapping[str, Any], labs: Mapping[str, str]
) -> None:
    """Draw a row per model: EleutherAI's on top, the labs apart, by gain within a lab."""
    order = sorted(
        labs, key=lambda name: (labs[name] != ELEUTHER, labs[name], models[name]["gain"])
    )
    for row, name in enumerate(order):
        gain, ends = models[name]["gain"], models[name].get("interval")
        holds_one = bool(ends) and ends[0] <= 1 <= ends[1]
        style.draw_points(
            axes,
            [numbers.shown(name)],
            [gain],
            [row],
            x_ends=[ends],
            series=labs[name],
            in_rows=True,
            marker=signs.CROSS if holds_one else signs.DOT,
            color=signs.ESTIMATE,
        )
    signs.explain(axes, f"a model, {signs.INTERVAL}", **signs.series_look(0, 1))
    signs.explain_cross(axes, "1")
    style.category_axis(axes, [numbers.shown(name) for name in order])
    _shade_labs(axes, [labs[name] for name in order])
    axes.axvline(1, **signs.REFERENCE)
    axes.set(xlabel=quantities.SECOND_LAST, title=f"n = {len(order)} models")
    axes.grid(visible=False, axis="y")


def _shade_labs(axes: Axes, labs: Sequence[str]) -> None:
    """Shade the rows of every second lab, and name each beside its rows."""
    beside = axes.get_yaxis_transform()
    for number, lab in enumerate(dict.fromkeys(labs)):
        first, n = labs.index(lab), labs.count(lab)
        if number % 2 == 0:
            span = first - 0.5, first + n - 0.5
            axes.axhspan(*span, color=signs.CONTEXT, alpha=SHADE_OF_LABS, linewidth=0, zorder=0)
        axes.text(
            1.01, first + (n - 1) / 2, lab, transform=beside, va="center", color=signs.CONTEXT
        )


GAIN, LAW = "damping", "spectral_predicts"  # questions
SLICE = "In Pythia and BLOOM the published rows of the fused matrix also hold queries and keys."
MIDDLE = 50  # percent of depth


def spectral_norms(numbers: Numbers) -> Figure:
    """Ratio of the spectral norms of W_V and W_O against the gain (Paper 3, figures 3 and A5).

    A point is a model that has both numbers; the gain with its 95% interval (Student's) over the
    categories of prompts, or in the survey over the five prompts. The paper says that the ratio
    predicts whether the gain lies above 1, the dashed line; the correlation of the two over the
    models decides.
    """
    ratios, gains = _ratios_and_gains(numbers)
    answer = numbers.answer(LAW)
    title = f"Ratio and gain of {len(ratios)} models"
    if answer is not None and answer.deciding is not None:
        r = style.signed_interval(answer.value, _deciding_ends(answer))
        title += f": their correlation is {r}"
    figure, (axes,) = style.panels(numbers, title, 2.7, SLICE)
    style.draw_points(
        axes,
        [numbers.shown(name) for name in ratios],
        [*ratios.values()],
        [gain.value for gain in gains],
        y_ends=[_ends_of_95(gain) for gain in gains],
        label=f"a model, {signs.INTERVAL}",
        **signs.series_look(0, 1),
    )
    style.log_axis(axes, "x")
    axes.margins(x=0.25, y=0.15)  # room for names
    axes.axhline(1, **signs.REFERENCE)
    axes.set_xlabel(quantities.SPECTRAL_RATIO)
    axes.set_ylabel(quantities.SECOND_LAST)
    signs.legend_below(figure)
    name_points(
        axes,
        {
            numbers.shown(name): (ratio, gain.value)
            for (name, ratio), gain in zip(ratios.items(), gains, strict=True)
        },
    )
    return figure


def _ratios_and_gains(numbers: Numbers) -> tuple[dict[str, float], list[Answer]]:
    """Return the ratio of norms and the gain of each model that has both."""
    gains = {
        name: by_reading[DECIDES]
        for name, by_reading in numbers.answers.get(GAIN, {}).items()
        if DECIDES in by_reading
    }
    both = {
        name: {"ratio": document["W_V_over_W_O"], "gain": gains.get(name)}
        for name, document in numbers.statistics.get("spectral_norms", {}).items()
        if "W_V_over_W_O" in document
    }
    points = numbers.having("ratio and gain", both, "ratio", "gain")
    ratios = {name: point["ratio"] for name, point in points.items()}
    return ratios, [gains[name] for name in ratios]


def _deciding_ends(answer: Answer) -> tuple[float, float] | None:
    """Return the ends of the interval that decides."""
    return None if answer.deciding is None else (answer.deciding.low, answer.deciding.high)


def _ends_of_95(answer: Answer) -> tuple[float, float] | None:
    """Return the ends of the 95% interval."""
    return None if answer.ends is None else (answer.ends.low, answer.ends.high)


def critical_layer(numbers: Numbers) -> Figure:
    """The critical layer L* by the paper's formula and in the attention trace (Paper 3, figure A2).

    A row is a model. Point: the layer at which the trace of its attention changes most from the
    layer before, the mean over five prompts; pale bar: their population standard deviation. Upright
    bar: the layer that the formula gives from depth and heads. Dashed: half of the depth, L/2. The
    formula's mean error over the models, against that of L/2, decides whether it says more.
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
        title += f"L/2 by {document['half_depth']:.1f}%{_difference_text(numbers)}"
    steady = [numbers.shown(name) for name, row in rows.items() if row["L_star_std"] == 0]
    remark = f"{', '.join(steady)}: all prompts give the same layer." if steady else ""
    figure, (axes,) = style.panels(numbers, title, 0.9 + 0.28 * len(rows), remark)
    names = [f"{numbers.shown(name)}, {row['L']} blocks" for name, row in rows.items()]
    style.category_axis(axes, names)
    axes.axvline(MIDDLE, label="half of the depth, L/2", **signs.REFERENCE)
    _draw_layers(axes, {numbers.shown(name): row["drawn"] for name, row in rows.items()})
    axes.set(xlim=(0, 100), xlabel=quantities.CRITICAL_LAYER, title=f"n = {len(rows)} models")
    signs.legend_below(figure)
    return figure


def _draw_layers(axes: Axes, rows: Mapping[str, Mapping[str, float]]) -> None:
    """Draw a row per model: L* by the formula, and in the trace with its deviation."""
    for place, (name, row) in enumerate(rows.items()):
        style.draw_points(
            axes,
            [name],
            [row["predicted"]],
            [place],
            series="formula",
            in_rows=True,
            marker="|",
            markersize=14,
            markeredgewidth=2.5,
            color=signs.CONTEXT,
            label="L* by the formula",
        )
        mean, deviation = row["empirical"], row["std"]
        style.draw_points(
            axes,
            [name],
            [mean],
            [place],
            x_ends=[(mean - deviation, mean + deviation)],
            series="trace",
            in_rows=True,
            is_spread=True,
            label="L* of the trace, mean over the prompts",
            **signs.series_look(0, 1),
        )


def _difference_text(numbers: Numbers) -> str:
    """Return the interval of the difference of the two errors over the models."""
    answer = numbers.answer("lstar")
    if answer is None or answer.deciding is None:
        return ""
    ends = (style.signed(end, 0) for end in (answer.deciding.low, answer.deciding.high))
    return f" (95% interval of the difference {' to '.join(ends)})"


PEAK: signs.Look = {"color": signs.SINGLED_OUT, "zorder": 3}
SHARE, VARIANCE = "intrinsic_dim_ratio", "eigenvalue_variance"


def anisotropy(numbers: Numbers) -> Figure:
    """How far the states of all tokens crowd into one direction, by layer (notebook 004).

    A point is a layer. Panels: the first principal component's share of the variance, the number
    of dimensions that the states fill (effective rank), and their mean cosine to their mean.
    Black: L*, the layer of the largest share.
    """
    keys = ("n_layers", "n_prompts", "L_star_anisotropy", SHARE)
    model, document = numbers.model("anisotropy", *keys)
    peak, shares = document["L_star_anisotropy"], document[SHARE]
    title = f"The first component holds most of the variance at layer {peak} of "
    title += f"{document['n_layers']}: {share_text(shares[peak])} of it"
    title += _fall_text(shares, document["drawn"]["half_layer"])
    series = {
        key: document[key]
        for key in quantities.ANISOTROPY
        if None not in (document.get(key) or [None])
    }
    remark = f"n: all tokens of {document['n_prompts']} prompts."
    if steepest := document["drawn"].get("steepest_rise"):
        remark += f" The share rises most, by {steepest[1]:.2f}, into layer {steepest[0]}."
    shape = {"n": len(series), "columns": 2 if len(series) == 4 else len(series)}
    figure, panels = style.panels(numbers, title, 2.0, remark, **shape)
    unit = numbers.depth_unit(document["n_layers"])
    for axes, (key, values) in zip(panels, series.items(), strict=True):
        places = [style.place_layer(layer, unit) for layer in range(len(values))]
        axes.plot(places, values, color=signs.ESTIMATE)
        for layer, (place, value) in enumerate(zip(places, values, strict=True)):
            look = signs.series_look(0, 1) | ({"markersize": 2.5} if layer != peak else PEAK)
            style.draw_points(axes, [f"layer {layer}"], [place], [value], **look)
        signs.explain(axes, numbers.names[model], **signs.series_look(0, 1), markersize=2.5)
        signs.explain(axes, f"L*, layer {peak}: largest share", marker=signs.DOT, **PEAK)
        if key == VARIANCE:
            style.log_axis(axes, "y")
        style.layer_axis(axes, range(len(values)), most=6, unit=unit)
        name, label = quantities.ANISOTROPY[key]
        axes.set(ylabel=label, title=name)
    draw_papers_curves(numbers, dict(zip(series, panels, strict=True)))
    return figure


def share_text(value: float) -> str:
    """Return a share with as many digits as tell it from 1."""
    missing = 1 - value
    return f"{value:.{3 if missing <= 0 else max(3, 1 - math.floor(math.log10(missing)))}f}"


def _fall_text(shares: Sequence[float], half: int | None) -> str:
    """Say how the share goes on beyond its peak; the last layer is read after the final norm."""
    last = len(shares) - 1
    if half == last:
        before, after = (share_text(shares[layer]) for layer in (last - 1, last))
        return f"; still {before} at layer {last - 1}, and {after} after the final norm"
    if half is None and max(shares) == shares[last]:
        return ""
    if half is None:
        return ", and more than half of that at every later layer"
    return f", and less than half of that from layer {half} on"
