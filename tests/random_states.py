"""A finished extraction of random states, and the pairs that belong to it."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from layerwise.measuring.reduction import measure
from layerwise.models.store import BEFORE_NORM, POOLINGS, digest_of_texts, open_states
from layerwise.models.texts import StatementPairs
from layerwise.papers.across.analyses import analyse_reader
from layerwise.papers.experiments import reader
from layerwise.papers.shared.published import read_published
from layerwise.statistics.bootstrap import Draws

DRAWS = Draws(10000, 0.95, 42)
CATEGORIES = ("numbers", "words", "technology", "habits", "trade", "scientific_facts")
SIZES = (9, 6, 15, 14, 15, 11)
N_PAIRS = sum(SIZES)
FEW = {"k_values": (10,), "n_permutations": 20}


def numbers_of(values, draws=DRAWS):
    """What the analyses of a reader's model read."""
    return reader.result_files(
        values, draws, read_published(Path(__file__).parents[1] / "published")
    )


def results_of(folder, categories=CATEGORIES):
    """The result documents of random states."""
    values = measure(write_states(folder / "states"), some_pairs(categories=categories), **FEW)
    return analyse_reader(reader.tables(numbers_of(values)), DRAWS)


def some_pairs(sizes=SIZES, categories=CATEGORIES):
    n = sum(sizes)
    return StatementPairs(
        tuple(categories),
        np.repeat(np.arange(len(sizes)), sizes),
        tuple(f"a {i}" for i in range(n)),
        tuple(f"b {i}" for i in range(n)),
    )


def write_states(folder, *, n_pairs=N_PAIRS, n_layers=10, hidden=24, tokens=40, seed=0, nll=None):
    """Random states on disk in the layout of the store; `tokens` = 0 leaves out prompts."""
    rng = np.random.default_rng(seed)
    statements, prompts = {"members": np.arange(2 * n_pairs)}, {"members": np.arange(1)}
    for layer in (*range(n_layers + 1), BEFORE_NORM):
        centre = 0.7 * rng.normal(size=hidden)
        states = centre + rng.normal(size=(len(POOLINGS), 2 * n_pairs, hidden))
        for pooling, pooled in zip(POOLINGS, states.astype(np.float32), strict=True):
            statements[f"{pooling}/{layer}"] = pooled
        if tokens:
            spread = np.geomspace(5, 0.1, hidden)
            token_states = centre + spread * rng.normal(size=(1, tokens, hidden))
            prompts[f"tokens/{layer}"] = token_states.astype(np.float32)
    statements["nll"] = rng.gamma(4.0, size=2 * n_pairs) if nll is None else nll
    folder.mkdir(parents=True)
    save_file(statements, folder / "statements_00000.safetensors")
    save_file(prompts, folder / "prompts_00001.safetensors")
    index = {
        "model": "some/model",
        "display": "Some Model",
        "n_layers": n_layers,
        "hidden_size": hidden,
        "n_prompts": 3 if tokens else 0,
        "prompt_lengths": [tokens - 2 * (tokens // 3), tokens // 3, tokens // 3] if tokens else [],
        "n_batches": 2,
        "passes": {"before_norm": True},
        "statements_sha256": digest_of_texts(
            [f"{side} {i}" for side in "ab" for i in range(n_pairs)]
        ),
    }
    (folder / "index.json").write_text(json.dumps(index))
    return open_states(folder)
