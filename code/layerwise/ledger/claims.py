"""The ledger: every number or label that a paper or one of its notebooks prints or saves.

`claims/paperN.yaml` keeps tables as tables. An entry is one claim or a family of them: its `for`
names the variables that the id runs over, each an entry of `sets` (or an attribute of another
variable, written `size.layers`). In the templates `{size}` is the name of a member as it stands
in ids, `{size[slug]}` one of its attributes. `readings` are other readings of the claim's rule, as
{text: statistic}: where the stated one differs from print, they say which one gives it, if any.
`same` is the other place that prints a stored number, `identity` a number that no measurement can
change, `against` what denies a statement: FILE#/pointer of published labels, or a place in words.
An attribute `tolerance` of a member goes before that of the entry.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NotRequired, Required

from typing_extensions import TypedDict

from layerwise.errors import LayerwiseError
from layerwise.inputs.published import Published, Value, pointer
from layerwise.inputs.shapes import STRICT, read_yaml, require_shape

FULL = "full"
Printed = Value | list[Any]
Words = int | float | str | None  # of a template, once it is filled
Sets = dict[Any, dict[Any, Any] | None] | list[int | float | str]  # members, with attributes


class Ledger(TypedDict):
    """A file of the ledger."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    paper: Literal[1, 2, 3]
    sets: NotRequired[dict[str, Sets]]
    claims: list[dict[str, Any]]


Entry = TypedDict(
    "Entry",
    {
        "id": Required[str],
        "for": dict[str, str | Sets],
        "kind": Literal["computed", "declared", "cited"],
        "printed": Any,
        "decimals": int | str | None,
        "tolerance": str,
        "readings": dict[str, str],
        "same": dict[str, str],
        "against": list[str],
        "identity": bool,
        "unpublished": bool,
        "where": Words,
        "quantity": Words,
        "statistic": Words,
        "source_file": Words,
        "source_key": Words,
        "model": Words,
        "unit": Words,
        "why": Words,
        "unmeasured": Words,
    },
    total=False,
)
Entry.__pydantic_config__ = STRICT  # type: ignore[attr-defined]


WORDS = [name for name, kind in Entry.__annotations__.items() if kind in (Words, Required[str])]


@dataclass(frozen=True)
class Claim:
    """One printed number or label, and the statistic that answers it."""

    id: str
    paper: int
    where: str
    quantity: str
    kind: str
    printed: Printed  # None: it went to a screen and was never saved
    decimals: int | str | None  # "full": every digit is published; None: not a number
    tolerance: str
    statistic: str | None = None  # analysis:document:/json/pointer
    source_file: str | None = None
    source_key: str | None = None
    model: str | None = None
    unit: str | None = None
    why: str | None = None  # why nothing can be checked, or what a reader should know
    readings: Mapping[str, str] = field(default_factory=dict)  # other readings: their statistics
    same: Mapping[str, str] | None = None  # {file, key} of the other place
    identity: bool = False
    against: tuple[str, ...] = ()
    unpublished: bool = False  # its statistic cannot be had from published numbers, even as given
    unmeasured: str | None = None  # why no measurement of ours can answer it


class _Member:
    """A member of a set inside a template: `{x}` is its name, `{x[attribute]}` an attribute."""

    def __init__(self, name: Any, attributes: Mapping[str, Any]) -> None:
        self.name, self.attributes = name, attributes

    def __format__(self, _: str) -> str:
        return str(self.name)

    def __getitem__(self, attribute: str) -> Any:
        return self.attributes[attribute]

    def __contains__(self, attribute: str) -> bool:
        return attribute in self.attributes


def read_ledger(folder: Path, published: Published) -> list[Claim]:
    """Every claim of `claims/paper*.yaml`, in order.

    Raises:
        LayerwiseError: naming file and claim for an unknown field, kind or set, a template that
            names something unknown, a printed number that is not published, or an id twice.
    """
    claims: list[Claim] = []
    seen: dict[str, Path] = {}
    files = sorted(folder.glob("paper*.yaml"))
    if not files:
        raise LayerwiseError(f"{folder}: no ledger (paper1.yaml, ...) here; restore the folder")
    for path in files:
        document = require_shape(path, Ledger, read_yaml(path))
        for entry in document["claims"]:
            require_shape(f"{path}: claim {entry.get('id', '(no id)')!s:.80}", Entry, entry)
            for claim in _expand(path, document, entry, published):
                if claim.id in seen:
                    raise LayerwiseError(
                        f"{path}: claim {claim.id} is listed twice (also in {seen[claim.id]}); "
                        "an id names one claim"
                    )
                seen[claim.id] = path
                claims.append(claim)
    return claims


