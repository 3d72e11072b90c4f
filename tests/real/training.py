"""A tiny mixture of experts, trained for a minute on the documentation of Python.

No package has a trained model of a class outside the table of families, so this one is made where
it is needed. Its bytes differ between machines and versions, as training doubles what the last
digit says; they are neither kept nor compared. That it is trained is measured: on text that was
left out it must predict better than the frequencies of tokens do, by `LEAST` nats.
"""

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from pydoc_data import topics

import torch
import transformers

from layerwise.models.twins import VOCABULARY, train_tokenizer

NAME = "trained-qwen3-moe"
LEAST = 1.0  # nats under the frequencies of tokens
STEPS, ROWS, LENGTH = 250, 16, 96  # of training; texts and tokens of a step
HELD_OUT = 20  # every so many-th part of the text is left out
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 96,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 24,
    "intermediate_size": 192,
    "moe_intermediate_size": 64,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "max_position_embeddings": 256,
    "tie_word_embeddings": True,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 1,
}


@dataclass(frozen=True)
class Trained:
    """Where the model is, and nats per token of left out text: by chance, before and after."""

    folder: Path
    by_frequency: float
    before: float
    after: float

    def __str__(self) -> str:
        return (
            f"{NAME}: {self.before:.2f} nats a token before training, {self.after:.2f} after; "
            f"frequencies of tokens have {self.by_frequency:.2f}"
        )

    @property
    def is_trained(self) -> bool:
        """Whether it has learned more than how often each token comes."""
        return self.after < self.by_frequency - LEAST


def train(folder: Path) -> Trained:
    """Train the model and write its checkpoint into a folder."""
    text = "\n".join(topics.topics.values())
    tokenizer = train_tokenizer([text], adds_bos=False)
    ids = torch.tensor(tokenizer(text).input_ids)
    parts = ids[: len(ids) // LENGTH * LENGTH].view(-1, LENGTH)
    is_held_out = torch.arange(len(parts)) % HELD_OUT == 0
    held_out, kept = parts[is_held_out], parts[~is_held_out]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.Qwen3MoeForCausalLM(transformers.Qwen3MoeConfig(**SIZES))
        before = mean_nll(model, held_out)
        _train(model, kept)
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Trained(folder, frequency_nll(kept, held_out), before, mean_nll(model, held_out))


def _train(model: torch.nn.Module, parts: torch.Tensor) -> None:
    """Take every step of the training."""
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=STEPS)
    for _ in range(STEPS):
        rows = parts[torch.randint(len(parts), (ROWS,))]
        optimizer.zero_grad()
        model(rows, labels=rows).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rates.step()


@torch.no_grad()
def mean_nll(model: torch.nn.Module, parts: torch.Tensor) -> float:
    """Return the nats per predicted token of parts of equal length."""
    model.eval()
    batches = [(rows, model(rows, labels=rows).loss) for rows in parts.split(64)]
    return sum(float(loss) * len(rows) for rows, loss in batches) / len(parts)


def frequency_nll(kept: torch.Tensor, parts: torch.Tensor) -> float:
    """Return the same of the frequencies of tokens in the text that was trained on."""
    counts = Counter(kept.flatten().tolist())
    total = counts.total() + VOCABULARY  # each token is taken to have come once more
    tokens = parts[:, 1:].flatten().tolist()
    return -sum(math.log((counts[token] + 1) / total) for token in tokens) / len(tokens)
