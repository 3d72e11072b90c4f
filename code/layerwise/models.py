"""The registry of checkpoints: which weights, at which commit, in which dtype and shape."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from layerwise.errors import LayerwiseError

FAMILIES = ("gpt_neox", "gpt2", "opt", "llama")  # those with a known layout and a tiny twin
DTYPES = ("float32", "float16", "bfloat16")
UNRESOLVED = "unresolved"  # a revision nobody has recorded yet
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_KEYS = {
    "display",
    "family",
    "dtype",
    "shape",
    "hub",
    "revision",
    "gated",
    "built",
    "stands_in_for",
}


@dataclass(frozen=True)
class Shape:
    """What the loaded checkpoint must look like."""

    n_layers: int
    hidden_size: int
    n_heads: int
    adds_bos: bool


@dataclass(frozen=True)
class Model:
    """One entry of the registry: on the hub at a commit, or built on the spot."""

    slug: str
    display: str
    family: str
    dtype: str
    shape: Shape
    hub: str | None
    revision: str | None
    gated: bool
    built: bool
    stands_in_for: str | None = None  # the model whose place a built one takes in source mini


def read_models(path: Path) -> dict[str, Model]:
    """Read `models: {slug: {display, family, dtype, shape, hub, revision, gated | built,
    stands_in_for}}`.

    A revision `unresolved` is read as None; loading such a model refuses.

    Raises:
        LayerwiseError: naming the file, the slug and the fix, for any other content.
    """
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LayerwiseError(f"{path}: no such file; check the path") from None
    except yaml.YAMLError as error:
        raise LayerwiseError(f"{path}: not valid YAML ({error})") from None
    entries = document.get("models") if isinstance(document, dict) else None
    if not isinstance(entries, dict) or not entries:
        raise LayerwiseError(
            f"{path}: expected a mapping `models` with at least one entry, "
            f"found {type(entries).__name__}"
        )
    return {slug: _read_model(f"{path}: model {slug!r}", slug, e) for slug, e in entries.items()}


def find_model(models: dict[str, Model], slug: str) -> Model:
    """The entry of a slug.

    Raises:
        LayerwiseError: naming the known slugs.
    """
    if slug not in models:
        raise LayerwiseError(f"no model is called {slug!r}; known: {', '.join(models)}")
    return models[slug]


def _read_model(place: str, slug: Any, entry: Any) -> Model:
    if not isinstance(slug, str) or not _SLUG.fullmatch(slug):
        raise LayerwiseError(
            f"{place}: a slug has lower-case letters, digits and hyphens only (a dot would be "
            "read as a path separator); write 1p4b for 1.4b"
        )
    if not isinstance(entry, dict):
        raise LayerwiseError(f"{place}: expected a mapping, found {type(entry).__name__}")
    if unknown := sorted(set(entry) - _KEYS):
        raise LayerwiseError(
            f"{place}: unknown keys {', '.join(unknown)}; known: {', '.join(sorted(_KEYS))}"
        )
    for key, known in (("family", FAMILIES), ("dtype", DTYPES)):
        if entry.get(key) not in known:
            raise LayerwiseError(
                f"{place}: {key} must be one of {', '.join(known)}, found {entry.get(key)!r}"
            )
    if not isinstance(entry.get("display"), str):
        raise LayerwiseError(f"{place}: display must be a string, found {entry.get('display')!r}")
    built = _flag(place, entry, "built")
    hub, revision = _read_source(place, entry, built)
    return Model(
        slug=slug,
        display=entry["display"],
        family=entry["family"],
        dtype=entry["dtype"],
        shape=_read_shape(place, entry.get("shape")),
        hub=hub,
        revision=revision,
        gated=_flag(place, entry, "gated"),
        built=built,
        stands_in_for=_stand_in(place, entry, built),
    )


def _flag(place: str, entry: dict[str, Any], key: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):
        raise LayerwiseError(f"{place}: {key} must be true or false, found {value!r}")
    return value


def _stand_in(place: str, entry: dict[str, Any], built: bool) -> str | None:
    slug = entry.get("stands_in_for")
    if slug is not None and not (built and isinstance(slug, str)):
        raise LayerwiseError(f"{place}: only a built model stands in for another, found {slug!r}")
    return slug


def _read_source(place: str, entry: dict[str, Any], built: bool) -> tuple[str | None, str | None]:
    hub, revision = entry.get("hub"), entry.get("revision")
    if built:
        if hub is not None or revision is not None:
            raise LayerwiseError(f"{place}: a built model has no hub and no revision; remove them")
        return None, None
    if not isinstance(hub, str) or hub.count("/") != 1:
        raise LayerwiseError(f"{place}: hub must be `organisation/name`, found {hub!r}")
    if revision == UNRESOLVED:
        return hub, None
    if not isinstance(revision, str) or not _COMMIT.fullmatch(revision):
        raise LayerwiseError(
            f"{place}: revision must be a commit of 40 hexadecimal digits (or `{UNRESOLVED}`), "
            f"found {revision!r}; a branch name moves"
        )
    return hub, revision


def _read_shape(place: str, shape: Any) -> Shape:
    counts = ("n_layers", "hidden_size", "n_heads")
    keys = (*counts, "adds_bos")
    if not isinstance(shape, dict) or set(shape) != set(keys):
        raise LayerwiseError(f"{place}: shape must have the keys {', '.join(keys)}, found {shape}")
    for key in counts:
        if type(shape[key]) is not int or shape[key] < 1:
            raise LayerwiseError(
                f"{place}: shape.{key} must be a positive integer, found {shape[key]!r}"
            )
    if shape["hidden_size"] % shape["n_heads"]:
        raise LayerwiseError(
            f"{place}: hidden_size must be a multiple of n_heads, "
            f"found {shape['hidden_size']} and {shape['n_heads']}"
        )
    return Shape(**{key: shape[key] for key in counts}, adds_bos=_flag(place, shape, "adds_bos"))
