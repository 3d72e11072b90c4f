"""A hook of MkDocs: pages that stand outside docs/ join the site, all links hold, and nothing is
without a name or beyond the keyboard.

The repository is read where it is, on a disk or on a forge, so its links are those of files; here
they are turned into those of the site.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {  # page of the repository: its place in the site
    "README.md": "index.md",
    ".github/CONTRIBUTING.md": "contributing.md",
    ".github/SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
    "claims/README.md": "ledger.md",
    "examples/README.md": "examples.md",
    "examples/measured/README.md": "measured.md",
    "published/README.md": "published.md",
    "tests/README.md": "tests.md",
}
# How the search weighs pages: what a reader asks for before the long lists that name it too.
BOOST = {"glossary.md": 2, "own-model.md": 2, "api.md": 4, "claims.md": 0.1, "changelog.md": 0.1}
BADGE = re.compile(r"^\[!\[.*\]\(https://.*\n", re.MULTILINE)  # images from elsewhere
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
IMAGE = re.compile(r'\b(src|srcset)="(?!\w+:)([^"\s]+)"')  # of a picture with two sizes
MADE = {  # by `make reproduce`: its place in the site, and what a reader calls it
    "report/published/index.html": ("report.html", "Report"),
    "paper/published.pdf": ("paper.pdf", "Paper"),
    "paper/published-supplement.pdf": ("supplement.pdf", "Supplement"),
}
FIGURES = "figures/published"  # the pictures that pages outside docs/ name


def on_files(files: Files, config: Any) -> Files:
    """Add the pages outside docs/, and the figures and notebooks that they name."""
    for page, place in OUTSIDE.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / page)))
    for pattern in (f"{FIGURES}/*.svg", "examples/*.ipynb"):
        for file in sorted(ROOT.glob(pattern)):
            place = file.relative_to(ROOT).as_posix()
            files.append(File.generated(config, place, abs_src_path=str(file)))
    for made, (place, _) in MADE.items():
        if (ROOT / made).is_file():
            files.append(File.generated(config, place, abs_src_path=str(ROOT / made)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point the links of a page to where the site has what they name, and leave the badges out."""
    place = page.file.src_uri
    page.meta["search"] = {"boost": BOOST.get(place, 1)}
    if place == "index.md":
        page.meta["hide"] = ["toc"]  # room for the strip
        made = [f"[{name}]({at})" for file, (at, name) in MADE.items() if (ROOT / file).is_file()]
        title, rest = markdown.split("\n", 1)
        markdown = f"{title}\n\n{' · '.join(made)}\n{rest}"
    written = {there: here for here, there in OUTSIDE.items()}.get(place, f"docs/{place}")

    def in_site(link: re.Match[str]) -> str:
        named = posixpath.normpath(posixpath.join(posixpath.dirname(written), link[1]))
        if named in OUTSIDE:
            return f"]({OUTSIDE[named]}{link[2] or ''})"
        if named.startswith("docs/"):
            return f"]({named.removeprefix('docs/')}{link[2] or ''})"
        return link[0]

    def image_in_site(image: re.Match[str]) -> str:
        named = posixpath.normpath(posixpath.join(posixpath.dirname(written), image[2]))
        return f'{image[1]}="{named.removeprefix("docs/")}"'

    return IMAGE.sub(image_in_site, LINK.sub(in_site, BADGE.sub("", markdown)))


def on_page_content(html: str, **_: Any) -> str:
    """Let the keyboard scroll tables and code, too."""
    html = html.replace("<table>", '<table tabindex="0">')
    return re.sub("(<pre>(?:<span></span>)?<code)", r'\1 tabindex="0"', html)


def on_post_page(output: str, **_: Any) -> str:
    """Name the search for readers of the screen."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
