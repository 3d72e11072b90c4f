"""Checkpoints: load them from a folder or the hub, check them, find their parts."""

import contextlib
import copy
import hashlib
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import accelerate
import torch
import transformers

from layerwise.errors import LayerwiseError
from layerwise.files import require_name, sha256_of
from layerwise.models.checkpoint_config import (
    ONE_MODEL,
    check_declared,
    declared,
    quiet,
    reword_errors,
)
from layerwise.models.checkpoint_folder import (
    Stored,
    check_folder,
    refuse_revision,
    weight_files,
)
from layerwise.models.checkpoint_tokenizer import (
    Declaration,
    digest_of_tokenizer,
    load_tokenizer,
)
from layerwise.models.checkpoint_weights import check_tensors
from layerwise.models.devices import choose_device, free_bytes
from layerwise.models.families import ANY_OTHER, FAMILIES, declared_heads
from layerwise.models.hub import fetch
from layerwise.models.kernels import one_attention, own_arithmetic, require_exact, seeded
from layerwise.models.needs import spell_bytes
from layerwise.models.outline import Outline, Sizes
from layerwise.models.registry import DTYPES, RANDOM, Model
from layerwise.models.rounding import Rounding
from layerwise.models.token_ids import NO_TEXTS, Texts, Wrapping, check_texts
from layerwise.models.virtual_tokens import refuse_virtual_tokens

PROBE_TOKENS = 8  # of the pass that tries a loaded model out
# What holds a model of transformers inside it, and how to get at that: by an attribute that it has.
_AROUND = {
    "merge_and_unload": "what its merge_and_unload() returns",  # peft
    "_orig_mod": "its _orig_mod, or compile it in place by model.compile()",  # torch.compile
    "module": "its module",  # DataParallel and its like
}


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
        """Return the logits of last hidden states, as the model gives them: Gemma 2 bends them."""
        cap = getattr(self.model.config, "final_logit_softcapping", None)
        logits = self.head(hidden)
        return logits if cap is None else torch.tanh(logits / cap) * cap

    @property
    def has_random_weights(self) -> bool:
        """True if config.json says that nobody trained it: a twin's does, and no number counts."""
        return getattr(self.model.config, RANDOM, False) is True

    @property
    def declaration(self) -> Declaration:
        """All that texts are checked with."""
        declaration = Declaration.of_config(
            self.name, self.folder or self.name, self.model.config, self.tokenizer
        )
        n_embeddings = len(self.model.get_input_embeddings().weight)
        if type(self.model).__module__.startswith("transformers_modules."):  # its caller ran it
            declaration = replace(declaration, own_code=())
        return replace(declaration, n_embeddings=n_embeddings)

    @property
    def outline(self) -> Outline:
        """The outline that would be known before it was loaded."""
        declaration, heads = self.declaration, declared_heads(self.model.config)
        sizes = Sizes(
            family=self.family,
            n_layers=self.n_layers,
            hidden_size=self.hidden_size,
            key_size=heads.heights["W_K"],
            vocab_size=declaration.n_embeddings,
            n_positions=declaration.n_positions,
            dtype=self.dtype,
        )
        n_parameters = sum(weight.numel() for weight in self.model.parameters())
        return Outline(declaration, self.dtype, self.model.device.type, sizes, n_parameters)


def kernel_of(model: Any, wanted: str) -> str:
    """The attention kernel that runs: `eager` in place of an `sdpa` that the architecture lacks."""
    return "eager" if wanted == "sdpa" and not model._supports_sdpa else wanted


