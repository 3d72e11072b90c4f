"""Runs of a model that are done, kept until all of it is: a killed measurement goes on after them.

    SCRATCH/kept/RUN.json     {"fingerprint": ..., "run": what measured.json will have}

A file is written beside its place and renamed. Another fingerprint's is not taken up.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import layerwise
from layerwise.engine.measured import Run, read_fragments, write_fragments
from layerwise.errors import LayerwiseError

FOLDER = "kept"


@dataclass(frozen=True)
class Kept:
    """The finished runs of one measurement of a model, in its own scratch folder."""

    scratch: Path
    fingerprint: str  # digest of everything that can change a number, but the run's own name

    def get(self, name: str) -> Any:
        """Return a run as it was kept; None: there is none, or it has another fingerprint."""
        try:
            kept = read_fragments(self._file(name))
        except LayerwiseError:
            return None
        if not isinstance(kept, dict) or kept.get("fingerprint") != self.fingerprint:
            return None
        return kept.get("run")

    def put(self, name: str, run: Run) -> None:
        """Keep a run."""
        write_fragments(self._file(name), {"fingerprint": self.fingerprint, "run": run})

    def _file(self, name: str) -> Path:
        return self.scratch / FOLDER / f"{name}.json"


def fingerprint(*what: Any) -> str:
    """Return the SHA-256 of JSON documents, and of the code that measures: all of this package."""
    digest = hashlib.sha256(json.dumps(what, sort_keys=True).encode())
    package = Path(layerwise.__file__).parent
    for file in sorted(package.rglob("*.py")):
        digest.update(f"{file.relative_to(package)} ".encode() + file.read_bytes())
    return digest.hexdigest()
