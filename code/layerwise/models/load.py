"""Checkpoints: load them from a folder or the hub, check them, find their parts."""

import contextlib
import copy
import gc
import hashlib
import multiprocessing
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import accelerate
import psutil
import torch
import transformers

from layerwise.errors import LayerwiseError
from layerwise.files import from_environment, is_there, n_processes, require_name, sha256_of
from layerwise.models.checkpoint_config import check_declared, in_words
from layerwise.models.checkpoint_folder import (
    Announced,
    Stored,
    check_files,
    check_folder,
    indexed_tensors,
    weight_files,
)
from layerwise.models.checkpoint_tokenizer import Declaration, declare
from layerwise.models.checkpoint_weights import ONE_MODEL, check_tensors, is_leftover
from layerwise.models.families import ANY_OTHER, FAMILIES
from layerwise.models.hub import ahead, fetch, whole
from layerwise.models.hub_answers import explained
from layerwise.models.kernels import drawn_from, one_attention, own_arithmetic, require_exact
from layerwise.models.needs import spelled
from layerwise.models.registry import DTYPES, RANDOM, Model
from layerwise.models.rounding import Rounding
from layerwise.models.token_ids import NO_TEXTS, Texts, Wrapping, check_texts

# The weights that a model gets: those of its files, or shapes alone, which are those of its files
# or, where none of them is here yet, of config.json. A number is that of a draw of random weights.
Source = Literal["stored", "shapes", "to come"]
PROBE_TOKENS = 8  # of the pass that tries a loaded model out
# Implementations of one function: a model that was loaded with another is not the same with ours.
_STANDARD_ATTENTION = re.compile("(eager|sdpa|flex_attention|(kernels-community/)?flash.*)$")
# The files of a tokenizer.
TOKENIZER = (
    "tokenizer*.json", "*.model", "vocab.*", "merges.txt", "special_tokens_map.json",
    "added_tokens.json", "chat_template.*",
)  # fmt: skip


@dataclass(frozen=True)
class Checkpoint:
    """A loaded model with its tokenizer; `name` is what result files call the model."""

    model: Any
    tokenizer: Any
    name: str
    display: str
    revision: str
    dtype: str
    folder: Path | None = None  # config, tokenizer and weights; None: the weights are no file's
    tokenizer_sha256: str = ""  # of `digest_of_tokenizer`; empty where it has no files
    # a hook, a buffer or a patched method is part of no digest: such a model is measured anew
    in_memory: bool = False
    rounding: Rounding | None = None  # the noise of a replicate

    @property
    def family(self) -> str:
        return str(self.model.config.model_type)

    @property
    def n_layers(self) -> int:
        return int(self.model.config.num_hidden_layers)

    @property
    def hidden_size(self) -> int:
        return int(self.model.config.hidden_size)

    @property
    def blocks(self) -> list[Any]:
        return list(self.model.base_model.get_submodule(FAMILIES[self.family].blocks))

    @property
    def head(self) -> Any:
        """The output embeddings."""
        return self.model.get_output_embeddings()

    def last_hidden(self, tokens: torch.Tensor) -> torch.Tensor:
        """The states after the final norm: a pass through the base model, nothing padded."""
        states: torch.Tensor = self.model.base_model(
            input_ids=tokens, attention_mask=torch.ones_like(tokens), use_cache=False
        ).last_hidden_state
        return states

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Of last hidden states, as the model gives them: Gemma 2 bends them."""
        cap = getattr(self.model.config, "final_logit_softcapping", None)
        logits = self.head(hidden)
        return logits if cap is None else torch.tanh(logits / cap) * cap

    @property
    def has_random_weights(self) -> bool:
        """Whether config.json says that nobody trained it: a twin's does, and no number counts."""
        return getattr(self.model.config, RANDOM, False) is True

    @property
    def declaration(self) -> Declaration:
        """What texts are checked with."""
        place = self.folder or self.name
        n_embeddings = len(self.model.get_input_embeddings().weight)
        return Declaration(self.name, place, self.model.config, self.tokenizer, n_embeddings)


def kernel_of(model: Any, wanted: str) -> str:
    """The attention kernel that runs: `sdpa` where it is wanted and the architecture has it."""
    return "sdpa" if wanted == "sdpa" and model._supports_sdpa else "eager"


