"""The strip as a picture: a row for a page, and the whole as a file for README and as a figure."""

import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from layerwise.engine.answer_words import NO, YES
from layerwise.engine.central import Central
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, OPEN
from layerwise.present.elements import (
    Circle,
    Element,
    Look,
    Rect,
    Segment,
    Text,
    draw_elements,
    svg,
    svg_text,
)
from layerwise.present.range_picture import (
    CAP,
    DOT,
    GAP,
    LOWER,
    ROW,
    SMALL_DOT,
    TEXT,
    UPPER,
    RangePicture,
    draw_diamond,
    draw_range,
    inline_svg,
)
from layerwise.present.strip import block, count_text, deciding_text, picture, row_text, symbol

LABELS, PLOT, NUMBERS = 178, 106, 166  # pixels of a row on the page: names, axis, numbers
ACROSS = LABELS + GAP + PLOT + 2 * GAP + NUMBERS
STACKED, BESIDE = 330, 10  # pixels: the axis of a row on a phone, and the room at its ends
HEADING, LINE, SMALL_LINE, MARK_LINE, AROUND = 26, 20, 17, 15, 20  # heights, in pixels
MARK, CLAIM = 48, 104  # pixels: the middle of the column of marks, the left of the claims
MARGIN = 8  # pixels to the right: another font may be wider
MARK_LETTERS = 14  # of a line below a mark
CLAIM_LETTER, TEXT_LETTER = 9.0, 6.7  # pixels: the mean width of a letter of a claim, of a text
COLOURS = {
    HOLDS: ("#0b6e99", "#5db6de"),
    IN_PART: ("#9a6200", "#e0a63c"),
    FAILS: ("#b3380c", "#f0875f"),
    OPEN: ("#666666", "#a3a3a3"),
}
WORD_COLOURS = {YES: HOLDS, NO: FAILS}
# What is drawn, and what it means, in the order of the legend.
LEGEND = {
    "thick": "the number with its 95% interval, as the paper takes it",
    "thin": "the interval that decides, where it is another",
    "back": "beside it: other models",
    "hollow": "a number without an interval",
    "printed": "above the line: the printed value",
    "range": "where the number lies if the claim holds",
}
READING = (
    "Blue: inside; red: outside; grey: open. The thin interval is computed over categories, "
    "prompts or models, and widened where several are tested at once; a claim that needs weights "
    "has none. Below each mark: how many of the numbers printed for the claim come out again."
)


@dataclass(frozen=True)
class Layout:
    """The sizes of a strip, in pixels.

    Attributes:
        labels, plot, numbers: of the names, the axis and the numbers of a row's estimates.
        beside: whether these stand to the right of the claim; else below it, stacked.
    """

    width: int
    labels: int = 0
    plot: int = STACKED
    numbers: int = 0
    beside: bool = True

    @property
    def across(self) -> int:
        """The width of the estimates of a row."""
        return self.labels + GAP + self.plot + 2 * GAP + self.numbers

    @property
    def text(self) -> int:
        """The width of a claim's text."""
        return self.width - CLAIM - (self.across + 2 * GAP if self.beside else 0)


WIDE = Layout(960, labels=178, plot=120, numbers=166)
PHONE = Layout(STACKED + 2 * BESIDE, beside=False)
PRINTED = Layout(930, labels=166, plot=90, numbers=172)


def row_picture(claim: Central) -> str:
    """Return the picture of a row twice, wide and for a phone; empty without estimates.

    The page defines its colours, and which of the two it shows.
    """
    return row_svg(picture(claim), claim.id, deciding_text(claim)) if claim.points else ""


def row_svg(drawn: RangePicture, name: str, about: str) -> str:
    """Return a picture of estimates twice, wide and for a phone, read aloud once.

    Arguments:
        name: of the picture, by which `repeat_picture` shows that of a phone again.
        about: what it shows.
    """
    name = svg_text(name)
    narrow = svg(draw_range(drawn, plot=STACKED, left=BESIDE, stacked=True))
    wide = inline_svg(
        svg(draw_range(drawn, labels=LABELS, plot=PLOT)), ACROSS, drawn.height(), kind="wide"
    )
    # the style of the page reaches a repeated part by its own class alone
    phone = _phone_svg(drawn, f'<g class="bars" id="phone-{name}">{narrow}</g>')
    said = f'id="drawn-{name}" role="img" aria-label="{svg_text(about)}"'
    return f"<div {said}>{wide}{phone}</div>"


