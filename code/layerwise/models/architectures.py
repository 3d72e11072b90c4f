"""Which class a configuration is built with; what is no decoder is refused before its weights."""

from collections.abc import Sequence
from typing import Any, TypedDict

import transformers
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject
from layerwise.models.families import FAMILIES
from layerwise.models.other_ways import ANY_OTHER, as_embedding_model

ENCODER_DECODER = "an encoder-decoder"
_MASKED = modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
# Of one family the first is taken. The others read images or sound too, and text alone.
_CLASSES = (
    modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)


# A family, and what is known of it; `class` is a word of Python's.
Architecture = TypedDict(
    "Architecture", {"family": str, "class": str, "refused": str | None, "spectral": bool}
)


def check_architecture(place: object, document: JsonObject) -> None:
    """Refuse what config.json declares if it is no decoder that transformers has a class for.

    Raises:
        LayerwiseError: for an architecture with code of its own, an encoder, an encoder-decoder, or
            what is no language model.
    """
    family = document.get("model_type")
    if not isinstance(family, str) or family not in CONFIG_MAPPING_NAMES:
        own_code = document.get("auto_map")
        asks = f", which asks for code of its own ({own_code!r:.200})" if own_code else ""
        raise LayerwiseError(
            f"{place}: transformers {transformers.__version__} has no architecture "
            f"{family!r:.80}{asks}, and no code of a checkpoint is ever run; {ANY_OTHER}"
        )
    if (kind := _kind_of(family, document)) is not None:
        part = ".get_encoder()" if kind == ENCODER_DECODER else ""
        raise LayerwiseError(
            f"{place}: a model predicts each token from those before it, {family} is {kind}; take "
            f"a decoder; {as_embedding_model(part)}"
        )


def _kind_of(family: str, document: JsonObject) -> str | None:
    """Return what an architecture is, if it is no decoder.

    Most families of encoders have a class with a causal head too, for use as the decoder of another
    model: their configuration says whether it is one.
    """
    declared = document.get("is_encoder_decoder")
    if declared or getattr(CONFIG_MAPPING[family], "is_encoder_decoder", False):
        return ENCODER_DECODER
    if family in _MASKED and not document.get("is_decoder", document.get("causal")):
        return "an encoder"
    return None if _named(family, document.get("architectures")) else "no language model"


def _named(family: str, architectures: Sequence[str] | None) -> list[str]:
    """Return the classes that read text: those which config.json names, else its family's."""
    known = {name for mapping in _CLASSES for name in mapping.values()}
    of_family = [mapping[family] for mapping in _CLASSES if family in mapping]
    return [name for name in architectures or () if name in known] or of_family


def list_architectures() -> list[Architecture]:
    """Return every family that transformers has a class that reads text for, and what is known.

    `refused` is None for a decoder, else what it is; `spectral` is whether the layout of its
    weights is known, and so its spectral norms.
    """
    families = sorted({family for mapping in _CLASSES for family in mapping})
    return [
        {
            "family": family,
            "class": _named(family, None)[0],
            "refused": _kind_of(family, {}),
            "spectral": family in FAMILIES,
        }
        for family in families
    ]


def model_class(config: Any) -> Any:
    """Return the class that a configuration is built with, whole.

    It is the one that config.json names if it reads text, else transformers' own choice. A model
    that reads images too has its text tower inside, and is given text alone.
    """
    kinds = [
        getattr(transformers, name) for name in _named(config.model_type, config.architectures)
    ]
    whole = [kind for kind in kinds if kind.config_class is type(config)]  # not of a part of it
    return (whole or kinds)[0]
