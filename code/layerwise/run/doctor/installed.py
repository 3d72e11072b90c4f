"""Checks of an installed package where there is no clone around it: what its verbs need.

Nothing is imported to be looked at, and no network is asked: the answer is there at once.
"""

import importlib.metadata
import platform
from pathlib import Path

from packaging.requirements import Requirement

import layerwise
from layerwise.errors import EXTRAS
from layerwise.home import judged_claims
from layerwise.run.doctor import HEADLINES, Check, Finding, first_few
from layerwise.run.doctor.here import installed

READING = (HEADLINES, "layerwise claims", "layerwise trace")
FETCH, ANALYZE = "layerwise fetch", "layerwise analyze"
# What the package does by itself; `make` and its targets are a clone's.
VERBS = (*READING, "layerwise models", "layerwise scaling", FETCH, ANALYZE)


def package(root: Path) -> Finding:
    """The version, and that the judged claims came with it."""
    version = f"layerwise {layerwise.__version__}, Python {platform.python_version()}"
    found = f"{version}; `make` needs a clone of the repository, none is around this folder"
    if not judged_claims("published", root / "results").is_file():
        fix = "run `make reproduce` in the clone that it was installed from, or install a wheel"
        return Finding(f"{found}; no judged claims in {root}", fix, READING)
    return Finding(found)


def packages(root: Path) -> Finding:
    """What is not installed, or too old, of what all verbs need, and of what models need."""
    if missing := lacking():
        fix = "run pip install . in a clone of the repository, into this environment"
        return Finding(f"no {first_few(missing)}", fix, VERBS)
    if missing := lacking("models"):
        fix = "run pip install '.[models]' in a clone of the repository, into this environment"
        return Finding(f"for your own model no {first_few(missing)}", fix, (ANALYZE,))
    return Finding(f"all that is needed, torch {installed('torch')} for your own model too")


def lacking(extra: str = "") -> list[str]:
    """The packages of an extra, or of the base, that are not there or not new enough."""
    try:
        declared = [Requirement(one) for one in importlib.metadata.requires("layerwise") or ()]
    except importlib.metadata.PackageNotFoundError:  # it runs from a folder
        declared = [Requirement(one) for one in EXTRAS.get(extra, ())]
    found = []
    for one in declared:
        is_base = one.marker is None or one.marker.evaluate({"extra": ""})
        if not (is_base or (one.marker and one.marker.evaluate({"extra": extra}))):
            continue
        version = installed(one.name)
        if version is None:
            found.append(one.name)
        elif not one.specifier.contains(version, prereleases=True):
            found.append(f"{one.name}{one.specifier} ({version} is installed)")
    return found


CHECKS: dict[str, Check] = {
    "package": Check(package, READING),
    "packages": Check(packages, VERBS),
}
