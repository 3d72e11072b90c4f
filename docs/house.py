#!/usr/bin/env python3
"""Write docs/house.md: the rooms of the package, and which room imports which, from the imports.

python docs/house.py      (or `make docs`)
"""

import ast
import re
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
HEAD = """# The house

<!-- Written by `make docs` from the imports and the rooms' docstrings; do not edit. -->

Each room of `code/layerwise/` and what it imports. Not drawn: what is reached by way of another
room, and `files`, `errors` and `progress`, which all use. Arrows run one way.

```mermaid
flowchart TD
{diagram}
```

{rooms}
"""


def rooms(package: Path) -> list[str]:
    """The rooms in the order of the package's map."""
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
    return list(re.findall(r"^(\w+) {2,}\S", text, re.MULTILINE))


def needs(known: list[str]) -> dict[str, set[str]]:
    """{room: the rooms that it imports}."""
    graph = grimp.build_graph("layerwise", cache_dir=None)

    def reads(room: str, other: str) -> bool:
        names = {"importer": f"layerwise.{room}", "imported": f"layerwise.{other}"}
        return room != other and graph.direct_import_exists(**names, as_packages=True)

    return {room: {other for other in known if reads(room, other)} for room in known}


def direct(needed: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same without what another needed room brings."""

    def reach(room: str) -> set[str]:
        return needed[room].union(*(reach(other) for other in needed[room]))

    return {
        room: {name for name in names if not any(name in reach(o) for o in names - {name})}
        for room, names in needed.items()
    }


def page(root: Path) -> str:
    """The text of docs/house.md."""
    package = root / "code" / "layerwise"
    arrows = direct(needs(rooms(package)))
    lines = [f"    {room} --> {name}" for room in arrows for name in sorted(arrows[room])]
    texts = []
    for room in rooms(package):
        path = package / room / "__init__.py"
        path = path if path.is_file() else package / f"{room}.py"
        doc = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        texts.append(f"## {room}\n\n```\n{doc}\n```\n")
    return HEAD.format(diagram="\n".join(lines), rooms="\n".join(texts).rstrip())


if __name__ == "__main__":
    (ROOT / "docs" / "house.md").write_text(page(ROOT), encoding="utf-8")
