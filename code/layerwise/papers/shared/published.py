"""The published numbers of the three papers."""

from pathlib import Path

from layerwise.engine.published import TYPED, Published, read_tables
from layerwise.papers.shared.names.result_files import TABLES


def read_published(folder: Path) -> Published:
    """Read every table of `published/`.

    Raises:
        LayerwiseError: naming table and line for a malformed value or a number listed twice.
    """
    return read_tables(folder, [*TABLES, TYPED])
