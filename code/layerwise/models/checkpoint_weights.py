"""The stored tensors against the declared model: every one has one place there, and none is left.

Names and shapes decide, before any weight is read. Where transformers makes one tensor of several
(experts that it fuses) the numbers on both sides are counted.
"""

from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Any

from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import (
    WeightConverter,
    WeightRenaming,
    dot_natural_key,
    rename_source_key,
)

from layerwise.errors import LayerwiseError
from layerwise.models.checkpoint_config import ONE_MODEL
from layerwise.models.checkpoint_folder import Stored


def check_tensors(path: Path, model: Any, tensors: Iterable[Stored]) -> None:
    """Refuse tensors that are not exactly those of the declared model.

    Args:
        path: the folder of the checkpoint.
        model: the declared model, on any device; shapes are enough.
        tensors: every tensor of the weight files, by their headers.

    Raises:
        LayerwiseError: for a tensor without a place in the model, two for the same place, another
            shape than declared, or a parameter without a tensor.
    """
    config = path / "config.json"
    declared = model.state_dict(keep_vars=True)
    conversions = get_model_conversion_mapping(model)
    renamings = [change for change in conversions if isinstance(change, WeightRenaming)]
    converters = [change for change in conversions if isinstance(change, WeightConverter)]
    placed: dict[str, Stored] = {}
    converted: dict[str, list[Stored]] = {}  # by the first place that a conversion fills
    targets: dict[str, list[str]] = {}
    homeless: list[Stored] = []
    for tensor in sorted(tensors, key=lambda tensor: dot_natural_key(tensor.key)):  # as they do
        key, prefix = tensor.key, model.base_model_prefix
        place, pattern = rename_source_key(key, renamings, converters, prefix, declared)
        if place not in declared and key in declared:  # it has its name already
            place, pattern = rename_source_key(key, [], [], prefix, declared)
        if place not in declared:
            homeless.append(tensor)
            continue
        if pattern is not None:
            converted.setdefault(place, []).append(tensor)
            targets[place] = _targets(place, pattern, converters, declared)
            continue
        shape = tuple(declared[place].shape)
        if tensor.shape != shape:
            raise LayerwiseError(
                f"{config}: it declares {tensor.key} as {list(shape)}, {tensor.file.name} holds "
                f"{list(tensor.shape)}; {ONE_MODEL}"
            )
        if place in placed:
            raise LayerwiseError(
                f"{path}: every weight is stored once, found {place:.80} twice "
                f"({_named(placed[place])} and {_named(tensor)}); remove the one that is not meant"
            )
        placed[place] = tensor
    for place, sources in converted.items():
        wanted = sum(declared[target].numel() for target in targets[place])
        found = sum(prod(tensor.shape) for tensor in sources)
        if found != wanted:
            raise LayerwiseError(
                f"{config}: it declares {wanted:,} numbers for {place:.80}, which transformers "
                f"makes of {len(sources)} stored tensors with {found:,}; {ONE_MODEL}"
            )
        placed |= dict.fromkeys(targets[place], sources[0])
    if homeless:
        raise LayerwiseError(
            f"{config}: the model that it declares uses every stored tensor, {_named(homeless[0])} "
            f"has no place in it ({len(homeless)} such tensors); {ONE_MODEL}, with adapters merged"
        )
    stored = {id(declared[place]) for place in placed}  # tied weights are one parameter
    missing = [key for key, weight in declared.items() if id(weight) not in stored]
    if missing:
        raise LayerwiseError(
            f"{config}: it declares {min(missing)}, the safetensors files hold no weight for it "
            f"({len(missing)} such parameters); {ONE_MODEL}"
        )


def _targets(
    place: str, pattern: str, converters: Iterable[WeightConverter], declared: Mapping[str, Any]
) -> list[str]:
    """Return every place that a conversion fills, of which the first is known."""
    converter = next(change for change in converters if pattern in change.source_patterns)
    first, *others = converter.target_patterns
    places = [place, *(place.replace(first, other) for other in others)]
    return [target for target in dict.fromkeys(places) if target in declared]


def _named(tensor: Stored) -> str:
    return f"{tensor.key:.80} in {tensor.file.name}"
