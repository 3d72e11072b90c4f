"""Sentences about judged claims: entries of templates in claims/, filled from records, never typed.

In a template `{late}` is a claim's recomputed value and `{late:+.2f}` the same at two decimals;
`{late.printed}` is what is printed, `{late[thirds of the depth]}` another reading of it.
"""

import contextlib
import fnmatch
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Required

from pydantic import Field

from layerwise.engine.verdicts import FALLS, STANDING, statistic_value
from layerwise.errors import LayerwiseError
from layerwise.shapes import Strict, read_yaml, require_shape

NOTHING = "no value"
Record = Mapping[str, Any]


class Entry(Strict, total=False):
    """The claims of a headline or a finding, by alias, and patterns (with `*`) of others."""

    id: Required[str]
    claims: Required[dict[str, str]]
    also: list[str]


def read_entries(path: Path, shape: Any, *, optional: bool = False) -> list[dict[str, Any]]:
    """Return the entries of a list of the ledger, `findings.yaml` for one, under the file's name.

    Args:
        optional: a paper may have no such file, and then no entries.
    """
    if optional and not path.exists():
        return []
    document: Any = Annotated[dict[Literal[path.stem], list[shape]], Field(min_length=1)]  # type: ignore[name-defined]
    entries: list[dict[str, Any]] = require_shape(path, document, read_yaml(path))[path.stem]
    return entries


@contextlib.contextmanager
def name_entry_in_errors(kind: str, entry: Mapping[str, Any], file: str = "") -> Iterator[None]:
    """Name the entry and its file (by default KINDs.yaml) in the errors of the block."""
    try:
        yield
    except (LookupError, AttributeError, ValueError, LayerwiseError) as error:
        raise LayerwiseError(
            f"{kind} {entry['id']}: {error}; correct {file or f'{kind}s'}.yaml"
        ) from None


def match_claims(entry: Mapping[str, Any], known: Mapping[str, Record]) -> list[Record]:
    """Return the records of an entry's `claims`, then those that fit a pattern of `also`."""
    records: dict[str, Record] = {}
    for pattern in [*entry["claims"].values(), *entry.get("also", [])]:
        fitting = {claim: known[claim] for claim in fnmatch.filter(known, pattern)}
        if not fitting:
            raise LayerwiseError(f"no claim fits {pattern!r}; correct the pattern")
        records |= fitting
    return list(records.values())


def stands(record: Record) -> bool | None:
    """Return whether a verdict confirms its claim; None where it says nothing."""
    return True if record["verdict"] in STANDING else False if record["verdict"] in FALLS else None


class Value:
    """A value inside a template: a number by its format, or four digits; a key in words; two
    numbers as the ends of a range.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __format__(self, form: str) -> str:
        value = self.value
        if value is None:
            return NOTHING
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list):
            inner = [part for entry in value if isinstance(entry, list) for part in entry]
            if any(isinstance(part, list | dict) for part in inner):
                raise ValueError("lists may hold lists of values, but nothing deeper")
            is_range = len(value) == 2 and all(isinstance(entry, int | float) for entry in value)
            return (" to " if is_range else ", ").join(f"{Value(entry):{form}}" for entry in value)
        if isinstance(value, float):
            return format(value, form or ".4g")
        return format(value, "" if isinstance(value, str) else form)


class Said(Value):
    """A record inside a template."""

    def __init__(self, record: Record) -> None:
        super().__init__(record["recomputed"])
        decimals = record["decimals"]
        number = isinstance(record["published"], float) and isinstance(decimals, int)
        self.printed = f"{Value(record['published']):{f'.{max(decimals, 0)}f' if number else ''}}"
        self.published, self.stands = record["published"], stands(record)
        self._readings = {reading["text"]: reading["value"] for reading in record["readings"]}

    def __getitem__(self, text: str) -> Value:
        return Value(self._readings[text])


def values_of(
    entry: Mapping[str, Any],
    known: Mapping[str, Record],
    documents: Mapping[str, Any] | None = None,
    others: Mapping[str, Value] | None = None,
) -> dict[str, Value]:
    """Return the values that an entry's sentences name: its claims, its statistics, and others.

    Raises:
        LayerwiseError: if a name stands for two things.
    """
    claims = {alias: Said(known[claim]) for alias, claim in entry["claims"].items()}
    statistics = entry.get("values", {}).items()
    values = {
        name: Value(statistic_value(documents or {}, statistic)) for name, statistic in statistics
    }
    named = [*claims, *values, *(others or {})]
    if twice := sorted({name for name in named if named.count(name) > 1}):
        raise LayerwiseError(f"a name may stand for one thing, {twice} stand for two; rename them")
    return {**claims, **values, **(others or {})}


def fill(template: str, values: Mapping[str, Value]) -> str:
    """Return the sentence of a template, filled in.

    Raises:
        LayerwiseError: for a template that names what has no value here.
    """
    try:
        return template.format_map(values)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise LayerwiseError(
            f"the template {template!r} does not fit its values ({', '.join(values)}): {error}"
        ) from None
