"""Figures of Paper 3: gains by depth and lab, what weights and traces give, the anisotropy."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.engine.answer_words import NO
from layerwise.engine.published import PUBLISHED, answers_by_model
from layerwise.papers.shared.terms import ELEUTHER, depth_bound
from layerwise.present.figures import style
from layerwise.present.figures.numbers import NothingToDraw, Numbers

FAMILY = "pythia-"  # begins the names of the sizes
SURVEY = "depth_gain_of_survey"  # the question


def depth_gain(numbers: Numbers) -> Figure:
    """Gain against depth, with the claimed bound, in the Pythia sizes and in the survey (Paper 3,
    figures 1, A3 and A4).

    Means over the prompts with their 95% intervals (Student's), and the curve 10^(1/L). Red: the
    whole interval lies above the bound.
    """
    document = numbers.document("depth_gain", "family", "models", "drawn/interval")
    sizes = numbers.having(
        "depth_gain",
        {row["model"].removeprefix(FAMILY).upper(): row for row in document["models"]},
        *("n_layers", "residual_gain_mean"),
    )
    family = {
        name: Gain(
            row["n_layers"],
            row["residual_gain_mean"],
            document["drawn"]["interval"].get(row["model"]),
            _exceeds(numbers, row["model"]),
        )
        for name, row in sizes.items()
    }
    survey = _survey(numbers)
    over = [f"Pythia-{name}" for name, gain in family.items() if gain.exceeds]
    over += [name for name, gain in survey.items() if gain.exceeds]
    title = f"r of depth and gain is {_law(numbers, 'depth_gain')} over "
    title += f"{len(sizes)} Pythia sizes"
    shown = [("Pythia sizes", family)]
    if survey:
        title += f", {_law(numbers, SURVEY)} over {len(survey)} survey models"
        shown += [("models of the survey", survey)]
    title += f"; above the bound: {', '.join(over) or 'none'}"
    remark = "Gain of the second-last block."
    shape: dict[str, Any] = {"columns": len(shown), "sharey": True}
    figure, panels = style.panels(numbers, title, 2.9, remark, **shape)
    for axes, (words, gains) in zip(panels, shown, strict=True):
        _against_depth(axes, gains)
        axes.set_title(f"n = {len(gains)} {words}")
    for axes in filter(style.in_first_column, panels):
        axes.set_ylabel("gain: mean over the prompts")
    ends = [end for _, gains in shown for gain in gains.values() for end in gain.ends]
    panels[0].set_ylim(min(0.85, min(ends) - 0.03), max(1.42, max(ends) + 0.03))
    for axes, (_, gains) in zip(panels, shown, strict=True):
        style.name_points(
            axes,
            {
                name: (gain.depth, gain.mean)
                for name, gain in gains.items()
                if gain.exceeds or gains is family
            },
        )
    return figure


@dataclass(frozen=True)
class Gain:
    """The mean gain of a model.

    Attributes:
        depth: blocks.
        interval: 95%, over the prompts; None with a single prompt.
        exceeds: whether the whole interval lies above the claimed bound.
    """

    depth: int
    mean: float
    interval: Sequence[float] | None
    exceeds: bool

    @property
    def ends(self) -> Sequence[float]:
        """The numbers that an axis has to show."""
        return self.interval or (self.mean,)


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
    return answer is not None and answer["word"] == NO


def _law(numbers: Numbers, question: str) -> str:
    """Return the correlation of depth and gain with its interval."""
    answer = numbers.answer(question)
    if answer is None:
        return "unknown"
    return style.signed_interval(answer["value"], (answer["low"], answer["high"]))


def _against_depth(axes: Axes, gains: Mapping[str, Gain]) -> None:
    bound_by_depth(axes)
    looks: dict[bool, dict[str, Any]] = {
        False: {"marker": "o", "color": style.BLUE},
        True: {"marker": "D", "color": style.RED},
    }
    for exceeds, look in looks.items():
        drawn = {name: gain for name, gain in gains.items() if gain.exceeds == exceeds}
        style.draw_points(
            axes,
            [*drawn],
            [gain.depth for gain in drawn.values()],
            [gain.mean for gain in drawn.values()],
            y_ends=[gain.interval for gain in drawn.values()],
            **look,
        )
    axes.set_xlim(3, 42)


def bound_by_depth(axes: Axes, deepest: int = 40) -> None:
    """Draw the claimed bound, and the gain that neither damps nor expands."""
    depths = range(4, deepest + 1)
    axes.plot(depths, [depth_bound(at) for at in depths], color=style.GREY)
    axes.annotate(r"$10^{1/L}$", (8, depth_bound(8)), (4, 4), textcoords="offset points")
    axes.axhline(1, **style.REFERENCE)
    axes.set_xlabel("depth $L$ (blocks)")


def lab_heritage(numbers: Numbers) -> Figure:
    """Which models damp, by lab (Paper 3, section 4.2 and figure 2).

    The mean gain of every model of the paper's survey with its 95% interval over the prompts
    (Student's). Diamonds: below one; blue: above; grey and hollow: the interval includes one.
    """
    keys = ("tested_results", "drawn/models", "drawn/counts")
    document = numbers.document("lab_heritage", "hunt", *keys)
    tested = {row["model"].split("/")[-1]: row for row in document["tested_results"]}
    drawn = document["drawn"]
    labs = {name: row["lab"] for name, row in tested.items() if name in drawn["models"]}
    fisher = document.get("fisher", {}).get("p")
    counted = [
        f"{counts['below']} of {counts['n']} models of {name}"
        for name, counts in drawn["counts"].items()
    ]
    title = f"Mean gain is below 1 in {' and '.join(counted)}"
    if fisher is not None:
        title += f"; Fisher's p = {fisher:.3f}{_of_fisher(numbers)}"
    n = drawn.get("n_prompts")
    remark = f"Gain of the second-last block; n = {n} prompts each." if n else ""
    figure, (axes,) = style.panels(numbers, title, 1.0 + 0.15 * len(labs), remark)
    _by_lab(axes, numbers, drawn["models"], labs)
    return figure


def _of_fisher(numbers: Numbers) -> str:
    """Return the range of p as the models are counted whose intervals include one."""
    answer = numbers.answer("heritage")
    if answer is None or answer["low"] is None:
        return ""
    return f" ({answer['low']:.3f} to {answer['high']:.2f} as the undecided are counted)"


def _by_lab(
    axes: Axes, numbers: Numbers, models: Mapping[str, Any], labs: Mapping[str, str]
) -> None:
    """Draw a row per model: EleutherAI's on top, the labs apart, by gain within a lab."""
    order = sorted(
        labs, key=lambda name: (labs[name] != ELEUTHER, labs[name], models[name]["gain"])
    )
    for row, name in enumerate(order):
        gain, ends = models[name]["gain"], models[name].get("interval")
        clear = bool(ends) and not ends[0] <= 1 <= ends[1]
        colour = style.GREY if not clear else style.INK if gain < 1 else style.BLUE
        look: dict[str, Any] = {"marker": "D" if gain < 1 else "o", "color": colour}
        style.draw_points(
            axes,
            [numbers.shown(name)],
            [gain],
            [row],
            x_ends=[ends],
            series=labs[name],
            in_rows=True,
            markersize=4,
            mfc=colour if clear else "none",
            **look,
        )
    style.category_axis(axes, [numbers.shown(name) for name in order])
    _shade_labs(axes, [labs[name] for name in order])
    axes.axvline(1, **style.REFERENCE)
    axes.set(xlabel="mean gain", title=f"n = {len(order)} models")
    axes.grid(visible=False, axis="y")


def _shade_labs(axes: Axes, labs: Sequence[str]) -> None:
    """Shade the rows of every second lab, and name each beside its rows."""
    beside = axes.get_yaxis_transform()
    for number, lab in enumerate(dict.fromkeys(labs)):
        first, n = labs.index(lab), labs.count(lab)
        if number % 2 == 0:
            span = first - 0.5, first + n - 0.5
            axes.axhspan(*span, color=style.GREY, alpha=0.12, linewidth=0, zorder=0)
        axes.text(1.01, first + (n - 1) / 2, lab, transform=beside, va="center", color=style.GREY)


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
    population standard deviation over five prompts (point). Dashed: L/2. Diamond: the largest
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


SERIES = {
    "intrinsic_dim_ratio": ("first-PC share", "share of variance"),
    "effective_rank": ("effective rank", "dimensions"),
    "avg_cos_sim": ("mean cosine to the mean", "cosine"),
    "eigenvalue_variance": ("eigenvalue variance", "variance"),
}
PEAK: dict[str, Any] = {"marker": "D", "color": style.INK}
OTHER: dict[str, Any] = {"marker": ".", "color": style.BLUE}
SHARE, VARIANCE = "intrinsic_dim_ratio", "eigenvalue_variance"


def anisotropy(numbers: Numbers) -> Figure:
    """Measures of anisotropy over all layers (notebook 004).

    Diamond: L*, the layer of the largest share of the first principal component.
    """
    keys = ("n_layers", "n_prompts", "L_star_anisotropy", SHARE)
    model, document = numbers.model("anisotropy", *keys)
    peak, shares = document["L_star_anisotropy"], document[SHARE]
    title = f"The first component holds most of the variance at layer {peak} of "
    title += f"{document['n_layers']}: {told_from_one(shares[peak])} of it"
    title += _fall(shares, document["drawn"]["half_layer"])
    series = {key: document[key] for key in SERIES if None not in (document.get(key) or [None])}
    remark = f"{numbers.names[model]}; n: all tokens of {document['n_prompts']} prompts. "
    remark += f"Diamond: layer {peak}."
    if steepest := document["drawn"].get("steepest_rise"):
        remark += f" It rises most, by {steepest[1]:.2f}, into layer {steepest[0]}."
    remark += f" {style.FINAL_NORM} {numbers.grey}"
    shape = {"n": len(series), "columns": 2 if len(series) == 4 else len(series)}
    figure, panels = style.panels(numbers, title, 2.0, remark, **shape)
    for axes, (key, values) in zip(panels, series.items(), strict=True):
        axes.plot(values, color=style.BLUE)
        for layer, value in enumerate(values):
            look = PEAK if layer == peak else OTHER
            style.draw_points(axes, [f"layer {layer}"], [layer], [value], **look)
        if key == VARIANCE:
            style.log_axis(axes, "y")
        style.layer_axis(axes, range(len(values)), most=6)
        name, unit = SERIES[key]
        axes.set(ylabel=unit, title=name)
    style.draw_papers_curves(numbers, dict(zip(series, panels, strict=True)), document["n_layers"])
    return figure


def told_from_one(value: float) -> str:
    """Return a share with as many digits as tell it from 1."""
    missing = 1 - value
    return f"{value:.{3 if missing <= 0 else max(3, 1 - math.floor(math.log10(missing)))}f}"


def _fall(shares: Sequence[float], half: int | None) -> str:
    """Say how the share goes on beyond its peak; the last layer is read after the final norm."""
    last = len(shares) - 1
    if half == last:
        before, after = (told_from_one(shares[layer]) for layer in (last - 1, last))
        return f"; still {before} at layer {last - 1}, and {after} behind the final norm"
    if half is None and max(shares) == shares[last]:
        return ""
    if half is None:
        return ", and more than half of that at every later layer"
    return f", and less than half of that from layer {half} on"
