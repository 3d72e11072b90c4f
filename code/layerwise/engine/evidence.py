"""What rules read: the numbers of one source, as nested documents.

An `Entry` is an object or a list of a published file. It reads like that object (`m.gains[-1]`,
`m["n_layers"]`, `for m in f.models`), and which numbers were read is recorded while a rule runs.
Over measured numbers, a number that no experiment fills is derived by its own rule, if it has one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial, reduce
from operator import getitem
from typing import Any, TypeVar

import numpy as np

from layerwise.engine.published import Cell, NotMeasured, Published, pointer, split_pointer
from layerwise.errors import LayerwiseError
from layerwise.statistics.bootstrap import Draws

Read = TypeVar("Read")


@dataclass(eq=False)  # two that read the same are still two
class Recording:
    """The cells that a rule read; `names`: it looked at what an entry is about."""

    cells: set[Cell] = field(default_factory=set)
    names: bool = False

    @property
    def inputs(self) -> list[str]:
        return sorted(f"{file}#{key}" for file, key in self.cells)


class Broken(LayerwiseError):
    """A document of print is not what it was: a key is gone, or text stands for a number."""


class NotANumber(TypeError):
    """Text, or nothing, stands where a rule computes with a number."""


class Missing(Broken, AttributeError):
    """A rule asked for a key that the document does not have."""


class Evidence:
    """The numbers of one source: `evidence[FILE]` is the entry of a whole file."""

    def __init__(self, cells: Published, draws: Draws) -> None:
        self.cells, self.draws = cells, draws
        # what fills a cell that was not measured: set by `derivation.evidence_of`
        self.rules: Mapping[Cell, Callable[[], Any]] = {}
        self._once: dict[Hashable, tuple[Any, Recording]] = {}
        self._pending: set[Cell] = set()
        self._recordings: list[Recording] = []
        self._document = cache(cells.document)

    @property
    def measured(self) -> bool:
        """True where the numbers were measured, so that some may not be there."""
        return bool(self.cells.kept)

    def __getitem__(self, file: str) -> Entry:
        """The entry of a whole file."""
        if file not in self:
            raise Missing(
                f"published/: no numbers of {file!r}; check the name, or transcribe that file with "
                "`python -m layerwise.run.steps.transcribe`"
            )
        return Entry(self, file, "", self._document(file))

    of = __getitem__  # as an entry says it of the other files of its source

    def role(self, name: str) -> dict[str, Entry]:
        """Return what fills a role, by model; nothing where the source has no such numbers.

        Raises:
            Missing: for a role that the source does not name.
        """
        return {model: self._at(place) for model, place in self._places(name).items()}

    def _places(self, role: str) -> Mapping[str, Cell]:
        if role not in self.cells.roles:
            raise Missing(
                f"the source names no role {role!r}; its roles are "
                f"{', '.join(self.cells.roles) or 'none'}"
            )
        return self.cells.roles[role]

    def _at(self, place: Cell) -> Any:
        """Return the entry at a place."""
        file, key = place
        return reduce(getitem, split_pointer(key), self[file])

    def __contains__(self, file: str) -> bool:
        """Return whether there is such a file, measured or not."""
        return bool(self.cells.keys(file))

    def part(self, file: str, key: str) -> Any:
        """Return what stands at a JSON Pointer, not recorded; None for what was not measured."""
        node = self._document(file)
        for name in split_pointer(key):
            node = node[int(name)] if isinstance(node, list) else node.get(name, {})
        return node

    @contextlib.contextmanager
    def recording(self) -> Iterator[Recording]:
        """Collect what is read inside the block."""
        recording = Recording()
        self._recordings.append(recording)
        try:
            yield recording
        finally:
            self._recordings.pop()  # blocks are nested: the innermost ends first

    def read(self, file: str, key: str) -> Any:
        """Return the value of a cell; recorded."""
        if self.cells.constants.is_name(key):
            for recording in self._recordings:
                recording.names = True
            return self.cells.cells[file, key]
        try:
            value = self.cells[file, key]
        except NotMeasured:
            return self._derive((file, key))
        for recording in self._recordings:
            recording.cells.add((file, key))
        return value

    def once(self, name: Hashable, compute: Callable[[], Read]) -> Read:
        """Return what is computed under a name, the first time; what it read is read each time."""
        if name not in self._once:
            with self.recording() as read:
                self._once[name] = compute(), read
        value, read = self._once[name]
        # Who asks later computes nothing, and yet rests on all that was read: else of two
        # statistics over one number only the first would name it.
        for recording in self._recordings:
            recording.cells |= read.cells
            recording.names |= read.names
        return value

    def _derive(self, cell: Cell) -> Any:
        """Return the value of a cell by its rule."""
        return self.once(cell, partial(self._by_rule, cell))

    def _by_rule(self, cell: Cell) -> Any:
        # A number that nobody measured is what its rule makes of those that were: reading a cell
        # may run a rule, which reads other cells, which may run theirs. A rule that comes back to
        # its own cell does not derive it, it reads it in another way: that cell must be measured.
        if cell not in self.rules or cell in self._pending:
            raise NotMeasured(f"{cell[1]!r} of {cell[0]} was not measured", cell)
        self._pending.add(cell)
        try:
            return self.rules[cell]()
        finally:
            self._pending.remove(cell)


class Entry:
    """An object or a list of a document; see the module."""

    def __init__(self, evidence: Evidence, file: str, key: str, node: Any) -> None:
        self.evidence, self._file, self._key, self._node = evidence, file, key, node

    @property
    def draws(self) -> Draws:
        return self.evidence.draws

    @property
    def cell(self) -> Cell:
        """File and JSON Pointer."""
        return self._file, self._key

    @property
    def called(self) -> str:
        """The name under which it stands in its document."""
        return split_pointer(self._key)[-1]

    @property
    def is_object(self) -> bool:
        """True for an object, with names; false for a list."""
        return isinstance(self._node, dict)

    def of(self, file: str) -> Entry:
        """Return the entry of another file of the same source."""
        return self.evidence[file]

    def role(self, name: str) -> Entry:
        """Return what fills a role for the one model that this file is about.

        Raises:
            Missing: if the file is about no model, or several, or the role is not filled for it.
        """
        places = self.evidence._places(name)
        roles = self.evidence.cells.roles.values()
        about = {
            model for filled in roles for model, (file, _) in filled.items() if file == self._file
        }
        if len(about) != 1 or not about <= set(places):
            raise Missing(
                f"{self._file}: it must be about one model that fills the role {name!r}, "
                f"it is about {', '.join(sorted(about)) or 'none'}"
            )
        (model,) = about
        return self.evidence._at(places[model])

    def __getitem__(self, name: str | int | slice) -> Any:
        """Return a number, a label, or an entry; of a slice an array, or a list of entries."""
        if isinstance(name, slice):
            rows = [self[row] for row in range(*name.indices(len(self)))]
            return rows if any(isinstance(row, Entry) for row in rows) else np.array(rows)
        if isinstance(name, int) and isinstance(self._node, list) and name < 0:
            name += len(self._node)
        if isinstance(self._node, dict):
            name = str(name)
        try:
            node = self._node[name]
        except (KeyError, IndexError, TypeError):
            at = f"{self._key}{pointer(name)}"
            known = f"{len(self._node)} entries"
            if isinstance(self._node, dict) and self._node:
                known = ", ".join(map(str, self._node))[:200]
            raise Missing(f"{self._file}: nothing stands at {at}; there are {known}") from None
        key = self._key + pointer(name)
        if isinstance(node, dict | list):
            return Entry(self.evidence, self._file, key, node)
        return self.evidence.read(self._file, key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self[:]) if dtype is None else floats(self[:]).astype(dtype)

    def __len__(self) -> int:
        return len(self._node)

    def __contains__(self, name: object) -> bool:
        return name in self._node

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the names of an object, the entries of a list, as over Python's own."""
        if isinstance(self._node, dict):
            return iter(self._node)
        return (self[row] for row in range(len(self._node)))

    def keys(self) -> list[str]:
        return list(self._node)

    def values(self) -> list[Any]:
        return [self[name] for name in self._node]

    def items(self) -> list[tuple[str, Any]]:
        return [(name, self[name]) for name in self._node]

    def row(self, **columns: str) -> Entry:
        """Return the one entry with these names, of which an owner before a slash is no part."""
        wanted = {name: _bare_name(value) for name, value in columns.items()}
        names = [{name: entry[name] for name in wanted} for entry in self._node]
        rows = [
            number
            for number, labels in enumerate(names)
            if {name: _bare_name(value) for name, value in labels.items()} == wanted
        ]
        if len(rows) != 1:
            known = "; ".join(" ".join(map(str, labels.values())) for labels in names)
            raise Missing(
                f"{self._file}: one entry of {self._key} must have "
                f"{', '.join(f'{name} {value!r}' for name, value in columns.items())}, "
                f"{len(rows)} have; there are {known}"
            )
        return self[rows[0]]


def floats(values: Any) -> np.ndarray:
    """Return numbers in double precision.

    Raises:
        NotANumber: if a text, or nothing, is among them.
    """
    array = np.array(values)
    if array.dtype.kind not in "biuf":
        raise NotANumber(f"numbers are needed, found {array.ravel()[:3]!r}")
    return array.astype(np.float64)


def by_layer(entry: Entry) -> dict[int, Any]:
    """Return what stands under the names of layers, ascending."""
    return {layer: entry[layer] for layer in sorted(map(int, entry))}


def measured_among(entries: Mapping[str, Read], rule: Callable[[Read], Any]) -> dict[str, Read]:
    """Return the entries whose numbers a rule has: of a measurement those it reached.

    For what is said of the models that a figure draws; a claim is about all of them.
    """
    measured = {}
    for name, entry in entries.items():
        with contextlib.suppress(NotMeasured):
            rule(entry)
            measured[name] = entry
    return measured


def _bare_name(name: Any) -> str:
    """Return a model's name without its owner, in small letters: facebook/opt-125m -> opt-125m."""
    return str(name).rpartition("/")[2].lower()
