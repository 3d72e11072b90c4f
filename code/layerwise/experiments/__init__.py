"""Paper 3's experiments: a model's numbers in the shape of the result files they were published in.

One module per experiment, named as in `models.yaml` (`studies: {sweep: float16, ...}`). A study
looks at one model and gives fragments: parts of published files, by file and JSON Pointer, with
the keys that the file has there. What spans several models is not measured but derived from the
fragments, by the same `replay` that derives it from the published numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from layerwise.errors import LayerwiseError
from layerwise.inputs import models
from layerwise.inputs.models import Model
from layerwise.inputs.published import Published, pointer
from layerwise.measures.traces import Trace

Fragments = dict[str, dict[str, Any]]  # file -> JSON Pointer -> what stands there

# What is measured from the hidden states of statement pairs (`pair_values`); every other study of
# the registry has a module here that looks at one model.
OF_PAIRS = ("p1_ua", "p1_outcorr", "p1_pythia_ua", "p1_neutral", "p2_layers", "p2_scaling")
STUDIES = tuple(study for study in models.STUDIES if study not in OF_PAIRS)


@runtime_checkable
class Tracer(Protocol):
    """Runs one text through the model of a study."""

    def __call__(
        self, text: str, *, attention: bool = False, modules: bool = False, autocast: bool = False
    ) -> Trace: ...


@dataclass(frozen=True)
class Subject:
    """One model in the dtype of one study, with that study's texts."""

    model: Model
    dtype: str
    trace: Tracer
    weights: Any  # projections.Weights: the matrices of the checkpoint, read one by one
    prompts: Mapping[str, Any]  # {set: {"prompts": ...}}, as fetched
    published: Published  # for the places of fragments only, never for a value

    def row(self, file: str, group: str, name: str, column: str = "model") -> str:
        """JSON Pointer of the entry of a published list whose `column` is (or ends in /) `name`.

        Raises:
            LayerwiseError: if the list has no or several such entries.
        """
        entries = self.published.document(file)
        for key in filter(None, group.split("/")):
            entries = entries[key]
        found = [
            number
            for number, entry in enumerate(entries)
            if str(entry[column]).rpartition("/")[2].lower() == name.rpartition("/")[2].lower()
        ]
        if len(found) != 1:
            raise LayerwiseError(
                f"{file}: one entry of {group!r} must be about {name!r}, found {len(found)}; "
                f"take the study out of {self.model.slug}'s in models.yaml"
            )
        return f"{pointer(*filter(None, group.split('/')))}/{found[0]}"
