"""The published numbers of the three papers."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from layerwise.engine.measured import tables_of
from layerwise.engine.published import TYPED, Published, Roles, read_tables
from layerwise.files import JsonObject
from layerwise.papers.shared.result_files import CONSTANTS, TABLES
from layerwise.papers.shared.roles import PAPERS


def read_published(folder: Path) -> Published:
    """Read every table of `published/`.

    Raises:
        LayerwiseError: naming table and line for a malformed value or a number listed twice.
    """
    tables = read_tables(folder, [*TABLES, TYPED])
    return replace(tables, roles=PAPERS, constants=CONSTANTS)


def tables_of_reader(documents: Mapping[str, JsonObject], roles: Roles | None = None) -> Published:
    """Return the tables of one model that has no published place, `measured.tables_of`."""
    return tables_of(documents, CONSTANTS, roles)
