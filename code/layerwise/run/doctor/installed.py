"""Checks of an installed package where there is no clone around it: what its verbs need.

Nothing is imported to be looked at, and no network is asked: the answer is there at once.
"""

import platform
from pathlib import Path

import layerwise
from layerwise.errors import EXTRAS
from layerwise.home import judged_claims
from layerwise.run.doctor import HEADLINES, Check, Diagnosis, first_few
from layerwise.run.doctor.here import installed

READING = (HEADLINES, "layerwise claims", "layerwise trace")
FETCH, ANALYZE = "layerwise fetch", "layerwise analyze"
# What the package does by itself; `make` and its targets are a clone's.
VERBS = (*READING, "layerwise models", "layerwise compare", FETCH, ANALYZE)


def package(root: Path) -> Diagnosis:
    """Check that the judged claims came with the package."""
    version = f"layerwise {layerwise.__version__}, Python {platform.python_version()}"
    found = f"{version}; `make` needs a clone of the repository, none is around this folder"
    if not judged_claims("published", root / "results").is_file():
        fix = "run `make reproduce` in the clone that it was installed from, or install a wheel"
        return Diagnosis(f"{found}; no judged claims in {root}", fix, READING)
    return Diagnosis(found)


def models(root: Path) -> Diagnosis:
    """Check the packages that a reader's own model needs."""
    if missing := [name for name in EXTRAS["models"] if installed(name) is None]:
        fix = "run pip install '.[models]' in a clone of the repository, into this environment"
        return Diagnosis(f"for your own model no {first_few(missing)}", fix, (ANALYZE,))
    return Diagnosis(f"all that your own model needs, torch {installed('torch')}")


CHECKS: dict[str, Check] = {
    "package": Check(package, READING),
    "models": Check(models, (ANALYZE,)),
}
