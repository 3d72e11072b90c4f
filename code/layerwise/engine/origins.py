"""The origin of measured numbers: the run that measured a cell, or why none did."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from layerwise.engine.judged import JudgedClaim
from layerwise.engine.measured import (
    CONTROL,
    NAME,
    NOISE,
    Kind,
    Measurements,
    failures,
    group_by_reason,
    shortfalls,
)
from layerwise.engine.published import Cell, Published, Value, leaves, split_pointer
from layerwise.engine.words import slugs, studies
from layerwise.files import JsonObject, sha256_of
from layerwise.models.registry import LARGE, Model, lookup_key

RUN = "/_run"  # the setting of a run, in a file that records it
# What decides how sums are split and rounded, but for the matrix products of a processor.
KERNELS = (
    *("attention", "arithmetic", "passes", "tokens_per_batch", "smaller_batches"),
    *("torch", "transformers"),
)


class Absence(NamedTuple):
    """Why a number was not measured.

    Attributes:
        why: in words.
        waits_for: the model whose measurement lacks it and says why; None where none does.
    """

    why: str
    waits_for: str | None


@dataclass(frozen=True)
class Absences:
    """Why something of a model was not measured, by what; `claims`: how many wait for it."""

    reasons: dict[str, str]
    claims: int


class Behind(NamedTuple):
    """The files and runs that judged claims rest on, and what is absent; see `JudgedSource`."""

    inputs: dict[str, str]
    runs: dict[str, dict[str, JsonValue]]
    failed: dict[str, Absences]
    left_out: dict[str, Absences]


@dataclass(frozen=True)
class Origins:
    """The measurements of one source.

    Attributes:
        measurements: {slug: what `measured.read_measurements` gives}.
        models: the registry.
        published: for what the entries of files are about.
    """

    measurements: Measurements
    models: Mapping[str, Model]
    published: Published

    @cached_property
    def _places(self) -> dict[Cell, str]:
        """The run that filled each place, by file and pointer."""
        return {
            (file, place): f"{slug}/{name}"
            for slug, measurement in self.measurements.items()
            for name, run in measurement["runs"].items()
            for file, parts in run["fragments"].items()
            for place in parts
        }

    @cached_property
    def _names(self) -> dict[str, str]:
        return slugs(self.models)

    def runs(self, cells: Iterable[str]) -> list[str]:
        """Return the runs ("slug/experiment") that measured cells ("file#/pointer")."""
        runs = set()
        for cell in cells:
            file, _, key = cell.partition("#")
            runs |= {
                self._places[file, place]
                for place in prefixes(key)
                if (file, place) in self._places
            }
        return sorted(runs)

    def model_runs(self, cells: Iterable[str]) -> list[str]:
        """Return the runs of these cells in which a model ran: texts are counted without one."""
        return [run for run in self.runs(cells) if run.partition("/")[0] in self.models]

    def in_16_bits(self, runs: Iterable[str]) -> bool:
        """Return whether some of these runs rounded to 16 bits."""
        return any(map(self._is_rounded, runs))

    def _is_rounded(self, run: str) -> bool:
        return str(self.settings(run).get("dtype")) != "float32"

    def share_kernels(self, cells: Iterable[str]) -> bool:
        """Return whether the files of these cells record the kernels of the runs that filled them.

        A file that says nothing of its own run, as none of the papers' does, shares nothing.
        """
        by_file: dict[str, list[str]] = {}
        for cell in cells:
            by_file.setdefault(cell.partition("#")[0], []).append(cell)
        pairs = [
            (self._recorded(file), self._kernels(run))
            for file, parts in by_file.items()
            for run in self.model_runs(parts)
        ]
        return bool(pairs) and all(recorded == kernels for recorded, kernels in pairs)

    def _recorded(self, file: str) -> dict[str, Value]:
        """Return the kernels of which a published file says that they gave its numbers."""
        starts = tuple(f"{RUN}/{name}" for name in KERNELS)
        cells = self.published.cells
        return {
            key: cells[file, key]
            for key in self.published.keys(file)
            if any(f"{key}/".startswith(f"{start}/") for start in starts)
        }

    def _kernels(self, run: str) -> dict[str, Value]:
        """Return the kernels of a run, in the form of a file's cells."""
        settings = self.settings(run)
        named = {name: settings[name] for name in KERNELS if name in settings}
        return dict(leaves(RUN, named, texts=True))

    def why_no_noise(self, runs: Iterable[str]) -> str | None:
        """Say why the noise of these runs is not known; None where it is."""
        return self._why_none(filter(self._is_rounded, runs), NOISE, "measure.replicates")

    def why_no_control(self, runs: Iterable[str]) -> str | None:
        """Say why these runs have no draw of random weights; None where there is one.

        Large models have none by design, and lack nothing.
        """
        drawn = (run for run in runs if not self.is_large(run))
        return self._why_none(drawn, CONTROL, "measure.control")

    def is_large(self, run: str) -> bool:
        """Return whether a run is of a model of which no random weights are drawn."""
        slug = run.partition("/")[0]
        return slug in self.models and self.models[slug].parameters >= LARGE

    def _why_none(self, runs: Iterable[str], kind: Kind, choice: str) -> str | None:
        for run in runs:
            slug, _, name = run.partition("/")
            others = self.measurements[slug].get(kind, [])
            if not others:
                return f"{run}: there is none; {choice} of params.yaml says how many"
            for number, measurement in enumerate(others):
                if name not in measurement["runs"]:
                    why = measurement["absent"].get(name, "it was not measured")
                    return f"{run}, {kind} {number}: {why}"
        return None

    def settings(self, run: str) -> dict[str, JsonValue]:
        """Return the setting of a run: model, dtype, device, kernels, revision, versions."""
        slug, _, name = run.partition("/")
        recorded: JsonObject = self.measurements[slug]["runs"][name]
        return {key: value for key, value in recorded.items() if key != "fragments"}

    def behind(self, claims: Sequence[JudgedClaim], folder: Path) -> Behind:
        """Return what judged claims rest on, and what is absent."""
        used = sorted({run for claim in claims for run in claim.provenance.runs})
        files = (folder / slug / NAME for slug in dict.fromkeys(run.split("/")[0] for run in used))
        waiting = Counter(claim.waits_for for claim in claims)
        failed: dict[str, Absences] = {}
        left_out: dict[str, Absences] = {}
        for slug, measurement in self.measurements.items():
            skipped = slug in self.models and self.models[slug].skipped
            for absent, reasons in (
                (left_out, shortfalls(measurement)),
                (left_out if skipped else failed, failures(measurement)),
            ):
                if reasons:
                    absent[slug] = Absences(reasons, waiting[slug])
        inputs = {path.as_posix(): sha256_of(path) for path in files}
        return Behind(inputs, {run: self.settings(run) for run in used}, failed, left_out)

    def why_not(self, cell: str | None, model: str | None) -> Absence:
        """Say why a cell was not measured; `model` is the subject of the claim."""
        slug = self._model_of(cell) if cell else None
        slug = slug or self._names.get(lookup_key(model or ""))
        what = f"{cell} was not measured" if cell else "no experiment measures it"
        measurement = self.measurements.get(slug or "", {"runs": {}, "absent": {}})
        absent = {**shortfalls(measurement), **measurement["absent"]}
        reasons = "; ".join(f"{studies(n)}: {why}" for why, n in group_by_reason(absent).items())
        return Absence(f"{what} ({slug}: {reasons})", slug) if reasons else Absence(what, None)

    def _model_of(self, cell: str) -> str | None:
        """Return the model that an entry is about, by its names or its keys."""
        file, _, key = cell.partition("#")
        for place in prefixes(key):
            for name in self._identities.get((file, place), ()):
                if slug := self._names.get(lookup_key(name)):
                    return slug
        for name in split_pointer(key):
            if slug := self._names.get(lookup_key(name)):
                return slug
        return None

    @cached_property
    def _identities(self) -> dict[Cell, list[str]]:
        """The names that each entry gives its subject."""
        names: dict[Cell, list[str]] = {}
        for (file, key), value in self.published.cells.items():
            if self.published.constants.is_name(key) and isinstance(value, str):
                names.setdefault((file, key.rpartition("/")[0]), []).append(value)
        return names


def prefixes(key: str) -> list[str]:
    """Return a pointer or a statistic and all that it is below, the longest first."""
    names = key.split("/")
    return ["/".join(names[:n]) for n in range(len(names), 0, -1)]
