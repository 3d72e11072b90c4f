"""What figures read: the statistics of one source, and its judged claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from layerwise.engine.curves import Curves
from layerwise.engine.records import read_judged
from layerwise.engine.words import Names, display_names, label_model
from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.models.registry import read_models

Document = Mapping[str, Any]
RANDOM = "random weights: the numbers mean nothing"
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
        claims: the records of the judged claims.
        random_weights: measured on stand-ins with random weights: the numbers mean nothing.
        beside: the papers' curves, for the figures of readers' own models.
        displays: what the papers' models are called, `words.display_names`.
        missing: what was asked for and is not there.
        narrow: drawn for a phone, one panel below the other.
    """

    source: str
    statistics: Mapping[str, Mapping[str, Document]]
    names: Mapping[str, str]
    claims: Sequence[Mapping[str, Any]] = ()
    random_weights: bool = False
    beside: Curves = field(default_factory=dict)
    displays: Names = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    narrow: bool = False

    @property
    def word(self) -> str:
        """What the numbers are: published or measured."""
        return "published" if self.source == "published" else "measured"

    def shown(self, model: str) -> str:
        """A model as labels show it, by the name that a published file has for it."""
        return label_model(model, self.displays)

    @property
    def grey(self) -> str:
        """What grey lines are, where there are any."""
        return "Grey: the papers' models, as published." * bool(self.beside)

    def document(self, analysis: str, name: str, *keys: str) -> Document:
        """One document, once it has what the keys ("a/b" for what is nested) name."""
        document = self.statistics.get(analysis, {}).get(name, {})
        return self.having(analysis, {name: document}, *keys)[name]

    def models(self, analysis: str, *keys: str) -> dict[str, Document]:
        """The documents of single models that have what the keys name."""
        documents = self.statistics.get(analysis, {})
        of_models = {slug: documents[slug] for slug in documents if slug in self.names}
        return self.having(analysis, of_models, *keys)

    def model(self, analysis: str, *keys: str) -> tuple[str, Document]:
        """The first of them, by the model's slug."""
        return next(iter(self.models(analysis, *keys).items()))

    def having(self, what: str, entries: Mapping[str, Any], *keys: str) -> dict[str, Any]:
        """The entries that have what all keys name; the others are noted as missing."""
        kept = {
            name: entry for name, entry in entries.items() if all(_there(entry, k) for k in keys)
        }
        if not kept:
            lacking = [k for k in keys if not any(_there(entry, k) for entry in entries.values())]
            raise NothingToDraw(
                f"{what} of {', '.join(map(self._named, entries)) or 'any model'}: "
                f"{', '.join(lacking or keys).replace('/', ' ')} not {self.word}".replace("_", " ")
            )
        self.missing += [self._named(name) for name in entries if name not in kept]
        return kept

    def _named(self, name: str) -> str:
        return self.names.get(name, self.shown(name))


def _there(node: Any, key: str) -> bool:
    """Whether a number (a label, a list with one, ...) stands below a key."""
    for name in key.split("/"):
        node = node.get(name) if isinstance(node, Mapping) else None
    return _any(node)


def _any(node: Any) -> bool:
    if isinstance(node, Mapping | list) and node:  # an empty list is a result: nothing was found
        return any(map(_any, node.values() if isinstance(node, Mapping) else node))
    return node is not None


def read_numbers(source: str, folder: Path, claims: Path, models: Path) -> Numbers:
    """The statistics files and judged claims of a source.

    Raises:
        LayerwiseError: if there are none.
    """
    if not (files := sorted(folder.glob("*.json"))):
        raise LayerwiseError(f"{folder}: there are no statistics (*.json) here; analyse first")
    judged = read_judged(claims, source, folder)
    results = {path.stem: read_json(path) for path in files}
    documents = {analysis: result["documents"] for analysis, result in results.items()}
    registry = read_models(models)
    displays = display_names(registry)
    keys = {key for found in documents.values() for key in found if key.startswith((*registry,))}
    return Numbers(
        source,
        documents,
        {key: name for key in sorted(keys) if (name := label_model(key, displays)) != key},
        judged["claims"],
        any(result.get("random_weights", False) for result in results.values()),
        displays=displays,
    )
