"""Checkpoints: load them from a folder or the hub, check them, find their parts."""

import contextlib
import copy
import hashlib
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import accelerate
import torch
import transformers

from layerwise.errors import LayerwiseError, reword_errors
from layerwise.files import require_name
from layerwise.models.architectures import check_architecture, model_class
from layerwise.models.blocks import find_blocks, find_towers
from layerwise.models.checkpoint import CheckpointFiles, Outline, open_folder
from layerwise.models.checkpoint_config import ONE_MODEL, quiet
from layerwise.models.checkpoint_tokenizer import Declaration, digest_of_tokenizer
from layerwise.models.devices import choose_device, free_bytes
from layerwise.models.hub import fetch, look_up, look_up_registered
from layerwise.models.kernels import one_attention, own_arithmetic, require_exact, seeded
from layerwise.models.needs import spell_bytes
from layerwise.models.other_ways import ANY_OTHER
from layerwise.models.passes import Passes
from layerwise.models.peft_objects import refuse_virtual_tokens
from layerwise.models.quantised import how_quantised, is_packed, plain_parts, saved_state
from layerwise.models.registry import BYTES, DTYPES, RANDOM, Model
from layerwise.models.rounding import Rounding
from layerwise.models.token_ids import NO_TEXTS, Texts, Wrapping, check_texts

# What holds a model of transformers inside it, and how to get at that: by an attribute that it has.
_AROUND = {
    "merge_and_unload": "what its merge_and_unload() returns",  # peft
    "_orig_mod": "its _orig_mod, or compile it in place by model.compile()",  # torch.compile
    "module": "its module",  # DataParallel and its like
}


@dataclass(frozen=True)
class Checkpoint:
    """A loaded model with its tokenizer; `name` is what result files call the model.

    Attributes:
        kernel: the attention that the model itself reads text with.
        files: where config, tokenizer and weights are; None: the weights are no file's.
        tokenizer_sha256: of `digest_of_tokenizer`; empty where it has no files.
        in_memory: a hook, a buffer or a patched method is part of no digest, so that such a model
            is measured anew.
        passes: how it is run; None: it was not probed yet.
        rounding: the noise of a replicate.
    """

    model: Any
    tokenizer: Any
    name: str
    display: str
    revision: str
    dtype: str
    kernel: str
    files: CheckpointFiles | None = None
    tokenizer_sha256: str = ""
    in_memory: bool = False
    passes: Passes | None = None
    rounding: Rounding | None = None

    @property
    def family(self) -> str:
        return str(self.model.config.model_type)

    @property
    def n_layers(self) -> int:
        return len(self.blocks)

    @property
    def hidden_size(self) -> int:
        return int(self.model.config.get_text_config().hidden_size)

    @cached_property
    def blocks(self) -> list[Any]:
        return find_blocks(self.model)

    @cached_property
    def towers(self) -> list[Any]:
        """The models inside the model around its blocks, the outermost first."""
        return find_towers(self.model, self.blocks[0])

    @property
    def head(self) -> Any:
        """The output embeddings."""
        return self.model.get_output_embeddings()

    @property
    def has_random_weights(self) -> bool:
        """True if config.json says that nobody trained it: a twin's does, and no number counts."""
        return getattr(self.model.config, RANDOM, False) is True

    @cached_property
    def quantised(self) -> str:
        """What quantised the weights; empty where they are plain numbers."""
        return how_quantised(self.model)

    @property
    def declaration(self) -> Declaration:
        """All that texts are checked with."""
        place = self.files.folder if self.files else self.name
        declaration = Declaration.of_config(self.name, place, self.model.config, self.tokenizer)
        if type(self.model).__module__.startswith("transformers_modules."):  # its caller ran it
            declaration = replace(declaration, own_code=())
        return declaration.of_model(self.model)

    @property
    def outline(self) -> Outline:
        """The outline that a dry run shows."""
        device = self.model.device.type
        return Outline.of_model(self.model, self.blocks, self.declaration, self.dtype, device)


@contextlib.contextmanager
def attention_kernel(model: Any, wanted: str) -> Iterator[None]:
    """Inside the block attention is what is wanted: `eager`, `sdpa`, or a function of the caller's.

    It is that of the text alone: a tower that sees or hears keeps its own, which transformers'
    setter on the whole config would exchange too. All else is as `in_own_way` says.
    """
    text = model.config.get_text_config()
    usual = text._attn_implementation_internal
    text._attn_implementation_internal = wanted
    try:
        with in_own_way(model):
            yield
    finally:
        text._attn_implementation_internal = usual


