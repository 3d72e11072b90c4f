"""What can run here: checks of this machine, its packages, the repository and the network.

here         the checks of what everything needs: what is found, and the fix if something is amiss
measuring    those of what only measuring needs; the pipeline's preflight asks them too
dvc_files    what a kill left of DVC's own files; a run mends it before it begins
model_list   the papers' models as a table, and what each takes
time_left    how long a whole run has taken and will take
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from layerwise.errors import LayerwiseError

REPRODUCE, TEST = "make reproduce", "make test"
REHEARSE, FULL = "make rehearse", "make reproduce-full"
TARGETS = (REPRODUCE, TEST, REHEARSE, FULL)


@dataclass(frozen=True)
class Finding:
    """What was found, the fix if something is amiss, and the targets that cannot run for it."""

    found: str
    fix: str = ""
    blocks: tuple[str, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()  # what was found of many things

    @property
    def status(self) -> str:
        """`FAIL` where `make reproduce` cannot run, `warn` for anything less."""
        return "FAIL" if REPRODUCE in self.blocks else "warn" if self.fix else "ok"


Check = Callable[[Path], Finding]  # of the repository in a folder


def examine(checks: Mapping[str, Check], root: Path) -> dict[str, Finding]:
    """Make every check; one that cannot be made, for want of a package or a file, says so."""
    findings = {}
    for name, check in checks.items():
        try:
            findings[name] = check(root)
        except (ImportError, LayerwiseError, OSError, KeyError) as error:
            found = f"could not be looked at ({type(error).__name__}: {error})"
            findings[name] = Finding(found, "mend that, then ask again", (FULL,))
    return findings


def obstacles(findings: Mapping[str, Finding]) -> dict[str, list[str]]:
    """By target, the names of the checks that it cannot run for."""
    return {
        target: [name for name, finding in findings.items() if target in finding.blocks]
        for target in TARGETS
    }


def as_text(findings: Mapping[str, Finding]) -> str:
    """A line per check, one per fix, the rows of tables, and at the end what can run."""
    lines: list[str] = []
    tables: list[str] = []
    for name, finding in findings.items():
        lines.append(f"{finding.status:<5} {name:<20} {finding.found}")
        if finding.fix:
            lines.append(f"{'':<26} -> {finding.fix}")
        if finding.rows:
            widths = [*[None] * (len(finding.rows[0]) - 1), 60]
            tables += ["", tabulate(finding.rows, "keys", "plain", ".1f", maxcolwidths=widths)]
    lines += [*tables, ""]
    for target, names in obstacles(findings).items():
        lines.append(f"{target + ':':<20} {'no: ' + ', '.join(names) if names else 'yes'}")
    return "\n".join(lines)


def as_document(findings: Mapping[str, Finding]) -> dict[str, Any]:
    """The same for another program."""
    blocking = obstacles(findings)
    return {
        "checks": [
            {"name": name, "status": finding.status, **asdict(finding), "fix": finding.fix or None}
            for name, finding in findings.items()
        ],
        "can_run": {target: not names for target, names in blocking.items()},
        "obstacles": blocking,
    }


def first_few(names: Sequence[str]) -> str:
    """The first four of them."""
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown


def existing(place: Path) -> Path:
    """A path, or the folder that it would be made in."""
    return next(path for path in (place, *place.absolute().parents) if path.exists())


def free(place: Path) -> int:
    """Free bytes of the disk that a folder is on, or will be."""
    return shutil.disk_usage(existing(place)).free
