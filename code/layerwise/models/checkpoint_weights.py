"""The stored tensors against the declared model: every one has one place there, and none is left.

Names and shapes decide, before any weight is read.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from transformers.conversion_mapping import get_model_conversion_mapping
from transformers.core_model_loading import WeightRenaming, rename_source_key

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
    renamings = [
        renaming
        for renaming in get_model_conversion_mapping(model)
        if isinstance(renaming, WeightRenaming)
    ]
    placed: dict[str, Stored] = {}
    homeless: list[Stored] = []
    for tensor in tensors:
        place, _ = rename_source_key(tensor.key, renamings, [], model.base_model_prefix, declared)
        if place not in declared:
            homeless.append(tensor)
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


def _named(tensor: Stored) -> str:
    return f"{tensor.key:.80} in {tensor.file.name}"
