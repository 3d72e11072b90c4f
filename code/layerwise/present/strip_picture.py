"""The strip as SVG: the estimates of a row for a page, and the whole strip as a file for README."""

import re
import textwrap
from collections.abc import Sequence

from markupsafe import Markup
from markupsafe import escape as escaped

from layerwise.engine.central import Central
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, OPEN
from layerwise.files import revealed
from layerwise.present.strip import (
    Bar,
    bars,
    block,
    count_text,
    deciding_text,
    row_text,
    symbol,
)

# Pixels of the picture of a row: names, the plot, the numbers.
LABELS, PLOT, NUMBERS = 164, 130, 60
GAP, ROW, TEXT = 8, 18, 12
DIAMOND = 6  # from its middle to a corner
# Pixels of the strip: its columns, and lines of its text.
WIDTH, MARK_AT, CLAIM_AT, PICTURE_AT = 940, 92, 148, 570
LINE, SMALL_LINE, MARK_LINE, AROUND = 20, 17, 15, 24
CLAIM_LETTERS, TEXT_LETTERS = 50, 68  # that fit into a line of the claim's column
READING_LETTERS = 150  # that fit into a line below the rows
COLOURS = {
    HOLDS: ("#0b6e99", "#5db6de"),
    IN_PART: ("#9a6200", "#e0a63c"),
    FAILS: ("#b3380c", "#f0875f"),
    OPEN: ("#666666", "#a3a3a3"),
}
WORD_COLOURS = {
    "yes": HOLDS,
    "no": FAILS,
    "undecided": OPEN,
    "no-spread": OPEN,
    "too-few": OPEN,
}
READING = (
    "Dot: an estimate; line: its interval, of 95% unless the row says otherwise; hollow: no "
    "interval; diamond: the printed value. Shaded: where the estimate lies if the claim holds. "
    "Blue: inside; red: outside; grey: open. Below each mark: how many of its printed numbers come "
    "out as printed."
)


def escape(text: str) -> Markup:
    """Return a text as SVG shows it: no element, and what the eye cannot see written out."""
    return escaped(revealed(text))


def bars_svg(drawn: Sequence[Bar]) -> str:
    """Return the estimates of a row as SVG elements, one below the other.

    Colours are classes, which the page or the file around them defines.
    """
    elements = []
    for number, bar in enumerate(drawn):
        top, middle = number * ROW, number * ROW + ROW / 2

        def across(place: float) -> float:
            return round(LABELS + GAP + PLOT * place, 1)

        base = middle + TEXT / 3
        start, end = across(bar.start), across(bar.end)
        elements += [
            f'<rect class="range" x="{start}" y="{top + 1}" width="{end - start:.1f}" '
            f'height="{ROW - 2}"/>',
            f'<text x="{LABELS}" y="{base:g}" text-anchor="end">{escape(bar.label)}</text>',
        ]
        if bar.low is not None and bar.high is not None:
            ends = f'x1="{across(bar.low)}" x2="{across(bar.high)}"'
            elements.append(
                f'<line class="{bar.word}" {ends} y1="{middle:g}" y2="{middle:g}" '
                'stroke-width="2"/>'
            )
        if bar.printed is not None:
            x = across(bar.printed)
            elements.append(
                f'<path class="printed" d="M{x:g} {middle - DIAMOND:g}l{DIAMOND} {DIAMOND}'
                f'-{DIAMOND} {DIAMOND}-{DIAMOND}-{DIAMOND}z"/>'
            )
        hollow = " hollow" if bar.low is None else ""
        elements += [
            f'<circle class="{bar.word}{hollow}" cx="{across(bar.at)}" cy="{middle:g}" r="3.6"/>',
            f'<text class="{bar.word}" x="{LABELS + PLOT + 2 * GAP}" y="{base:g}">'
            f"{escape(bar.number)}</text>",
        ]
    return "".join(elements)


def row_picture(claim: Central) -> str:
    """Return the picture of a row, for a page that defines its colours; empty without estimates."""
    if not claim.points:
        return ""
    width, height = LABELS + PLOT + NUMBERS + 2 * GAP, ROW * len(claim.points)
    return (
        f'<svg class="bars" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(deciding_text(claim))}" font-size="{TEXT}">'
        f"{bars_svg(bars(claim))}</svg>"
    )


