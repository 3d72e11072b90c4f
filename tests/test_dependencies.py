"""Requirements, locks, imports and docs/dependencies.md name the same packages."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The module of a distribution, where its name is another one.
MODULES = {"pyyaml": "yaml", "pytest-xdist": "xdist"}
PEERS = {"lm_eval", "nnsight", "transformer_lens"}  # an environment of one benchmark


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def direct(name: str) -> dict[str, str]:
    """The requirements of `requirements/<name>.in` and of the files it takes in, by name."""
    found: dict[str, str] = {}
    for line in (ROOT / "requirements" / f"{name}.in").read_text(encoding="utf-8").splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith("-r "):
            found |= direct(line[3:].strip().removesuffix(".in"))
        elif line:
            found[canonical(re.split(r"[=<>]", line)[0])] = line
    return found


def told(heading: str) -> set[str]:
    """The packages that the table below a heading of the page names first in a row."""
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    section = page[page.index(f"## {heading}\n") :].split("\n## ")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE))


def imported() -> set[str]:
    """Top-level modules that sources import, in functions too."""
    folders = [ROOT / name for name in ("code", "tests", "benchmarks")]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    found = {"layerwise"}
    for node in (node for path in paths for node in ast.walk(ast.parse(path.read_bytes()))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    own = {"layerwise", "real", *(path.stem for path in paths)}
    return {name.partition(".")[0] for name in found} - own - set(sys.stdlib_module_names)


def test_every_direct_requirement_is_locked_and_told() -> None:
    assert told("Direct requirements") == set(direct("cpu"))
    for name in ("cpu", "cuda", "cuda12"):
        lock = (ROOT / "requirements" / f"{name}.lock").read_text(encoding="utf-8")
        assert set(direct(name)) == set(direct("cpu"))
        for line in direct(name).values():
            asked = re.escape(line if "==" in line else f"{line}==")
            assert re.search(rf"^{asked}", lock, re.MULTILINE | re.IGNORECASE), line
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {canonical(re.split(r"[<>=~!\[; ]", line)[0]) for line in project["dependencies"]}
    assert asked <= set(direct("cpu"))


def test_every_import_is_a_direct_requirement_or_told_with_what_brings_it() -> None:
    brought = told("Imported, and brought by another")
    assert brought.isdisjoint(direct("cpu"))
    known = {MODULES.get(name, name).replace("-", "_") for name in (*direct("cpu"), *brought)}
    assert imported() - known == PEERS
