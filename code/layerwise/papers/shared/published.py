"""The published numbers of the three papers."""

from dataclasses import replace
from pathlib import Path

from layerwise.engine.published import TYPED, Published, read_tables
from layerwise.papers.shared.names.result_files import TABLES
from layerwise.papers.shared.roles import PAPERS


def read_published(folder: Path) -> Published:
    """Read every table of `published/`.

    Raises:
        LayerwiseError: naming table and line for a malformed value or a number listed twice.
    """
    return replace(read_tables(folder, [*TABLES, TYPED]), roles=PAPERS)