@contextlib.contextmanager
def in_own_way(model: Any) -> Iterator[None]:
    """Inside the block a model runs as it was given, but in no training mode and our arithmetic.

    Models inside give their outputs by name: most forwards fail otherwise. What torch takes for
    `sdpa` is in `kernels`: on a GPU one and the same for every shape.
    """
    gives_names = [
        (config, config.return_dict) for config in (model.config, model.config.get_text_config())
    ]
    for config, _ in gives_names:
        config.return_dict = True
    try:
        with one_attention(model.device), own_arithmetic(model.device), evaluating(model):
            yield
    finally:
        for config, gives in gives_names:
            config.return_dict = gives


def kernel_of_text(model: Any) -> str:
    """Return the attention that a model reads text with, where it sees or hears too."""
    return str(model.config.get_text_config()._attn_implementation)


def _keep_kernels(drawn: Any, config: Any) -> None:
    """Give a config, and every config inside it, the attention of another one of its shape."""
    drawn._attn_implementation_internal = config._attn_implementation_internal
    for name in config.sub_configs:
        if (inside := getattr(config, name, None)) is not None:
            _keep_kernels(getattr(drawn, name), inside)


@contextlib.contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Inside the block no module is in training mode; afterwards each is as it was."""
    training = [module for module in model.modules() if module.training]
    if training:  # to set what is set already takes as long as a tenth of a small model's pass
        model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def open_checkpoint(
    name: str | Path,
    revision: str | None = None,
    texts: Texts = NO_TEXTS,
    template: Wrapping = "none",
) -> CheckpointFiles:
    """Return the files of a folder if `name` is one, else of a model of the hub (`main`).

    The weights of a model of the hub are not fetched.

    Args:
        texts: that will be run, by kind, each statement put into the `template`.

    Raises:
        LayerwiseError: for what folder, config, tokenizer, headers or the hub show.
        TextError: for a text that the model cannot take.
    """
    with quiet():
        files = open_folder(name, revision) if Path(name).exists() else look_up(str(name), revision)
        check_texts(files.declaration, texts, template)
    return files


def load_model(
    name: str | Path,
    dtype: str = "float32",
    device: str | None = None,
    *,
    revision: str | None = None,
    texts: Texts = NO_TEXTS,
    template: Wrapping = "none",
) -> Checkpoint:
    """Load a checkpoint folder if `name` is one, else a model of the hub (`main` by default).

    `device` is a torch device, `auto` (spread one model over all GPUs, one process only) or None
    for `default_device()`. The revision recorded is the commit; of a folder a digest of config and
    weights.

    Raises:
        LayerwiseError, TextError: as for `open_checkpoint` and `load`.
    """
    return load(open_checkpoint(name, revision, texts, template), dtype, device)


def load(
    files: CheckpointFiles,
    dtype: str = "float32",
    device: str | None = None,
    *,
    draw: int | None = None,
) -> Checkpoint:
    """Load the model of a checkpoint, whose weights are fetched if they are not here.

    With the number of a `draw` it has random weights in place of its own.

    Raises:
        LayerwiseError: for an unknown dtype, a device that is not there, tensors that are not the
            declared model's, too little memory, or weights that the hub does not give.
    """
    device = check_loading(files, dtype, device)
    if files.absent:
        files = fetch(files)
        check_loading(files, dtype, device)  # now the tensors too
    with quiet(), own_arithmetic():
        if draw is None:
            model = _load_weights(files, dtype, device)
        else:
            model = _draw_weights(files.name, draw, copy.deepcopy(files.config), dtype, device)
        with reword_errors(
            files.folder / "config.json", "the model that it declares cannot run", ONE_MODEL
        ):
            _warm_up(model.eval())
    return Checkpoint(
        model.eval(),
        files.tokenizer,
        files.name,
        files.name.rpartition("/")[2],
        files.revision,
        dtype,
        kernel_of_text(model),
        files if draw is None else None,
        files.tokenizer_sha256,
    )


@torch.no_grad()
def _warm_up(model: Any) -> None:
    """Take two tokens through a model: with two threads a process's first pass may differ."""
    model(torch.zeros((1, 2), dtype=torch.long, device=model.device), use_cache=False)


