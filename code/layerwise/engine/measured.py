"""Measured numbers in the place of the published ones.

Experiments measure parts of the published files, by file and JSON Pointer: fragments. Laid over
the published tables they give tables of the same structure, from which rules derive the same
statistics. A published value that was not measured is gone: only the structure of the files,
what they call their models, and the constants that the notebooks typed are left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, NotRequired

from layerwise.engine.published import Cell, Constants, Published, Roles, Value, leaves
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject, read_json, write_json
from layerwise.models.registry import RANDOM
from layerwise.shapes import Loose, require_shape

NAME = "measured.json"
NOISE: Final = "noise"  # measurements with noise of the size of rounding
CONTROL: Final = "control"  # measurements of random weights of the same architecture
LACKING: Final = "lacking"  # of a run: what of it is missing, and `why`
NAN = "NaN"  # strict JSON has none: half precision leaves some layers without a number


Fragments = Mapping[str, Mapping[str, object]]  # file -> JSON Pointer -> what stands there
Kind = Literal["noise", "control"]
KINDS: tuple[Kind, ...] = (NOISE, CONTROL)


class Without(Loose):
    """What a run lacks, and why."""

    categories: NotRequired[Sequence[str]]
    prompts: NotRequired[bool]
    why: str


class Setting(Loose, total=False):
    """How a run measured, as far as it is read again."""

    random_weights: bool
    dtype: str
    passes: JsonObject
    lacking: Without


class Run(Setting):
    """The numbers that one run measured, by file and place, and the setting of the run."""

    fragments: Fragments


class About(Loose, total=False):
    """Which model a document is about; the draws in it do not say."""

    model: str | None
    hub: str


class Runs(About):
    """`measured.json`: of a model; `noise` and `control` are the same again, some times each."""

    runs: dict[str, Run]
    absent: dict[str, str]  # why a run is not there
    noise: NotRequired[list[Runs]]
    control: NotRequired[list[Runs]]


Measurements = Mapping[str, Runs]  # by slug


def merge(fragments: Iterable[Fragments]) -> Fragments:
    """Return all fragments together.

    Raises:
        LayerwiseError: for two of the same place.
    """
    merged: dict[str, dict[str, object]] = {}
    for fragment in fragments:
        for file, parts in fragment.items():
            taken = merged.setdefault(file, {})
            for key, value in parts.items():
                if key in taken:
                    raise LayerwiseError(
                        f"{file}{key}: measured twice; one extraction or experiment may fill a "
                        "place, remove one of them"
                    )
                taken[key] = value
    return merged


def places(published: Published) -> dict[str, dict[str, Value]]:
    """Return names and settings of the published files by place, None in place of a number."""
    places_by_file: dict[str, dict[str, Value]] = {}
    for (file, key), value in published.cells.items():
        is_kept = published.constants.has(file, key)
        places_by_file.setdefault(file, {})[key] = value if is_kept else None
    return places_by_file


def read_places(path: Path, constants: Constants) -> Published:
    """Read what the stage `places` wrote: all that a measurement knows of the published files."""
    document = read_json(path)
    return Published(
        {(file, key): value for file in document for key, value in document[file].items()},
        constants=constants,
    )


Fate = Literal["kept", "gone", "measured"]


def fate(key: str, places: Collection[str], *, is_constant: bool) -> Fate:
    """Return the fate of a published cell where these places of its file were measured.

    |                   | in no measured place | in one   | in one, inside a list |
    |-------------------|----------------------|----------|-----------------------|
    | a name, a setting | kept                 | kept     | measured              |
    | a number          | gone                 | measured | measured              |

    `kept`: it stands as published. `gone`: its place is there, and reading it is an error.
    `measured`: what was measured stands there alone, and nothing where that is less than print; so
    an entry that was measured keeps its name, while of a list that got shorter no name is left.
    """
    below = [key.removeprefix(place) for place in places if f"{key}/".startswith(f"{place}/")]
    if not below:
        return "kept" if is_constant else "gone"
    in_a_list = any(name.isdigit() for path in below for name in path.split("/"))
    return "kept" if is_constant and not in_a_list else "measured"


def measured(published: Published, fragments: Fragments) -> Published:
    """Return tables of the published structure with the measured numbers in their places.

    Reading a number that was not measured raises `NotMeasured`.
    """
    cells: dict[Cell, Value] = {}
    unmeasured: set[Cell] = set()
    kept: set[Cell] = set()
    places = {file: tuple(parts) for file, parts in fragments.items()}
    for (file, key), value in published.cells.items():
        is_constant = published.constants.has(file, key)
        match fate(key, places.get(file, ()), is_constant=is_constant):
            case "kept":
                cells[file, key] = value
                kept.add((file, key))
            case "gone":
                cells[file, key] = None
                unmeasured.add((file, key))
            case "measured":
                pass
    for file, parts in fragments.items():
        for place, part in parts.items():
            for key, value in leaves(place, part):
                cells[file, key] = value
                unmeasured.discard((file, key))
    return replace(
        published, cells=cells, unmeasured=frozenset(unmeasured), kept=frozenset(kept), documents={}
    )


def tables_of(
    documents: Mapping[str, JsonObject], constants: Constants, roles: Roles | None = None
) -> Published:
    """Return the tables of one model that has no published place: whole files, texts included.

    They are measured numbers, so names and settings are kept apart as in `measured`.

    Args:
        documents: by file.
        constants: those of the published files.
        roles: those that rules ask for, with the places of these files that fill them.
    """
    cells = {
        (file, key): value
        for file, document in documents.items()
        for key, value in leaves("", document, texts=True)
    }
    kept = frozenset(cell for cell in cells if constants.has(*cell))
    return Published(cells, kept=kept, documents=documents, roles=roles or {}, constants=constants)


def read_measurements(folder: Path) -> Measurements:
    """Read `FOLDER/SLUG/measured.json` by slug: `runs` with their fragments, what is `absent`."""
    measurements = {
        path.parent.name: require_shape(path, Runs, read_fragments(path), "measure it again")
        for path in sorted(folder.glob(f"*/{NAME}"))
    }
    if not measurements:
        raise LayerwiseError(f"{folder}: nothing is measured here (*/{NAME}); run `dvc repro`")
    return measurements


def all_fragments(measurements: Measurements) -> Fragments:
    """Return the fragments of all runs of all models together."""
    runs = (run for measurement in measurements.values() for run in measurement["runs"].values())
    return merge(run["fragments"] for run in runs)


def replicates(measurements: Measurements) -> list[Measurements]:
    """Return the measurements with one draw of rounding noise each, as many as every model has.

    What does not round, or rests on the weights alone, is in them as it was measured.
    """
    replicates_by_number: list[Measurements] = []
    for number in range(_fewest(measurements, NOISE)):
        replicates_by_number.append(
            {slug: _with_noise(measurement, number) for slug, measurement in measurements.items()}
        )
    return replicates_by_number


def _with_noise(measurement: Runs, number: int) -> Runs:
    if not measurement.get(NOISE):
        return measurement
    noisy = measurement[NOISE][number]["runs"]
    runs: dict[str, Run] = {
        name: {**run, "fragments": _laid_over(run["fragments"], noisy[name]["fragments"])}
        if name in noisy
        else run
        for name, run in measurement["runs"].items()
    }
    return {**measurement, "runs": runs}


def _laid_over(fragments: Fragments, others: Fragments) -> Fragments:
    return {file: {**parts, **others.get(file, {})} for file, parts in fragments.items()}


def controls(measurements: Measurements) -> list[Measurements]:
    """Return the measurements of random weights, draw by draw; those of texts as they were.

    A model whose random weights gave nothing has no runs in them.
    """
    return [
        {slug: _control_draw(measurement, number) for slug, measurement in measurements.items()}
        for number in range(_fewest(measurements, CONTROL))
    ]


def _control_draw(measurement: Runs, number: int) -> Runs:
    if CONTROL not in measurement:
        return measurement
    drawn = measurement[CONTROL]
    return drawn[number] if drawn else {"runs": {}, "absent": {}}


def _fewest(measurements: Measurements, kind: Kind) -> int:
    """Return how many of them all models have that have any."""
    return min(
        (len(measurement[kind]) for measurement in measurements.values() if measurement.get(kind)),
        default=0,
    )


def sides(measurements: Measurements) -> dict[str, Measurements]:
    """Return measurements, replicates and draws, by the folder of their statistics."""
    by_folder = {"": measurements}
    for folder, others in ((NOISE, replicates(measurements)), (CONTROL, controls(measurements))):
        by_folder |= {f"{folder}/{number}": side for number, side in enumerate(others)}
    return by_folder


def absent_document(model: str, hub: str, names: Iterable[str], reason: str) -> Runs:
    """Return the document of a model of which nothing is measured, for one reason."""
    absent = dict.fromkeys(names, reason)
    return {"model": model, "hub": hub, "runs": {}, "absent": absent, NOISE: [], CONTROL: []}


def failures(measurement: Runs) -> dict[str, str]:
    """Return the reasons why runs of a model, or replicates and controls of others, are absent."""
    elsewhere = {
        f"{name} ({kind})": why
        for kind in KINDS
        for other in measurement.get(kind, [])
        for name, why in other["absent"].items()
        if name in measurement["runs"]
    }
    return {**measurement["absent"], **elsewhere}


def shortfalls(measurement: Runs) -> dict[str, str]:
    """Return why runs of a model lack some of their numbers, by the run."""
    runs = measurement["runs"].items()
    return {name: run[LACKING]["why"] for name, run in runs if LACKING in run}


def group_by_reason(absent: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the names of what is absent, by the reason."""
    names_by_reason: dict[str, list[str]] = {}
    for name, reason in absent.items():
        names_by_reason.setdefault(reason, []).append(name)
    return names_by_reason


