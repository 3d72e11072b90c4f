"""Tiny checkpoints with random weights: every step runs, the numbers mean nothing.

python -m layerwise.models.twins pythia-70m out/tiny    writes one to try `analyze` on
"""

import zlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
import typer

from layerwise.errors import LayerwiseError
from layerwise.home import here
from layerwise.models.checkpoint_config import quiet
from layerwise.models.families import LLAMA3_ROPE, VOCABULARY, Config, twin_config, twin_of
from layerwise.models.kernels import seeded
from layerwise.models.registry import RANDOM, Model, find_model, read_models
from layerwise.models.texts import read_pairs, read_prompts

BOS = "<s>"
_STRETCHED = {"rope_parameters": LLAMA3_ROPE, "max_position_embeddings": 131072}
NOISE = 0.1  # spread that a twin's norm weights and biases get
# In the manner of Llama 3.1's: the rendered text opens with the BOS token, which a tokenizer that
# adds one as well then puts there twice.
CHAT_TEMPLATE = """\
{{- bos_token }}
{%- for message in messages %}
{{- "<|start|>" + message.role + "<|end|>\\n\\n" + message.content + "<|done|>" }}
{%- endfor %}
{%- if add_generation_prompt %}{{- "<|start|>assistant<|end|>\\n\\n" }}{%- endif %}
"""


def config_of(twin: Model) -> Config:
    """Return keyword arguments of a twin's configuration; `twin` is of `families.twin_of`."""
    exceptions: dict[str, Config] = {
        "llama-3p1-8b": _STRETCHED,
        "llama-3p1-8b-instruct": _STRETCHED,
        "mistral-7b-instruct": {
            "sliding_window": None,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e6},
        },
        # its norms stand behind, its embeddings are half as wide
        "opt-350m": {
            "do_layer_norm_before": False,
            "word_embed_proj_dim": twin.shape.hidden_size // 2,
        },
    }
    return twin_config(twin.family, twin.shape) | exceptions.get(twin.slug, {})


def build_twin(model: Model, texts: Sequence[str], folder: Path, seed: int = 0) -> Path:
    """Save the random-weight twin of a model of the registry into `folder`, in float32.

    Every norm weight and every bias is moved by normal noise, so that code that forgets one gives
    other numbers. The byte-level BPE tokenizer is trained on `texts`, of which there is one. The
    same arguments give the same bytes; torch's global generator is left as it was. config.json
    says that the weights are random.
    """
    if not texts:
        raise LayerwiseError(f"{model.slug}: a tokenizer needs at least one text, found none")
    twin = twin_of(model)
    declared = config_of(twin) | {RANDOM: True}
    config = transformers.AutoConfig.for_model(twin.family, **declared)
    # twins of one shape must differ, or statistics over models see ties
    seed_of_twin = zlib.crc32(f"{seed} {model.slug}".encode())
    with seeded(seed_of_twin, torch.device("cpu")), quiet():
        network = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        _perturb(network)
    network.save_pretrained(folder)
    tokenizer = train_tokenizer(texts, twin.shape.adds_bos)
    if model.chat:
        tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    return folder


def _perturb(network: Any) -> None:
    """Move every norm weight (1, or 0 where the norm adds 1 itself) and every bias (0)."""
    with torch.no_grad():
        for module in network.modules():
            is_norm = "Norm" in type(module).__name__
            for name, value in module.named_parameters(recurse=False):
                if name == "bias" or (is_norm and name == "weight"):
                    value += NOISE * torch.randn_like(value)


def train_tokenizer(texts: Sequence[str], adds_bos: bool) -> Any:
    """Return a byte-level BPE tokenizer of a twin's vocabulary."""
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


def main(slug: str, folder: Path, models: Path | None = None) -> None:
    """Write a tiny checkpoint of a registered shape, to try `layerwise analyze` on.

    SLUG is the model whose shape it takes, e.g. pythia-70m; MODELS is the registry, by
    default that of this checkout.
    """
    texts = Path(str(resources.files("layerwise.models") / "rehearsal"))
    words = [*read_pairs(texts / "pairs.json").statements, *read_prompts(texts / "prompts.json")]
    build_twin(find_model(read_models(models or here() / "models.yaml"), slug), words, folder)
    print(f"random weights in {folder}; what is measured on them means nothing")


if __name__ == "__main__":
    typer.run(main)
