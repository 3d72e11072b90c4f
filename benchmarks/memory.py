"""Peak memory of the largest models, and of one of 141 GB, at their true shape: no weights, no GPU.

    python benchmarks/memory.py

FakeTensorMode runs everything on tensors that have shape and dtype and no numbers: random weights
are drawn, and a full batch goes through them as in an extraction; what is alive is added up. What a
GPU takes beside it: its context (about 0.5 GB), and what torch's allocator cannot use again.
"""

import weakref
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
import transformers
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from extraction import checkpoint_of
from layerwise.models import hidden_states, needs
from layerwise.models.batches import Batch
from layerwise.models.forward import Unsound
from layerwise.models.load import attention_kernel
from layerwise.models.registry import BYTES, Model, read_models

MODELS = Path(__file__).parent.parent / "models.yaml"
LENGTH = 8  # tokens of a statement
# Of config.json on the hub, what models.yaml does not declare.
SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "pythia-12b": ("float16", {"intermediate_size": 20480, "vocab_size": 50688}),
    "apertus-8b": ("float32", {"intermediate_size": 21504, "vocab_size": 131072}),
}
# A model that no registry declares, as a reader may bring one, whole: 141 GB.
BEYOND: dict[str, tuple[str, dict[str, Any]]] = {
    "llama-3.1-70b": (
        "float16",
        {
            "model_type": "llama",
            "hidden_size": 8192,
            "num_hidden_layers": 80,
            "num_attention_heads": 64,
            "num_key_value_heads": 8,
            "intermediate_size": 28672,
            "vocab_size": 128256,
        },
    ),
}


def config_of(model: Model, own: dict[str, Any]) -> Any:
    """The configuration of a model at its true shape."""
    shape = model.shape
    return transformers.AutoConfig.for_model(
        model.family,
        hidden_size=shape.hidden_size,
        num_hidden_layers=shape.n_layers,
        num_attention_heads=shape.n_heads,
        num_key_value_heads=shape.kv_heads,
        **own,
    )


class Alive(TorchDispatchMode):
    """Counts bytes that tensors made in its block hold: now, and the most there were."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self.known: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operator; count what it made."""
        made = func(*args, **(kwargs or {}))
        for one in tree_leaves(made):
            if isinstance(one, torch.Tensor) and id(one.untyped_storage()) not in self.known:
                self._count(one.untyped_storage())
        return made

    def _count(self, storage: torch.UntypedStorage) -> None:
        self.known.add(id(storage))
        self.now += storage.nbytes()
        self.most = max(self.most, self.now)
        weakref.finalize(storage, self._forget, id(storage), storage.nbytes())

    def _forget(self, key: int, n_bytes: int) -> None:
        self.known.discard(key)
        self.now -= n_bytes


def measure(config: Any, dtype: str) -> dict[str, float]:
    """Bytes of the weights, and of a pass over a full batch beside them."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        network: Any = transformers.AutoModelForCausalLM.from_config(
            config, dtype=getattr(torch, dtype), attn_implementation="eager"
        )
        weights = sum(one.numel() * one.element_size() for one in network.parameters())
        checkpoint = checkpoint_of(network, config.model_type)
        members = tuple(range(needs.BATCH_TOKENS // LENGTH))
        ids = [np.zeros(LENGTH, np.int32)] * len(members)
        alive = Alive()
        alive.known |= {id(one.untyped_storage()) for one in network.parameters()}
        with (
            mock.patch.object(Unsound, "add"),  # these two ask for numbers
            mock.patch.object(torch, "equal", return_value=True),
            mock.patch.object(hidden_states, "_to_numpy", lambda of: np.empty(of.shape)),
            attention_kernel(network, "eager" if dtype == "float32" else "sdpa"),
            alive,
        ):
            batch = Batch("statements", members, LENGTH)
            hidden_states._run(checkpoint, batch, ids, Unsound({}))
    return {"weights": weights, "pass": alive.most}


def main() -> None:
    """Print both beside the estimate of `layerwise models` and preflight."""
    registry = read_models(MODELS)
    for slug, (dtype, own) in SHAPES.items():
        model = registry[slug]
        show(slug, dtype, measure(config_of(model, own), dtype), needs.memory(model, dtype))
    for name, (dtype, own) in BEYOND.items():
        found = measure(transformers.AutoConfig.for_model(**own), dtype)
        parameters = found["weights"] / BYTES[dtype]
        size, blocks = own["hidden_size"], own["num_hidden_layers"]
        show(name, dtype, found, needs.bytes_of(parameters, size, blocks, dtype))


def show(name: str, dtype: str, found: dict[str, float], estimate: float) -> None:
    """What was found, and the estimate."""
    print(
        f"{name} in {dtype}: weights {found['weights'] / 1e9:.1f} GB, a batch "
        f"{found['pass'] / 1e9:.1f} GB more; estimated {estimate / 1e9:.1f} GB"
    )


if __name__ == "__main__":
    main()
