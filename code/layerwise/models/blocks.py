"""The blocks of a model, as its class declares them to transformers."""

from typing import Any

import torch
import transformers

from layerwise.errors import LayerwiseError
from layerwise.models.families import FAMILIES
from layerwise.models.other_ways import ANY_OTHER

RECORDED = "hidden_states"  # the key under which a class declares the modules that give them


def find_blocks(model: Any) -> list[torch.nn.Module]:
    """Return the blocks of a causal model, in the order of its modules.

    They are what the class declares as the source of its hidden states; without a declaration the
    only list of as many modules as the config has blocks; else what the table of families says.

    Raises:
        LayerwiseError: for a model that none of these tells the blocks of.
    """
    tower = text_tower(model)
    if declared := _declared_blocks(tower):
        return declared
    wanted = tower.config.num_hidden_layers
    lists = [
        module
        for module in tower.modules()
        if isinstance(module, torch.nn.ModuleList) and len(module) == wanted
    ]
    if len(lists) == 1:
        return list(lists[0])
    if layout := FAMILIES.get(tower.config.model_type):
        return list(model.base_model.get_submodule(layout.blocks))
    raise LayerwiseError(
        f"{type(model).__name__}: the blocks of a model are what its class declares, or the only "
        f"list of {wanted} modules in it, found no declaration and {len(lists)} such lists; "
        f"{ANY_OTHER}"
    )


def text_tower(model: Any) -> Any:
    """Return the part of a model that reads text: all but for models that see or hear, too."""
    config = model.config.get_text_config()
    if config is model.config:
        return model.base_model
    towers = (
        module
        for module in model.modules()
        if isinstance(module, transformers.PreTrainedModel) and module.config is config
    )
    return next(towers, model.base_model)


def find_towers(model: Any, block: torch.nn.Module) -> list[Any]:
    """Return the models inside a model that hold a block, the outermost first.

    Their outputs are hidden states after the final norm, so none has a head of its own (Llama 4
    has a causal model inside). Which of them a forward calls is up to the class: OPT's calls its
    decoder, and not its base model.
    """
    return [
        module
        for module in model.modules()
        if isinstance(module, transformers.PreTrainedModel)
        and module is not model
        and module.get_output_embeddings() is None
        and any(part is block for part in module.modules())
    ]


def _declared_blocks(tower: Any) -> list[torch.nn.Module]:
    declared = (getattr(tower, "_can_record_outputs", None) or {}).get(RECORDED)
    sources = declared if isinstance(declared, list | tuple) else [declared]
    return [
        module
        for name, module in tower.named_modules()
        if any(_is_source(source, name, module) for source in sources)
    ]


def _is_source(source: Any, name: str, module: torch.nn.Module) -> bool:
    """Return whether a module is of a declared class, and where the declaration wants it."""
    if source is None or isinstance(source, type):
        return source is not None and isinstance(module, source)
    if isinstance(source, str):
        return name.endswith(source)
    place = f".{source.layer_name.strip('.')}." if source.layer_name else ""
    is_meant = source.target_class is not None and isinstance(module, source.target_class)
    is_named = source.class_name is not None and name.endswith(source.class_name)
    return (is_meant or is_named) and place in f".{name}."
