"""Paper 3: gains of the second-last block, by depth and by lab."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.engine.question import NO
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
    (Student's). Black diamonds: below one; blue: above; grey and hollow: the interval includes one.
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
