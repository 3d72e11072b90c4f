"""The numbers of `analyze` against a plain loop of one text at a time, by their definitions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

NEAR = 1e-4  # the share by which a number may differ, and what is near zero by a tenth of it


def differences(
    result: Any, folder: Path, pairs: Any, prompts: Any
) -> Iterator[tuple[str, float, float]]:
    """Yield the place of every number that is not the plain loop's, and both."""
    found = dict(measured(result.documents, result.by_pair))
    expected = dict(looped(folder, pairs, prompts))
    for place in found.keys() | expected.keys():
        one, other = found.get(place, np.nan), expected.get(place, np.nan)
        if not np.isclose(one, other, rtol=NEAR, atol=NEAR / 10):
            yield place, one, other


def measured(documents: Any, by_pair: Any) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a result by place: of pairs, categories, layers, blocks and prompts."""
    for number, row in enumerate(by_pair.records):
        yield f"NLL A of pair {number}", row["NLL A (nats)"]
        yield f"NLL B of pair {number}", row["NLL B (nats)"]
    for name, category in documents["validation"].items():
        if not name.startswith("_"):
            yield f"UA of {name}", category["asymmetry"]
            yield f"preference of {name}", category["output_preference"]
    for name, strategy in documents["layers"]["strategies"].items():
        if name.startswith("layer_"):
            yield f"r of {name}", strategy["correlation"]
    for layer, share in enumerate(documents["anisotropy"]["intrinsic_dim_ratio"]):
        yield f"share of the first component at layer {layer}", share
    yield "gain of the second-last block", documents["gains"]["residual_gain_mean"]


def looped(folder: Path, pairs: Any, prompts: Any) -> Iterator[tuple[str, float]]:
    """Yield the same by definition, one text at a time."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder)

    def run(text: str) -> tuple[np.ndarray, float]:
        """Return the states (layer, token, hidden) and the mean NLL."""
        ids = tokenizer(text, return_tensors="pt").input_ids
        with torch.no_grad():
            out = model(ids, labels=ids, output_hidden_states=True)
        return torch.cat(out.hidden_states).double().numpy(), float(out.loss)

    sides = [[run(text) for text in side] for side in (pairs.side_a, pairs.side_b)]
    nll = np.array([[loss for _, loss in side] for side in sides])
    for number, (a, b) in enumerate(nll.T):
        yield f"NLL A of pair {number}", a
        yield f"NLL B of pair {number}", b
    # (side, pair, layer, hidden): the mean over all tokens but the first, of norm 1
    units = np.array([[states[:, 1:].mean(axis=1) for states, _ in side] for side in sides])
    units /= np.linalg.norm(units, axis=-1, keepdims=True)
    members = [np.flatnonzero(pairs.category_of_pair == n) for n in range(len(pairs.categories))]
    preferences = [(nll[1] - nll[0])[inside].mean() for inside in members]
    n_layers = model.config.num_hidden_layers
    for layer in sorted({*range(0, n_layers + 1, 4), n_layers}):
        ua = [
            mean_cosine(units[0, inside, layer]) - mean_cosine(units[1, inside, layer])
            for inside in members
        ]
        yield f"r of layer_{layer}", np.corrcoef(ua, preferences)[0, 1]
    for name, asymmetry, preference in zip(pairs.categories, ua, preferences, strict=True):
        yield f"UA of {name}", asymmetry
        yield f"preference of {name}", preference
    of_prompts = [run(text)[0] for text in prompts]
    for layer in range(n_layers + 1):
        tokens = np.concatenate([states[layer] for states in of_prompts])
        variances = np.linalg.svd(tokens - tokens.mean(axis=0), compute_uv=False) ** 2
        yield f"share of the first component at layer {layer}", variances[0] / variances.sum()
    gains = [
        np.linalg.norm(states[-2, -1]) / np.linalg.norm(states[-3, -1]) for states in of_prompts
    ]
    yield "gain of the second-last block", np.mean(gains)


def mean_cosine(units: np.ndarray) -> float:
    """Return the mean cosine of every two rows of norm 1."""
    n = len(units)
    return float(((units @ units.T).sum() - n) / (n * (n - 1)))
