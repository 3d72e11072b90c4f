"""What can run here: checks of the machine, the environment and the sources of full.

checks_here, checks_of_full    what was found -> ok, warn or FAIL, and the fix; pure
look, look_at_sources          the machine -> what was found
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

REPRODUCE, TEST, FULL = "make reproduce", "make test", "make reproduce-full"
TARGETS = (REPRODUCE, TEST, FULL)
WIDTH = 20


@dataclass(frozen=True)
class Check:
    """What was found, the fix if something is amiss, and the targets that cannot run for it."""

    name: str
    found: str
    fix: str = ""
    blocks: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """`FAIL` where the offline reproduction cannot run, `warn` for anything less."""
        if REPRODUCE in self.blocks:
            return "FAIL"
        return "warn" if self.fix else "ok"


def obstacles(checks: Sequence[Check]) -> dict[str, list[str]]:
    """By target, the names of the checks that it cannot run for."""
    return {target: [c.name for c in checks if target in c.blocks] for target in TARGETS}


def as_text(checks: Sequence[Check]) -> str:
    """A line per check, one per fix, and at the end what can run."""
    lines = []
    for check in checks:
        lines.append(f"{check.status:<5} {check.name:<{WIDTH}} {check.found}")
        if check.fix:
            lines.append(f"{'':<5} {'':<{WIDTH}} -> {check.fix}")
    lines.append("")
    for target, names in obstacles(checks).items():
        answer = f"no, because of: {', '.join(names)}" if names else "yes"
        lines.append(f"{target + ':':<{WIDTH}} {answer}")
    return "\n".join(lines)


def as_document(checks: Sequence[Check]) -> dict[str, Any]:
    """The same for another program."""
    return {
        "checks": [
            {
                "name": check.name,
                "status": check.status,
                "found": check.found,
                "fix": check.fix or None,
                "blocks": list(check.blocks),
            }
            for check in checks
        ],
        "can_run": {target: not names for target, names in obstacles(checks).items()},
        "obstacles": obstacles(checks),
    }
