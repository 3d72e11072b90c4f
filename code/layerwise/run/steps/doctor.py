"""What can run here <- this machine, its packages, the repository, the network."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from layerwise.home import find_home, repository
from layerwise.run.doctor import (
    DECIDING,
    TARGETS,
    as_document,
    as_text,
    examine,
    here,
    installed,
    measuring,
    obstacles,
)


def run(as_json: bool, root: Path | None = None) -> tuple[Any, int]:
    """All checks for the repository in `root`, by default the one around the working folder; where
    there is none, those of the installed package.

    Exit code 2 if what gives the answers cannot run: the offline part, or the verbs that read.
    """
    targets: Sequence[str] = TARGETS
    clone = root or repository()
    if clone is not None:
        findings = examine(here.CHECKS | measuring.CHECKS, clone)
    else:
        targets, findings = installed.VERBS, examine(installed.CHECKS, find_home())
    blocking = obstacles(findings, targets)
    text = as_text(findings, targets)
    shown = json.dumps(as_document(findings, targets), indent=1) if as_json else text
    return shown, 2 if any(blocking.get(target) for target in DECIDING) else 0
