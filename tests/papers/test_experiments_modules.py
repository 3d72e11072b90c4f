"""Experiments on modules, sequences and token matrices, against hooks on the modules and torch."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import scipy.stats
import torch

from judged import analysed
from layerwise.engine.measured import measured, read_fragments, write_fragments
from layerwise.errors import LayerwiseError
from layerwise.measures.residual_gain import module_gain, module_gains
from layerwise.measures.traces import Trace
from layerwise.models.projections import Weights
from layerwise.papers.paper3.experiments import gains, streams
from layerwise.papers.paper3.experiments.matrices import attention_shape
from layerwise.papers.paper3.experiments.table import EXPERIMENTS
from layerwise.papers.shared.names.result_files import OPT
from stand_ins import checkpoint, found, passed, seen, subject, theirs, w_v
from tiny_checkpoints import PROMPTS, PUBLISHED


def _close(found: Any, wanted: Any, rtol: float = 2e-5) -> None:
    np.testing.assert_allclose(np.array(found), np.array(wanted), rtol=rtol, atol=1e-7)


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
        size = {at: float(of.norm(dim=-1).mean()) for at, of in states.items()}
        for name, rows in gains.items():
            row = [size[n, "out", name] / size[n, "in", name] for n in range(len(blocks))]
            rows.append(row)
    entry = theirs(study, slug)
    for name, rows in gains.items():
        _close(entry.pop(name), np.mean(rows, axis=0))
    parameters = sum(p.numel() for p in checkpoint(slug).model.parameters())
    assert entry == ({"7/n_params": parameters} if study == "scaling" else {})


def test_parameters_are_counted_without_buffers(tmp_path: Path) -> None:
    folder, model = checkpoint("pythia-70m").folder, checkpoint("pythia-70m").model
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
    return [float(of.detach().float().norm()) for of in (rows, *states.values())], logits


@pytest.mark.parametrize("slug", ["pythia-6p9b", "gemma-7b", "apertus-8b", "llama-3p1-8b"])
def test_four_models_against_hooks(slug: str) -> None:
    ((name, norms),) = theirs("fourmodel", slug).items()
    assert name.endswith("/norms")
    text = _prompt(streams.CAPITAL)
    _close(norms, _sequence(slug, text, autocast=True)[0])
    assert not np.allclose(_sequence(slug, text)[0], norms, rtol=1e-5)  # autocast is seen


def test_mistral_against_torch() -> None:
    entry, model = theirs("mistral", "mistral-7b"), checkpoint("mistral-7b").model
    norms, logits = _sequence("mistral-7b", _prompt(streams.CAPITAL))
    _close(entry["mistral-7b/norms"], norms[1:])
    p = torch.softmax(logits, -1)
    _close(entry["mistral-7b/entropy"], float(-(p * torch.log(p + 1e-10)).sum()))
    for name, matrix in (("unembedding", model.lm_head), ("embedding", model.model.embed_tokens)):
        _close(entry[f"{name}/frobenius_norm"], float(matrix.weight.detach().norm()))


@pytest.mark.parametrize("slug", ["llama-3p1-8b", "mistral-7b", "gemma-2-9b"])
def test_unembedding_against_torch(slug: str) -> None:
    vocabulary, spectral = theirs("llama_anom", slug).values()
    weight = checkpoint(slug).model.get_output_embeddings().weight.detach()
    assert vocabulary == len(weight)
    _close(spectral, float(torch.linalg.svdvals(weight)[0]))


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


@pytest.mark.parametrize("slug", ["pythia-6p9b", "gpt-j-6b"])
def test_the_last_block_against_hooks(slug: str) -> None:
    *_, block = checkpoint(slug).blocks
    ratios = []
    for text in PROMPTS["per_head"]["prompts"]:
        with seen({0: block}, inputs=True) as into, seen({0: block}) as out:
            passed.__wrapped__(slug, "float32", text)
        ratios.append(float(out[0][-1].norm() / into[0][-1].norm()))
    ((name, found),) = theirs("perhead", slug).items()
    assert name == "2/residual_ratio"
    _close(found, np.mean(ratios))


# --- OPT anomaly --------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", ["opt-125m", "gpt2", "pythia-160m"])
def test_opt_against_torch(slug: str) -> None:
    cells = found("opt", slug)[OPT]
    (of_values,) = {key.rpartition("/")[0] for key in cells if key.startswith("/W_V_analysis")}
    s = np.array([np.linalg.svd(w_v(slug, "float32", n, "legacy"))[1] for n in range(3)])
    _close(cells[f"{of_values}/mean_spectral"], s[:, 0].mean())
    _close(cells[f"{of_values}/mean_frobenius"], np.sqrt((s**2).sum(1)).mean())
    _close(cells[f"{of_values}/mean_condition"], (s[:, 0] / s[:, -1]).mean(), rtol=1e-4)
    entropies, shares = [], []
    for text in PROMPTS["opt_anomaly"]["prompts"]:
        means = [m[0].mean(dim=0) for m in passed(slug, "float32", text, maps=True).attentions]
        entropies.append([float(-(a * torch.log(a + 1e-10)).sum(-1).mean()) for a in means])
        shares.append([float((a < 0.01).float().mean()) for a in means])
    attention = of_values.replace("W_V", "attention")
    _close(cells[f"{attention}/entropy_by_layer"], np.mean(entropies, axis=0))
    _close(cells[f"{attention}/sparsity_by_layer"], np.mean(shares, axis=0))


def test_layers_without_an_entropy_are_left_out_of_its_mean(tmp_path: Path) -> None:
    seeing = subject("pythia-160m")
    texts = PROMPTS["opt_anomaly"]["prompts"]

    def half_blind(text: str, **options: Any) -> Trace:
        trace = seeing.trace(text, **options)
        maps = [m.copy() for m in trace.attention]
        maps[2][:] = np.nan
        if text == texts[0]:
            maps[1][0, -1, 0] = np.nan
        return replace(trace, attention=tuple(maps))

    found = attention_shape(replace(seeing, trace=half_blind), texts)
    whole = attention_shape(seeing, texts)["entropy_by_layer"]
    second = attention_shape(seeing, texts[1:])["entropy_by_layer"]
    assert found["entropy_by_layer"][:2] == [whole[0], second[1]]
    assert math.isnan(found["entropy_by_layer"][2])
    assert found["sparsity_by_layer"][2] == 0  # NaN is not under the limit
    place = "/attention_analysis/EleutherAI~1pythia-160m"
    write_fragments(tmp_path / "found.json", {OPT: {place: found}})
    tables = measured(PUBLISHED, read_fragments(tmp_path / "found.json"))
    means = analysed("spectral_norms", tables).documents["pythia-160m-attention"]
    assert means["mean_entropy"] == pytest.approx(np.mean([whole[0], second[1]]), rel=1e-12)
