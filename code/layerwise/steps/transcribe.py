"""published numbers <- upstream's result files (needs the mirror or the network)."""

from pathlib import Path

from layerwise.inputs.published import check_tables, transcribe, write_tables
from layerwise.inputs.upstream import result_file


def run(folder: Path, mirror: str | None, check: bool) -> str:
    """Transcribe every table, or compare the committed ones number by number."""
    tables = transcribe(lambda path: result_file(path, mirror))
    numbers = sum(text.count("\n") - 1 for text in tables.values())
    if check:
        check_tables(folder, tables)
        return f"{numbers} published numbers are what upstream's files say"
    write_tables(folder, tables)
    return f"{numbers} published numbers written to {folder}"
