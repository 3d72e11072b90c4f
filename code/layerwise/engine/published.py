"""The published numbers: transcribed from upstream's result files into tidy tables.

`published/*.csv` has the columns file, key, value: the file of the upstream repository, the JSON
Pointer (RFC 6901) of the number inside it (`/layer_results/32/r`), and its JSON literal with
every digit. Numbers, booleans and one-word labels are facts and are kept; texts, time stamps and
statements are not.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from layerwise.csv_rows import Line, parse_table
from layerwise.errors import LayerwiseError
from layerwise.files import read_text

# Our files, for what was measured and never published: `beyond/<experiment>`, by model.
BEYOND = "beyond/"
DATASET, PROMPTS = "dataset.json", "prompts.json"  # what was measured on
COUNTED = (DATASET, PROMPTS)  # whose numbers are counts of ours
Number = Annotated[float, Field(allow_inf_nan=False)]
Value = Number | int | bool | str | None
EMPTY_LIST = "[]"  # how an empty list is noted: that there were no sign changes is a fact
Cell = tuple[str, str]
# What a source has, by the role in which rules ask for it: where it stands, by model.
Roles = Mapping[str, Mapping[str, Cell]]
DECIDES = "decides"  # the reading of a claim whose interval decides
PUBLISHED = "published"  # the reading of the papers, where it is another
OVER_MODELS = "all models"  # in place of a model, of what is about several at once

HEADER = ["file", "key", "value"]
TYPED = "typed.csv"  # numbers that exist only in a notebook's cells, so no file to compare with

_LABEL = re.compile(r"[A-Za-z0-9_./-]{1,40}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T")


@dataclass(frozen=True)
class Constants:
    """The cells of a paper's files that no measurement changes.

    Attributes:
        names: of the cells that say what an entry is about, the last parts of the keys.
        settings: constants of the methods, as the beginning of "file#key", or "#name" for what is
            called so in any file.
    """

    names: frozenset[str] = frozenset()
    settings: tuple[str, ...] = ()

    def has(self, file: str, key: str) -> bool:
        """Return whether a cell is one of them."""
        return self.is_name(key) or self._is_setting(file, key)

    def is_name(self, key: str) -> bool:
        """Return whether a cell names the subject of its entry."""
        return key.rpartition("/")[2].lower() in self.names

    def _is_setting(self, file: str, key: str) -> bool:
        starts = tuple(start for start in self.settings if not start.startswith("#"))
        cell = f"{file}#{key}"
        return cell.startswith(starts) or f"#{key.rpartition('/')[2]}" in self.settings


class NotMeasured(LayerwiseError):
    """A number that has a place in the tables but was not measured (see `measured`)."""

    def __init__(self, message: str, cell: Cell | None = None) -> None:
        super().__init__(message)
        self.cell = cell


@dataclass
class Published:
    """All numbers of a source in the places of the published files, by (file, key).

    Those of the source `measured` stand in the same places.
    """

    cells: dict[Cell, Value]
    unmeasured: frozenset[Cell] = frozenset()  # places whose values are gone (see `measured`)
    kept: frozenset[Cell] = frozenset()  # names and settings among measured numbers
    documents: Mapping[str, Any] = field(default_factory=dict)  # files known as they are nested
    roles: Roles = field(default_factory=dict)
    constants: Constants = Constants()

    def __getitem__(self, cell: Cell) -> Value:
        try:
            value = self.cells[cell]
        except KeyError:
            raise LayerwiseError(
                f"published/: no number {cell[1]!r} of {cell[0]}; check the key"
            ) from None
        if cell in self.unmeasured:
            raise NotMeasured(f"{cell[1]!r} of {cell[0]} was not measured", cell)
        return value

    def value(self, file: str, key: str) -> Any:
        """Return what stands at `key`: a number, a boolean, a label, or a list of them."""
        below = [pointer for pointer in self.keys(file) if pointer.startswith(key + "/")]
        if not below:
            value = self[file, key]
            return [] if value == EMPTY_LIST else value
        cells = {pointer[len(key) :]: self[file, pointer] for pointer in below}
        return _nest(file, cells)

    def document(self, file: str) -> Any:
        """Return the file's numbers as the nested objects and lists that they were."""
        if file in self.documents:
            return self.documents[file]
        return _nest(file, {key: self.cells[file, key] for key in self.keys(file)})

    def keys(self, file: str) -> list[str]:
        return self._keys.get(file, [])

    @cached_property
    def _keys(self) -> dict[str, list[str]]:
        keys: dict[str, list[str]] = {}
        for file, key in self.cells:
            keys.setdefault(file, []).append(key)
        return keys