@contextlib.contextmanager
def attention_kernel(model: Any, wanted: str) -> Iterator[None]:
    """Inside the block attention is `eager` or, where the architecture has it, `sdpa`.

    No module is in training mode, and the arithmetic is ours (`own_arithmetic`). What torch takes
    for `sdpa` is in `kernels`: on a GPU one and the same for every shape.
    """
    usual = model.config._attn_implementation
    model.config._attn_implementation = kernel_of(model, wanted)
    try:
        with one_attention(model.device), own_arithmetic(model.device), evaluating(model):
            yield
    finally:
        model.config._attn_implementation = usual


@contextlib.contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Inside the block no module is in training mode; afterwards each is as it was."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Inside the block, transformers tells errors only, and draws bars on terminals alone."""
    logging = transformers.utils.logging
    if not sys.stderr.isatty() or multiprocessing.parent_process() is not None:
        logging.disable_progress_bar()
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)


def default_device() -> str:
    """This process's own CUDA device if there is one, else `cpu`."""
    if not torch.cuda.is_available():
        return "cpu"
    return f"cuda:{from_environment('LOCAL_RANK', 0, 2**16) or 0}"


def free_bytes(device: str | torch.device) -> int:
    """Free memory of a device by its driver; of `auto`, of all GPUs and the machine."""
    gc.collect()  # what a model left behind, and torch keeps for later, is not free to others
    torch.cuda.empty_cache()  # does nothing where no GPU was used
    if str(device).startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    gpus = range(torch.cuda.device_count()) if device == "auto" else ()
    there = sum(int(torch.cuda.mem_get_info(gpu)[0]) for gpu in gpus)
    return there + int(psutil.virtual_memory().available)


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

    Args:
        texts: that will be run, by kind; refused before weights are fetched or loaded.
        template: what every statement of them is put into.

    Raises:
        LayerwiseError: for a folder with a revision or without config.json, a tokenizer or
            safetensors weights, an architecture without a known layout, an unknown dtype, too
            little memory, or a model that the hub does not give (see `hub.fetch`).
        TextError: for a text that the model cannot take.
    """
    path = Path(name)
    if not is_there(path):
        snapshot = fetch(str(name), revision or "main", texts=texts, template=template)
        return load_folder(
            snapshot, str(name), snapshot.name, dtype, device, texts=texts, template=template
        )
    _refuse_revision(name, revision)
    loaded = load_folder(
        path, path.resolve().name, "", dtype, device, texts=texts, template=template
    )
    digest = hashlib.sha256()
    for file in (path / "config.json", *weight_files(path)):
        digest.update(sha256_of(file).encode())
    return replace(loaded, revision=f"sha256:{digest.hexdigest()}")


def with_random_weights(checkpoint: Checkpoint, draw: int) -> Checkpoint:
    """The architecture, dtype, device and tokenizer of a model, with a draw of random weights.

    The model itself stays in memory beside it.
    """
    model = checkpoint.model
    device = "auto" if getattr(model, "hf_device_map", None) else str(model.device)
    with quiet(), own_arithmetic(model.device):
        drawn = _draw_weights(
            checkpoint.name, draw, copy.deepcopy(model.config), checkpoint.dtype, device
        )
    return replace(checkpoint, model=drawn.eval(), folder=None)


def load_shapes(
    name: str | Path,
    dtype: str = "float32",
    device: str | None = None,
    *,
    revision: str | None = None,
    texts: Texts = NO_TEXTS,
    template: Wrapping = "none",
) -> tuple[Checkpoint, int]:
    """Everything that `load_model` does and refuses, but for the numbers: no weight is read.

    The model is on torch's device `meta`, which has shapes alone. Of a model of the hub whose
    weights are not in the cache, none is fetched: what their headers say is not known then.

    Returns:
        The checkpoint, and the bytes of weights that loading it would fetch.
    """
    path, commit, download = Path(name), "", 0
    weights: Source = "shapes"
    if is_there(path):
        _refuse_revision(name, revision)
        said = path.resolve().name
    else:
        said = str(name)
        with explained(said, revision or "main"):
            cached = whole(said, revision)
        if cached is None:
            path, files = ahead(said, revision or "main", texts, template)
            commit, download, weights = path.name, sum(files.values()), "to come"
        else:
            path, commit = cached, cached.name
    loaded = load_folder(
        path, said, commit, dtype, device, texts=texts, template=template, weights=weights
    )
    return loaded, download


def _refuse_revision(name: object, revision: str | None) -> None:
    if revision is not None:
        raise LayerwiseError(
            f"{name} is a local folder and has no revision, found {revision!r}; leave it out"
        )


def from_memory(model: Any, tokenizer: Any) -> Checkpoint:
    """A model that is loaded already, with its tokenizer, under its `name_or_path`.

    Its dtype and devices stay as they are. The revision recorded is a digest of its weights.

    Raises:
        LayerwiseError: for anything but a causal model of transformers whose layout and dtype are
            known, whose parts give the logits that it gives, with its tokenizer and a printable
            name.
    """
    family = getattr(getattr(model, "config", None), "model_type", None)
    if hasattr(model, "merge_and_unload"):
        raise LayerwiseError(
            f"a loaded model is one of transformers, found {type(model).__name__} of peft around "
            "it; give what its merge_and_unload() returns"
        )
    is_model = isinstance(model, transformers.PreTrainedModel)
    if not is_model or family not in FAMILIES or model.get_output_embeddings() is None:
        raise LayerwiseError(
            f"a model must be a folder, a hub id, or a causal language model of transformers of "
            f"one of the architectures {', '.join(FAMILIES)}, found {type(model).__name__} "
            f"({family!s:.80}); load it with transformers.AutoModelForCausalLM, or, as {ANY_OTHER}"
        )
    dtypes = {str(one.dtype).removeprefix("torch.") for one in model.parameters()}
    dtype = ", ".join(sorted(dtypes))
    if dtype not in DTYPES:
        raise LayerwiseError(
            f"dtype must be one of {', '.join(DTYPES)}, the same in all parameters, found "
            f"{dtype!r}; convert the model with model.to(torch.float32)"
        )
    if getattr(model.config, "quantization_config", None) is not None:
        raise LayerwiseError(
            "a loaded model must hold its weights as numbers, found a quantization_config; give "
            "the model before it was quantised"
        )
    if any(one.is_meta for one in model.parameters()):
        raise LayerwiseError(
            "a loaded model must have its weights, found some on the device meta; load it with "
            "from_pretrained"
        )
    if not _STANDARD_ATTENTION.match(str(model.config._attn_implementation)):
        raise LayerwiseError(
            "a loaded model is measured with transformers' own attention, eager or sdpa, found the "
            f"function {model.config._attn_implementation!r:.80}, which would not run; change "
            "attention by hooks or in its modules instead"
        )
    if not isinstance(tokenizer, transformers.PreTrainedTokenizerBase):
        raise LayerwiseError(
            "a loaded model needs its tokenizer of transformers beside it, found "
            f"{type(tokenizer).__name__}: give tokenizer=AutoTokenizer.from_pretrained(...) of the "
            "same checkpoint"
        )
    name = str(model.name_or_path or type(model).__name__)
    name = Path(name).resolve().name if Path(name).exists() else name
    require_name("the name_or_path of the model", name)
    revision = f"sha256:{_digest_of_weights(model)}"
    require_exact(model.device.type)
    with tempfile.TemporaryDirectory() as saved:
        tokenizer.save_pretrained(saved)
        of_tokenizer = digest_of_tokenizer(Path(saved))
    display = name.rpartition("/")[2]
    checkpoint = Checkpoint(
        model, tokenizer, name, display, revision, dtype, None, of_tokenizer, in_memory=True
    )
    _require_its_own_logits(checkpoint)
    return checkpoint


def _digest_of_weights(model: Any) -> str:
    """SHA-256 of names, shapes and bytes of all that a loaded model would save."""
    digest = hashlib.sha256()
    for key, weight in model.state_dict().items():
        if not torch.is_tensor(weight):
            raise LayerwiseError(
                f"every weight of a loaded model must be a tensor, found {key} as "
                f"{type(weight).__name__}: a quantised model has packed weights; give the model "
                "before it was quantised"
            )
        digest.update(f"{key} {tuple(weight.shape)} ".encode())
        numbers: Any = weight.detach().cpu().reshape(-1).contiguous().view(torch.uint8).numpy()
        digest.update(numbers)
    return digest.hexdigest()


def _require_its_own_logits(checkpoint: Checkpoint) -> None:
    """Refuse a loaded model that does more than the parts of it that are run and watched here.

    Those are the base model with its blocks, and the output embeddings. A hook on the model itself
    is not run, nor its own `forward` if that was replaced.
    """
    model, blocks = checkpoint.model, checkpoint.blocks
    if len(blocks) != checkpoint.n_layers:
        raise LayerwiseError(
            f"a loaded model must have the {checkpoint.n_layers} blocks that its config declares, "
            f"found {len(blocks)}; set model.config.num_hidden_layers to their number, or load the "
            "model again"
        )
    # different tokens: of equal ones a hook that exchanges or drops tokens changes nothing
    n_tokens = min(PROBE_TOKENS, checkpoint.declaration.n_embeddings)
    tokens = torch.arange(n_tokens, device=model.device)[None]
    usual = "sdpa" if model.config._attn_implementation == "sdpa" else "eager"
    with attention_kernel(model, usual), torch.inference_mode():
        whole = model(input_ids=tokens, attention_mask=torch.ones_like(tokens), use_cache=False)
        parts = checkpoint.logits(checkpoint.last_hidden(tokens))
    if not torch.allclose(whole.logits, parts, rtol=1e-3, atol=1e-3, equal_nan=True):
        raise LayerwiseError(
            "a loaded model must give the logits that its base model and output embeddings give; "
            "it gives others, because a hook or another `forward` sits on the model itself or on "
            "random numbers; put hooks on model.base_model or on its blocks"
        )


def digest_of_tokenizer(folder: Path) -> str:
    """SHA-256 of names and SHA-256 of the files that a tokenizer consists of."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if any(file.match(pattern) for pattern in TOKENIZER):
            digest.update(f"{file.name} {sha256_of(file)}\n".encode())
    return digest.hexdigest()


