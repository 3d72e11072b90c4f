"""What a checkpoint's config.json may say: asked before anything is built of it, without torch.

Every guard names the place that it is about, by its key in config.json: what stands anywhere else,
say a rotary base of 1e8, is nobody's size and is left to transformers.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from layerwise.errors import LayerwiseError
from layerwise.files import is_file, read_json
from layerwise.models.families import ANY_OTHER, FAMILIES, heads_of
from layerwise.models.registry import Model

QUANTISED = (
    "weights are measured as they were trained, not quantised; use the checkpoint they came from"
)
_KERNEL = "the kernel of attention is chosen here, and one from elsewhere would be code; remove it"
# What no config.json may say, and why.
REFUSED = {
    "quantization_config": QUANTISED,
    "compression_config": QUANTISED,
    "attn_implementation": _KERNEL,
    "_attn_implementation": _KERNEL,
    "_attn_implementation_internal": _KERNEL,
    # it would be read in place of the files that are checked
    "transformers_weights": "weights come from model.safetensors or the shards of its index; "
    "remove it",
}


class Size(NamedTuple):
    """A number of config.json that decides how much is built, by the keys that it has there."""

    what: str
    least: int
    most: int
    keys: tuple[str, ...]
    may_be_null: bool = False  # transformers then takes it from another size


# Upper bounds lie far above what anybody has trained, and below what takes minutes or gigabytes
# before the sizes are compared with the headers of the weights.
SIZES = (
    # the widest trained has 18,432
    Size("a width of the residual stream", 1, 2**20, ("hidden_size", "n_embd", "n_embed")),
    Size("a width of the embeddings", 1, 2**20, ("word_embed_proj_dim",)),
    Size("a width of a head", 1, 2**16, ("head_dim",), may_be_null=True),
    Size(
        *("a width of the MLP", 1, 2**24),
        ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
        may_be_null=True,
    ),
    # the deepest published have 1,000; lists are made that have an entry per block
    Size("a number of blocks", 1, 10_000, ("num_hidden_layers", "n_layer", "num_layers")),
    Size("a number of heads", 1, 2**14, ("num_attention_heads", "n_head", "num_heads")),
    Size(
        *("a number of heads of keys and values", 1, 2**14),
        ("num_key_value_heads", "num_kv_heads"),
        may_be_null=True,
    ),
    # the largest trained has a million
    Size("a vocabulary", 2, 2**24, ("vocab_size",)),
    # statements have a dozen tokens, models of a hundred million positions are announced
    Size("a number of positions", 32, 2**30, ("max_position_embeddings", "n_positions")),
)


def check_config(path: Path) -> None:
    """Refuse an architecture that is not known, a setting that is `REFUSED`, or an odd size."""
    file = path / "config.json"
    if not is_file(file):
        raise LayerwiseError(
            f"{path}: a checkpoint folder has a config.json, this one has none; check the path, or "
            "save config, tokenizer and weights of the model into it"
        )
    config = read_json(file)
    config = config if isinstance(config, dict) else {}
    for key, why in REFUSED.items():
        if config.get(key) is not None:
            raise LayerwiseError(f"{file}: it has {key!r} ({config[key]!r:.80}); {why}")
    _check_family(path, config)
    for size in SIZES:
        for key in size.keys:
            if key in config:
                _check_size(file, size, f"/{key}", config[key])


def _check_family(path: Path, config: Mapping[str, Any]) -> None:
    family = config.get("model_type")
    if isinstance(family, str) and family in FAMILIES:
        return  # its own code, if it brings some, is not needed and not run
    if "auto_map" in config:
        raise LayerwiseError(
            f"{path}: the checkpoint asks for code of its own ({config['auto_map']!r:.200}), "
            f"which is never run; known architectures are {', '.join(FAMILIES)}; {ANY_OTHER}"
        )
    raise LayerwiseError(
        f"{path}: no known layout for the architecture {family!r:.80}; "
        f"known are {', '.join(FAMILIES)}; {ANY_OTHER}"
    )


def _check_size(file: Path, size: Size, pointer: str, found: Any) -> None:
    if found is None and size.may_be_null:
        return
    if type(found) is not int or not size.least <= found <= size.most:
        raise LayerwiseError(
            f"{file}: {pointer} is {size.what}, a whole number from {size.least} to {size.most}, "
            f"found {found!r:.80}; save config and weights of one model together"
        )


@contextlib.contextmanager
def in_words(place: object, problem: str, fix: str) -> Iterator[None]:
    """Inside the block, what libraries raise of a checkpoint becomes a sentence.

    They raise anything at all; the tokenizers library even panics, which is no `Exception`.
    """
    try:
        yield
    except (LayerwiseError, MemoryError):  # memory is no fault of what is read
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise LayerwiseError(f"{place}: {problem} ({said:.300}); {fix}") from None


def declared(path: Path) -> Any:
    """What config.json says, as transformers takes it."""
    import transformers  # and torch, which the rest of this module does without

    with in_words(path / "config.json", "transformers does not take it", "correct it"):
        return transformers.AutoConfig.from_pretrained(
            path, trust_remote_code=False, local_files_only=True
        )


def check_declared(model: Model, config: Any, **more: object) -> None:
    """Refuse a configuration that is not as the registry declares the model, nor `more` of it."""
    found = {"family": config.model_type, "n_layers": config.num_hidden_layers}
    wanted = {"family": model.family} | model.shape.model_dump()
    for key, value in (found | asdict(heads_of(config)) | more).items():
        if wanted[key] != value:
            raise LayerwiseError(
                f"{model.slug}: declared {key} {wanted[key]}, the checkpoint has {value}; "
                "correct the registry or the revision"
            )