def check_loading(
    files: CheckpointFiles, dtype: str, device: str | None, *, draws_beside: bool = False
) -> str:
    """Return the device to load a model on, once all that can be known before it is right.

    Args:
        draws_beside: random weights will be drawn while the model stays in memory.

    Raises:
        LayerwiseError: as for `load`.
    """
    if dtype not in DTYPES:
        raise LayerwiseError(f"dtype must be one of {', '.join(DTYPES)}, found {dtype!r}")
    device = choose_device(device)
    require_exact(device)
    with quiet(), own_arithmetic():
        skeleton = files.skeleton
    n_bytes = _bytes_in_memory(skeleton, BYTES[dtype])
    if draws_beside:
        _require_memory(f"{files.name} in {dtype} with a draw beside it", 2 * n_bytes, device)
    else:
        _require_memory(f"{files.name} in {dtype}", n_bytes, device)
    return device


def _bytes_in_memory(model: Any, bytes_of_weight: int) -> int:
    """Return what weights of so many bytes each, and the buffers, take."""
    n_weights = sum(weight.numel() for weight in model.parameters())
    return n_weights * bytes_of_weight + sum(int(buffer.nbytes) for buffer in model.buffers())


def _require_memory(what: str, n_bytes: int, device: str) -> None:
    if n_bytes > (available := free_bytes(device)):
        raise LayerwiseError(
            f"{what} needs {spell_bytes(n_bytes)} on {device}, {spell_bytes(available)} are there; "
            "use a 16-bit dtype, device 'auto', or a larger machine"
        )


def with_random_weights(checkpoint: Checkpoint, draw: int) -> Checkpoint:
    """The architecture, dtype, device and tokenizer of a model, with a draw of random weights.

    The model itself stays in memory beside it. Of a quantised model they are not quantised.

    Raises:
        LayerwiseError: where there is too little memory for a second model.
    """
    model, config = checkpoint.model, copy.deepcopy(checkpoint.model.config)
    if checkpoint.quantised:
        vars(config).pop("quantization_config", None)
    device = "auto" if getattr(model, "hf_device_map", None) else str(model.device)
    n_bytes = _bytes_in_memory(model, BYTES[checkpoint.dtype])
    _require_memory(f"a draw of random weights beside {checkpoint.name}", n_bytes, device)
    with quiet(), own_arithmetic(model.device):
        drawn = _draw_weights(checkpoint.name, draw, config, checkpoint.dtype, device)
    _keep_kernels(drawn.config, model.config)
    return replace(checkpoint, model=drawn.eval(), files=None)


def from_memory(model: Any, tokenizer: Any) -> Checkpoint:
    """A model that is loaded already, with its tokenizer, under its `name_or_path`.

    Its dtype and devices stay as they are. The revision recorded is a digest of its weights.

    Raises:
        LayerwiseError: for anything but a decoder of transformers in a known dtype, with its
            tokenizer and a printable name.
    """
    _check_loaded_model(model)
    dtype = _dtype_of(model)
    if not isinstance(tokenizer, transformers.PreTrainedTokenizerBase):
        raise LayerwiseError(
            "a loaded model needs its tokenizer of transformers beside it, found "
            f"{type(tokenizer).__name__}: give tokenizer=AutoTokenizer.from_pretrained(...) of the "
            "same checkpoint"
        )
    name = str(model.name_or_path or type(model).__name__)
    name = Path(name).resolve().name if Path(name).exists() else name
    require_name("the name_or_path of the model", name)
    with reword_errors(name, "its weights cannot be read", "give it before it was quantised"):
        revision = f"sha256:{_digest_of_weights(model)}"
    require_exact(model.device.type)
    with tempfile.TemporaryDirectory() as saved:
        tokenizer.save_pretrained(saved)
        of_tokenizer = digest_of_tokenizer(Path(saved))
    display = name.rpartition("/")[2]
    return Checkpoint(
        *(model, tokenizer, name, display, revision, dtype, kernel_of_text(model)),
        None,
        of_tokenizer,
        in_memory=True,
    )


