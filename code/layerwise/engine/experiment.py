"""An experiment: which text, measured how, fills which place of which published file.

An experiment looks at one model and gives fragments: numbers by file and JSON Pointer, as
published. It fills the lowest level alone: what follows from other numbers of a file is left to
rules. `Experiment` looks at prompts one by one, or at weights; `PairExperiment` at the values that
one extraction gives of all statement pairs.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from layerwise.engine.measured import Fragments
from layerwise.engine.published import BEYOND, Published, Value, leaves, pointer
from layerwise.errors import LayerwiseError
from layerwise.measures.traces import Trace
from layerwise.measures.values import Values
from layerwise.models.registry import Extraction, Model, lookup_key
from layerwise.statistics.bootstrap import Draws

Documents = dict[str, dict[str, Any]]  # file -> what is filled of it, nested
Content: TypeAlias = "Value | Sequence[Content] | Mapping[str, Content]"
Filled = Mapping[str, Content]  # what is filled of an entry, nested as published


@dataclass(frozen=True)
class Subject:
    """One model in the dtype of one experiment."""

    model: Model
    trace: Callable[..., Trace]  # of a text; options: attention, modules, autocast
    weights: Any  # projections.Weights: the matrices of the checkpoint, read one by one
    prompts: Mapping[str, Any]  # {set: {"prompts": ...}}, as fetched
    published: Published  # for the places of fragments only, never for a value


Measure = Callable[[Subject, Any], Filled]


@dataclass(frozen=True)
class Experiment:
    """A measure over a set of prompts, and the place of its numbers.

    Attributes:
        file: the published file, or the file of each model, by slug.
        at: the group of the file (a list or an object) that has an entry per model; None where the
            whole file is about one.
        measure: what gives a model's entry, from the subject and the set of prompts as it stands.
            What stands under `beyond` goes to `beyond/<experiment>`, at the model's slug.
        prompts: the set, or the set of each model; None for what looks at weights alone.
        names: by slug, the name in `at` of those that are called otherwise there; None for a
            model that the file does not have and that was measured for `beyond/` alone.
    """

    file: str | Mapping[str, str]
    at: str | None
    measure: Measure
    prompts: str | Mapping[str, str] | None = None
    names: Mapping[str, str | None] = field(default_factory=dict)

    def fragments(self, experiment: str, subject: Subject) -> Fragments:
        """Return the model's fragments: objects number by number, lists as a whole.

        Raises:
            LayerwiseError: for a number without a place in the file.
        """
        slug = subject.model.slug
        file = self._own_value(self.file, experiment, slug)
        prompts = self._own_value(self.prompts, experiment, slug)
        place = self._place(file, experiment, subject)
        entry = dict(self.measure(subject, prompts and subject.prompts[prompts]["prompts"]))
        fragments: dict[str, dict[str, object]] = {}
        if beyond := entry.pop("beyond", None):
            fragments[f"{BEYOND}{experiment}"] = {pointer(slug): beyond}
        if place is not None:
            fragments[file] = dict(numbers(place, entry))
            known = [f"{key}/" for key in subject.published.keys(file)]
            lost = [
                key
                for key in fragments[file]
                if not any(start.startswith(f"{key}/") for start in known)
            ]
            if lost:
                raise LayerwiseError(
                    f"{file}: a number of {experiment} must have a place in it, found none at "
                    f"{', '.join(lost)}; correct the name, or put it under `beyond`"
                )
        return fragments

    def _place(self, file: str, experiment: str, subject: Subject) -> str | None:
        """Return the JSON Pointer of the model's entry; None where the file has none."""
        slug = subject.model.slug
        name = self.names.get(slug, slug)
        if self.at is None or name is None:
            return None if name is None else ""
        group = pointer(*self.at.split("/"))
        entries = subject.published.value(file, group)
        about = (
            {entry: entry for entry in entries}
            if isinstance(entries, dict)
            else {row: str(entry["model"]) for row, entry in enumerate(entries)}
        )
        rows = [row for row, entry in about.items() if lookup_key(entry) == lookup_key(name)]
        if len(rows) != 1:
            raise LayerwiseError(
                f"{file}: one entry of {self.at!r} must be about {name!r}, found {len(rows)} "
                f"among {', '.join(about.values())}; take {experiment} out of {slug}'s experiments "
                "in models.yaml"
            )
        return group + pointer(rows[0])

    @staticmethod
    def _own_value(value: Any, experiment: str, slug: str) -> Any:
        """Return a value that all models share, or the model's own entry of a mapping by slug."""
        if isinstance(value, Mapping) and slug not in value:
            raise LayerwiseError(
                f"{experiment} was published for {', '.join(value)}, not for {slug}; take it out "
                f"of {slug}'s experiments in models.yaml"
            )
        return value[slug] if isinstance(value, Mapping) else value


def numbers(place: str, entry: Content) -> Iterator[tuple[str, Content]]:
    """Yield place and value of each number or list of an object."""
    if not isinstance(entry, Mapping):
        yield place, entry
        return
    for name, value in entry.items():
        yield from numbers(place + pointer(name), value)


class Needs(Enum):
    """What has to be there for an experiment over statement pairs."""

    EACH_CATEGORY = "what a category gives stands without the others"
    ALL_CATEGORIES = "nothing, where a category is lacking"
    PROMPTS = "the hidden states of the prompts"


@dataclass(frozen=True)
class PairSubject:
    """The values of one extraction of a model."""

    slug: str
    extraction: Extraction
    values: Values
    published: Published  # for the places of fragments only, never for a value
    draws: Draws


@dataclass(frozen=True)
class PairExperiment:
    """What the values of statement pairs fill of the published files.

    Attributes:
        fill: gives the parts of files, nested as published.
        needs: what has to be there; without it there are no fragments.
        models: the slugs that its files are about; None for all that name the experiment.
    """

    fill: Callable[[PairSubject], Documents]
    needs: Needs = Needs.EACH_CATEGORY
    models: Collection[str] | None = None

    def fragments(self, subject: PairSubject, *, is_whole: bool) -> Fragments:
        """Return the fragments of one extraction; `is_whole`: its values are of all categories."""
        is_there = {
            Needs.EACH_CATEGORY: True,
            Needs.ALL_CATEGORIES: is_whole,
            Needs.PROMPTS: subject.values.n_prompts > 0,
        }
        if not is_there[self.needs] or subject.slug not in (self.models or [subject.slug]):
            return {}
        return {file: dict(leaves("", filled)) for file, filled in self.fill(subject).items()}
