"""published numbers <- upstream's result files (needs the mirror or the network)."""

from pathlib import Path
from typing import Annotated

import typer

from layerwise.files import write_text
from layerwise.papers.fetching.transcription import check_tables, transcribe
from layerwise.papers.fetching.upstream import result_file
from layerwise.run.steps import Place, program


def run(
    out: Place = Path("published"),
    mirror: Annotated[str | None, typer.Option()] = None,
    check: Annotated[bool, typer.Option(help="compare only, write nothing")] = False,
) -> str:
    """Transcribe every table, or compare the committed ones number by number."""
    tables = transcribe(lambda path: result_file(path, mirror))
    numbers = sum(text.count("\n") - 1 for text in tables.values())
    if check:
        check_tables(out, tables)
        return f"{numbers} published numbers are what upstream's files say"
    for name, text in tables.items():
        write_text(out / name, text)
    return f"{numbers} published numbers written to {out}"


if __name__ == "__main__":
    program(run)
