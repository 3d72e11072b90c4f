"""Requirements, locks, imports and docs/dependencies.md name the same packages."""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

from layerwise.errors import EXTRAS

ROOT = Path(__file__).resolve().parents[2]
# The module of a distribution, where its name is another one.
MODULES = {"pyyaml": "yaml", "pytest-xdist": "xdist"}
BUILDS = {"hatchling", "pip", "setuptools"}  # what installs and builds


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def direct(name: str) -> dict[str, str]:
    """The requirements of `requirements/<name>.in` and of the files it takes in, by name."""
    requirements: dict[str, str] = {}
    for line in (ROOT / "requirements" / f"{name}.in").read_text(encoding="utf-8").splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith("-r "):
            requirements |= direct(line[3:].strip().removesuffix(".in"))
        elif line:
            requirements[canonical(re.split(r"[=<>\[]", line)[0])] = line
    return requirements


def told(heading: str) -> set[str]:
    """The packages that the table below a heading of the page names first in a row."""
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    section = page[page.index(f"## {heading}\n") :].split("\n## ")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE))


def imported() -> set[str]:
    """Top-level modules that sources import, in functions too."""
    folders = [ROOT / name for name in ("code", "tests", "benchmarks", ".ci")]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    modules = {"layerwise"}
    for node in (node for path in paths for node in ast.walk(ast.parse(path.read_bytes()))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module)
    own = {"layerwise", "real", *(path.stem for path in paths)}
    return {name.partition(".")[0] for name in modules} - own - set(sys.stdlib_module_names)


LAYERS = ("read", "pipeline", "dev", "docs", "cpu", "cuda", "cuda12")


@cache
def pins(name: str) -> dict[str, tuple[str, ...]]:
    """Return the versions of a lock by package: one, or one for each range of Pythons."""
    lock = (ROOT / "requirements" / f"{name}.lock").read_text(encoding="utf-8")
    versions = defaultdict(list)
    for package, version in re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", lock, re.MULTILINE):
        versions[canonical(package)].append(version)
    return {package: tuple(locked) for package, locked in versions.items()}


def test_every_direct_requirement_is_locked_and_told() -> None:
    everything = {name for layer in LAYERS for name in direct(layer)}
    assert told("Direct requirements") == everything
    for layer in LAYERS:
        locked = pins(layer)
        for name, line in direct(layer).items():
            _, _, version = line.partition("==")
            assert locked[name] == (version,) if version else locked[name], line


def test_a_layer_changes_nothing_of_the_one_below() -> None:
    """What is installed stays: the locks agree on every package but torch and what it brings."""
    for below, above in (("read", "pipeline"), ("pipeline", "dev"), ("pipeline", "cpu")):
        assert pins(below).items() <= pins(above).items()
    for layer in LAYERS[3:]:
        assert pins("pipeline").items() <= pins(layer).items()
        shared = pins("dev").keys() & pins(layer).keys()
        assert {name: pins("dev")[name] for name in shared} == {
            name: pins(layer)[name] for name in shared
        }
    assert "torch" not in pins("dev")
    assert {"torch", "dvc", "accelerate", "transformers"}.isdisjoint(pins("read"))


def test_the_package_asks_for_what_the_layers_lock() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert names(project["dependencies"]) == set(direct("read"))
    extras = project["optional-dependencies"]
    assert names(extras["models"]) == set(direct("cpu")) - set(direct("pipeline"))
    assert names(extras["pipeline"]) == set(direct("pipeline")) - set(direct("read")) - BUILDS
    assert {extra: names(asked) for extra, asked in extras.items()} == {
        extra: set(asked) for extra, asked in EXTRAS.items()
    }
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    assert names(build["requires"]) <= BUILDS


def names(requirements: list[str]) -> set[str]:
    return {canonical(re.split(r"[<>=~!\[; ]", line)[0]) for line in requirements}


def test_every_import_is_a_direct_requirement_or_told_with_what_brings_it() -> None:
    brought = told("Imported, and brought by another")
    asked = {name for layer in LAYERS for name in direct(layer)}
    assert brought.isdisjoint(asked)
    known = {MODULES.get(name, name).replace("-", "_") for name in (*asked, *brought)}
    assert imported() <= known
