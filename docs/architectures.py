#!/usr/bin/env python3
"""Try every causal class of the installed transformers: write docs/architectures.md.

python docs/architectures.py [FAMILY ...]      (or `make architectures`; minutes)

Each class is built tiny with random weights that are moved, saved, and measured from its folder and
from memory. What `analyze` takes of it is held against a plain loop of one statement at a time:
transformers' own hidden states, and the loss of its own logits.
"""

import contextlib
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch
import transformers
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
)

from layerwise.errors import LayerwiseError
from layerwise.files import write_text
from layerwise.models.hidden_states import extract
from layerwise.models.load import Checkpoint, from_memory, load_model
from layerwise.models.store import HiddenStates
from layerwise.models.twins import train_tokenizer

PAGE = Path(__file__).with_name("architectures.md")
TEXTS = (
    "The river rises in the north",
    "Water boils at 100 degrees",
    "A quiet street",
    "Two cats sat on the wall near the old mill",
    "The bridge opened in 1932",
    "She sold the shop",
)
RIGHT, REFUSED, WRONG, MISSING = "right", "refused", "wrong", "not built"
STATES, NATS = 1e-4, 1e-3  # as a share of a state's norm, and of a text's mean NLL
SECONDS = 60  # for one class
LARGEST = 3e7  # parameters of a tiny model
REPORTS_OUTPUTS = (
    "falcon_mamba",
    "mamba",
    "mamba2",
    "rwkv",
)  # what leaves each block, and not what enters the first
# What no configuration makes run on text alone here.
UNFIT = {
    "gemma3n": "its class needs the package timm for its images",
    **dict.fromkeys(
        ("gemma4_assistant", "gemma4_unified_assistant"),
        "drafts for another model, and reads the keys and values of that model",
    ),
    **dict.fromkeys(("musicgen", "musicgen_melody"), "reads the codes of sounds, several at once"),
}
# Text towers of models that see images too, whole.
TOWERS = ("gemma3", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "mistral3", "llama4")
SIZES: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "embed_dim", "word_embed_proj_dim"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 4),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "mamba_d_state"), 4),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads", "mamba_n_heads"), 4),
    **dict.fromkeys(("num_key_value_heads", "num_kv_heads"), 2),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"), 48),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 48),
    **dict.fromkeys(("max_position_embeddings", "n_positions"), 128),
    **dict.fromkeys(("head_dim", "v_head_dim", "qk_rope_head_dim", "qk_nope_head_dim"), 8),
    **dict.fromkeys(("q_lora_rank", "kv_lora_rank", "rotary_dim", "state_size"), 8),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "moe_k", "moe_topk", "expand", "mamba_expand"), 2),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 16),
    **dict.fromkeys(("mamba_d_head", "expert_ffn_hidden_size"), 16),
    **dict.fromkeys(("n_group", "topk_group", "first_k_dense_replace", "bos_token_id"), 1),
    **dict.fromkeys(("n_shared_experts", "mamba_n_groups", "n_groups"), 1),
    "vocab_size": 512,
    "pad_token_id": 0,
    "eos_token_id": 2,
    "default_language": "en_XX",
}
_ROPE = {"rope_type": "default", "rope_theta": 1e4}
_OF_VIDEO = {"rope_parameters": _ROPE | {"mrope_section": [1, 1, 2]}}
_PER_LAYER = {"hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 512}
_BY_TURNS = {"layer_types": ["sliding_attention", "full_attention"] * 2}
_HYBRID = {"layers_block_type": ["linear_attention", "hybrid"] * 2, "num_key_value_heads": 4}
# Where these sizes do not fit together, by the family of a configuration or of its part for text.
OWN_SIZES: dict[str, dict[str, Any]] = {
    "bamba": {"attn_layer_indices": [1, 3]},
    "blt": {"encoder_hash_byte_group_vocab": 512},
    "blt_global_transformer": {"hidden_size": 64, "num_attention_heads": 8},
    "blt_local_decoder": {"hidden_size_global": 64},
    "blt_local_encoder": {"hidden_size_global": 64},
    "cohere_compass_text": {"rope_parameters": {"full_attention": _ROPE}},
    "dbrx": {
        "attn_config": {"rope_theta": 1e4, "kv_n_heads": 2, "clip_qkv": 8.0},
        "ffn_config": {"hidden_size": 32, "ffn_hidden_size": 48},
    },
    "dots3_note_text": {
        "per_layer_config": {},
        "head_dim": 16,
        "index_n_heads": 4,
        "index_head_dim": 16,
    },
    "falcon_h1": {"mamba_d_ssm": 64},
    "gemma3n_text": {**_PER_LAYER, **_BY_TURNS, "num_kv_shared_layers": 0},
    "gemma4_text": {**_PER_LAYER, **_BY_TURNS},
    "gpt_neo": {"attention_types": [[["global", "local"], 2]]},
    "kimi_linear": {"linear_num_heads": 4, "linear_head_dim": 8},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 2},
    "mamba2": {"head_dim": 16},
    "qwen2_vl_text": _OF_VIDEO,
    "qwen2_5_vl_text": _OF_VIDEO,
    "qwen4_exp_text": {
        **{"indexer_n_heads": 4, "indexer_kv_heads": 1, "indexer_head_dim": 8},
        **{"indexer_budget": 16, "indexer_compress_ratio": 4},
    },
    "reformer": {"is_decoder": True, "axial_pos_embds": False},
    "zamba": _HYBRID,
    "zamba2": _HYBRID,
    "zaya": {"num_experts_per_tok": 1},
}


