"""The words that readers see for keys: models, categories, poolings, measures, experiments.

The models' names stand in the registry, all others in `claims/words.yaml`.
"""

import functools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from layerwise.home import here
from layerwise.models.registry import Model, lookup_key, read_models
from layerwise.shapes import Strict, read_yaml, require_shape

Names = Mapping[str, str]  # what a model is called, by the `lookup_key` of all that files call it
WORDS = "words.yaml"  # beside the claims
BETWEEN = (" < ", " and ")  # two models that are compared

# opt-2.7b, gpt-j-6B; not within a path, or the name that a model has on the hub: it is code.
_SLUG = re.compile(
    r"(?<![\w/])(?>[A-Za-z][A-Za-z0-9]*(?:-[a-zA-Z0-9]+(?:\.[0-9]+[a-zA-Z]*)?)+)(?![\w/])"
)
_QUOTED = re.compile(r'(“[^”]*”|"[^"]*")')


class Words(Strict):
    """`words.yaml`: what readers see in the place of keys, and of experiments in `models.yaml`."""

    keys: dict[str, str]
    experiments: dict[str, str]


def words_here() -> Words:
    """Return the words of the claims that belong to what is read here; read once for a folder."""
    return _words_around(Path.cwd())


@functools.cache
def _words_around(folder: Path) -> Words:
    """Return the words for the working folder, around which `here` looks."""
    path = here() / "claims" / WORDS
    if not path.exists():  # a ledger without keys to put in words
        return {"keys": {}, "experiments": {}}
    words: Words = require_shape(path, Words, read_yaml(path))
    return words


def display_names(models: Mapping[str, Model]) -> dict[str, str]:
    """Return the display names of models, by every name that `slugs` knows.

    Arguments:
        models: the registry, `read_models`.
    """
    return {name: models[slug].display for name, slug in slugs(models).items()}


def names_here() -> Names:
    """Return the names of the registry that belongs to what is read here."""
    return display_names(read_models(here() / "models.yaml"))


def slugs(models: Mapping[str, Model]) -> dict[str, str]:
    """Return the slug of a model by the `lookup_key` of all that files and tables call it."""
    slug_by_name: dict[str, str] = {}
    for slug, model in models.items():
        known = [slug, model.hub, model.display]
        if any("p1_ua" in extraction.experiments for extraction in model.extractions.values()):
            known.append(slug.partition("-")[0])  # as Paper 1's files do: llama
        slug_by_name |= dict.fromkeys(map(lookup_key, known), slug)
    return slug_by_name


def label_model(model: str, names: Names) -> str:
    """Return a model's display name; `SLUG-templated` becomes "NAME, templated"."""
    for between in BETWEEN:
        if between in model:
            return between.join(label_model(part, names) for part in model.split(between))
    if display := names.get(lookup_key(model)):
        return display
    start, _, condition = model.rpartition("-")
    known = names.get(lookup_key(start)) if condition.isalpha() else None
    return f"{known}, {condition}" if known else model


def in_words(text: str, names: Names = MappingProxyType({})) -> str:
    """Return a text with the keys of categories, poolings, measures and models in words.

    What stands in quotation marks is left as it is.
    """
    parts = _QUOTED.split(text)  # every second one is a quotation
    parts[::2] = [_put_in_words(part, names) for part in parts[::2]]
    return "".join(parts)


def _put_in_words(text: str, names: Names) -> str:
    """Return a text without quotations with its keys in words."""
    if keys := words_here()["keys"]:
        text = _any_of(tuple(keys)).sub(lambda key: keys[key[1]], text)
    return _SLUG.sub(lambda slug: names.get(lookup_key(slug[0]), slug[0]), text) if names else text


@functools.cache
def _any_of(keys: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(map(re.escape, keys))})\b")


def key_in_words(key: str) -> str:
    """Return a key as a label shows it, `_` between words where it has no words of its own."""
    return in_words(key).replace("_", " ")


def category_labels(names: Iterable[str]) -> dict[str, str]:
    """Return what readers see for each category; those that would read alike keep their names."""
    labels = {name: key_in_words(name) for name in names}
    shown = list(labels.values())
    return {name: label if shown.count(label) == 1 else name for name, label in labels.items()}


def studies(experiments: Iterable[str]) -> str:
    """Return experiments by the names that people read, each once."""
    names = words_here()["experiments"]
    return ", ".join(names.get(name, name) for name in dict.fromkeys(experiments))