def pointer(*names: str | int) -> str:
    """Return the JSON Pointer of nested names: ("a/b", 0) -> "/a~1b/0"."""
    return "".join("/" + str(name).replace("~", "~0").replace("/", "~1") for name in names)


def split_pointer(key: str) -> list[str]:
    """Return the names of a JSON Pointer; the inverse of `pointer`."""
    return [name.replace("~1", "/").replace("~0", "~") for name in key.split("/")[1:]]


def read_tables(folder: Path, names: Iterable[str]) -> Published:
    """Read tables of published numbers.

    Raises:
        LayerwiseError: naming table and line for a malformed value or a number listed twice.
    """
    cells: dict[Cell, Value] = {}
    for name in names:
        for line, (file, key, literal) in read_table(folder / name, HEADER):
            place = f"{folder / name}, line {line}"
            if (file, key) in cells:
                raise LayerwiseError(
                    f"{place}: a number may be listed once, {key!r} of {file} is there twice; "
                    "remove one"
                )
            cells[file, key] = value = _literal(literal)
            if isinstance(value, dict | list):
                raise LayerwiseError(
                    f"{place}: {key!r} of {file} must be a JSON number, boolean or label, "
                    f"found {literal!r:.80}; restore the published value"
                )
    return Published(cells)


def read_table(path: Path, columns: Sequence[str]) -> Iterator[Line]:
    """Yield line number and cells of every row of a table of `published/`."""
    if not path.is_file():
        raise LayerwiseError(f"{path}: the table is missing; restore it from the repository")
    yield from parse_table(path, read_text(path), columns, "restore the table")


def leaves(key: str, value: Any, *, texts: bool = False) -> Iterator[tuple[str, Value]]:
    """Yield numbers, booleans, labels (or any texts) and empty lists of a document by pointer."""
    if value == []:
        yield key, EMPTY_LIST
    elif isinstance(value, dict | list):
        for name, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(key + pointer(str(name)), entry, texts=texts)
    elif (
        texts or not isinstance(value, str) or (_LABEL.fullmatch(value) and not _TIME.match(value))
    ):
        yield key, value


def _literal(text: str) -> Any:
    try:
        return json.loads(text)  # not `parse_json`: upstream's files have NaN
    except (ValueError, RecursionError):
        return {}


def _nest(file: str, leaves: Mapping[str, Value]) -> Any:
    tree: dict[str, Any] = {}
    try:
        for key, value in leaves.items():
            *path, last = split_pointer(key)
            node = tree
            for name in path:
                node = node.setdefault(name, {})
            node[last] = value
    except (ValueError, AttributeError, TypeError):
        raise LayerwiseError(
            f"{file}: {key!r:.80} is no place of a number, or one that another number has; "
            "restore the table, or measure it again"
        ) from None
    return _lists(tree)


def _lists(node: Any) -> Any:
    if not isinstance(node, dict):
        return [] if node == EMPTY_LIST else node
    entries = {name: _lists(entry) for name, entry in node.items()}
    if entries and list(entries) == [str(number) for number in range(len(entries))]:
        return list(entries.values())
    return entries
