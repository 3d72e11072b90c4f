"""A checkpoint as a dry run knows it: config, tokenizer and headers, and no torch.

Building the declared model, which `load` compares with every stored tensor, would take torch and
transformers' model classes, several seconds. What is looked at here shows the usual mistake, files
of two models in one folder.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.models.checkpoint_config import ONE_MODEL, declared, own_classes, quiet
from layerwise.models.checkpoint_folder import (
    Stored,
    check_folder,
    refuse_revision,
    stored_tensors,
)
from layerwise.models.checkpoint_tokenizer import Declaration, load_tokenizer
from layerwise.models.families import FAMILIES
from layerwise.models.registry import BYTES
from layerwise.models.token_ids import NO_TEXTS, Texts, Wrapping, check_texts


@dataclass(frozen=True)
class Sizes:
    """The sizes that config.json names.

    Attributes:
        key_size: the columns of W_K, fewer than those of W_Q where heads share keys.
        n_positions: the longest text, in tokens; None: there is no limit.
        dtype: that of the files, as config.json calls it.
    """

    family: str
    n_layers: int
    hidden_size: int
    key_size: int
    vocab_size: int
    n_positions: int | None
    dtype: str


@dataclass(frozen=True)
class Outline:
    """All that is known of a model before its weights are read.

    Attributes:
        dtype, device: in which it will be run, and where.
        n_parameters: by the headers of its weights, or by the bytes of those that are to come.
        download: bytes of weights that the hub has and this machine has not.
    """

    declaration: Declaration
    dtype: str
    device: str
    sizes: Sizes
    n_parameters: float
    download: int = 0


def read_outline(
    name: str | Path,
    dtype: str = "float32",
    device: str | None = None,
    *,
    revision: str | None = None,
    texts: Texts = NO_TEXTS,
    template: Wrapping = "none",
) -> Outline:
    """Check what `load_model` checks before it builds the model, and return what is known then.

    Of a model of the hub that is not in the cache, config and tokenizer are fetched.

    Raises:
        LayerwiseError, TextError: as for `load_model`, but for tensors that are not the declared
            model's, and for memory.
    """
    if device not in (None, "cpu"):
        from layerwise.models.devices import choose_device  # and torch, to see a GPU

        device = choose_device(device)
    path, download = Path(name), 0
    if path.exists():
        refuse_revision(name, revision)
        name = path.resolve().name
        tensors = check_folder(path)
    else:
        from layerwise.models.hub import look_ahead

        path, weights, is_whole = look_ahead(str(name), revision or "main")
        download = 0 if is_whole else sum(weights.values())
        tensors = stored_tensors(path) if is_whole else []
    with quiet():
        sizes, tokenizer = read_sizes(path), load_tokenizer(path)
    own_code = (
        *own_classes(read_json(path / "config.json")),
        *own_classes(tokenizer.init_kwargs),
    )
    declaration = Declaration(
        str(name), path, tokenizer, sizes.vocab_size, sizes.n_positions, own_code
    )
    check_texts(declaration, texts, template)
    if tensors:
        _check_sizes(path, sizes, tensors)
        n_parameters = float(sum(prod(tensor.shape) for tensor in tensors))
    else:
        n_parameters = download / BYTES.get(sizes.dtype, 4)
    return Outline(declaration, dtype, device or "cpu", sizes, n_parameters, download)


def read_sizes(path: Path) -> Sizes:
    """Read the sizes of a model from the config.json of its folder.

    Transformers, which takes seconds to import, is asked where the file leaves one of them to it.

    Raises:
        LayerwiseError: for a config.json that transformers does not take.
    """
    document = read_json(path / "config.json")
    config = functools.cache(functools.partial(declared, path))

    def size(*names: str) -> Any:
        """Return a size by the names that it has in files, transformers' own name first."""
        given = next((document[name] for name in names if document.get(name) is not None), None)
        return given if type(given) is int else getattr(config(), names[0], None)

    n_heads = size("num_attention_heads", "n_head", "num_heads")
    kv_heads = document.get("num_key_value_heads") or document.get("num_kv_heads") or n_heads
    if document.get("multi_query"):  # Falcon's
        kv_heads = 1
    hidden_size = size("hidden_size", "n_embd", "n_embed")
    head_size = document.get("head_dim") or hidden_size // n_heads
    return Sizes(
        family=document["model_type"],
        n_layers=size("num_hidden_layers", "n_layer", "num_layers"),
        hidden_size=hidden_size,
        key_size=kv_heads * head_size,
        vocab_size=size("vocab_size"),
        n_positions=size("max_position_embeddings", "n_positions"),
        dtype=str(document.get("dtype") or document.get("torch_dtype")),
    )


def _check_sizes(path: Path, sizes: Sizes, tensors: Sequence[Stored]) -> None:
    """Refuse weights with another number of blocks or of words than config.json declares."""
    layout = FAMILIES[sizes.family]
    block = re.compile(rf"(?:^|\.){re.escape(layout.blocks)}\.(\d+)\.")
    numbers = {int(match[1]) for tensor in tensors if (match := block.search(tensor.key))}
    words = next(
        (t.shape[0] for t in tensors if t.key.endswith(f"{layout.embedding}.weight")),
        sizes.vocab_size,
    )
    stored = {"blocks": len(numbers), "embeddings": words}
    for what, wanted in (("blocks", sizes.n_layers), ("embeddings", sizes.vocab_size)):
        if stored[what] != wanted:
            raise LayerwiseError(
                f"{path / 'config.json'}: it declares {wanted} {what}, the safetensors files hold "
                f"{stored[what]}; {ONE_MODEL}"
            )
