"""Where the files stand that belong to the code or are its results, in a clone and in a wheel.

`find_home` is for what fits this code alone: pins, the published numbers. `here` is for
what a reader asks about: the checkout around the working folder, as git finds it. Where there is
none, both are the same: the repository of an editable install, or the copy that a wheel brings.
"""

from pathlib import Path
from typing import Literal

from layerwise.errors import LayerwiseError

Source = Literal["published", "measured"]  # of numbers: those in print, ours from the weights
PACKAGE = Path(__file__).resolve().parent
IN_WHEEL = "data"  # the folder of the package that the build makes (.ci/wheel_data.py)
# Where a reader's model is analysed: its hidden states, and those of replicates with rounding noise
# and of random weights.
STATES, AGAIN = "hidden_states", "hidden_states_again"
REPOSITORY = ("dvc.yaml", "code/layerwise/__init__.py")  # what no other repository has
# One file of each folder that a verb reads; a copy that lacks one is refused at the start, not when
# its turn comes, after hours of measuring.
MARKS = (
    "models.yaml",
    "params.yaml",
    "claims/central.yaml",
    "published/registry.csv",
)


def find_home(package: Path = PACKAGE) -> Path:
    """Return the folder of the published tables and judged claims that fit this code.

    Raises:
        LayerwiseError: for a package without its files: neither in its repository nor from a wheel.
    """
    places = (package / IN_WHEEL, package.parents[1])
    if home := next(filter(has_files, places), None):
        return home
    raise LayerwiseError(
        f"{package}: the published tables belong to the package, they are neither in "
        f"{places[0]} nor in {places[1]} ({_lacking(places[1])}); install it from a clone "
        "(pip install .) or from a wheel"
    )


def repository() -> Path | None:
    """Return the repository around the working folder, relative to it: `.`, `..` and so on."""
    above = (Path(*[".."] * n) for n in range(len(Path.cwd().parents) + 1))
    return next(filter(is_repository, above), None)


def is_repository(folder: Path) -> bool:
    """Return whether a folder is the root of this repository, whatever of it is missing."""
    return all((folder / mark).exists() for mark in REPOSITORY)


def checkout() -> Path | None:
    """Return the same, once its files are there.

    Raises:
        LayerwiseError: if some are not: what the package brings may be other than what is asked.
    """
    folder = repository()
    if folder and (lacking := _lacking(folder)):
        raise LayerwiseError(
            f"{folder.resolve()}: the repository must have all its files, there is {lacking}; "
            "restore them (git status lists them)"
        )
    return folder


def here() -> Path:
    """Return the checkout around the working folder; elsewhere what belongs to the code."""
    return checkout() or find_home()


def judged_claims(source: str, results: Path = Path("results")) -> Path:
    """Return the file of the judged claims of a source, in the folder of all results."""
    return results / source / "claims.json"


def has_files(folder: Path) -> bool:
    """Return whether the files of the repository stand in a folder."""
    return not _lacking(folder)


def _lacking(folder: Path) -> str:
    """Return the files of the repository that are not in a folder, as a message tells them."""
    missing = [mark for mark in MARKS if not (folder / mark).exists()]
    return f"no {', '.join(missing)}" if missing else ""


def partial_of(folder: Path) -> Path:
    """Return the folder of an unfinished extraction of hidden states."""
    return folder.with_name(folder.name + ".partial")