def repeat_picture(claim: Central) -> str:
    """Return the picture of a phone for another place on a page that has it; may be empty."""
    if not claim.points:
        return ""
    name = svg_text(claim.id)
    repeated = _phone_svg(picture(claim), f'<use href="#phone-{name}"/>')
    return f'<div role="img" aria-labelledby="drawn-{name}">{repeated}</div>'


def _phone_svg(drawn: RangePicture, content: str) -> str:
    return inline_svg(content, PHONE.width, drawn.height(stacked=True), kind="phone")


def legend_signs() -> list[tuple[str, str]]:
    """Return every sign of the pictures as SVG with what it means, for a page."""
    return [
        (inline_svg(svg(_draw_sign(kind, 0, 7)), 20, 14), meaning)
        for kind, meaning in LEGEND.items()
    ]


def draw_strip(claims: Sequence[Central], layout: Layout) -> tuple[list[Element], float]:
    """Return the elements of a strip, and its height."""
    elements, height = draw_legend(layout.width)
    top = height + GAP
    for heading, group in groupby(claims, key=block):
        elements.append(Text(0, top + LINE - 2, heading, "heading"))
        top += HEADING
        for claim in group:
            elements.append(Segment(0, top, layout.width, top, "rule"))
            row, height = _draw_row(claim, layout, top)
            elements += row
            top += height
    elements.append(Segment(0, top, layout.width, top, "rule"))
    return elements, top + GAP / 2


def _draw_row(claim: Central, layout: Layout, top: float) -> tuple[Iterator[Element], float]:
    """Return the elements of a claim, and the height of its row."""
    drawn = picture(claim) if claim.points else None
    lines = textwrap.wrap(claim.claim, int(layout.text / CLAIM_LETTER) - 1)
    below = [
        line
        for text in (claim.number, row_text(claim))
        for line in textwrap.wrap(text, int(layout.text / TEXT_LETTER))
    ]
    text_height = LINE * len(lines) + SMALL_LINE * len(below)
    picture_height = drawn.height(stacked=not layout.beside) if drawn else 0
    counted = [count_text(claim), "as printed"] if claim.compared else []
    marked = [claim.mark, *textwrap.wrap(claim.why, MARK_LETTERS), *counted]
    mark_height = ROW + MARK_LINE * len(marked)
    beside = layout.beside
    inner = max(text_height, mark_height, picture_height if beside else 0)
    height = AROUND + inner + (0 if beside else picture_height + GAP)

    def elements() -> Iterator[Element]:
        middle = top + (AROUND + inner) / 2
        mark = claim.mark.replace(" ", "-")
        base = middle - mark_height / 2 + ROW - 3
        yield Text(MARK, base, symbol(claim), f"mark {mark}", anchor="middle")
        for number, words in enumerate(marked):
            base += MARK_LINE
            yield Text(MARK, base, words, "quiet" if number else mark, anchor="middle")
        base = middle - text_height / 2 - 4
        for words in lines:
            base += LINE
            yield Text(CLAIM, base, words, "claim")
        for words in below:
            base += SMALL_LINE
            yield Text(CLAIM, base, words, "quiet")
        if drawn:
            left = layout.width - layout.across if beside else BESIDE
            start = middle - picture_height / 2 if beside else top + AROUND / 2 + inner + GAP
            sizes = {"labels": layout.labels, "plot": layout.plot}
            yield from draw_range(drawn, **sizes, left=left, top=start, stacked=not beside)

    return elements(), height


def draw_legend(width: float) -> tuple[list[Element], float]:
    """Return the legend's elements, as many beside one another as fit, and its height."""
    x, height = 0.0, SMALL_LINE
    elements: list[Element] = []
    for kind, meaning in LEGEND.items():
        across = 26 + len(meaning) * TEXT_LETTER + 2 * GAP
        if x and x + across > width:
            x, height = 0.0, height + SMALL_LINE
        middle = height - SMALL_LINE / 2
        elements += [*_draw_sign(kind, x, middle), Text(x + 26, middle + 4, meaning, "quiet")]
        x += across
    for words in textwrap.wrap(READING, int(width / TEXT_LETTER)):
        elements.append(Text(0, height + TEXT, words, "quiet"))
        height += SMALL_LINE
    return elements, height


