"""What becomes of the headline claims under other choices."""

from collections import Counter

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from layerwise.analyses.survival import APPEARS, CHOICES, CLAIMS, LOST, SURVIVES
from layerwise.figures import style
from layerwise.figures.numbers import Numbers

COLOURS = {SURVIVES: style.BLUE, LOST: style.RED}
PALE = 0.45  # so that dark and light text can be read on it


def sensitivity(numbers: Numbers) -> Figure:
    """Which claims survive which choice, over the models that show the claim as published.

    Blue: the share of them in which it survives; red: in which it is lost; +n: models in which it
    holds under that choice only. Empty: not tested.
    """
    documents = numbers.models("sensitivity", "rows")
    names = [numbers.names[slug] for slug in documents]
    outcomes: dict[tuple[str, str], Counter[str]] = {}
    for document in documents.values():
        for row in document["rows"]:
            outcomes.setdefault((row["claim"], row["choice"]), Counter())[row["outcome"]] += 1
    shown = {key: found for key, found in outcomes.items() if found[SURVIVES] + found[LOST]}
    lost = [key for key, found in shown.items() if found[LOST]]
    title = f"In {len(shown) - len(lost)} of {len(shown)} tested pairs of claim and choice the "
    title += "claim survives in every model that shows it, "
    title += f"in {sum(not shown[key][SURVIVES] for key in lost)} in none"
    remark = "In a cell: models in which the claim survives / that show it as published; +n: "
    remark += (
        f"models in which it holds under this choice only. Empty: not tested. n = {len(names)}: "
    )
    remark += f"{', '.join(names[:6])}{', ...' if len(names) > 6 else ''}"
    figure, (axes,) = style.panels(numbers, title, 1.5 + 0.3 * len(CLAIMS), remark)
    style.category_axis(axes, [claim.replace("_", "\n") for claim in CLAIMS])
    for row, claim in enumerate(CLAIMS):
        for column, choice in enumerate(CHOICES):
            _cell(axes, column, row, outcomes.get((claim, choice), Counter()))
    words = [choice.replace("_", "\n").replace("multip", "multi-\np") for choice in CHOICES]
    axes.set_xticks(range(len(CHOICES)), words)
    axes.set_xlim(-0.5, len(CHOICES) - 0.5)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return figure


def _cell(axes: Axes, column: int, row: int, found: Counter[str]) -> None:
    held = found[SURVIVES] + found[LOST]
    left = column - 0.47
    for word, colour in COLOURS.items():
        width = 0.94 * found[word] / held if held else 0
        axes.add_patch(Rectangle((left, row - 0.42), width, 0.84, color=colour, alpha=PALE, lw=0))
        left += width
    axes.add_patch(Rectangle((column - 0.47, row - 0.42), 0.94, 0.84, fill=False, ec=style.GREY,
                             lw=0.3))  # fmt: skip
    if found:
        more = f"\n+{found[APPEARS]}" if found[APPEARS] else ""
        axes.text(column, row, f"{found[SURVIVES]}/{held}{more}", ha="center", va="center")
