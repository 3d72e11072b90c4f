"""Whatever comes from outside, in a declared shape: documents, and what callers give.

YAML, any document in a declared shape, and the types of the Python interface: `True` is no number,
`"3"` none either, and `""` no place.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Hashable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar, overload

import yaml
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
)
from pydantic import Strict as Exact
from pydantic import Strict as StrictField
from typing_extensions import TypedDict

from layerwise.errors import LayerwiseError
from layerwise.files import read_text


def _device(name: str) -> str:
    """Return the name of a device that can be asked for."""
    if re.fullmatch(r"mps(:[0-9]+)?", name):
        raise ValueError(
            "numbers of Apple's GPUs (mps) have differed from a CPU's without an error, and were "
            f"never compared here, found {name!r}; use cpu"
        )
    if not re.fullmatch(r"cpu|auto|cuda(:[0-9]+)?", name):
        raise ValueError(f"must be cpu, cuda, cuda:1 or auto, found {name!r:.80}; name one of them")
    return name


STRICT = ConfigDict(strict=True, extra="forbid")
Whole = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Flag = Annotated[bool, StrictField()]
PaperNumber = Literal[1, 2, 3]
Times = Annotated[int, Field(ge=0, le=100)]  # something is done again
Device = Annotated[str, AfterValidator(_device)]
Shape = TypeVar("Shape")


class Strict(TypedDict):
    """A document that has what is declared and nothing else."""


class Loose(TypedDict):
    """One that may have more than is read."""


Strict.__pydantic_config__ = STRICT  # type: ignore[attr-defined]
Loose.__pydantic_config__ = ConfigDict(strict=True, extra="allow")  # type: ignore[attr-defined]


class Bins(Strict):
    """Random partitions of the pairs, as published."""

    k_values: Annotated[list[Whole], Field(min_length=1)]
    n_permutations: Whole
    k_stable: Whole


class Measuring(Strict):
    """The section `measure` of params.yaml."""

    device: Device
    replicates: Times
    control: Times
    tokens_per_batch: Whole
    layer_step: Whole
    seed: Seed
    bins: Bins


class Analysing(Strict):
    """The section `analyse` of params.yaml."""

    seed: Seed
    n_resamples: Annotated[int, Field(ge=1, le=10**6)]
    level: Annotated[float, Field(gt=0, lt=1)]


_adapter: Any = cache(TypeAdapter)  # of a shape, made once
SectionName = Literal["measure", "analyse"]
SECTIONS: Mapping[SectionName, Any] = {"measure": Measuring, "analyse": Analysing}


# What a tag says of a value that is none of it, say a date, PyYAML finds out in every way.
_NOT_YAML = (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, RecursionError)


class _Loader(yaml.SafeLoader):
    """Plain values; no key of a mapping twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Return the mapping; its keys are compared as Python does, to whom 1 and true are one."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        document = super().construct_mapping(node, deep)
        key, n = Counter(keys).most_common(1)[0] if keys else ("", 0)
        if n > 1:
            raise ValueError(
                f"a key must appear once in a mapping, {key!r:.80} appears {n} times in the one "
                f"from line {node.start_mark.line + 1} on"
            )
        return document


def read_yaml(path: Path) -> Any:
    """Return the document of a YAML file, of plain values only, no key twice."""
    return parse_yaml(path, read_text(path))


def parse_yaml(place: object, text: str) -> Any:
    """Return the document of a YAML text that stands at a place."""
    try:
        return yaml.load(text, _Loader)  # noqa: S506 -- it is a SafeLoader
    except _NOT_YAML as error:
        said = " ".join(str(error).split())
        raise LayerwiseError(f"{place}: not valid YAML ({said:.300}); correct it") from None


@overload
def read_choices(path: Path, section: Literal["measure"]) -> Measuring: ...
@overload
def read_choices(path: Path, section: Literal["analyse"]) -> Analysing: ...
def read_choices(path: Path, section: SectionName) -> Measuring | Analysing:
    """Return a section of params.yaml: what the stage of that name was left to choose."""
    if not path.is_file():
        raise LayerwiseError(f"{path}: no such file; run it in the repository's root")
    document = read_yaml(path)
    if not isinstance(document, dict) or section not in document:
        raise LayerwiseError(f"{path}: there is no section {section!r}; restore it")
    shape = SECTIONS[section]
    choices: Measuring | Analysing
    choices = require_shape(f"{path}: {section}", shape, document[section])
    return choices


def require_shape(place: object, shape: Any, document: Any, again: str = "correct it") -> Any:
    """Return the document, once it has the shape: a type that pydantic knows."""
    converted(place, shape, document, again)
    return document