def _draw_sign(kind: str, x: float, middle: float) -> Iterator[Element]:
    """Yield what a line of the legend explains, 20 pixels wide."""
    centre = x + 10
    if kind == "range":
        yield Rect(x, middle - 6, 20, 12, "range")
        yield Segment(x + 20, middle - 6, x + 20, middle + 6, "limit")
        return
    if kind == "printed":
        lower = middle + UPPER - 1
        yield draw_diamond(centre, lower - LOWER - UPPER)
        yield Segment(x, lower, x + 20, lower, f"{OPEN} thick")
        return
    if kind == "hollow":
        yield Circle(centre, middle, DOT, f"{OPEN} hollow")
        return
    line = "thick back" if kind == "back" else kind
    yield Segment(x, middle, x + 20, middle, f"{OPEN} {line}")
    if kind == "thin":
        for end in (x, x + 20):
            yield Segment(end, middle - CAP, end, middle + CAP, f"{OPEN} thin")
    yield Circle(centre, middle, SMALL_DOT if kind == "back" else DOT, OPEN)


def strip_svg(claims: Sequence[Central], layout: Layout = WIDE) -> str:
    """Return rows of the strip as an SVG file, for light and dark backgrounds."""
    elements, height = draw_strip(claims, layout)
    about = "; ".join(f"{claim.claim}: {claim.mark}" for claim in claims)
    return svg_file(elements, layout.width + MARGIN, height, about)


def svg_file(elements: Iterable[Element], width: float, height: float, about: str) -> str:
    """Return elements as an SVG file, for light and dark backgrounds.

    Arguments:
        about: what is read aloud.
    """
    width, height = round(width), round(height)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{svg_text(about)}" '
        f'font-family="system-ui, sans-serif" font-size="{TEXT}">'
    )
    return f"{head}<style>{_style()}</style>{svg(elements)}</svg>\n"


def strip_pdf(claims: Sequence[Central], layout: Layout = PRINTED) -> bytes:
    """Return rows of the strip as a PDF of the papers' text width."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    from layerwise.present.figures.style import UNDATED, WIDTH, house_style

    elements, height = draw_strip(claims, layout)
    written = io.BytesIO()
    with house_style():
        figure = Figure(figsize=(WIDTH, WIDTH * height / layout.width))
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, layout.width), ylim=(height, 0))
        axes.set_axis_off()
        draw_elements(axes, elements, looks(0))
        FigureCanvasPdf(figure).print_pdf(written, metadata=UNDATED)
    return written.getvalue()


# --- colours --------------------------------------------------------------------------------------

LIGHT = {"ground": "#fff", "text": "#1c1c1c", "quiet": "#555", "rule": "#ddd", "range": "#dcecf3"}
DARK = {
    "ground": "#0d1117",
    "text": "#e6e6e6",
    "quiet": "#a8a8a8",
    "rule": "#3a3f47",
    "range": "#1d3a4a",
}


def looks(side: int) -> dict[str, Look]:
    """Return the CSS of every kind of element, on light (0) or dark (1); later kinds win."""
    ground = (LIGHT, DARK)[side]
    marks = {mark.replace(" ", "-"): pair[side] for mark, pair in COLOURS.items()}
    inks = marks | {word: COLOURS[mark][side] for word, mark in WORD_COLOURS.items()}
    text, quiet = {"fill": ground["text"]}, {"fill": ground["quiet"]}
    line = {"stroke": ground["quiet"]}
    return {
        "text": text,
        **{kind: {"fill": ink, "stroke": ink} for kind, ink in inks.items()},
        "claim": text | {"font-weight": "bold", "font-size": "15px"},
        "heading": text | {"font-size": "13px"},
        "mark": {"font-size": "20px"},
        "quiet": quiet,
        "tick": quiet,
        "rule": {"stroke": ground["rule"]},
        "range": {"fill": ground["range"]},
        "axis": line,
        "limit": line | {"stroke-dasharray": "2 2"},
        "zero": line | {"stroke-opacity": "0.35"},
        "beside": line | {"stroke-width": "1.4"},
        "hit": {"fill": "transparent"},
        "hollow": {"fill": ground["ground"]},
        "random-draw": {"fill": "none", "stroke": ground["quiet"]},
        "printed": {"fill": "none", "stroke": ground["text"]},
        "thick": {"stroke-width": "4"},
        "back": {"stroke-width": "2.5"},
        "thin": {"stroke-width": "1.2"},
    }


def _style() -> str:
    """Return the style of the file, for light and for dark backgrounds."""
    light, dark = (
        f"svg{{background:{ground['ground']}}}"
        + "".join(
            f"{'' if kind == 'text' else '.'}{kind}"
            f"{{{';'.join(f'{name}:{value}' for name, value in look.items())}}}"
            for kind, look in looks(side).items()
        )
        + "text{stroke:none!important}"
        for side, ground in enumerate((LIGHT, DARK))
    )
    return f"{light}@media(prefers-color-scheme:dark){{{dark}}}"
