"""Tables as CSV: what any writer writes, any reader reads; what is no table is refused by line."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_records import judged_source, made_central, record
from layerwise.csv_rows import format_csv, parse_csv, parse_table
from layerwise.engine.judged import AS_RANDOM
from layerwise.engine.marks import mark_text
from layerwise.engine.published import pointer
from layerwise.engine.records import verdicts_csv
from layerwise.errors import LayerwiseError
from layerwise.papers.fetching import notebooks, upstream
from layerwise.papers.fetching.transcription import transcribe
from layerwise.papers.shared.result_files import DIVERGENCE, TABLES
from layerwise.present.csv_text import csv_text, harmless
from layerwise.present.paper import care_csv
from layerwise.run.doctor.recorded import read_verdicts
from layerwise.run.rehearsal.scratch import stand_in_texts

AWKWARD = (
    "a, b",
    'say "x"',
    "two\nlines",
    "cut\rhere",
    "\r\n",
    "; tab\t",
    "",
    " blanks ",
    AS_RANDOM,
)
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


def read(text: str) -> list[dict[str, Any]]:
    """As any program that knows CSV reads it."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


@given(st.lists(st.tuples(CELLS, CELLS)))
def test_what_is_written_is_read(rows: list[tuple[str, str]]) -> None:
    text = format_csv(["first", "second, quoted"], rows)
    assert [tuple(row.values()) for row in read(text)] == rows
    again = parse_table("here", text, ["first", "second, quoted"], "mend it")
    assert [tuple(cells) for _, cells in again] == rows


def test_lines_end_in_a_newline_and_nothing_stands_for_none() -> None:
    assert format_csv(["a", "b"], [(None, 0.1), (True, "x")]) == "a,b\n,0.1\nTrue,x\n"


def test_a_row_of_another_length_is_not_written() -> None:
    for row in (["1"], ["1", "2", "3"]):
        with pytest.raises(ValueError, match=r"zip\(\)"):
            format_csv(["a", "b"], [row])


# --- every writer ---


def verdicts() -> tuple[str, list[dict[str, Any]]]:
    central = [made_central(f"p1.{text}", "no spread") for text in AWKWARD]
    claims = [record(f"p1.{text}", verdict=AS_RANDOM) for text in AWKWARD]
    source = judged_source(claims, central=central)
    text = verdicts_csv(source)
    rows = [("central", claim.id, mark_text(claim.mark, claim.why)) for claim in central] + [
        ("claim", claim.id, claim.verdict) for claim in claims
    ]
    assert read_verdicts(text) == {row[:2]: row[2] for row in rows}
    return text, [dict(zip(("kind", "id", "verdict"), row, strict=True)) for row in rows]


def views() -> tuple[str, list[dict[str, Any]]]:
    shown = [*map(harmless, AWKWARD)]  # a return is written as an escape
    return csv_text(AWKWARD, [AWKWARD]), [dict(zip(shown, shown, strict=True))]


def care() -> tuple[str, list[dict[str, Any]]]:
    claims = [record(f"p2.{text}", quantity=text, verdict="differs") for text in AWKWARD]
    return care_csv(claims), [
        {"id": harmless(f"p2.{text}"), "quantity": harmless(text)} for text in AWKWARD
    ]


def transcribed() -> tuple[str, list[dict[str, Any]]]:
    """Of files that are objects, and of files that are CSV themselves."""
    row = dict.fromkeys(AWKWARD, 0.1)
    content = {"json": json.dumps(row), "csv": format_csv([*row], [row.values()])}
    content = {file: content[file.rpartition(".")[2]] for of in TABLES.values() for file in of}
    content |= dict.fromkeys(upstream.DATA_FILES, "{}")
    text = transcribe(lambda file: content[file].encode())["paper1.csv"]
    return text, [
        {"file": file, "key": f"{'/0' * file.endswith('.csv')}{pointer(name)}", "value": "0.1"}
        for file in TABLES["paper1.csv"]
        for name in AWKWARD
    ]


@pytest.mark.parametrize("write", [verdicts, views, care, transcribed])
def test_every_writers_output_is_read_as_what_went_in(write: Callable[[], Any]) -> None:
    text, rows = write()
    found = read(text)
    assert None not in {name for row in found for name in row}  # no cell beyond the header
    assert [{name: row[name] for name in rows[0]} for row in found] == rows


def test_the_tables_of_a_rehearsal_are_read_as_the_repositorys(root: Path, tmp_path: Path) -> None:
    """All pins but those of our own texts are as they were."""
    folder = tmp_path / "published"
    folder.mkdir()
    shutil.copy(root / "published" / "registry.csv", folder)
    before = upstream.read_registry(root / "published")
    awkward = [
        entry._replace(notebook=f'{n}, a "b" {entry.notebook.rpartition("/")[2]}')
        for n, entry in enumerate(before.prompt_sets)
    ]
    columns = notebooks.NotebookPrompts._fields
    (folder / "prompt_sets.csv").write_text(format_csv(columns, awkward))
    stand_in_texts(folder, tmp_path / "mirror")
    rows = read((folder / "prompt_sets.csv").read_text())
    assert [row["notebook"] for row in rows] == [entry.notebook for entry in awkward]
    after = upstream.read_registry(folder)
    assert [*after.pins] == [*before.pins]
    moved = {path for path, pin in after.pins.items() if pin != before.pins[path]}
    assert moved == set(upstream.DATA_FILES)


# --- what is refused ---


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n\n1\n", "here, line 3: a row must .* 2 columns, found 1; mend it"),
        ('a,b\n"1\n2",3\n4,5,6\n', "here, line 4: a row must .* 2 columns, found 3; mend it"),
        ('a,b\n"1"2,3\n', "here, line 2: not valid CSV .*; mend it"),
        ('a,b\n"1,2\n', "here, line 2: not valid CSV .*; mend it"),
        ("b,a\n1,2\n", "here: the first line must be a,b; mend it"),
        ("", "here: the first line must be a,b; mend it"),
    ],
)
def test_what_is_no_such_table_is_refused(text: str, message: str) -> None:
    with pytest.raises(LayerwiseError, match=message):
        list(parse_table("here", text, ["a", "b"], "mend it"))


def test_no_line_is_no_row() -> None:
    assert list(parse_csv("here", "", "mend it")) == []
    assert list(parse_csv("here", "\n\na\n\n1\n", "mend it")) == [(3, ["a"]), (5, ["1"])]


def test_verdicts_and_upstreams_tables_are_held_to_their_columns() -> None:
    with pytest.raises(LayerwiseError, match=r"verdicts\.csv, line 2: a row must"):
        read_verdicts(f"kind,id,verdict\nclaim,p1.y,{AS_RANDOM}\n")
    texts = {DIVERGENCE: b"model,gain\ngpt2,1,2\n"}
    with pytest.raises(LayerwiseError, match=rf"{DIVERGENCE}, line 2: a row must"):
        transcribe(lambda name: texts.get(name, b"x\n" if name.endswith(".csv") else b"{}"))