def converted(place: object, shape: Any, document: Any, again: str = "correct it") -> Any:
    """Return what pydantic makes of the document, once it has the shape."""
    try:
        return _adapter(shape).validate_python(document)
    except ValidationError as error:
        raise LayerwiseError(f"{place}: {explained(error, again=again)}") from None


def choices_of(shape: type, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return those arguments of a call that a shape declares, as they were given."""
    return {name: arguments[name] for name in shape.__annotations__}


def parsed(place: object, shape: type[Shape], text: str, again: str = "correct it") -> Shape:
    """Return the record that a JSON text holds, once it has the shape."""
    try:
        record: Shape = _adapter(shape).validate_json(text)
    except ValidationError as error:
        raise LayerwiseError(f"{place}: {explained(error, again=again)}") from None
    return record


def explained(
    error: ValidationError,
    said: Mapping[str, str] = MappingProxyType({}),
    again: str = "correct it",
) -> str:
    """Return the first thing amiss, in one sentence: field, rule, what came, and the fix.

    `said` has what patterns of fields mean, and the fix.
    """
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    where = f"{field:.100}: " if field else ""
    message, came = first["msg"].removeprefix("Value error, "), first["input"]
    if first["type"] == "value_error":
        return f"{where}{message}" + ("" if ";" in message else f"; {again}")
    if first["type"] == "string_pattern_mismatch" and field in said:
        rule, _, fix = said[field].partition("; ")
        return f"{where}must {rule}, found {came!r:.80}; {fix or again}"
    if first["type"] == "extra_forbidden":
        return f"{where}no such key; remove it, or correct its name"
    if first["type"] == "missing":
        return f"{where}missing; {'add it' if again == 'correct it' else again}"
    if first["type"] == "path_type":
        message = "Input should be a path"
    rule = message.replace("Input should", "must").replace("String should", "must")
    return f"{where}{rule}, found {came!r:.80}; {again}"


# --- what callers give ---


def _plain(given: Any) -> Any:
    """Return NumPy's numbers, and lists of any kind, as Python's own; all else as it is.

    NumPy is not imported for it: reading the claims does without.
    """
    given = given.tolist() if type(given).__module__ == "numpy" else given
    return list(given) if isinstance(given, tuple | range | set | frozenset) else given


def _storable(given: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return values that a JSON file can hold."""
    try:
        json.dumps(given, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as error:  # no finite number, or half of a surrogate pair
        raise ValueError(
            f"must be what a JSON file can hold, found {given!r:.80} ({error!s:.80}); correct it"
        ) from None
    return given


def _not_empty(text: str) -> str:
    """Return a text, which an unset variable of a shell would leave empty."""
    if not text.strip():
        raise ValueError(
            f"must not be empty, as of an unset variable, found {text!r}; give it, or leave it out"
        )
    return text


def _place(given: Any) -> Any:
    """Return a path whose beginning `~` is the home folder; what is no path as it is."""
    if isinstance(given, str):
        _not_empty(given)
    if not isinstance(given, str | Path):
        return given
    try:
        return Path(given).expanduser()
    except RuntimeError:
        raise ValueError(
            f"must begin with the home folder of a known user, found {os.fspath(given)!r}; "
            "name the place itself"
        ) from None


def _by_name(given: Any) -> Any:
    """Return the name of a dtype or a device of torch; all else as it is."""
    is_torch = type(given).__module__ == "torch" and type(given).__name__ in ("dtype", "device")
    return str(given).removeprefix("torch.") if is_torch else given


PLAIN, BY_NAME = BeforeValidator(_plain), BeforeValidator(_by_name)
Text = Annotated[str, AfterValidator(_not_empty)]
Place = Annotated[Path, BeforeValidator(_place), Exact(False)]  # of a text too
Folder = Place | None
Layers = Annotated[list[Annotated[int, PLAIN]], PLAIN] | None
Draw = Annotated[Seed, PLAIN]
Options = Annotated[dict[str, JsonValue], AfterValidator(_storable)] | None  # of a chat template


def read_place(name: str, given: Any) -> Path:
    """Return the path that was given under a name.

    Raises:
        LayerwiseError: for an empty text, or what is no path.
    """
    place: Path = converted(name, Place, given)
    return place


def read_model(model: Any) -> Any:
    """Return a model as it was given: a path or hub id with its home folder, or a loaded model.

    Raises:
        LayerwiseError: for an empty text.
    """
    if isinstance(model, str) and not model.startswith("~"):
        return converted("model", Text, model)
    return read_place("model", model) if isinstance(model, str | Path) else model