def load_registered(
    model: Model, dtype: str, *, device: str | None = None, draw: int | None = None
) -> Checkpoint:
    """Load a model of the registry from the hub, if it is as declared, under the name shown there.

    With the number of a `draw` it has its own configuration and tokenizer, and random weights.

    Raises:
        LayerwiseError: for an unresolved revision; as for `load_model`.
    """
    if model.revision is None:
        raise LayerwiseError(
            f"{model.slug}: no revision is recorded for {model.hub} (revision: unresolved); "
            "look the commit up, write it into the registry, then load it"
        )
    folder = fetch(model.hub, model.revision, model)
    weights: Source | int = "stored" if draw is None else draw
    loaded = load_folder(folder, model.hub, folder.name, dtype, device, weights=weights)
    check_declared(model, loaded.model.config, adds_bos=loaded.declaration.adds_bos)
    return replace(loaded, display=model.display)


def require_accelerator(device: str | None = None) -> None:
    """Refuse early a device that is not there; None is that of the papers' models, cuda."""
    wants_cuda = device is None or device == "auto" or device.startswith("cuda")
    if wants_cuda and not torch.cuda.is_available():
        raise LayerwiseError(
            "cuda and auto need a CUDA device and none was found; take cpu, or a machine with a GPU"
        )
    number = (device or "").removeprefix("cuda:")
    if wants_cuda and number.isdecimal() and int(number) >= (n := torch.cuda.device_count()):
        there = "cuda:0 alone" if n == 1 else f"cuda:0 to cuda:{n - 1}"
        raise LayerwiseError(
            f"{device} is not there: torch sees {there}; take one of these, or look at "
            "CUDA_VISIBLE_DEVICES"
        )
    if wants_cuda:
        require_exact("cuda")


