"""What a checkpoint's config.json may say: asked before anything is built of it, without torch."""

import contextlib
import multiprocessing
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError, reword_errors
from layerwise.files import JsonObject, read_json
from layerwise.models.families import heads_of
from layerwise.models.other_ways import LOADED
from layerwise.models.registry import Model

ONE_MODEL = "save config and weights of one model together"
_QUANTISED_BY = ("quantization_config", "compression_config")
_KERNEL = "_implementation"  # in keys of functions; organisation/name is fetched, and is code
# By which transformers' decoders build blocks. xLSTM's num_blocks stands beside num_hidden_layers,
# which no class maps to it.
_N_BLOCKS = {
    *("num_hidden_layers", "num_layers", "n_layers", "n_layer"),
    *("num_blocks", "decoder_layers", "layers"),
}
_OTHER_WEIGHTS = "transformers_weights"  # the file that transformers loads in place of the usual


def check_config(path: Path) -> None:
    """Refuse quantised weights, weights elsewhere and kernels of the hub; all else comes later.

    Raises:
        LayerwiseError: also where there is no config.json.
    """
    file = path / "config.json"
    if not file.is_file():
        raise LayerwiseError(
            f"{path}: a checkpoint folder has a config.json, this one has none; check the path, or "
            "save config, tokenizer and weights of the model into it"
        )
    configs = _configs(file)
    for key, value in (entry for part in configs for entry in part.items()):
        if _KERNEL in key and "/" in str(value):
            raise LayerwiseError(
                f"{file}: attention and experts are computed by transformers alone, {key!r} names "
                f"a kernel of the hub ({value!r:.80}), which is code; remove the key"
            )
    config = configs[0] if configs else {}
    for key in _QUANTISED_BY:
        if config.get(key) is not None:
            raise LayerwiseError(f"{file}: it has {key!r} ({config[key]!r:.80}); {LOADED}")
    if config.get(_OTHER_WEIGHTS) is not None:
        raise LayerwiseError(
            f"{file}: weights are those of model.safetensors or its index, which are checked and "
            f"recorded, found {_OTHER_WEIGHTS!r} ({config[_OTHER_WEIGHTS]!r:.80}); rename that "
            "file, and remove the key"
        )


def check_n_blocks(path: Path, n_tensors: int) -> None:
    """Refuse more blocks than there are tensors, of the model or of one inside it."""
    file = path / "config.json"
    configs = _configs(file)
    for key, n in ((key, part[key]) for part in configs for key in _N_BLOCKS & part.keys()):
        if isinstance(n, int | float) and n > n_tensors:
            raise LayerwiseError(
                f"{file}: every block has tensors of its own, found {key!r} {n:g} and {n_tensors} "
                f"tensors; {ONE_MODEL}"
            )


def _configs(file: Path) -> list[JsonObject]:
    """Return what a config.json says, and every object inside it; nothing of what is no object."""
    objects = [read_json(file)]
    for values in (part.values() for part in objects if isinstance(part, dict)):
        objects += [value for value in values if isinstance(value, dict)]
    return [part for part in objects if isinstance(part, dict)]


def own_classes(declared: JsonObject) -> tuple[str, ...]:
    """Return the classes that a checkpoint names and transformers does not have.

    Arguments:
        declared: what its config.json or tokenizer_config.json says.
    """
    import transformers

    library: Any = transformers
    mapped = declared.get("auto_map")
    values = mapped.values() if isinstance(mapped, Mapping) else ()
    listed = [name for value in values for name in (value if isinstance(value, list) else [value])]
    if isinstance(architectures := declared.get("architectures"), list):
        # not `dir`, which looks for every name among all 6,000 of them: 0.2 s at every call
        listed += [name for name in architectures if name not in library.__all__]
    return tuple(dict.fromkeys(name for name in listed if isinstance(name, str)))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Have transformers tell errors only, and draw bars on terminals alone, inside the block."""
    from transformers.utils import logging

    if not sys.stderr.isatty() or multiprocessing.parent_process() is not None:
        logging.disable_progress_bar()
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)


def declared(path: Path) -> Any:
    """Return what config.json says, as transformers takes it.

    Raises:
        LayerwiseError: for an architecture that is no decoder, or that transformers does not have.
    """
    import transformers  # and torch, which the rest of this module does without

    from layerwise.models.architectures import check_architecture

    check_architecture(path, read_json(path / "config.json"))
    with reword_errors(path / "config.json", "transformers does not take it", "correct it"):
        return transformers.AutoConfig.from_pretrained(
            path, trust_remote_code=False, local_files_only=True
        )


def check_declared(model: Model, config: Any, **more: object) -> None:
    """Refuse a configuration that is not as the registry declares the model, nor `more` of it."""
    wanted = {"family": model.family} | model.shape.model_dump()
    for key, value in _shape_of(model, config, more):
        if wanted[key] != value:
            raise LayerwiseError(
                f"{model.slug}: declared {key} {wanted[key]}, the checkpoint has {value}; "
                "correct the registry or the revision"
            )


def _shape_of(
    model: Model, config: Any, more: Mapping[str, object]
) -> Iterator[tuple[str, object]]:
    """Yield what a configuration says of what is declared; of another family nothing else."""
    yield "family", config.model_type
    if config.model_type == model.family:
        yield "n_layers", config.num_hidden_layers
        yield from asdict(heads_of(config)).items()
        yield from more.items()
