"""A badge with how the central claims fare, for the papers' own README: SVG without a server."""

from collections.abc import Sequence

from markupsafe import escape

from layerwise.engine.central import Central
from layerwise.engine.marks import MARKS
from layerwise.present.records import verb_of_mark
from layerwise.present.strip_picture import COLOURS

HEIGHT, LETTER, PAD = 20, 6.5, 7  # pixels: the mean width of a letter at 11 pixels
LABEL = "#555555"  # behind the first field


def badge_svg(central: Sequence[Central]) -> str:
    """Return the badge: a field for all central claims of the papers, and one for each mark."""
    marks = [claim.mark for claim in central if claim.source == "paper"]
    fields = [(f"{len(marks)} claims recomputed", LABEL)]
    for mark in MARKS:
        if count := marks.count(mark):
            fields.append((f"{count} {verb_of_mark(mark, count)}", COLOURS[mark][0]))
    said = ", ".join(text for text, _ in fields)
    parts, x = [], 0.0
    for text, colour in fields:
        width = len(text) * LETTER + 2 * PAD
        parts.append(f'<rect x="{x:g}" width="{width:g}" height="{HEIGHT}" fill="{colour}"/>')
        parts.append(f'<text x="{x + width / 2:g}" y="14">{escape(text)}</text>')
        x += width
    about = f'role="img" aria-label="{escape(said)}"'
    style = 'font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{x:g}" height="{HEIGHT}" {about}>'
    return f'{head}<title>{escape(said)}</title><g fill="#fff" {style}>{"".join(parts)}</g></svg>\n'
