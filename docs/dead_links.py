"""Every link of a folder of pages that leads nowhere inside it: `python docs/dead_links.py FOLDER`.

Addresses of other sites are not asked for.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places in it that a link can name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.is_report = 'id="claims"' in text
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src", "srcset") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.places.add(value)


def dead_links(folder: Path) -> list[str]:
    """Return `page: link` for each link to a file or a place in a page that is not there."""
    pages = {
        path.resolve(): Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")
    }
    dead = []
    for path, page in pages.items():
        for link in page.links:
            to = urlsplit(link)
            if to.scheme or to.netloc or path.name == "404.html":  # a server gives it anywhere
                continue
            target = (path.parent / unquote(to.path)).resolve() if to.path else path
            place = unquote(to.fragment)
            known = pages.get(target)
            is_there = target.is_file() and target.is_relative_to(folder.resolve())
            # the report opens claims by a script, which its own tests follow
            is_place = not place or known is None or known.is_report or place in known.places
            if not (is_there and is_place):
                dead.append(f"{path.relative_to(folder.resolve())}: {link}")
    return dead


if __name__ == "__main__":
    if dead := dead_links(Path(sys.argv[1])):
        sys.exit("\n".join(["these links lead nowhere:", *dead]))