def said_of(document: Runs, place: Path) -> str:
    """Say what was measured of a model and written to a place, and what failed, by the reason."""
    counts = f"{len(document['runs'])} runs in {place}, {len(document['absent'])} absent"
    reasons = group_by_reason({**shortfalls(document), **failures(document)}).items()
    why = "".join(f"\n  {', '.join(names)}: {reason}" for reason, names in reasons)
    return f"{document['model']}: {counts}{why}"


def is_random(measurements: Measurements) -> bool:
    return any(
        run.get(RANDOM)
        for measurement in measurements.values()
        for run in measurement["runs"].values()
    )


def write_fragments(path: Path, document: JsonObject) -> None:
    """Write what was measured as strict JSON, NaN as a word."""
    write_json(path, map_leaves(document, lambda x: NAN if x != x else x))  # NaN alone


def read_fragments(path: Path) -> Any:
    """Read what `write_fragments` wrote."""
    try:
        return map_leaves(read_json(path), lambda word: math.nan if word == NAN else word)
    except RecursionError:
        raise LayerwiseError(f"{path}: nested too deeply; measure it again") from None


def map_leaves(node: Any, function: Callable[[Any], Any]) -> Any:
    """Return the document with another leaf in the place of each."""
    if isinstance(node, dict):
        return {str(name): map_leaves(entry, function) for name, entry in node.items()}
    if isinstance(node, list | tuple):
        return [map_leaves(entry, function) for entry in node]
    return function(node)
