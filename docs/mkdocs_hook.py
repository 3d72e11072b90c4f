"""A hook of MkDocs: pages that stand outside docs/ join the site, all links hold, and nothing is
without a name or beyond the keyboard.

The repository is read where it is, on a disk or on a forge, so its links are those of files; here
they are turned into those of the site.
"""

import base64
import json
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
NOTEBOOKS = {  # shown as pages, with the outputs that they hold
    "examples/own_model.ipynb": "notebook-own-model.md",
    "examples/steering.ipynb": "notebook-steering.md",
}
# How the search weighs pages: what a reader asks for before the long lists that name it too.
BOOST = {"glossary.md": 2, "own-model.md": 2, "api.md": 4, "claims.md": 0.1, "changelog.md": 0.1}
BADGE = re.compile(r"^\[!\[.*\]\(https://.*\n", re.MULTILINE)  # images from elsewhere
PAPER = re.compile(r"^\[!\[(Paper \d)\]\([^)]*\)\](\(https://doi\.org/[^)]+\))$", re.MULTILINE)
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
IMAGE = re.compile(r'\b(src|srcset)="(?!\w+:)([^"\s]+)"')  # of a picture with two sizes
MADE = {  # by `make reproduce`: its place in the site, and what a reader calls it
    "report/published/index.html": ("report.html", "Report"),
    "paper/published.pdf": ("paper.pdf", "Report as PDF"),
    "paper/published-supplement.pdf": ("supplement.pdf", "Supplement"),
}
PLACES = OUTSIDE | NOTEBOOKS
# What is right in a notebook, and its form in a page: headings follow the title, none is empty.
IN_PAGE = ((r"<(/?)h3\b", r"<\1h2"), (r"<th\b[^>]*></th>", "<td></td>"))
WIDE = ("index.md", "answers.md", *NOTEBOOKS.values())  # pages whose pictures need the room
FIGURES = "figures/published"  # the pictures that pages outside docs/ name


def on_files(files: Files, config: Any) -> Files:
    """Add the pages outside docs/, and the figures and notebooks that they name."""
    for page, place in OUTSIDE.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / page)))
    for pattern in (f"{FIGURES}/*.svg", "examples/*.ipynb"):
        for file in sorted(ROOT.glob(pattern)):
            place = file.relative_to(ROOT).as_posix()
            files.append(File.generated(config, place, abs_src_path=str(file)))
    for notebook, place in NOTEBOOKS.items():
        files.append(File.generated(config, place, content=notebook_page(ROOT / notebook)))
    for made, (place, _) in MADE.items():
        if (ROOT / made).is_file():
            files.append(File.generated(config, place, abs_src_path=str(ROOT / made)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point the links of a page to where the site has what they name, and leave the badges out."""
    place = page.file.src_uri
    page.meta["search"] = {"boost": BOOST.get(place, 1)}
    if place in WIDE:
        page.meta["hide"] = ["toc"]
    if place == "index.md":
        made = [f"[{name}]({at})" for file, (at, name) in MADE.items() if (ROOT / file).is_file()]
        title, rest = markdown.split("\n", 1)
        papers = [f"[{name}]{address}" for name, address in PAPER.findall(rest)]
        doors = [" · ".join(made), f"The papers: {' · '.join(papers)}"]
        markdown = "\n\n".join([title, *filter(None, doors), rest])
    written = {there: here for here, there in PLACES.items()}.get(place, f"docs/{place}")

    def in_site(link: re.Match[str]) -> str:
        named = posixpath.normpath(posixpath.join(posixpath.dirname(written), link[1]))
        if named in PLACES:
            return f"]({PLACES[named]}{link[2] or ''})"
        if named.startswith("docs/"):
            return f"]({named.removeprefix('docs/')}{link[2] or ''})"
        return link[0]

    def image_in_site(image: re.Match[str]) -> str:
        named = posixpath.normpath(posixpath.join(posixpath.dirname(written), image[2]))
        return f'{image[1]}="{named.removeprefix("docs/")}"'

    return IMAGE.sub(image_in_site, LINK.sub(in_site, BADGE.sub("", markdown)))


def notebook_page(path: Path) -> str:
    """Return a notebook as Markdown: its texts, its code, and what came out of it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts += [source if cell["cell_type"] == "markdown" else fenced(source, "python")]
        parts += map(shown, cell.get("outputs", ()))
    address = path.relative_to(ROOT).as_posix()
    title, rest = "\n\n".join(parts).split("\n", 1)
    return f'{title}\n\n<a href="{address}" download>The notebook as a file</a>\n{rest}\n'


def shown(output: dict[str, Any]) -> str:
    """Return an output of a cell as Markdown, as rich as the notebook holds it."""
    data = {kind: "".join(lines) for kind, lines in output.get("data", {}).items()}
    if table := data.get("text/html"):
        for typed, here in IN_PAGE:
            table = re.sub(typed, here, table)
        return f'<div class="output">\n{table}\n</div>'
    if picture := data.get("image/svg+xml"):
        content = base64.b64encode(picture.encode()).decode("ascii")
        return f'<img src="data:image/svg+xml;base64,{content}" alt="The figure of the code above">'
    return fenced(data.get("text/plain") or "".join(output.get("text", ())), "text")


def fenced(text: str, language: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def on_page_content(html: str, **_: Any) -> str:
    """Let the keyboard scroll tables and code, too."""
    html = html.replace("<table>", '<table tabindex="0">')
    return re.sub("(<pre>(?:<span></span>)?<code)", r'\1 tabindex="0"', html)


def on_post_page(output: str, **_: Any) -> str:
    """Name the search for readers of the screen."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
