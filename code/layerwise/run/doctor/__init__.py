"""What can run here: checks of this machine, its packages, the repository and the network.

here         two checks of what everything needs: what is found, and the fix if something is amiss
measuring    two of what only measuring needs, device and models; the pipeline asks them too
recorded     whether a run made the results that are committed
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Column
from rich.table import Table as Grid

from layerwise.errors import LayerwiseError, not_installed, refused
from layerwise.files import nearest_existing
from layerwise.present.terminal import said, word

REPRODUCE, TEST = "make reproduce", "make test"
REHEARSE, FULL = "make rehearse", "make reproduce-full"
TARGETS = (REPRODUCE, TEST, REHEARSE, FULL)
ASK_AGAIN = "mend that, then ask again"


@dataclass(frozen=True)
class Diagnosis:
    """What was found, the fix if something is amiss, and the targets that cannot run for it."""

    found: str
    fix: str = ""
    blocks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """What looks at the repository in a folder, and the targets that need what it looks at."""

    look: Callable[[Path], Diagnosis]
    needed_by: tuple[str, ...]


def examine(checks: Mapping[str, Check], root: Path) -> dict[str, Diagnosis]:
    """Make every check; where one cannot be made, nothing that needs it can be said to run."""
    findings = {}
    for name, check in checks.items():
        try:
            findings[name] = check.look(root)
        except Exception as error:  # a broken package raises what it likes
            why, fix = _not_made(error)
            findings[name] = Diagnosis(f"could not be looked at ({why})", fix, check.needed_by)
    return findings


def _not_made(error: Exception) -> tuple[str, str]:
    """Return why a check could not be made, and the fix."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return str(error), not_installed(error.name)
    if isinstance(error, OSError):
        return refused(error), ASK_AGAIN
    kind = "" if isinstance(error, LayerwiseError) else f"{type(error).__name__}: "
    return f"{kind}{error}".splitlines()[0], ASK_AGAIN


def obstacles(findings: Mapping[str, Diagnosis]) -> dict[str, list[str]]:
    """Return the names of the checks that stop each target."""
    return {
        target: [name for name, finding in findings.items() if target in finding.blocks]
        for target in TARGETS
    }


def as_text(findings: Mapping[str, Diagnosis]) -> RenderableType:
    """Return what each check found, with its fix, and at the end what can run."""
    table = Grid.grid(Column(min_width=20), Column(), padding=(0, 1))
    for name, finding in findings.items():
        table.add_row(said(name), said(finding.found))
        if finding.fix:
            table.add_row("", said(f"-> {finding.fix}"))
    can_run = Grid.grid(Column(min_width=20), Column(), padding=(0, 1))
    for target, names in obstacles(findings).items():
        can_run.add_row(target, word("no", f"no: {', '.join(names)}") if names else word("yes"))
    return Group(table, "", can_run)


def first_few(names: Sequence[str]) -> str:
    """Return the first four names, and how many more there are."""
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown


def free(place: Path) -> int:
    """Return the free bytes of the disk that a folder is on, or will be."""
    return shutil.disk_usage(nearest_existing(place)).free
