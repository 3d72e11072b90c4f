"""What can run here <- this machine, its packages, the repository, the network."""

from pathlib import Path

from rich.console import RenderableType

from layerwise.errors import LayerwiseError
from layerwise.home import checkout
from layerwise.run.doctor import REPRODUCE, as_text, examine, here, measuring, obstacles


def run(root: Path | None = None) -> tuple[RenderableType, int]:
    """Make all checks for the repository in `root`, by default the one around the working folder.

    Exit code 2 if `make reproduce` cannot run.

    Raises:
        LayerwiseError: where there is no repository.
    """
    clone = root or checkout()
    if clone is None:
        raise LayerwiseError(
            "it is a clone of the repository that is looked at, none is around this folder; "
            "`layerwise headlines` needs none, and pip install '.[models]' adds what analyze needs"
        )
    findings = examine(here.CHECKS | measuring.CHECKS, clone)
    return as_text(findings), 2 if obstacles(findings)[REPRODUCE] else 0
