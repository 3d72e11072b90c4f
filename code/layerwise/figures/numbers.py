"""What figures read: the statistics of one source, and its judged claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from layerwise.analyses.depth_curves import Curves
from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.inputs.models import read_models
from layerwise.ledger.records import read_judged

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
        missing: what was asked for and is not there.
    """

    source: str
    statistics: Mapping[str, Mapping[str, Document]]
    names: Mapping[str, str]
    claims: Sequence[Mapping[str, Any]] = ()
    random_weights: bool = False
    beside: Curves = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    @property
    def word(self) -> str:
        """What the numbers are: published or measured."""
        return "published" if self.source == "published" else "measured"

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
            raise NothingToDraw(
                f"{what} of {', '.join(entries) or 'any model'}: "
                f"{', '.join(keys).replace('/', ' ')} not {self.word}"
            )
        self.missing += [self.names.get(name, name) for name in entries if name not in kept]
        return kept


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
    results = {path.stem: read_json(path) for path in sorted(folder.glob("*.json"))}
    if not results:
        raise LayerwiseError(f"{folder}: there are no statistics (*.json) here; analyse first")
    documents = {analysis: result["documents"] for analysis, result in results.items()}
    displays = {slug: model.display for slug, model in read_models(models).items()}
    names = {key: _name(key, displays) for found in documents.values() for key in found}
    return Numbers(
        source,
        documents,
        {key: name for key, name in names.items() if name},
        read_judged(claims, source, folder)["claims"],
        any(result.get("random_weights", False) for result in results.values()),
    )


def _name(key: str, displays: Mapping[str, str]) -> str:
    """Name of a model, or of one under a condition: `SLUG-templated` is "NAME, templated"."""
    slugs = [slug for slug in displays if f"{key}-".startswith(f"{slug}-")]
    if not slugs:
        return ""
    slug = max(slugs, key=len)
    condition = key.removeprefix(slug).strip("-").replace("-", " ")
    return displays[slug] + (f", {condition}" if condition else "")
