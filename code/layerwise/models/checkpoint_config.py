"""What a checkpoint's config.json may say: asked before anything is built of it, without torch."""

import contextlib
import multiprocessing
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.models.families import ANY_OTHER, FAMILIES, heads_of
from layerwise.models.registry import Model

QUANTISED = (
    "weights are measured as they were trained, not quantised; use the checkpoint they came from"
)
ONE_MODEL = "save config and weights of one model together"
_QUANTISED_BY = ("quantization_config", "compression_config")


def check_config(path: Path) -> None:
    """Refuse an architecture that is not known, or quantised weights.

    Raises:
        LayerwiseError: also where there is no config.json.
    """
    file = path / "config.json"
    if not file.is_file():
        raise LayerwiseError(
            f"{path}: a checkpoint folder has a config.json, this one has none; check the path, or "
            "save config, tokenizer and weights of the model into it"
        )
    config = read_json(file)
    config = config if isinstance(config, dict) else {}
    for key in _QUANTISED_BY:
        if config.get(key) is not None:
            raise LayerwiseError(f"{file}: it has {key!r} ({config[key]!r:.80}); {QUANTISED}")
    family = config.get("model_type")
    if isinstance(family, str) and family in FAMILIES:
        return  # its own code, if it brings some, is not needed and not run
    own_code = config.get("auto_map")
    asks = f", which asks for code of its own ({own_code!r:.200})" if own_code else ""
    raise LayerwiseError(
        f"{path}: no known layout for the architecture {family!r:.80}{asks}, and no code of a "
        f"checkpoint is ever run; known are {', '.join(FAMILIES)}; {ANY_OTHER}"
    )


def own_classes(declared: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the classes that a checkpoint names and transformers does not have.

    Arguments:
        declared: what its config.json or tokenizer_config.json says.
    """
    import transformers

    mapped = declared.get("auto_map")
    values = mapped.values() if isinstance(mapped, Mapping) else ()
    listed = [name for value in values for name in (value if isinstance(value, list) else [value])]
    if isinstance(architectures := declared.get("architectures"), list):
        listed += [name for name in architectures if name not in dir(transformers)]
    return tuple(dict.fromkeys(name for name in listed if isinstance(name, str)))


@contextlib.contextmanager
def reword_errors(place: object, problem: str, fix: str) -> Iterator[None]:
    """Inside the block, whatever libraries raise of a checkpoint becomes a sentence."""
    try:
        yield
    except (LayerwiseError, MemoryError):  # memory is no fault of what is read
        raise
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise LayerwiseError(f"{place}: {problem} ({said:.300}); {fix}") from None


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
    """Return what config.json says, as transformers takes it."""
    import transformers  # and torch, which the rest of this module does without

    with reword_errors(path / "config.json", "transformers does not take it", "correct it"):
        return transformers.AutoConfig.from_pretrained(
            path, trust_remote_code=False, local_files_only=True
        )


def check_declared(model: Model, config: Any, **more: object) -> None:
    """Refuse a configuration that is not as the registry declares the model, nor `more` of it."""
    stored = {"family": config.model_type, "n_layers": config.num_hidden_layers}
    wanted = {"family": model.family} | model.shape.model_dump()
    for key, value in (stored | asdict(heads_of(config)) | more).items():
        if wanted[key] != value:
            raise LayerwiseError(
                f"{model.slug}: declared {key} {wanted[key]}, the checkpoint has {value}; "
                "correct the registry or the revision"
            )
