"""The registry of checkpoints: which weights, at which commit, in which dtypes and shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypedDict, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    model_validator,
)

from layerwise.errors import LayerwiseError
from layerwise.shapes import STRICT, Measuring, explained, read_yaml

RANDOM: Final = "random_weights"  # marks a stand-in's config, and every number measured on one
Dtype = Literal["float32", "float16", "bfloat16"]
DTYPES: tuple[Dtype, ...] = get_args(Dtype)
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}  # of a number
Template = Literal["none", "published", "once"]  # `models.chat_templates`
LARGE = 1.0  # billions of parameters, from which on no random weights are drawn
UNRESOLVED = "unresolved"  # a revision nobody has recorded yet
HUB_NAME = r"[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*"  # what the hub's client takes
# What the patterns below say, and why.
SAID = {
    "slug": "have lower-case letters, digits and hyphens only (a dot would be read as a path "
    "separator); write 1p4b for 1.4b",
    "hub": "be `organisation/name` as the hub has them: letters, digits, single . - and _ between",
    "revision": f"be a commit of 40 hexadecimal digits (or `{UNRESOLVED}`); a branch name moves",
}


class _Entry(BaseModel):
    """No key and no type but the declared ones, and no change afterwards."""

    model_config = STRICT | ConfigDict(frozen=True)


class Shape(_Entry):
    """The shape that the loaded checkpoint must have."""

    n_layers: PositiveInt
    hidden_size: PositiveInt
    n_heads: PositiveInt
    kv_heads: PositiveInt  # heads of keys and values; fewer than n_heads where these are shared
    head_size: PositiveInt  # Gemma's is not hidden_size / n_heads
    adds_bos: bool

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, given: Any) -> Any:
        """Fill in `kv_heads` and `head_size`, which follow from the rest, unless they are given."""
        if not isinstance(given, dict):
            return given
        n_heads, hidden_size = given.get("n_heads"), given.get("hidden_size")
        if type(n_heads) is not int or type(hidden_size) is not int or n_heads < 1:
            return given  # refused as what they are
        if "head_size" not in given and hidden_size % n_heads:
            raise ValueError(
                "hidden_size must be a multiple of n_heads where no head_size is given, "
                f"found {hidden_size} and {n_heads}"
            )
        return {"kv_heads": n_heads, "head_size": hidden_size // n_heads} | given

    @model_validator(mode="after")
    def _check_groups(self) -> Shape:
        if self.n_heads % self.kv_heads:
            raise ValueError(
                f"n_heads must be a multiple of kv_heads, found {self.n_heads} and {self.kv_heads}"
            )
        return self


class Repeats(TypedDict):
    """How often a model is measured again: with rounding noise, and with random weights."""

    replicates: int
    control: int


class Extraction(_Entry):
    """Hidden states that Papers 1 and 2 need: one model in one dtype, at its own sampled layers."""

    dtype: Dtype
    layer_step: PositiveInt = 4
    template: Template = "none"
    experiments: tuple[str, ...] = Field(strict=False)  # that the values serve, a list in YAML


class Model(_Entry):
    """One entry of the registry: a model of the hub at a commit."""

    slug: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    display: str
    lab: str
    family: str
    parameters: PositiveFloat  # billions, declared
    hub: str = Field(pattern=f"^{HUB_NAME}/{HUB_NAME}$", max_length=96)
    # None: nobody has recorded one yet
    revision: Annotated[
        str | None,
        Field(pattern=r"^[0-9a-f]{40}$"),
        BeforeValidator(lambda given: None if given == UNRESOLVED else given),
    ]
    shape: Shape
    licence: str = Field("unknown", exclude=True)  # of the weights: no number depends on it
    gated: bool = False
    chat: bool = False  # the tokenizer brings a chat template
    skip: str | None = Field(None, min_length=1)  # why it is not to be measured
    alone: bool = False  # without the replicates and the random-weight draws of params.yaml
    extractions: Mapping[str, Extraction] = {}  # by the name of the values
    experiments: Mapping[str, Dtype] = {}

    @property
    def skipped(self) -> str | None:
        """The reason why it is not measured; None: it is."""
        unresolved = None if self.revision else f"no commit is recorded (revision: {UNRESOLVED})"
        return self.skip or unresolved

    def n_draws(self, control: int) -> int:
        """Return how many draws of random weights are measured beside it, of `measure.control`.

        Of a billion parameters or more there are none: a draw costs as much as the model.
        """
        return 0 if self.alone or self.parameters >= LARGE else control

    def repeats(self, chosen: Measuring) -> Repeats:
        """Return how often it is measured again, of `replicates` and `control` of params.yaml."""
        replicates = 0 if self.alone else chosen["replicates"]
        return {"replicates": replicates, "control": self.n_draws(chosen["control"])}

    @property
    def dtype(self) -> str:
        """The dtype that it is usually loaded in: the first of `dtypes`."""
        return next(iter(self.dtypes), "float32")

    @property
    def dtypes(self) -> dict[str, list[str]]:
        """The experiments by the dtype that the model is loaded in; extractions' come first."""
        experiments: dict[str, list[str]] = {}
        for extraction in self.extractions.values():
            experiments.setdefault(extraction.dtype, []).extend(extraction.experiments)
        for experiment, dtype in self.experiments.items():
            experiments.setdefault(dtype, []).append(experiment)
        return experiments


def read_models(path: Path) -> dict[str, Model]:
    """Read `models: {slug: {display, lab, family, parameters, hub, revision, shape, ...}}`.

    `licences: {slug: licence}` beside it is optional, as every line of it is.

    Raises:
        LayerwiseError: naming the file, the slug, the field, what came and the fix, for any other
            content.
    """
    document = read_yaml(path)
    entries = document.get("models") if isinstance(document, dict) else None
    if not isinstance(entries, dict) or not entries:
        raise LayerwiseError(
            f"{path}: expected a mapping `models` with at least one entry, "
            f"found {type(entries).__name__}; restore it"
        )
    licences = document.get("licences", {})
    if not isinstance(licences, dict) or licences.keys() - entries.keys():
        raise LayerwiseError(
            f"{path}: `licences` must map models of this file to their licences, found "
            f"{next(iter({*licences} - {*entries}), type(licences).__name__)!r:.80}; correct it"
        )
    models = {}
    for slug, entry in entries.items():
        place = f"{path}: model {slug!r:.80}"
        if not isinstance(entry, dict):
            raise LayerwiseError(
                f"{place}: expected a mapping, found {type(entry).__name__}; restore it"
            )
        licence = {"licence": licences[slug]} if slug in licences else {}
        try:
            models[slug] = Model.model_validate({**entry, "slug": slug} | licence)
        except ValidationError as error:
            raise LayerwiseError(f"{place}: {explained(error, SAID)}") from None
    return models


def find_model(models: Mapping[str, Model], slug: str) -> Model:
    """Return the entry of a slug; the error names the known ones."""
    if slug not in models:
        raise LayerwiseError(f"no model is called {slug!r}; known: {', '.join(models)}")
    return models[slug]


def slug_of(name: str) -> str:
    """Return the slug of a model by a name of it: `pythia-6p9b` of `EleutherAI/Pythia-6.9B`."""
    return re.sub(r"(?<=\d)\.(?=\d)", "p", name.rpartition("/")[2].lower())


def lookup_key(name: str) -> str:
    """Return the letters and digits of a model's slug, by which all spellings of it agree."""
    return re.sub(r"[^a-z0-9]", "", slug_of(name))
