"""What a checkpoint folder must hold; looked at without loading anything, and without torch."""

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import safetensors

from layerwise.errors import LayerwiseError
from layerwise.extraction.families import FAMILIES, heads_of
from layerwise.files import read_json, require_name
from layerwise.inputs.models import Model

WEIGHTS, PICKLED = "model.safetensors", "pytorch_model.bin"
LARGEST_SIZE = 2**24  # more than any position or vocabulary; a list of so many still fits
MOST_GROWTH = 1000  # characters that a tokenizer may make of one
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json")
_FLOATS = ("F64", "F32", "F16", "BF16")
_QUANTISED = (
    "weights are measured as they were trained, not quantised; use the checkpoint they came from"
)
_KERNEL = "the kernel of attention is chosen here, and one from elsewhere would be code; remove it"
# What no config.json may say, and why.
REFUSED = {
    "quantization_config": _QUANTISED,
    "compression_config": _QUANTISED,
    "attn_implementation": _KERNEL,
    "_attn_implementation": _KERNEL,
    "_attn_implementation_internal": _KERNEL,
    # it would be read in place of the files that are checked
    "transformers_weights": f"weights come from {WEIGHTS} or the shards of its index; remove it",
}


class Stored(NamedTuple):
    """Where a tensor is, and its shape."""

    file: Path
    key: str
    shape: tuple[int, ...]


def check_config(path: Path) -> None:
    """Refuse an architecture that is not known, or a setting that is `REFUSED`, before all else."""
    file = path / "config.json"
    if not file.is_file():
        raise LayerwiseError(f"{path}: a checkpoint folder has a config.json, this one has none")
    config = read_json(file)
    config = config if isinstance(config, dict) else {}
    for key, why in REFUSED.items():
        if config.get(key) is not None:
            raise LayerwiseError(f"{file}: it has {key!r} ({config[key]!r:.80}); {why}")
    for node in _nodes(config):
        if isinstance(node, int) and abs(node) > LARGEST_SIZE:
            raise LayerwiseError(
                f"{file}: a size is at most {LARGEST_SIZE}, found {node}; correct or remove it"
            )
    family = config.get("model_type")
    if isinstance(family, str) and family in FAMILIES:
        return  # its own code, if it brings some, is not needed and not run
    if "auto_map" in config:
        raise LayerwiseError(
            f"{path}: the checkpoint asks for code of its own ({config['auto_map']!r:.200}), "
            "which is never run; use one whose architecture transformers brings along, such as "
            f"{', '.join(FAMILIES)}"
        )
    raise LayerwiseError(
        f"{path}: no known layout for the architecture {family!r:.80}; "
        f"supported: {', '.join(FAMILIES)}"
    )


def _nodes(document: Any) -> Iterator[Any]:
    """All that is in a JSON document, itself first."""
    waiting = [document]
    while waiting:
        yield (node := waiting.pop())
        if isinstance(node, dict | list):
            waiting += reversed(node.values() if isinstance(node, dict) else node)


def check_tokenizer(file: Path) -> None:
    """Refuse a tokenizer that draws its tokens at random, or makes very long text of short."""
    document = read_json(file)
    model = document.get("model") if isinstance(document, dict) else None
    # of the model alone: the vocabulary of a trained one holds the word
    if isinstance(model, dict) and model.get("dropout"):
        raise LayerwiseError(
            f"{file}: a text has one tokenization, this tokenizer drops merges at random "
            f"(/model/dropout {model['dropout']!r:.40}); set it to null"
        )
    growth = 1.0
    for node in _nodes(document):
        if not isinstance(node, dict):
            continue
        if node.get("type") == "Replace":
            pattern, content = node.get("pattern"), str(node.get("content"))
            found = pattern.get("String") if isinstance(pattern, dict) else None
            growth *= max(1, len(content) / len(found) if found else len(content) + 1)
    if growth > MOST_GROWTH:
        raise LayerwiseError(
            f"{file}: the replacements of a tokenizer make at most {MOST_GROWTH} characters of "
            f"one, found {growth:.3g}; save the tokenizer that the model was trained with"
        )


@contextlib.contextmanager
def in_words(place: object, problem: str, fix: str) -> Iterator[None]:
    """Inside the block, what libraries raise of a checkpoint becomes a sentence.

    They raise anything at all; the tokenizers library even panics, which is no `Exception`.
    """
    try:
        yield
    except LayerwiseError:
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


