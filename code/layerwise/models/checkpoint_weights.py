"""The stored tensors against the declared model: every one has one place there, and none is left.

Names and shapes decide, before any weight is read. Where transformers makes one tensor of several
(experts that it fuses) the numbers on both sides are counted.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import torch
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

Declared = dict[str, torch.Tensor]  # the parameters of the model that config.json declares


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
    declared: Declared = model.state_dict(keep_vars=True)
    placed: dict[str, Stored] = {}
    converted: dict[tuple[str, ...], list[Stored]] = {}  # by the places that a conversion fills
    homeless: list[Stored] = []
    for tensor, place, filled in _placed(model, declared, tensors):
        if place not in declared:
            homeless.append(tensor)
            continue
        if filled:
            converted.setdefault(filled, []).append(tensor)
            continue
        _require_shape(config, tensor, declared[place].shape)
        if place in placed:
            raise LayerwiseError(
                f"{path}: every weight is stored once, found {place:.80} twice "
                f"({_named(placed[place])} and {_named(tensor)}); remove the one that is not meant"
            )
        placed[place] = tensor
    for places, sources in converted.items():
        _require_numbers(config, declared, places, sources)
        placed |= dict.fromkeys(places, sources[0])
    if homeless:
        raise LayerwiseError(
            f"{config}: the model that it declares uses every stored tensor, {_named(homeless[0])} "
            f"has no place in it ({len(homeless)} such tensors); {ONE_MODEL}, with adapters merged"
        )
    _require_all(config, declared, placed)


def _placed(
    model: Any, declared: Declared, tensors: Iterable[Stored]
) -> Iterator[tuple[Stored, str, tuple[str, ...]]]:
    """Yield every tensor with its place, as transformers finds it, which may not be declared.

    And with all places that are filled by what it is converted into; none where it is not.
    """
    conversions = get_model_conversion_mapping(model)
    renamings = [change for change in conversions if isinstance(change, WeightRenaming)]
    converters = [change for change in conversions if isinstance(change, WeightConverter)]
    prefix = model.base_model_prefix
    for tensor in sorted(tensors, key=lambda tensor: dot_natural_key(tensor.key)):  # as they do
        place, pattern = rename_source_key(tensor.key, renamings, converters, prefix, declared)
        if place not in declared and tensor.key in declared:  # it has its name already
            place, pattern = rename_source_key(tensor.key, [], [], prefix, declared)
        is_fused = place in declared and pattern is not None
        yield tensor, place, _targets(place, pattern, converters, declared) if is_fused else ()


def _require_shape(config: Path, tensor: Stored, shape: Sequence[int]) -> None:
    if tensor.shape != tuple(shape):
        raise LayerwiseError(
            f"{config}: it declares {tensor.key} as {list(shape)}, {tensor.file.name} holds "
            f"{list(tensor.shape)}; {ONE_MODEL}"
        )


def _require_numbers(
    config: Path, declared: Declared, places: Sequence[str], sources: Sequence[Stored]
) -> None:
    """Refuse tensors that have not as many numbers as the places that they are converted into."""
    n_declared = sum(declared[place].numel() for place in places)
    n_stored = sum(prod(tensor.shape) for tensor in sources)
    if n_stored != n_declared:
        raise LayerwiseError(
            f"{config}: it declares {n_declared:,} numbers for {places[0]:.80}, which transformers "
            f"makes of {len(sources)} stored tensors with {n_stored:,}; {ONE_MODEL}"
        )


def _require_all(config: Path, declared: Declared, placed: Iterable[str]) -> None:
    """Refuse a parameter without a tensor; tied weights are one parameter."""
    stored = {id(declared[place]) for place in placed}
    missing = [key for key, weight in declared.items() if id(weight) not in stored]
    if missing:
        raise LayerwiseError(
            f"{config}: it declares {min(missing)}, the safetensors files hold no weight for it "
            f"({len(missing)} such parameters); {ONE_MODEL}"
        )


def _targets(
    place: str,
    pattern: str | None,
    converters: Iterable[WeightConverter],
    declared: Declared,
) -> tuple[str, ...]:
    """Return every place that a conversion fills, of which the first is known."""
    converter = next(change for change in converters if pattern in change.source_patterns)
    first, *others = converter.target_patterns
    places = [place, *(place.replace(first, other) for other in others)]
    return tuple(target for target in dict.fromkeys(places) if target in declared)


def _named(tensor: Stored) -> str:
    return f"{tensor.key:.80} in {tensor.file.name}"
