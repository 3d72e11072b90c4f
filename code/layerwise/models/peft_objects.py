"""What objects of peft in and around a loaded model mean for its measurement.

Virtual tokens stand before every text, without an id (prompt and prefix tuning). They are no token
of a text, so they are in no mean over its tokens. The model that they were trained with holds
nothing of them: the object around it does. An adapter that is active and does not act is measured
as the model runs, without it.
"""

import gc
import sys
from typing import Any

from layerwise.errors import LayerwiseError


def refuse_virtual_tokens(model: Any) -> None:
    """Refuse an object of peft that puts virtual tokens before every text."""
    if n_virtual := count_virtual_tokens(model):
        raise LayerwiseError(
            f"a loaded model must see the tokens of a text alone, {type(model).__name__} of peft "
            f"puts {n_virtual} virtual tokens before each (prompt or prefix tuning), which cannot "
            "be merged: its get_base_model() is another model, without them; to measure this one, "
            "call `layerwise.measure` with states and NLL of each text's own tokens alone"
        )


def count_virtual_tokens(model: Any) -> int:
    """Return how many virtual tokens an object of peft puts before a text; 0 of any other."""
    configs = getattr(model, "peft_config", None)
    if not isinstance(configs, dict):
        return 0
    counts = (getattr(config, "num_virtual_tokens", None) for config in configs.values())
    return max((int(count or 0) for count in counts), default=0)


def count_left_out(model: Any) -> int:
    """Return how many virtual tokens an object of peft around this model would add.

    The model does not know of it, so the objects of the program are searched for one, if it has
    imported peft at all.
    """
    wrapper = getattr(sys.modules.get("peft"), "PeftModel", None)
    if wrapper is None:
        return 0
    around = (
        thing
        for thing in gc.get_objects()
        if issubclass(type(thing), wrapper) and getattr(thing, "base_model", None) is model
    )
    return max(map(count_virtual_tokens, around), default=0)


def idle_adapters(model: Any) -> list[str]:
    """Return the adapters inside a model that are active and do not act.

    A layer that has an adapter merged into its weights runs no other; one that is disabled runs
    none.
    """
    idle = set()
    for module in model.modules():
        if not hasattr(module, "merged_adapters"):  # a tuner layer of peft
            continue
        active, merged = set(module.active_adapters), set(module.merged_adapters)
        if merged or module.disable_adapters:
            idle |= active - merged
    return sorted(idle)