@dataclass(frozen=True)
class Outcome:
    """What became of one class, from a folder or from memory.

    Attributes:
        why: of what is refused, wrong or not built.
        states, nats: how far it lies from the plain loop, at most.
    """

    word: str
    why: str = ""
    states: float = 0.0
    nats: float = 0.0


@dataclass(frozen=True)
class Row:
    """What became of one class."""

    name: str
    family: str
    folder: Outcome
    memory: Outcome

    @property
    def worst(self) -> Outcome:
        """That of both which is further from being right."""
        ranks = (RIGHT, REFUSED, MISSING, WRONG)
        return max(
            (self.folder, self.memory),
            key=lambda one: (ranks.index(one.word), one.states, one.nats),
        )

    @property
    def kind(self) -> str:
        """What it is, by the word with which it is refused."""
        kinds = ("an encoder-decoder", "an encoder", "no language model")
        found = next((kind for kind in kinds if f"is {kind}" in self.worst.why), "a decoder")
        return found.partition(" ")[2] if found != kinds[-1] else found

    @property
    def is_refused_by_kind(self) -> bool:
        return self.worst.word == REFUSED and self.kind != "decoder"

    @property
    def reason(self) -> str:
        """Why it is not measured, in a cell of a table: the rule, without what to do."""
        why = " ".join(self.worst.why.split()).partition("; ")[0]
        rule = why.partition(": ")[2] if self.worst.word == REFUSED else why
        return f"{rule.replace('|', '/'):.230}"


class OutOfTimeError(Exception):
    """A class that took longer than `SECONDS`."""


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Inside the block there is an end to a class that has none."""

    def stop(*_: object) -> None:
        raise OutOfTimeError(f"no end after {SECONDS} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def tiny_config(kind: Any) -> Any:
    """Return a configuration of a few thousand parameters, its text tower's too."""
    usual = kind()
    parts = {
        name: tiny_config(type(part))
        for name, part in vars(usual).items()
        if isinstance(part, transformers.PreTrainedConfig)
    }
    named = {*usual.to_dict(), *getattr(usual, "attribute_map", {})}
    sizes = {key: value for key, value in SIZES.items() if key in named}
    if "kv_lora_rank" in named:  # keys and values are not shared where they are compressed
        sizes["num_key_value_heads"] = SIZES["num_attention_heads"]
    return kind(**sizes | parts | OWN_SIZES.get(usual.model_type, {}))


