"""Paper 3's experiments: which text, measured how, fills which place of which published file.

`table` names every experiment of `models.yaml` (`experiments: {sweep: float16, ...}`) and runs it.
An experiment looks at one model and gives fragments: numbers by file and JSON Pointer, as
published. It fills the lowest level alone: what follows from other numbers of a file is left to
`analyses`. Read `table` first, then the modules it takes its measures from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from layerwise.errors import LayerwiseError
from layerwise.inputs.measured import merge
from layerwise.inputs.models import Model
from layerwise.inputs.published import Published, pointer
from layerwise.measures.traces import Trace

Fragments = dict[str, dict[str, Any]]  # file -> JSON Pointer -> what stands there
BEYOND = "beyond/"  # begins the files of ours, for what was measured and never published


@runtime_checkable
class Tracer(Protocol):
    """Runs one text through the model of an experiment."""

    def __call__(
        self, text: str, *, attention: bool = False, modules: bool = False, autocast: bool = False
    ) -> Trace: ...


@dataclass(frozen=True)
class Subject:
    """One model in the dtype of one experiment."""

    model: Model
    dtype: str
    trace: Tracer
    weights: Any  # projections.Weights: the matrices of the checkpoint, read one by one
    prompts: Mapping[str, Any]  # {set: {"prompts": ...}}, as fetched
    published: Published  # for the places of fragments only, never for a value
    experiment: str = ""  # its name in models.yaml, set where it is run

    def prompt_set(self, name: str) -> Any:
        """A set of prompts, in the shape in which its notebook has it.

        Raises:
            LayerwiseError: if there is none of that name.
        """
        if name not in self.prompts:
            raise LayerwiseError(
                f"prompts: no set is called {name!r}; there are {', '.join(self.prompts)}; "
                "fetch the prompts again"
            )
        return self.prompts[name]["prompts"]

    def row(self, file: str, group: str, name: str, column: str = "model") -> str:
        """JSON Pointer of a model's entry in a group of a file: a list or an object of models.

        An entry is about `name` where its `column` (or its key) is, see `is_about`.

        Raises:
            LayerwiseError: if the group has no or several such entries.
        """
        keys = [key for key in group.split("/") if key]
        entries = self.published.document(file)
        for key in keys:
            entries = entries[key]
        about = entries if isinstance(entries, dict) else [str(one[column]) for one in entries]
        found = [row for row, of in enumerate(about) if is_about(of, name)]
        if len(found) != 1:
            raise LayerwiseError(
                f"{file}: one entry of {group!r} must be about {name!r}, found {len(found)} among "
                f"{', '.join(about)}; take {self.experiment or 'the experiment'} out of "
                f"{self.model.slug}'s experiments in models.yaml"
            )
        return pointer(*keys, list(about)[found[0]] if isinstance(about, dict) else found[0])


def is_about(entry: str, name: str) -> bool:
    """Whether two names are one model's, but for an owner before a slash, case and hyphens."""
    first, second = (of.rpartition("/")[2].lower().replace("-", "") for of in (entry, name))
    return first == second


def dotted(slug: str) -> str:
    """The model's name in result files: pythia-1p4b is pythia-1.4b."""
    return re.sub(r"(\d)p(\d)", r"\1.\2", slug)


Measure = Callable[[Subject, Any], Mapping[str, Any]]


@dataclass(frozen=True)
class Experiment:
    """A measure over a set of prompts, and the place of its numbers.

    Attributes:
        file: the published file, or the file of each model, by slug.
        at: the group of the file (a list or an object, see `Subject.row`) that has an entry per
            model; None where the whole file is about one.
        measure: what gives a model's entry, from the subject and the set of prompts as it stands.
            Numbers that the published entry has no place for are left out; what stands under
            `beyond` goes to `beyond/<experiment>`, at the model's slug.
        prompts: the set, or the set of each model; None for what looks at weights alone.
        names: by slug, the name in `at` of those that are called otherwise there; None for a
            model that the file does not have and that was measured for `beyond/` alone.
    """

    file: str | Mapping[str, str]
    at: str | None
    measure: Measure
    prompts: str | Mapping[str, str] | None = None
    names: Mapping[str, str | None] = field(default_factory=dict)

    def __call__(self, subject: Subject) -> Fragments:
        """The model's fragments: objects number by number, lists as a whole.

        Raises:
            LayerwiseError: if the file has no place for the model, or a set of prompts is missing.
        """
        file, prompts = self._of(subject, self.file), self._of(subject, self.prompts)
        place = self._place(subject, file)
        entry = self.measure(subject, prompts and subject.prompt_set(prompts))
        theirs = dict(entry)
        found: Fragments = {}
        if ours := theirs.pop("beyond", None):
            found[f"{BEYOND}{subject.experiment}"] = {pointer(subject.model.slug): ours}
        if place is not None:
            there = subject.published.keys(file)
            found[file] = {
                key: value
                for key, value in numbers(place, theirs)
                if any(f"{one}/".startswith(f"{key}/") for one in there)
            }
        return found

    def _place(self, subject: Subject, file: str) -> str | None:
        if self.at is None:
            return ""
        name = self.names.get(subject.model.slug, dotted(subject.model.slug))
        return None if name is None else subject.row(file, self.at, name)

    def _of(self, subject: Subject, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        if subject.model.slug not in value:
            raise LayerwiseError(
                f"{subject.experiment} was published for {', '.join(value)}, not for "
                f"{subject.model.slug}; take it out of the model's experiments in models.yaml"
            )
        return value[subject.model.slug]


def together(*experiments: Experiment) -> Callable[[Subject], Fragments]:
    """Several places that are measured under one name."""
    return lambda subject: merge(experiment(subject) for experiment in experiments)


def numbers(place: str, entry: Any) -> Iterator[tuple[str, Any]]:
    """Place and value of each number or list of an object."""
    if not isinstance(entry, Mapping):
        yield place, entry
        return
    for name, value in entry.items():
        yield from numbers(place + pointer(name), value)
