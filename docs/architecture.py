#!/usr/bin/env python3
"""Write docs/architecture.md: the packages in the order of flow, and which imports which.

python docs/architecture.py      (or `make docs`)
"""

import ast
import re
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
HEAD = """# Architecture

<!-- Written by `make docs` from the imports and the packages' docstrings; do not edit. -->

The packages of `code/layerwise/` in the order in which numbers flow, and what each imports. An
import that is also reached by way of another package is left out, as are `files`, `errors` and
`progress`, which all of them use. Imports run one way only; `make lint` checks it.

| package | what it is | imports |
|---|---|---|
{rows}

{sections}
"""
MODULES = re.compile(r"^((?:\w+, )*\w+)(?: {2,}(\S.*))?$")  # what is said may begin a line below


def docstring(path: Path) -> str:
    """What a module says of itself."""
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""


def packages(root: Path) -> list[str]:
    """The packages in the order of the map in `layerwise/__init__.py`."""
    return re.findall(r"^(\w+) {2,}\S", docstring(root / "__init__.py"), re.MULTILINE)


def needs(known: list[str]) -> dict[str, set[str]]:
    """{package: the packages that it imports}."""
    graph = grimp.build_graph("layerwise", cache_dir=None)

    def imports(package: str, other: str) -> bool:
        names = {"importer": f"layerwise.{package}", "imported": f"layerwise.{other}"}
        return package != other and graph.direct_import_exists(**names, as_packages=True)

    return {package: {other for other in known if imports(package, other)} for package in known}


def direct(needed: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same without what another needed package brings."""

    def reach(package: str) -> set[str]:
        return needed[package].union(*(reach(other) for other in needed[package]))

    return {
        package: {name for name in others if not any(name in reach(o) for o in others - {name})}
        for package, others in needed.items()
    }


def section(root: Path, package: str) -> str:
    """A package's docstring as Markdown: what it says, its modules as a list."""
    folder = root / package
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    lines = [f"## {package}", ""]
    for line in docstring(path).splitlines():
        listed = MODULES.match(line)
        if listed:
            names = ", ".join(f"`{name}`" for name in listed[1].split(", "))
            lines.append(f"- {names}: {listed[2] or ''}".rstrip())
        elif line.startswith(" "):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def page(root: Path) -> str:
    """The text of docs/architecture.md."""
    code = root / "code" / "layerwise"
    names = packages(code)
    sections = {package: section(code, package) for package in names}
    rows = []
    for package, others in direct(needs(names)).items():
        links = ", ".join(f"[{other}](#{other})" for other in names if other in others)
        says = sections[package].splitlines()[2]
        rows.append(f"| [{package}](#{package}) | {says} | {links or 'none'} |")
    return HEAD.format(rows="\n".join(rows), sections="\n".join(sections.values()).rstrip())


if __name__ == "__main__":
    (ROOT / "docs" / "architecture.md").write_text(page(ROOT), encoding="utf-8")