def load_folder(
    path: Path,
    name: str,
    revision: str,
    dtype: str,
    device: str | None,
    *,
    texts: Texts = NO_TEXTS,
    template: Wrapping = "none",
    weights: Source | int = "stored",
) -> Checkpoint:
    """Check a folder, from what is cheap to what is not, then make the model that it declares."""
    tensors: Sequence[Stored | Announced] | None
    if weights == "to come":
        check_files(path)
        tensors = indexed_tensors(path)
    else:
        tensors = check_folder(path)
    if dtype not in DTYPES:
        raise LayerwiseError(f"dtype must be one of {', '.join(DTYPES)}, found {dtype!r}")
    device = _device(device)
    require_exact(device)
    with quiet(), own_arithmetic():
        declaration = declare(path, name)
        check_texts(declaration, texts, template)
        config = declaration.config
        model, need = _blank(path, config, tensors, dtype)
        if need > (there := free_bytes(device)):
            raise LayerwiseError(
                f"{name} in {dtype} needs {spelled(need)} on {device}, {spelled(there)} are there; "
                "use a 16-bit dtype, device 'auto', or a larger machine"
            )
        if isinstance(weights, int):
            model = _draw_weights(name, weights, config, dtype, device)
        elif weights != "to come":
            model = _load_weights(path, config, dtype, "meta" if weights == "shapes" else device)
        _try_out(path, model.eval())
    display, folder = name.rpartition("/")[2], path if weights == "stored" else None
    of_tokenizer = digest_of_tokenizer(path)
    return Checkpoint(
        model, declaration.tokenizer, name, display, revision, dtype, folder, of_tokenizer
    )


