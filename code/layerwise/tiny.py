"""Tiny checkpoints with random weights: every step runs, the numbers mean nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers

from layerwise.errors import LayerwiseError
from layerwise.models import Model, Shape

VOCABULARY = 512
POSITIONS = 256
BOS = "<s>"


def _gpt_neox(shape: Shape, scale: float) -> Any:
    return transformers.GPTNeoXConfig(
        hidden_size=shape.hidden_size,
        num_hidden_layers=shape.n_layers,
        num_attention_heads=shape.n_heads,
        intermediate_size=4 * shape.hidden_size,
        vocab_size=VOCABULARY,
        max_position_embeddings=POSITIONS,
        initializer_range=scale,
        bos_token_id=0,
        eos_token_id=0,
    )


def _gpt2(shape: Shape, scale: float) -> Any:
    return transformers.GPT2Config(
        n_embd=shape.hidden_size,
        n_layer=shape.n_layers,
        n_head=shape.n_heads,
        vocab_size=VOCABULARY,
        n_positions=POSITIONS,
        initializer_range=scale,
        bos_token_id=0,
        eos_token_id=0,
    )


def _opt(shape: Shape, scale: float) -> Any:
    return transformers.OPTConfig(
        hidden_size=shape.hidden_size,
        word_embed_proj_dim=shape.hidden_size,
        num_hidden_layers=shape.n_layers,
        num_attention_heads=shape.n_heads,
        ffn_dim=4 * shape.hidden_size,
        vocab_size=VOCABULARY,
        max_position_embeddings=POSITIONS,
        init_std=scale,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=1,
    )


def _llama(shape: Shape, scale: float) -> Any:
    return transformers.LlamaConfig(
        hidden_size=shape.hidden_size,
        num_hidden_layers=shape.n_layers,
        num_attention_heads=shape.n_heads,
        num_key_value_heads=max(1, shape.n_heads // 2),
        intermediate_size=2 * shape.hidden_size,
        vocab_size=VOCABULARY,
        max_position_embeddings=POSITIONS,
        initializer_range=scale,
        bos_token_id=0,
        eos_token_id=0,
    )


_CONFIGS = {"gpt_neox": _gpt_neox, "gpt2": _gpt2, "opt": _opt, "llama": _llama}


def build_tiny(model: Model, texts: Sequence[str], folder: Path, seed: int = 0) -> Path:
    """Save a random-weight checkpoint of the declared family and shape into `folder`.

    Its byte-level BPE tokenizer is trained on `texts`. The same arguments give the same bytes;
    torch's global generator is left as it was. Returns `folder`.

    Raises:
        LayerwiseError: for a family without a tiny twin, or no text to train on.
    """
    if model.family not in _CONFIGS:
        raise LayerwiseError(
            f"{model.slug}: tiny checkpoints exist for {', '.join(_CONFIGS)}, not {model.family}"
        )
    if not texts:
        raise LayerwiseError(f"{model.slug}: a tokenizer needs at least one text, found none")
    keep_bars_out_of_logs()
    # 1/sqrt(hidden): the default 0.02 would leave all layers of so narrow a model alike
    config = _CONFIGS[model.family](model.shape, model.shape.hidden_size**-0.5)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = transformers.AutoModelForCausalLM.from_config(config)
    network.to(getattr(torch, model.dtype)).save_pretrained(folder)
    _train_tokenizer(texts, model.shape.adds_bos).save_pretrained(folder)
    return folder


def keep_bars_out_of_logs() -> None:
    """Switch transformers' progress bars off unless a terminal is there to show them."""
    if not sys.stderr.isatty():
        transformers.utils.logging.disable_progress_bar()


def _train_tokenizer(texts: Sequence[str], adds_bos: bool) -> Any:
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[BOS, "<pad>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    if adds_bos:
        tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            single=f"{BOS} $A", special_tokens=[(BOS, tokenizer.token_to_id(BOS))]
        )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=BOS, eos_token=BOS, pad_token="<pad>"
    )
