"""What can run here <- this machine, its packages, the repository, the network."""

import json
from pathlib import Path

from layerwise.doctor import REPRODUCE, as_document, as_text, examine, here, measuring, obstacles


def run(as_json: bool, root: Path = Path()) -> tuple[str, int]:
    """All checks for the repository in `root`; exit code 2 if its offline part cannot run."""
    findings = examine(here.CHECKS | measuring.CHECKS, root)
    text = json.dumps(as_document(findings), indent=1) if as_json else as_text(findings)
    return text, 2 if obstacles(findings)[REPRODUCE] else 0