def build(name: str) -> Any:
    """Return a tiny model with random weights, every one of which is moved."""
    kind = getattr(transformers, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = tiny_config(kind.config_class)
        with torch.device("meta"):
            size = sum(weight.numel() for weight in kind(config).parameters())
        if size > LARGEST:
            raise ValueError(f"{size:,} parameters with the sizes of a tiny model")
        torch.manual_seed(0)
        model = kind(config).eval()
    for weight in model.parameters():
        weight.data += 0.05 * torch.randn_like(weight)
    return model


def plain_loop(model: Any, ids: torch.Tensor) -> tuple[tuple[torch.Tensor, ...], torch.Tensor]:
    """Return the hidden states of one text by layer, and the logits: transformers' own."""
    with torch.no_grad():
        out = model(input_ids=ids, output_hidden_states=True, use_cache=False)
    states = out.hidden_states
    if model.config.model_type in REPORTS_OUTPUTS:
        *outputs, _, last = states
        states = (model.get_input_embeddings()(ids).detach(), *outputs, last)
    return states, out.logits


def deviations(model: Any, tokenizer: Any, found: HiddenStates) -> tuple[float, float]:
    """Return the largest distance of states (share of their norm) and of NLL from a plain loop."""
    of_states, of_nll = [], []
    pooled = [torch.from_numpy(found.pooled(layer)) for layer in range(found.n_layers + 1)]
    for number, text in enumerate(TEXTS):
        ids = torch.tensor([tokenizer(text).input_ids])
        by_layer, logits = plain_loop(model, ids)
        for rows, states in zip(pooled, by_layer, strict=True):
            expected = states[0, 1:].mean(dim=0).float()
            of_states.append(float((rows[number] - expected).norm() / expected.norm()))
        loss = torch.nn.functional.cross_entropy(logits[0, :-1].float(), ids[0, 1:])
        of_nll.append(abs(float(loss) - float(found.nll[number])))
    return max(of_states), max(of_nll)


def measure(checkpoint: Checkpoint, model: Any, folder: Path) -> Outcome:
    """Return how far the measured states and NLL lie from those of a plain loop."""
    found = extract(checkpoint, TEXTS, (), folder)
    states, nats = deviations(model, checkpoint.tokenizer, found)
    if states < STATES and nats < NATS:
        return Outcome(RIGHT, "", states, nats)
    return Outcome(WRONG, f"states {states:.1e}, NLL {nats:.1e} nats", states, nats)


def attempt(action: Any) -> Outcome:
    """Return what an action gives; a refusal in words, or that something else was raised."""
    try:
        with limited():
            outcome: Outcome = action()
            return outcome
    except LayerwiseError as error:
        return Outcome(REFUSED, str(error))
    except OutOfTimeError as error:
        return Outcome(MISSING, str(error))
    except Exception as error:
        return Outcome(WRONG, f"{type(error).__name__}: {error}")


def try_class(name: str, family: str, tokenizer: Any, place: Path) -> Row:
    """Return what becomes of a class from its folder, and from memory."""

    def from_folder() -> Outcome:
        return measure(load_model(place / "model", device="cpu"), model, place / "from-folder")

    def in_memory() -> Outcome:
        return measure(from_memory(model, tokenizer), model, place / "from-memory")

    try:
        with limited():
            model = build(name)
            model.save_pretrained(place / "model")
            tokenizer.save_pretrained(place / "model")
    except Exception as error:
        return Row(name, family, *[missing(family, error)] * 2)
    row = Row(name, family, attempt(from_folder), attempt(in_memory))
    if not row.is_refused_by_kind:
        try:
            with limited():
                plain_loop(model, torch.arange(3, 12)[None])
        except Exception as error:
            return Row(name, family, *[missing(family, error)] * 2)
    return row


def missing(family: str, error: Exception) -> Outcome:
    """Return why a class was not built, or does not run."""
    return Outcome(MISSING, UNFIT.get(family) or f"{type(error).__name__}: {error}")


def try_all(chosen: list[str]) -> tuple[list[Row], list[Row]]:
    """Return the causal classes, and the text towers of models that see images too."""
    tokenizer = train_tokenizer(TEXTS, adds_bos=False)

    def rows(families: Iterable[str], names: Mapping[str, Any]) -> Iterator[Row]:
        for family in families:
            if chosen and family not in chosen:
                continue
            with tempfile.TemporaryDirectory() as place:
                row = try_class(names[family], family, tokenizer, Path(place))
            print(family, f"{row.folder.word} | {row.memory.word} | {row.reason}", flush=True)
            yield row

    causal = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return (
        list(rows(sorted(causal), causal)),
        list(rows(TOWERS, MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES)),
    )


# --- the page ------------------------------------------------------------------------------------


def count(rows: list[Row]) -> str:
    """Return a table of how many classes there are of each outcome."""
    by_kind = {(row.kind, row.folder.word, row.memory.word): 0 for row in rows}
    for row in rows:
        by_kind[row.kind, row.folder.word, row.memory.word] += 1
    lines = ["| classes | folder | memory | number |", "|---|---|---|--:|"]
    lines += [
        f"| {kind} | {folder} | {memory} | {number} |"
        for (kind, folder, memory), number in sorted(by_kind.items())
    ]
    return "\n".join([*lines, f"| all | | | {len(rows)} |"])


def names(rows: list[Row]) -> str:
    """Return the families of rows, in a sentence."""
    return ", ".join(f"`{row.family}`" for row in sorted(rows, key=lambda row: row.family))


def table(rows: list[Row]) -> str:
    """Return a table of the families that are not measured right, or not tried."""
    lines = ["| family | folder | memory | reason |", "|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: row.family):
        far = row.worst.word == WRONG
        reason = f"{row.worst.states:.0e}, {row.worst.nats:.0e}" if far else row.reason
        lines.append(f"| `{row.family}` | {row.folder.word} | {row.memory.word} | {reason} |")
    return "\n".join(lines)


def page(causal: list[Row], towers: list[Row]) -> str:
    """Return the page."""
    rows = [*causal, *towers]
    right = [row for row in rows if row.folder.word == row.memory.word == RIGHT]
    states, nats = (max(getattr(row.worst, name) for row in right) for name in ("states", "nats"))
    by_kind = [row for row in rows if row.is_refused_by_kind]
    rest = [row for row in rows if row not in right and row not in by_kind]
    versions = f"transformers {transformers.__version__}, torch {torch.__version__}"
    return f"""# Architectures

Every causal class of the installed transformers, built tiny with random weights that were moved,
saved, and measured from its folder and from memory. What is measured is held against a plain loop
of one statement at a time: transformers' own hidden states, and the loss of its own logits.
`make architectures` makes this page; here with {versions}.

*Right* is within {STATES:.0e} of a state's norm and {NATS:.0e} nats, the worst being {states:.0e}
and {nats:.0e}. *Refused* comes with the reason, *wrong* is measured without a word and lies further
away, and *not built* is what has no tiny model here that runs on text alone. Of all that is right
every question is measured but for the spectral norms, which need a row of the table of families
(`layerwise models --architectures` lists both).

{count(causal)}

## Right

{names([row for row in causal if row in right])}.

Of models that see images too, by text alone: {names([row for row in towers if row in right])}.

## Refused, as no decoder

A model has to predict each token from those before it alone: {names(by_kind)}.

## Refused by what the model does, or not built

{table(rest)}
"""


def main(chosen: list[str]) -> None:
    """Try the classes, print each, and write the page if all were tried."""
    causal, towers = try_all(chosen)
    if not chosen:
        write_text(PAGE, page(causal, towers))


if __name__ == "__main__":
    main(sys.argv[1:])
