"""Transcribe upstream's result files into the tidy tables of `published/`."""

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from layerwise.csv_rows import format_csv, parse_csv
from layerwise.engine.published import DATASET, HEADER, PROMPTS, Value, leaves, pointer
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.result_files import TABLES


def transcribe(read_file: Callable[[str], bytes]) -> dict[str, str]:
    """Return the text of every table of `TABLES`, from upstream's files by their paths."""

    def rows(files: Iterable[str]) -> Iterator[tuple[str, str, str]]:
        for file in files:
            for key, value in _facts(file, _parse_file(file, read_file(file))):
                yield file, key, json.dumps(value)

    return {table: format_csv(HEADER, rows(files)) for table, files in TABLES.items()}


def check_tables(folder: Path, tables: Mapping[str, str]) -> None:
    """Compare the committed tables with freshly transcribed ones, number by number."""
    for name, text in tables.items():
        committed = (folder / name).read_text(encoding="utf-8").splitlines()
        pairs = itertools.zip_longest(committed, text.splitlines())
        for line, (have, want) in enumerate(pairs, start=1):
            if have != want:
                raise LayerwiseError(
                    f"{folder / name}, line {line}: the table says {have!r}, upstream's file "
                    f"says {want!r}; transcribe it again"
                )


def _parse_file(file: str, content: bytes) -> Any:
    """Return JSON as it is, CSV as a list of rows by column name, numbers and booleans parsed."""
    if not file.endswith(".csv"):
        return json.loads(content)

    def cell(text: str) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return {"True": True, "False": False}.get(text, text)

    lines = parse_csv(file, content.decode("utf-8"), "take the file of the pinned commit")
    _, header = next(lines, (1, []))
    return [dict(zip(header, map(cell, cells), strict=True)) for _, cells in lines]


def _facts(file: str, document: Any) -> Iterator[tuple[str, Value]]:
    if file == DATASET:
        for category, entry in document.items():
            yield pointer(category, "n_pairs"), len(entry["pairs"])
    elif file == PROMPTS:
        for study, entry in document.items():
            yield pointer(study, "n_prompts"), len(entry["prompts"])
    else:
        yield from leaves("", document)
