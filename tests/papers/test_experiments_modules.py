"""Experiments on modules and sequences, against hooks on the modules and torch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import scipy.stats
import torch

from layerwise.errors import LayerwiseError
from layerwise.measures.residual_gain import module_gain, module_gains
from layerwise.models.projections import Weights
from layerwise.papers.experiments import gains, streams
from layerwise.papers.experiments.table import EXPERIMENTS
from stand_ins import checkpoint, passed, seen, subject, theirs
from tiny_checkpoints import PROMPTS


def _close(measured: Any, wanted: Any, rtol: float = 2e-5) -> None:
    np.testing.assert_allclose(np.array(measured), np.array(wanted), rtol=rtol, atol=1e-7)


def _prompt(name: str) -> str:
    return PROMPTS["input_dependency"]["prompts"][name]["text"]


# --- attention and MLP modules ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("study", "slug", "attention", "mlp"),
    [
        ("ffn", "pythia-1p4b", "attention/gains", "mlp/gains"),
        ("ffn", "pythia-6p9b", "attention/gains", "mlp/gains"),
        ("scaling", "pythia-12b", "7/attn_gains", "7/mlp_gains"),
    ],
)
def test_module_gains_against_hooks(study: str, slug: str, attention: str, mlp: str) -> None:
    """Mean token norms out over in, of the norms and the modules, prompt by prompt."""
    watched = {}
    blocks = checkpoint(slug).blocks
    for number, block in enumerate(blocks):
        watched[number, "in", attention] = block.input_layernorm
        watched[number, "in", mlp] = block.post_attention_layernorm
        watched[number, "out", attention] = block.attention
        watched[number, "out", mlp] = block.mlp
    (experiment,) = EXPERIMENTS[study]
    named = experiment.prompts if study == "scaling" else experiment.prompts[slug]  # type: ignore[index]
    gains: dict[str, list[list[float]]] = {attention: [], mlp: []}
    for text in PROMPTS[named]["prompts"]:  # type: ignore[index]
        with seen(watched) as states:
            passed.__wrapped__(slug, "float32", text)
        size = {at: float(output.norm(dim=-1).mean()) for at, output in states.items()}
        for name, rows in gains.items():
            row = [size[n, "out", name] / size[n, "in", name] for n in range(len(blocks))]
            rows.append(row)
    entry = theirs(study, slug)
    for name, rows in gains.items():
        _close(entry.pop(name), np.mean(rows, axis=0))
    parameters = sum(p.numel() for p in checkpoint(slug).model.parameters())
    assert entry == ({"7/n_params": parameters} if study == "scaling" else {})


def test_parameters_are_counted_without_buffers(tmp_path: Path) -> None:
    folder, model = checkpoint("pythia-70m").files.folder, checkpoint("pythia-70m").model
    assert folder is not None
    stored = safetensors.torch.load_file(folder / "model.safetensors")
    masks = {
        f"gpt_neox.layers.0.attention.{name}": torch.zeros(*shape)
        for name, shape in (("bias", (1, 1, 9, 9)), ("masked_bias", (1,)))
    }
    masks["gpt_neox.layers.0.attention.rotary_emb.inv_freq"] = torch.zeros(4)
    safetensors.torch.save_file(stored | masks, tmp_path / "model.safetensors")
    model.config.save_pretrained(tmp_path)
    wanted = sum(p.numel() for p in model.parameters())
    assert gains.count_parameters(Weights.open(tmp_path)) == wanted


def test_module_gain_of_zeros_is_large_but_finite() -> None:
    zeros, ones = np.zeros((3, 4), np.float32), np.ones((3, 4), np.float32)
    assert module_gain(zeros, ones) == pytest.approx(2e10)
    assert module_gain(zeros, zeros) == 0
    assert module_gain(ones, -3 * ones) == pytest.approx(3)
    bare = subject("pythia-70m").trace("A quiet street")
    for traces in ([], [bare]):
        with pytest.raises(LayerwiseError, match=f"found {len(traces)} texts; trace with modules"):
            module_gains(traces)


# --- whole sequences ----------------------------------------------------------------------------


def _sequence(slug: str, text: str, *, autocast: bool = False) -> tuple[list[float], torch.Tensor]:
    """Frobenius norms of the embedding's rows and of every block's output; the last logits."""
    loaded = checkpoint(slug)
    blocks = dict(enumerate(loaded.blocks))
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast), seen(blocks) as states:
        logits = passed.__wrapped__(slug, "float32", text).logits[0, -1].float()
    ids = loaded.tokenizer(text, return_tensors="pt").input_ids
    rows = torch.nn.functional.embedding(ids, loaded.model.get_input_embeddings().weight)
    return [float(state.detach().float().norm()) for state in (rows, *states.values())], logits


@pytest.mark.parametrize("slug", ["pythia-6p9b", "gemma-7b", "apertus-8b", "llama-3p1-8b"])
def test_four_models_against_hooks(slug: str) -> None:
    ((name, norms),) = theirs("fourmodel", slug).items()
    assert name.endswith("/norms")
    text = _prompt(streams.CAPITAL)
    _close(norms, _sequence(slug, text, autocast=True)[0])
    assert not np.allclose(_sequence(slug, text)[0], norms, rtol=1e-5)  # autocast is seen


def test_mistral_against_torch() -> None:
    norms, _ = _sequence("mistral-7b", _prompt(streams.CAPITAL))
    (measured,) = theirs("mistral", "mistral-7b").values()
    _close(measured, norms[1:])


def test_input_dependency_against_torch() -> None:
    entry = theirs("inputdep", "llama-3p1-8b")
    assert len(entry) == 10
    for name, prompt in PROMPTS["input_dependency"]["prompts"].items():
        norms, logits = _sequence("llama-3p1-8b", prompt["text"])
        _close(entry[f"{name}/gains"], np.array(norms[1:]) / norms[:-1])
        half = torch.softmax(logits, -1).half()
        _close(entry[f"{name}/entropy"], scipy.stats.entropy(half.numpy()), rtol=1e-3)


@pytest.mark.parametrize("slug", ["llama-2-7b", "llama-3p1-8b"])
def test_token_means_against_hidden_states(slug: str) -> None:
    states = passed(slug, "float32", _prompt(streams.PANGRAM)).hidden_states
    norms = [float(h[0].norm(dim=-1).mean()) for h in states]
    _close(theirs("llama23", slug)["residual/norms"], norms)