def _try_out(path: Path, model: Any) -> None:
    """Two tokens through the model, which has numbers or shapes alone.

    A padding token is not declared meanwhile: GPT-2 would look for it among the tokens, and shapes
    have none.
    """
    problem, tokens = "the model that it declares cannot run", torch.zeros((1, 2), dtype=torch.long)
    padding = getattr(model.config, "pad_token_id", None)
    with in_words(path / "config.json", problem, ONE_MODEL), torch.no_grad():
        model.config.pad_token_id = None
        try:
            model(tokens.to(model.device)).logits  # noqa: B018
        finally:
            model.config.pad_token_id = padding


def _device(wanted: str | None) -> str:
    device = wanted or default_device()
    if device == "auto" and n_processes() > 1:
        raise LayerwiseError(
            "device 'auto' spreads one model over all GPUs and needs one process, found "
            f"{os.environ['WORLD_SIZE']}; start it without a launcher"
        )
    if device.startswith("cuda"):
        require_accelerator(device)
        device = default_device() if device == "cuda" else device  # every process has its own
        require_accelerator(device)
    return device


def _blank(
    path: Path, config: Any, tensors: Sequence[Stored | Announced] | None, dtype: str
) -> tuple[Any, int]:
    """The declared model with shapes alone, compared with the headers, or the index, if it is here.

    With it come the bytes that it would have in memory.
    """
    file = path / "config.json"
    with in_words(file, "no model can be built of it", ONE_MODEL), torch.device("meta"):
        model = _from_config(config, dtype)
    if tensors is not None:
        check_tensors(path, model, tensors)
    n_bytes = sum(one.nbytes for one in (*model.parameters(), *model.buffers()))
    return model, n_bytes


def _from_config(config: Any, dtype: str) -> Any:
    return transformers.AutoModelForCausalLM.from_config(
        config, dtype=getattr(torch, dtype), attn_implementation="eager", trust_remote_code=False
    )


def _load_weights(path: Path, config: Any, dtype: str, device: str) -> Any:
    """The model; the headers were compared with it, transformers must agree that all is used."""
    with in_words(path, "the checkpoint cannot be loaded", ONE_MODEL):
        loaded: Any = transformers.AutoModelForCausalLM.from_pretrained(
            path,
            config=config,
            dtype=getattr(torch, dtype),
            attn_implementation="eager",  # fastest for short statements; the same on every device
            use_safetensors=True,
            output_loading_info=True,
            device_map="auto" if device == "auto" else {"": device},  # no copy on the host
            trust_remote_code=False,
            local_files_only=True,
        )
    model, report = loaded
    unused = {key for key in report["unexpected_keys"] if not is_leftover(key, None)}
    if wrong := sorted(unused | set(report["missing_keys"])):
        raise LayerwiseError(
            f"{path}: transformers must load every weight and use every stored tensor, found "
            f"{wrong[0]} missing or left over ({len(wrong)} such names); {ONE_MODEL}"
        )
    return model


def _draw_weights(name: str, draw: int, config: Any, dtype: str, device: str) -> Any:
    """The model as it is before training: the weights that its architecture begins with.

    One device draws the same numbers again; two models of one shape, and two draws, differ.
    """
    setattr(config, RANDOM, True)
    place = "cpu" if device == "auto" else device
    with drawn_from(zlib.crc32(f"control {draw} {name}".encode()), torch.device(place)):
        model = _from_config(config, dtype)
    if device == "auto":
        whole = list(model._no_split_modules)  # a block stays on one device
        spread = accelerate.infer_auto_device_map(model, no_split_module_classes=whole)
        return accelerate.dispatch_model(model, spread)
    return model.to(place)
