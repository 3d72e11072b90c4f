"""The judged claims of a source, as the verbs read them <- results/SOURCE/claims.json."""

from pathlib import Path
from typing import Any

from layerwise.ledger.records import read_judged


def judged(source: str, results: Path) -> dict[str, Any]:
    """`results/<source>/claims.json`."""
    return read_judged(results / source / "claims.json", source)