def strip_svg(claims: Sequence[Central]) -> str:
    """Return rows of the strip as an SVG file, for light and dark backgrounds."""
    rows, top, heading = [], 0, ""
    for claim in claims:
        lines = textwrap.wrap(claim.claim, CLAIM_LETTERS)
        below = [
            line
            for text in (claim.number, row_text(claim))
            for line in textwrap.wrap(text, TEXT_LETTERS)
        ]
        text_height = LINE * len(lines) + SMALL_LINE * len(below)
        picture_height = ROW * len(claim.points)
        below_mark = [claim.mark, claim.why, count_text(claim) if claim.compared else ""]
        below_mark = [*filter(None, below_mark)]
        mark_height = MARK_LINE * (1 + len(below_mark))
        height = max(text_height, picture_height, mark_height) + AROUND
        middle = top + height / 2
        rows.append(f'<line class="rule" x1="0" x2="{WIDTH}" y1="{top}" y2="{top}"/>')
        if block(claim) != heading:
            heading = block(claim)
            rows.append(f'<text class="quiet" x="0" y="{middle:g}">{heading}</text>')
        mark = claim.mark.replace(" ", "-")
        base = middle - mark_height / 2 + MARK_LINE
        rows.append(f'<text class="mark {mark}" x="{MARK_AT}" y="{base:g}">{symbol(claim)}</text>')
        for n, words in enumerate(below_mark):
            base += MARK_LINE
            ink = "quiet" if n else mark
            rows.append(
                f'<text class="{ink}" x="{MARK_AT}" y="{base:g}" text-anchor="middle">'
                f"{words}</text>"
            )
        base = middle - text_height / 2 - 4
        for words in lines:
            base += LINE
            rows.append(f'<text class="claim" x="{CLAIM_AT}" y="{base:g}">{raised(words)}</text>')
        for words in below:
            base += SMALL_LINE
            rows.append(f'<text class="quiet" x="{CLAIM_AT}" y="{base:g}">{escape(words)}</text>')
        place = f"translate({PICTURE_AT} {middle - picture_height / 2:g})"
        rows.append(f'<g transform="{place}">{bars_svg(bars(claim))}</g>')
        top += height
    for words in textwrap.wrap(READING, READING_LETTERS):
        top += SMALL_LINE
        rows.append(f'<text class="quiet" x="0" y="{top + 3}">{words}</text>')
    about = "; ".join(f"{claim.claim}: {claim.mark}" for claim in claims)
    size = f'viewBox="0 -4 {WIDTH} {top + 12}" width="{WIDTH}" height="{top + 12}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(about)}" '
        f'font-family="system-ui, sans-serif" font-size="{TEXT}">'
    )
    return f"{head}<style>{_style()}</style>{''.join(rows)}</svg>\n"


def raised(words: str) -> str:
    """Return words as SVG text, their exponents raised and their indices lowered."""
    text = str(escape(words))
    text = re.sub(r"\^\(([\w/]+)\)", _shifted(-5), text)
    return re.sub(r"\bW_([QKVO])\b", f"W{_shifted(4)}", text)


def _shifted(by: int) -> str:
    """The first group of a pattern, moved down by so many pixels; what follows is not."""
    return rf'<tspan dy="{by}" font-size="11">\1</tspan><tspan dy="{-by}">&#8203;</tspan>'


def _style() -> str:
    """Colours of light and of dark backgrounds."""

    def inks(side: int) -> str:
        colours = {mark: pair[side] for mark, pair in COLOURS.items()}
        colours |= {word: COLOURS[mark][side] for word, mark in WORD_COLOURS.items()}
        rules = [
            f".{name.replace(' ', '-')}{{fill:{ink};stroke:{ink}}}" for name, ink in colours.items()
        ]
        ground, text, quiet, rule, shade = (
            ("#fff", "#1c1c1c", "#555", "#ddd", "#dcecf3"),
            ("#0d1117", "#e6e6e6", "#a8a8a8", "#3a3f47", "#1d3a4a"),
        )[side]
        return (
            f"text{{fill:{text}}}{''.join(rules)}text{{stroke:none!important}}.claim{{fill:{text}}}"
            f".quiet{{fill:{quiet}}}.rule{{stroke:{rule}}}.range{{fill:{shade}}}"
            f".hollow{{fill:{ground}}}.printed{{fill:none;stroke:{text}}}"
        )

    fixed = ".claim{font-weight:600;font-size:15px}.mark{font-size:20px;text-anchor:middle}"
    return f"{inks(0)}{fixed}@media(prefers-color-scheme:dark){{{inks(1)}}}"