def _expand(
    path: Path, document: dict[str, Any], entry: dict[str, Any], published: Published
) -> Iterator[Claim]:
    name = entry["id"]
    for variables in _combinations(path, name, document.get("sets", {}), entry.get("for", {})):
        try:
            yield _claim(document["paper"], entry, variables, published)
        except (LookupError, AttributeError, TypeError, ValueError) as error:
            raise LayerwiseError(
                f"{path}: claim {name:.80}: a template names {error!s:.80}, which its variables "
                f"({', '.join(map(str, variables)) or 'none'}) do not have; correct it"
            ) from None
        except LayerwiseError as error:
            raise LayerwiseError(f"{path}: claim {name}: {error}") from None


def _combinations(
    path: Path, name: str, sets: Mapping[str, Any], wanted: Mapping[str, Any]
) -> Iterator[dict[str, _Member]]:
    def extend(chosen: dict[str, _Member], rest: list[tuple[str, Any]]) -> Iterator[dict]:
        if not rest:
            yield chosen
            return
        (variable, source), *others = rest
        if isinstance(source, str):
            owner, _, attribute = source.partition(".")
            if attribute and owner in chosen:
                source = chosen[owner][attribute]
            elif source in sets:
                source = sets[source]
            else:
                raise LayerwiseError(f"{path}: claim {name}: no set {source!r}; add it to `sets`")
        members = source if isinstance(source, dict) else {member: {} for member in source}
        for member, attributes in members.items():
            if not isinstance(attributes, dict | None):
                raise LayerwiseError(
                    f"{path}: claim {name}: {variable} {member!r:.40} must have attributes, found "
                    f"{attributes!r:.40}; correct the set"
                )
            empty = [key for key, value in (attributes or {}).items() if value is None]
            if empty:  # a comma in an unquoted text starts a new key
                raise LayerwiseError(
                    f"{path}: claim {name}: {variable} {member!r} has keys without a value, "
                    f"{', '.join(map(repr, empty))}; quote texts that hold a comma"
                )
            yield from extend({**chosen, variable: _Member(member, attributes or {})}, others)

    yield from extend({}, list(wanted.items()))


def _claim(
    paper: int, entry: dict[str, Any], variables: dict[str, _Member], published: Published
) -> Claim:
    printed, file, key = _printed(entry.get("printed"), variables, published)
    words: dict[str, Any] = {"source_file": file, "source_key": key, "where": "", "quantity": ""}
    for name in WORDS:
        if entry.get(name) is not None:
            words[name] = str(entry[name]).format(**variables)
    decimals = entry.get("decimals")
    if isinstance(decimals, str) and "{" in decimals:
        decimals = int(decimals.format(**variables))
    tolerances = [one.attributes["tolerance"] for one in variables.values() if "tolerance" in one]
    same = {name: text.format(**variables) for name, text in entry.get("same", {}).items()}
    readings = {
        text.format(**variables): reading.format(**variables)
        for text, reading in entry.get("readings", {}).items()
    }
    for selected in filter(None, (words.get("statistic"), *readings.values())):
        statistic_parts(selected)
    return Claim(
        **words,
        paper=paper,
        kind=entry.get("kind", "computed"),
        printed=printed,
        decimals=decimals,
        tolerance=(*tolerances, entry.get("tolerance", "exact"))[0],
        readings=readings,
        same=same or None,
        identity=entry.get("identity", False),
        against=tuple(_said_by(place, published) for place in entry.get("against", [])),
        unpublished=entry.get("unpublished", False),
    )


def _said_by(place: str, published: Published) -> str:
    """What denies a statement, with what stands there if it is a published label."""
    file, at_pointer, key = place.partition("#")
    return f"{key} of {file} says {published[file, key]}" if at_pointer else place


def _printed(
    printed: Any, variables: dict[str, _Member], published: Published
) -> tuple[Printed, str | None, str | None]:
    """The value in print, and the published file and key it stands in."""
    if isinstance(printed, str):
        return _number_or_text(printed.format(**variables)), None, None
    if not isinstance(printed, dict):
        return printed, None, None
    if "cells" in printed:  # a table: nested mappings, one level per variable of `by`
        cell = printed["cells"]
        for variable in printed["by"]:
            cell = cell[variables[variable].name]
        return (_number_or_text(cell) if isinstance(cell, str) else cell), None, None
    file = printed["file"].format(**variables)
    if "keys" in printed:
        keys = [key.format(**variables) for key in printed["keys"]]
        return [published[file, key] for key in keys], file, ", ".join(keys)
    key = printed["key"].format(**variables)
    value = published.value(file, key)
    if printed.get("length"):
        if not isinstance(value, list):
            raise LayerwiseError(
                f"{key} of {file} must be a list to be counted, found {value!r:.80}; name one"
            )
        return len(value), file, key
    return value, file, key


def _number_or_text(text: str) -> Value:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def statistic_parts(statistic: str) -> tuple[str, str, str]:
    """Analysis, document and JSON Pointer of analysis:document:/pointer."""
    parts = statistic.split(":", 2)
    if len(parts) != 3 or not parts[2].startswith(pointer("")):
        raise LayerwiseError(
            f"a statistic is analysis:document:/json/pointer, found {statistic!r:.80}; correct it"
        )
    return parts[0], parts[1], parts[2]