def _check_loaded_model(model: Any) -> None:
    """Refuse anything but a decoder of transformers with nothing around it."""
    family = getattr(getattr(model, "config", None), "model_type", None)
    refuse_virtual_tokens(model)
    is_model = isinstance(model, transformers.PreTrainedModel)
    inside = next((_AROUND[name] for name in _AROUND if hasattr(model, name)), None)
    if not is_model and inside is not None:
        raise LayerwiseError(
            f"a loaded model is one of transformers, found {type(model).__name__} around it; give "
            f"{inside}"
        )
    if is_model:
        check_architecture(type(model).__name__, model.config.to_dict())
    if not is_model or model.get_output_embeddings() is None:
        raise LayerwiseError(
            "a model must be a folder, a hub id, or a causal language model of transformers, "
            f"found {type(model).__name__} ({family!s:.80}); load it with "
            f"transformers.AutoModelForCausalLM, or, as {ANY_OTHER}"
        )


def _dtype_of(model: Any) -> str:
    """Return the dtype of a loaded model, once all its weights are there in one that is known."""
    dtypes = {
        str(weight.dtype).removeprefix("torch.")
        for weight in model.parameters()
        if not is_packed(weight)
    }
    dtype = ", ".join(sorted(dtypes))
    if dtype not in DTYPES:
        raise LayerwiseError(
            f"dtype must be one of {', '.join(DTYPES)}, the same in all parameters that are not "
            f"quantised, found {dtype!r}; convert the model with model.to(torch.float32)"
        )
    if any(weight.is_meta for weight in model.parameters()):
        raise LayerwiseError(
            "a loaded model must have its weights, found some on the device meta; load it with "
            "from_pretrained"
        )
    return dtype


def _digest_of_weights(model: Any) -> str:
    """SHA-256 of names, shapes and bytes of all that a loaded model would save."""
    digest = hashlib.sha256()
    for key, weight in saved_state(model):
        if not torch.is_tensor(weight):
            raise LayerwiseError(
                f"every weight of a loaded model must be a tensor, found {key} as "
                f"{type(weight).__name__}; give the model before that was put into it"
            )
        digest.update(f"{key} {tuple(weight.shape)} ".encode())
        for part in plain_parts(weight.detach()):
            numbers: Any = part.cpu().reshape(-1).contiguous().view(torch.uint8).numpy()
            digest.update(numbers)
    return digest.hexdigest()


def load_registered(
    model: Model,
    dtype: str,
    *,
    device: str | None = None,
    draw: int | None = None,
    files: CheckpointFiles | None = None,
) -> Checkpoint:
    """Load a model of the registry from the hub, if it is as declared, under the name shown there.

    With the number of a `draw` it has its own configuration and tokenizer, and random weights. Its
    `files` are looked up unless they are given.

    Raises:
        LayerwiseError: as for `look_up_registered` and `load`.
    """
    files = files or look_up_registered(model)
    return replace(load(files, dtype, device, draw=draw), display=model.display)


def _load_weights(files: CheckpointFiles, dtype: str, device: str) -> Any:
    """Return the model, with which the headers of its weights were compared."""
    path = files.folder
    with reword_errors(path, "the checkpoint cannot be loaded", ONE_MODEL):
        loaded: Any = model_class(files.config).from_pretrained(
            path,
            config=copy.deepcopy(files.config),
            dtype=getattr(torch, dtype),
            use_safetensors=True,
            output_loading_info=True,
            device_map="auto" if device == "auto" else {"": device},  # no copy on the host
            local_files_only=True,
        )
    model, report = loaded
    if missing := sorted(report["missing_keys"]):  # transformers draws them at random
        raise LayerwiseError(
            f"{path}: transformers must load every weight, {missing[0]} was not "
            f"({len(missing)} such names); {ONE_MODEL}"
        )
    return model


def _draw_weights(name: str, draw: int, config: Any, dtype: str, device: str) -> Any:
    """The model as it is before training: the weights that its architecture begins with.

    One device draws the same numbers again; two models of one shape, and two draws, differ.
    """
    setattr(config, RANDOM, True)
    place = "cpu" if device == "auto" else device
    with seeded(zlib.crc32(f"control {draw} {name}".encode()), torch.device(place)):
        model = model_class(config)._from_config(config, dtype=getattr(torch, dtype))
    if device == "auto":
        whole = list(model._no_split_modules)  # a block stays on one device
        spread = accelerate.infer_auto_device_map(model, no_split_module_classes=whole)
        return accelerate.dispatch_model(model, spread)
    return model.to(place)
