"""Small networks of every architecture in memory, no folder and no trained tokenizer needed."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import transformers

from layerwise.extraction.load import Checkpoint

TEXT = "Two cats sat on the wall"
SMALL = {"vocab_size": 64, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}


def _wide(**more: Any) -> dict[str, Any]:
    sizes = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 4}
    return {**SMALL, **sizes, "intermediate_size": 24, "max_position_embeddings": 64, **more}


def _narrow(**more: Any) -> dict[str, Any]:
    return {**SMALL, "n_embd": 16, "n_layer": 3, "n_head": 4, "n_positions": 64, **more}


OPT = {k: v for k, v in _wide(ffn_dim=24).items() if k != "intermediate_size"}
CONFIGS = {
    "gpt_neox": transformers.GPTNeoXConfig(**_wide()),
    "gpt2": transformers.GPT2Config(**_narrow()),
    "gpt_neo": transformers.GPTNeoConfig(
        **_wide(num_layers=3, num_heads=4, attention_types=[[["global", "local", "global"], 1]])
    ),
    "gptj": transformers.GPTJConfig(**_narrow(rotary_dim=2)),
    "opt": transformers.OPTConfig(**OPT, word_embed_proj_dim=16),
    "opt_350m": transformers.OPTConfig(**OPT, word_embed_proj_dim=8, do_layer_norm_before=False),
    "bloom": transformers.BloomConfig(**SMALL, hidden_size=16, n_layer=3, n_head=4),
    "bloom_post": transformers.BloomConfig(
        **SMALL,
        hidden_size=16,
        n_layer=3,
        n_head=4,
        apply_residual_connection_post_layernorm=True,
    ),
    "falcon": transformers.FalconConfig(**_wide(), multi_query=True, alibi=False),
    "llama": transformers.LlamaConfig(**_wide(num_key_value_heads=2)),
    "mistral": transformers.MistralConfig(**_wide(num_key_value_heads=2)),
    "gemma": transformers.GemmaConfig(**_wide(num_key_value_heads=1, head_dim=6)),
    "gemma2": transformers.Gemma2Config(
        **_wide(num_key_value_heads=2, head_dim=4, final_logit_softcapping=2.0)
    ),
    "apertus": transformers.ApertusConfig(**_wide(num_key_value_heads=2)),
    "phi3": transformers.Phi3Config(**_wide()),
    "stablelm": transformers.StableLmConfig(**_wide(num_key_value_heads=2)),
    "stablelm_parallel": transformers.StableLmConfig(
        **_wide(num_key_value_heads=4), use_parallel_residual=True
    ),
}


def built(name: str, dtype: str = "float32") -> Checkpoint:
    """A checkpoint whose norms and biases are no identities; a letter is a token."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = transformers.AutoModelForCausalLM.from_config(
            CONFIGS[name], attn_implementation="eager"
        )
        with torch.no_grad():
            for parameter in network.parameters():
                parameter += 0.2 * torch.randn_like(parameter)
    config = network.config
    return Checkpoint(
        model=network.to(getattr(torch, dtype)).eval(),
        tokenizer=lambda text: SimpleNamespace(input_ids=[1 + ord(c) % 63 for c in text]),
        name=name,
        display=name,
        revision="none",
        dtype=dtype,
        folder=Path(),
        family=config.model_type,
        n_layers=config.num_hidden_layers,
        hidden_size=config.hidden_size,
    )