@contextlib.contextmanager
def attention_kernel(model: Any, wanted: str) -> Iterator[None]:
    """Inside the block attention is what is wanted: `eager`, `sdpa`, or a function of the caller's.

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
    if not path.exists():
        snapshot = fetch(str(name), revision or "main", texts=texts, template=template)
        return load_folder(
            snapshot, str(name), snapshot.name, dtype, device, texts=texts, template=template
        )
    refuse_revision(name, revision)
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
    drawn.config._attn_implementation = model.config._attn_implementation
    return replace(checkpoint, model=drawn.eval(), folder=None)


def from_memory(model: Any, tokenizer: Any) -> Checkpoint:
    """A model that is loaded already, with its tokenizer, under its `name_or_path`.

    Its dtype and devices stay as they are. The revision recorded is a digest of its weights.

    Raises:
        LayerwiseError: for anything but a causal model of transformers whose layout and dtype are
            known, whose parts give the logits that it gives, with its tokenizer and a printable
            name.
    """
    family = getattr(getattr(model, "config", None), "model_type", None)
    refuse_virtual_tokens(model)
    is_model = isinstance(model, transformers.PreTrainedModel)
    inside = next((_AROUND[name] for name in _AROUND if hasattr(model, name)), None)
    if not is_model and inside is not None:
        raise LayerwiseError(
            f"a loaded model is one of transformers, found {type(model).__name__} around it; give "
            f"{inside}"
        )
    if not is_model or family not in FAMILIES or model.get_output_embeddings() is None:
        raise LayerwiseError(
            f"a model must be a folder, a hub id, or a causal language model of transformers of "
            f"one of the architectures {', '.join(FAMILIES)}, found {type(model).__name__} "
            f"({family!s:.80}); load it with transformers.AutoModelForCausalLM, or, as {ANY_OTHER}"
        )
    # before dtypes: its packed weights may be buffers, beside parameters that are numbers
    if getattr(model.config, "quantization_config", None) is not None:
        raise LayerwiseError(
            "a loaded model must hold its weights as numbers, found a quantization_config; give "
            "the model before it was quantised"
        )
    dtypes = {str(weight.dtype).removeprefix("torch.") for weight in model.parameters()}
    dtype = ", ".join(sorted(dtypes))
    if dtype not in DTYPES:
        raise LayerwiseError(
            f"dtype must be one of {', '.join(DTYPES)}, the same in all parameters, found "
            f"{dtype!r}; convert the model with model.to(torch.float32)"
        )
    if any(weight.is_meta for weight in model.parameters()):
        raise LayerwiseError(
            "a loaded model must have its weights, found some on the device meta; load it with "
            "from_pretrained"
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
    if len(set(map(id, blocks))) < len(blocks):
        raise LayerwiseError(
            "a loaded model must have another module as each block, found one at several places, "
            "whose states cannot be told apart; put copies there (copy.deepcopy)"
        )
    # of the whole vocabulary, and different: a hook on the model may change only some of them, and
    # of equal ones exchange or drop some
    last = checkpoint.declaration.n_embeddings - 1
    tokens = torch.linspace(0, last, PROBE_TOKENS, device=model.device).long()[None]
    with attention_kernel(model, model.config._attn_implementation), torch.inference_mode():
        whole = model(input_ids=tokens, attention_mask=torch.ones_like(tokens), use_cache=False)
        parts = checkpoint.logits(checkpoint.last_hidden(tokens))
    if not torch.allclose(whole.logits, parts, rtol=1e-3, atol=1e-3, equal_nan=True):
        raise LayerwiseError(
            "a loaded model must give the logits that its base model and output embeddings give; "
            "it gives others, because a hook or another `forward` sits on the model itself or on "
            "random numbers; put hooks on model.base_model or on its blocks"
        )


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
    loaded = load_folder(folder, model.hub, folder.name, dtype, device, draw=draw)
    check_declared(model, loaded.model.config, adds_bos=loaded.declaration.adds_bos)
    return replace(loaded, display=model.display)


def load_folder(
    path: Path,
    name: str,
    revision: str,
    dtype: str,
    device: str | None,
    *,
    texts: Texts = NO_TEXTS,
    template: Wrapping = "none",
    draw: int | None = None,
) -> Checkpoint:
    """Check a folder, from what is cheap to what is not, then make the model that it declares.

    With the number of a `draw` the model has random weights in place of those of the folder.

    Raises:
        LayerwiseError, TextError: as for `load_model`.
    """
    tensors = check_folder(path)
    if dtype not in DTYPES:
        raise LayerwiseError(f"dtype must be one of {', '.join(DTYPES)}, found {dtype!r}")
    device = choose_device(device)
    require_exact(device)
    with quiet(), own_arithmetic():
        config, tokenizer = declared(path), load_tokenizer(path)
        declaration = Declaration.of_config(name, path, config, tokenizer)
        check_texts(declaration, texts, template)
        n_bytes = _check_weights(path, config, tensors, dtype)
        if n_bytes > (available := free_bytes(device)):
            raise LayerwiseError(
                f"{name} in {dtype} needs {spell_bytes(n_bytes)} on {device}, "
                f"{spell_bytes(available)} are there; use a 16-bit dtype, device 'auto', "
                "or a larger machine"
            )
        if draw is None:
            model = _load_weights(path, config, dtype, device)
        else:
            model = _draw_weights(name, draw, config, dtype, device)
        with reword_errors(
            path / "config.json", "the model that it declares cannot run", ONE_MODEL
        ):
            _try_out(model.eval())
    display, folder = name.rpartition("/")[2], path if draw is None else None
    return Checkpoint(
        model, tokenizer, name, display, revision, dtype, folder, digest_of_tokenizer(path)
    )


@torch.no_grad()
def _try_out(model: Any) -> None:
    """Take two tokens through a model."""
    model(torch.zeros((1, 2), dtype=torch.long, device=model.device))


def _check_weights(path: Path, config: Any, tensors: Sequence[Stored], dtype: str) -> int:
    """Compare the headers of the weights with the declared model; return its bytes in memory."""
    file = path / "config.json"
    with reword_errors(file, "no model can be built of it", ONE_MODEL), torch.device("meta"):
        model = _from_config(config, dtype)
    check_tensors(path, model, tensors)
    return sum(weight.nbytes for weight in (*model.parameters(), *model.buffers()))


def _from_config(config: Any, dtype: str) -> Any:
    return transformers.AutoModelForCausalLM.from_config(
        config, dtype=getattr(torch, dtype), attn_implementation="eager", trust_remote_code=False
    )


def _load_weights(path: Path, config: Any, dtype: str, device: str) -> Any:
    """Return the model, with which the headers of its weights were compared."""
    with reword_errors(path, "the checkpoint cannot be loaded", ONE_MODEL):
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
        model = _from_config(config, dtype)
    if device == "auto":
        whole = list(model._no_split_modules)  # a block stays on one device
        spread = accelerate.infer_auto_device_map(model, no_split_module_classes=whole)
        return accelerate.dispatch_model(model, spread)
    return model.to(place)
