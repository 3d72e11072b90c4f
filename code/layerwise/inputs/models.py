"""The registry of checkpoints: which weights, at which commit, in which dtype and shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from layerwise.errors import LayerwiseError

# those with a known layout and a tiny twin
FAMILIES = (
    "apertus", "bloom", "falcon", "gemma", "gemma2", "gpt2", "gpt_neo", "gpt_neox", "gptj", "llama",
    "mistral", "opt", "stablelm",
)  # fmt: skip
DTYPES = ("float32", "float16", "bfloat16")
NF4 = "nf4/float16"  # weights packed in 4 bits by bitsandbytes, unpacked to float16 for each sum
STUDIES = (
    "p1_ua", "p1_outcorr", "p1_pythia_ua", "p1_neutral", "p2_layers", "p2_scaling", "sweep", "hunt",
    "clean", "bench", "twin", "gpt2_ln", "gptj", "spectral", "h4", "h4ext", "lstar", "rmap", "ffn",
    "scaling", "fourmodel", "mistral", "opt", "llama_anom", "inputdep", "rlhf", "llama23",
    "crossarch", "perhead", "aniso",
)  # fmt: skip
UNRESOLVED = "unresolved"  # a revision nobody has recorded yet
TWIN_HEAD_SIZE = 4
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_KEYS = ("hub", "revision", "gated", "chat", "lab", "parameters", "studies")
_KEYS = {"display", "family", "dtype", "shape", "built", "stands_in_for", *_HUB_KEYS}


@dataclass(frozen=True)
class Shape:
    """What the loaded checkpoint must look like."""

    n_layers: int
    hidden_size: int
    n_heads: int
    kv_heads: int  # heads of keys and values; fewer than n_heads where these are shared
    head_size: int  # Gemma's is not hidden_size / n_heads
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
    lab: str | None = None
    parameters: float | None = None  # billions, declared: for estimates only
    studies: Mapping[str, str] = field(default_factory=dict)
    chat: bool = False  # the tokenizer brings a chat template


def read_models(path: Path) -> dict[str, Model]:
    """Read `models: {slug: {display, family, dtype, shape, ...}}`.

    A model of the hub has `hub`, `revision`, `lab`, `parameters`, `studies: {study: dtype}` and
    perhaps `gated`, `chat`; one built on the spot has `built` and perhaps `stands_in_for`.
    A revision `unresolved` is read as None; loading such a model refuses. In `shape`, `kv_heads`
    is `n_heads` and `head_size` is `hidden_size / n_heads` unless given.

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


def twin_of(model: Model) -> Model:
    """The declaration of a model's tiny random-weight twin (`tiny.build_twin`).

    Slug, family, dtype, studies and all counts are the model's; a head has 4 dimensions and the
    hidden size is 4 n_heads. Where the model's hidden size is not n_heads * head_size (Gemma),
    the twin's head has 6, so that its hidden size is not either.
    """
    shape = model.shape
    square = shape.hidden_size == shape.n_heads * shape.head_size
    small = replace(
        shape,
        hidden_size=shape.n_heads * TWIN_HEAD_SIZE,
        head_size=TWIN_HEAD_SIZE + (0 if square else 2),
    )
    return replace(model, shape=small, hub=None, revision=None, gated=False, built=True)


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
        lab=entry.get("lab"),
        parameters=entry.get("parameters"),
        studies=dict(entry.get("studies", {})),
        chat=_flag(place, entry, "chat"),
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
    if built:
        if given := sorted(set(entry) & set(_HUB_KEYS)):
            raise LayerwiseError(f"{place}: a built model has no {', '.join(given)}; remove them")
        return None, None
    hub, revision = entry.get("hub"), entry.get("revision")
    if not isinstance(hub, str) or hub.count("/") != 1:
        raise LayerwiseError(f"{place}: hub must be `organisation/name`, found {hub!r}")
    _check_declared(place, entry)
    if revision == UNRESOLVED:
        return hub, None
    if not isinstance(revision, str) or not _COMMIT.fullmatch(revision):
        raise LayerwiseError(
            f"{place}: revision must be a commit of 40 hexadecimal digits (or `{UNRESOLVED}`), "
            f"found {revision!r}; a branch name moves"
        )
    return hub, revision


def _check_declared(place: str, entry: dict[str, Any]) -> None:
    """Laboratory, number of parameters and studies of a model of the hub."""
    lab, parameters, studies = (entry.get(key) for key in ("lab", "parameters", "studies"))
    if not isinstance(lab, str):
        raise LayerwiseError(f"{place}: lab must be a string, found {lab!r}")
    if not isinstance(parameters, (int, float)) or not parameters > 0:
        raise LayerwiseError(
            f"{place}: parameters must be a positive number of billions, found {parameters!r}"
        )
    if not isinstance(studies, dict):
        raise LayerwiseError(f"{place}: studies must be a mapping study: dtype, found {studies!r}")
    for study, dtype in studies.items():
        if study not in STUDIES:
            raise LayerwiseError(f"{place}: no study {study!r}; known: {', '.join(STUDIES)}")
        if dtype not in (*DTYPES, NF4):
            raise LayerwiseError(
                f"{place}: the dtype of study {study} must be one of "
                f"{', '.join((*DTYPES, NF4))}, found {dtype!r}"
            )


def _read_shape(place: str, shape: Any) -> Shape:
    needed = ("n_layers", "hidden_size", "n_heads", "adds_bos")
    optional = ("kv_heads", "head_size")
    if not isinstance(shape, dict) or not set(needed) <= set(shape) <= {*needed, *optional}:
        raise LayerwiseError(
            f"{place}: shape must have the keys {', '.join(needed)} and may have "
            f"{', '.join(optional)}, found {shape}"
        )
    counts = {key: value for key, value in shape.items() if key != "adds_bos"}
    for key, value in counts.items():
        if type(value) is not int or value < 1:
            raise LayerwiseError(
                f"{place}: shape.{key} must be a positive integer, found {value!r}"
            )
    hidden_size, n_heads = counts["hidden_size"], counts["n_heads"]
    if "head_size" not in counts and hidden_size % n_heads:
        raise LayerwiseError(
            f"{place}: hidden_size must be a multiple of n_heads where no head_size is given, "
            f"found {hidden_size} and {n_heads}"
        )
    counts = {"kv_heads": n_heads, "head_size": hidden_size // n_heads} | counts
    if n_heads % counts["kv_heads"]:
        raise LayerwiseError(
            f"{place}: n_heads must be a multiple of kv_heads, "
            f"found {n_heads} and {counts['kv_heads']}"
        )
    return Shape(**counts, adds_bos=_flag(place, shape, "adds_bos"))
