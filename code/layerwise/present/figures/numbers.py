"""What figures read: the statistics of one source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from layerwise.engine.answers import Answer, Answers, get_answer, read_answers
from layerwise.engine.published import DECIDES, OVER_MODELS
from layerwise.engine.records import read_judged
from layerwise.engine.words import Names, display_names, label_model
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject, read_json
from layerwise.models.registry import read_models

DepthCurve = list[
    tuple[float, float]
]  # over relative depth (layer over number of blocks): (depth, value)
Curves = Mapping[str, Mapping[str, DepthCurve]]  # by quantity, then by model
RANDOM = "random weights: the numbers mean nothing"
RELATIVE_DEPTH = "relative depth (layer / blocks)"  # an axis for models of any depth
OWN = "own"  # a reader's own model, which is no source of the pipeline


class NothingToDraw(LayerwiseError):
    """The numbers of a figure are not there: not published, or not measured."""


@dataclass
class Numbers:
    """The numbers of one source, for one figure.

    Attributes:
        source: `published`, `measured` or `OWN`.
        statistics: {analysis: {document: result}}, with the keys of the published files.
        names: {document: name as labels show it}, for documents about one model.
        random_weights: measured on stand-ins with random weights: the numbers mean nothing.
        beside: the papers' curves, for the figures of readers' own models.
        displays: what the papers' models are called, `words.display_names`.
        missing: what was asked for and is not there.
        narrow: drawn for a phone, one panel below the other.
    """

    source: str
    statistics: Mapping[str, Mapping[str, JsonObject]]
    names: Mapping[str, str]
    random_weights: bool = False
    beside: Curves = field(default_factory=dict)
    displays: Names = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    narrow: bool = False

    def depth_unit(self, n_layers: int) -> int:
        """Return how many layers one is on the axis of a model: of its blocks beside others."""
        return n_layers if self.beside else 1

    @property
    def word(self) -> str:
        """The word for the numbers: published or measured."""
        return "published" if self.source == "published" else "measured"

    def shown(self, model: str) -> str:
        """Return a model as labels show it, by the name that a published file has for it."""
        return label_model(model, self.displays)

    @cached_property
    def answers(self) -> Answers:
        """The answers to the papers' questions."""
        return read_answers(self.statistics)

    def answer(
        self, question: str, model: str = OVER_MODELS, reading: str = DECIDES
    ) -> Answer | None:
        """Return the answer to a question; None where there is none.

        Arguments:
            reading: the one that decides, or another, that of the papers say.
        """
        return get_answer(self.answers, question, model, reading)

    def document(self, analysis: str, name: str, *keys: str) -> JsonObject:
        """Return a document, once it has what the keys ("a/b" for what is nested) name."""
        document = self.statistics.get(analysis, {}).get(name, {})
        return self.having(analysis, {name: document}, *keys)[name]

    def models(self, analysis: str, *keys: str) -> dict[str, JsonObject]:
        """Return the documents of single models that have what the keys name."""
        documents = self.statistics.get(analysis, {})
        of_models = {slug: documents[slug] for slug in documents if slug in self.names}
        return self.having(analysis, of_models, *keys)

    def model(self, analysis: str, *keys: str) -> tuple[str, JsonObject]:
        """Return slug and document of the first model that has what the keys name."""
        return next(iter(self.models(analysis, *keys).items()))

    def having(self, what: str, entries: Mapping[str, Any], *keys: str) -> dict[str, Any]:
        """Return the entries that have what all keys name; the others are noted as missing.

        Raises:
            NothingToDraw: if there is no such entry.
        """
        kept = {
            name: entry
            for name, entry in entries.items()
            if all(has_value(entry, key) for key in keys)
        }
        if not kept:
            lacking = [
                key for key in keys if not any(has_value(entry, key) for entry in entries.values())
            ]
            raise NothingToDraw(
                f"{what} of {', '.join(map(self._named, entries)) or 'any model'}: "
                f"{', '.join(lacking or keys).replace('/', ' ')} not {self.word}".replace("_", " ")
            )
        self.missing += [self._named(name) for name in entries if name not in kept]
        return kept

    def _named(self, name: str) -> str:
        return self.names.get(name, self.shown(name))


def has_value(node: Any, key: str) -> bool:
    """Return whether a number (a label, a list with one, ...) stands below a key."""
    for name in key.split("/"):
        node = node.get(name) if isinstance(node, Mapping) else None
    return _has_leaf(node)


def _has_leaf(node: Any) -> bool:
    if isinstance(node, Mapping | list) and node:  # an empty list is a result: nothing was found
        return any(map(_has_leaf, node.values() if isinstance(node, Mapping) else node))
    return node is not None


def read_numbers(source: str, folder: Path, claims: Path, models: Path) -> Numbers:
    """Return the statistics of a source.

    Arguments:
        claims: judged by these statistics, and by no others.

    Raises:
        LayerwiseError: if there are none, or the claims were judged by others.
    """
    if not (files := sorted(folder.glob("*.json"))):
        raise LayerwiseError(f"{folder}: there are no statistics (*.json) here; analyse first")
    read_judged(claims, source, folder)
    results = {path.stem: read_json(path) for path in files}
    documents = {analysis: result["documents"] for analysis, result in results.items()}
    registry = read_models(models)
    displays = display_names(registry)
    names = {name for by_name in documents.values() for name in by_name}
    of_models = sorted(name for name in names if name.startswith((*registry,)))
    return Numbers(
        source,
        documents,
        {name: label for name in of_models if (label := label_model(name, displays)) != name},
        any(result.get("random_weights", False) for result in results.values()),
        displays=displays,
    )
