"""Paper 3: gains of the second-last block, by depth and by lab."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from layerwise.engine.published import OVER_MODELS, answers_by_model
from layerwise.engine.questions.question import PUBLISHED
from layerwise.papers.shared.terms import ELEUTHER, OTHERS, depth_bound
from layerwise.present.figures import style
from layerwise.present.figures.numbers import Numbers

FAMILY = "pythia-"  # begins the names of the sizes
SURVEY = "depth_gain_of_survey"  # the question
# By group: on which side of one the paper has its models, and its claim on their share.
CLAIMED = {
    ELEUTHER: ("below 1", "p3.heritage.eleuther_dampen"),
    OTHERS: ("above 1", "p3.heritage.others_expand"),
}


def depth_gain(numbers: Numbers) -> Figure:
    """Gain of the eight Pythia sizes against depth, with the claimed bound (Paper 3, figures 1, A3
    and A4).

    Means over the prompts with their 95% intervals (Student's), and the curve 10^(1/L); red: above
    the bound.
    """
    document = numbers.document("depth_gain", "family", "models", "drawn/above_bound")
    sizes = numbers.having(
        "depth_gain",
        {row["model"].removeprefix(FAMILY).upper(): row for row in document["models"]},
        *("n_layers", "residual_gain_mean"),
    )
    drawn = document["drawn"]
    over = [name.removeprefix(FAMILY).upper() for name in drawn["above_bound"]]
    title = f"Over {len(sizes)} Pythia sizes {_law(numbers, 'depth_gain')}; "
    title += f"above the claimed bound: {', '.join(over) or 'none'}"
    remark = f"Gain of the second-last block. Over the survey {_law(numbers, SURVEY)}."
    figure, (axes,) = style.panels(numbers, title, 3.2, remark)
    ends = {name: drawn["interval"].get(row["model"]) for name, row in sizes.items()}
    _against_depth(axes, sizes, ends, over)
    return figure


def _law(numbers: Numbers, question: str) -> str:
    """The correlation of depth and gain with its interval, in words."""
    asked = answers_by_model(numbers.statistics, question)
    answer = asked.get(OVER_MODELS, {}).get(PUBLISHED)
    if answer is None:
        return "no correlation of depth and gain is known"
    r = f"the correlation of depth and gain is {style.signed(answer['value'], 2)}"
    if answer["low"] is None:
        return r
    return f"{r} ({style.signed(answer['low'], 2)} to {style.signed(answer['high'], 2)})"


def _against_depth(
    axes: Axes,
    sizes: Mapping[str, Any],
    intervals: Mapping[str, Sequence[float] | None],
    over: list[str],
) -> None:
    bound_by_depth(axes)
    means = {name: (of["n_layers"], of["residual_gain_mean"]) for name, of in sizes.items()}
    for name, at in means.items():
        colour = style.RED if name in over else style.BLUE
        if ends := intervals[name]:
            axes.vlines(at[0], ends[0], ends[1], color=colour)
        axes.plot(*at, "D" if name in over else "o", color=colour)
    axes.set_xlim(3, 42)
    ends = [end for found in intervals.values() for end in found or ()]
    ends += [mean for _, mean in means.values()]
    axes.set_ylim(min(0.85, min(ends) - 0.03), max(1.42, max(ends) + 0.03))
    axes.set(ylabel="gain: mean over the prompts", title=f"n = {len(sizes)} sizes")
    style.name_points(axes, means)


def bound_by_depth(axes: Axes, deepest: int = 40) -> None:
    """The claimed bound, and the gain that neither damps nor expands."""
    depths = range(4, deepest + 1)
    axes.plot(depths, [depth_bound(at) for at in depths], color=style.GREY)
    axes.annotate(r"$10^{1/L}$", (8, depth_bound(8)), (4, 4), textcoords="offset points")
    axes.axhline(1, **style.REFERENCE)
    axes.set_xlabel("depth $L$ (blocks)")


def lab_heritage(numbers: Numbers) -> Figure:
    """Which models damp, by lab (Paper 3, section 4.2 and figure 2).

    Left: the mean gain of every model of the paper's survey with its 95% interval over the prompts
    (Student's); red: below one, blue: above, grey and hollow: the interval includes one. Right: the
    share of models that lie where the paper says, with its exact 95% interval (Clopper and
    Pearson); the diamond is the share that the paper prints.
    """
    keys = ("tested_results", "drawn/models", "drawn/shares")
    document = numbers.document("lab_heritage", "hunt", *keys)
    tested = {row["model"].split("/")[-1]: row for row in document["tested_results"]}
    drawn = document["drawn"]
    labs = {name: row["lab"] for name, row in tested.items() if name in drawn["models"]}
    shares, fisher = drawn["shares"], document.get("fisher", {}).get("p")
    counted = [f"{of['below']} of {of['n']} models of {name}" for name, of in shares.items()]
    title = f"Mean gain is below 1 in {' and '.join(counted)}"
    if fisher is not None:
        title += f"; Fisher's p = {fisher:.3f}{_of_fisher(numbers)}"
    n = drawn.get("n_prompts")
    remark = f"Gain of the second-last block; n = {n} prompts each." if n else ""
    shape: dict[str, Any] = {"columns": 2, "width_ratios": (3, 2)}
    figure, (left, right) = style.panels(numbers, title, 1.0 + 0.16 * len(labs), remark, **shape)
    _by_lab(left, numbers, drawn["models"], labs)
    printed = {one["id"]: one["published"] for one in numbers.claims}
    _shares(right, shares, printed)
    return figure


def _of_fisher(numbers: Numbers) -> str:
    """The range of p as the models are counted whose intervals include one."""
    asked = answers_by_model(numbers.statistics, "heritage")
    answer = asked.get(OVER_MODELS, {}).get(PUBLISHED)
    if answer is None or answer["low"] is None:
        return ""
    return f" ({answer['low']:.3f} to {answer['high']:.2f} as the undecided are counted)"


def _by_lab(
    axes: Axes, numbers: Numbers, models: Mapping[str, Any], labs: Mapping[str, str]
) -> None:
    """A row per model: EleutherAI's on top, the labs apart, by gain within a lab."""
    order = sorted(labs, key=lambda name: (labs[name] != ELEUTHER, labs[name],
                                           models[name]["gain"]))  # fmt: skip
    for row, name in enumerate(order):
        gain, ends = models[name]["gain"], models[name].get("interval")
        clear = bool(ends) and not ends[0] <= 1 <= ends[1]
        colour = style.GREY if not clear else style.RED if gain < 1 else style.BLUE
        if ends:
            axes.hlines(row, *ends, color=colour)
        look: dict[str, Any] = {} if clear else {"mfc": "none"}
        axes.plot(gain, row, "D" if gain < 1 else "o", color=colour, markersize=4, **look)
        if row and labs[name] != labs[order[row - 1]]:
            axes.axhline(row - 0.5, color=style.GREY, linewidth=0.5)
    style.category_axis(axes, [f"{numbers.shown(name)} ({labs[name]})" for name in order])
    axes.axvline(1, **style.REFERENCE)
    axes.set(xlabel="mean gain", title=f"n = {len(order)} models")
    axes.grid(visible=False, axis="y")


def _shares(
    axes: Axes, shares: Mapping[str, Mapping[str, float]], printed: Mapping[str, float | None]
) -> None:
    for row, (group, of) in enumerate(shares.items()):
        axes.hlines(row, of["low"], of["high"], color=style.BLUE, linewidth=2)
        axes.plot(of["value"], row, "o", color=style.BLUE, label="recomputed" if not row else None)
        claimed = printed.get(CLAIMED[group][1])
        if claimed is not None:
            axes.plot(claimed, row - 0.22, "D", color=style.RED, mfc="none",
                      label="as printed" if not row else None)  # fmt: skip
    names = [f"{group}:\n{CLAIMED[group][0]}\nn = {of['n']}" for group, of in shares.items()]
    style.category_axis(axes, names)
    axes.set(xlim=(-5, 105), xlabel="models (%)", title="share as claimed")
    axes.legend(loc="lower left")