def check_folder(path: Path) -> list[Stored]:
    """The tensors of a folder that has all a checkpoint needs, or an error that says what is not.

    Results call the model by the folder's name, which must be printable.
    """
    if not path.is_dir():
        raise LayerwiseError(f"{path}: no such checkpoint folder; check the path")
    require_name(f"{path.resolve()}: the folder of a checkpoint", path.resolve().name)
    check_config(path)
    if not any((path / name).is_file() for name in _TOKENIZERS):
        raise LayerwiseError(
            f"{path}: no tokenizer ({', '.join(_TOKENIZERS)}); save it into the same folder"
        )
    if (path / "tokenizer.json").is_file():
        check_tokenizer(path / "tokenizer.json")
    return stored_tensors(path)


def weight_files(path: Path) -> list[Path]:
    """The files that hold the weights, all of which are there.

    A link to a file elsewhere is followed, as the hub's cache is made of such links; what is
    read through it is safetensors all the same.
    """
    files = shards(path)
    for file in files:
        if not file.is_file():  # a device or a pipe never ends
            others = sorted(p.name for p in (*path.glob("*.bin"), *path.glob("*.pt")))
            raise LayerwiseError(
                f"{path}: weights are read from *.safetensors only (other formats can run code), "
                f"{file.name} is missing or no file (beside it: {', '.join(others) or 'none'}); "
                "fetch the folder again, or save the model with safetensors"
            )
    return files


def is_one(name: str, patterns: Iterable[str]) -> bool:
    """Whether a file of the folder itself is one of those meant; `*` stands for no slash."""
    return "/" not in name and any(fnmatch(name, pattern) for pattern in patterns)


def shards(path: Path, weights: str = WEIGHTS) -> list[Path]:
    """Where the weights are: one file, or those that its index lists; they may be missing.

    Raises:
        LayerwiseError: for an index of another shape, or of files elsewhere or of another kind.
    """
    file, suffix = path / f"{weights}.index.json", Path(weights).suffix
    if (path / weights).is_file() or not file.is_file():
        return [path / weights]
    index = read_json(file)
    listed = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(listed, dict) or not listed:
        raise LayerwiseError(
            f"{file}: an index names the file of every weight in `weight_map`, this one "
            "has none; save the model again with safetensors"
        )
    for name in listed.values():
        plain = isinstance(name, str) and name.isprintable() and not {"/", "\\"} & set(name)
        if not plain or not name.endswith(suffix):
            raise LayerwiseError(
                f"{file}: a shard must be a *{suffix} file of the same folder, found "
                f"{name!r:.80}; save the model again with safetensors"
            )
    return [path / name for name in sorted(set(listed.values()))]


def stored_tensors(path: Path) -> list[Stored]:
    """Every tensor of a folder, from the headers of its weight files; weights are floats."""
    fix = "it may be cut off, or a pointer to a file that was not downloaded"
    found = []
    for file in weight_files(path):
        with (
            in_words(file, "not a safetensors file", fix),
            safetensors.safe_open(file, framework="np") as handle,
        ):
            for key in handle.keys():  # noqa: SIM118, it is no dictionary
                stored = handle.get_slice(key)
                if key.endswith(".weight") and stored.get_dtype() not in _FLOATS:
                    raise LayerwiseError(
                        f"{file}: {key:.80} must be one of {', '.join(_FLOATS)}, found "
                        f"{stored.get_dtype()}; {_QUANTISED}"
                    )
                found.append(Stored(file, key, tuple(stored.get_shape())))
    return found


def check_blocks(path: Path, family: str, n_layers: int, tensors: list[Stored]) -> None:
    """Refuse a config.json that speaks of more or fewer blocks than there are weights of."""
    numbered = re.compile(rf"(?:^|\.){re.escape(FAMILIES[family].blocks)}\.(\d{{1,9}})\.")
    blocks = {found[1] for one in tensors if (found := numbered.search(one.key))}
    if not blocks or len(blocks) != n_layers:
        raise LayerwiseError(
            f"{path / 'config.json'}: it declares {n_layers} layers, the safetensors files hold "
            f"weights of {len(blocks)}; save config and weights of one model together"
        )
