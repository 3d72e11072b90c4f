"""Which class a configuration is built with; what is no decoder is refused before its weights."""

from collections.abc import Mapping
from typing import Any

import transformers
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

from layerwise.errors import LayerwiseError
from layerwise.models.families import ANY_OTHER

_CAUSAL = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
_WITH_IMAGES = modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
_MASKED = modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
_SEQ2SEQ = modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES


def check_architecture(place: object, document: Mapping[str, Any]) -> None:
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
        raise LayerwiseError(
            f"{place}: a model predicts each token from those before it, {family} is {kind}; take "
            f"a decoder. Its hidden states can be measured without preferences: {ANY_OTHER}"
        )


def _kind_of(family: str, document: Mapping[str, Any]) -> str | None:
    """Return what an architecture is, if it is no decoder."""
    is_causal = family in _CAUSAL or family in _WITH_IMAGES
    if family in _SEQ2SEQ or document.get("is_encoder_decoder"):
        return "an encoder-decoder"
    if family in _MASKED and not document.get("is_decoder", family not in _ENCODERS):
        return "an encoder"
    return None if is_causal else "no language model"


# Encoders that have a class with a causal head too, for use as the decoder of another model.
_ENCODERS = {
    family
    for family, name in _CAUSAL.items()
    if family in _MASKED and family not in _SEQ2SEQ and not name.startswith(("XLM", "Reformer"))
}


def model_class(config: Any) -> Any:
    """Return the class that a configuration is built with, whole.

    It is the one that config.json names if it reads text, else transformers' own choice. A model
    that reads images too has its text tower inside, and is given text alone.
    """
    mappings = (
        modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING,
        modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
    )
    known: list[Any] = [mapping[type(config)] for mapping in mappings if type(config) in mapping]
    named = config.architectures or ()
    return next((kind for kind in known if kind.__name__ in named), known[0])
