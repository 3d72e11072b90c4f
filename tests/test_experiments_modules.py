"""Experiments on sequences, modules and token matrices, against the models themselves.

The reference is written as the notebooks were: transformers' model, hooks on its modules, torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import scipy.stats
import torch

from judged import analysed
from layerwise.analyses import TABLES
from layerwise.analyses.derivation import evidence_of
from layerwise.analyses.evidence import Draws
from layerwise.errors import LayerwiseError
from layerwise.experiments import Fragments, Subject, modules, streams
from layerwise.experiments.matrices import attention_shape
from layerwise.experiments.table import EXPERIMENTS, measure_experiment
from layerwise.extraction import tracing
from layerwise.extraction.projections import Weights
from layerwise.inputs.measured import measured, merge, read_fragments, write_fragments
from layerwise.inputs.published import Published
from layerwise.inputs.result_files import FOUR, INPUTS, OPT
from layerwise.measures.residual_gain import module_gain, module_gains
from layerwise.measures.stream_norms import mean_token_norm, sequence_norms, token_norms
from layerwise.measures.traces import Trace
from tiny_checkpoints import PROMPTS, PUBLISHED, subject_of, twin_checkpoint, twinned_model

DRAWS = {"n_resamples": 50, "level": 0.95, "seed": 42}

# Each experiment's models, the family and depth of the twin that stands for each here.
PYTHIA = ("70m", "160m", "410m", "1b", "1p4b", "2p8b", "6p9b", "12b")
SUBJECTS: dict[str, dict[str, tuple[str, int]]] = {
    "ffn": {"pythia-1p4b": ("gpt_neox", 3), "pythia-6p9b": ("gpt_neox", 4)},
    "scaling": {f"pythia-{size}": ("gpt_neox", 2 + row % 3) for row, size in enumerate(PYTHIA)},
    "fourmodel": {
        "pythia-6p9b": ("gpt_neox", 4),
        "gemma-7b": ("gemma", 3),
        "apertus-8b": ("apertus", 3),
        "llama-3p1-8b": ("llama", 3),
    },
    "mistral": {"mistral-7b": ("mistral", 3)},
    "llama_anom": {
        "llama-3p1-8b": ("llama", 3),
        "mistral-7b": ("mistral", 3),
        "gemma-2-9b": ("gemma2", 3),
    },
    "inputdep": {"llama-3p1-8b": ("llama", 3)},
    "llama23": {"llama-2-7b": ("llama", 4), "llama-3p1-8b": ("llama", 3)},
    "perhead": {"pythia-6p9b": ("gpt_neox", 4), "gpt-j-6b": ("gptj", 3)},
    "opt": {
        "opt-125m": ("opt", 3),
        "gpt2": ("gpt2", 3),
        "pythia-160m": ("gpt_neox", 3),
    },
}
CASES = [(name, slug) for name, models in SUBJECTS.items() for slug in models]


def _subject(experiment: str, slug: str) -> Subject:
    shape = SUBJECTS[experiment][slug]
    model = twinned_model(*shape).model_copy(update={"slug": slug})
    return subject_of(model, twin_checkpoint(*shape))


@cache
def _fragments(experiment: str, slug: str) -> Fragments:
    return measure_experiment(experiment, _subject(experiment, slug))


def _theirs(experiment: str, slug: str) -> dict[str, Any]:
    """What stands in the published file, by the last two names of its place."""
    ((_, found),) = (
        item for item in _fragments(experiment, slug).items() if not item[0].startswith("beyond/")
    )
    return {"/".join(place.rsplit("/", 2)[1:]): value for place, value in found.items()}


@cache
def _model(experiment: str, slug: str) -> tuple[Any, Any]:
    checkpoint = twin_checkpoint(*SUBJECTS[experiment][slug])
    return checkpoint.model, checkpoint.tokenizer


@contextmanager
def _seen(modules: dict[Any, Any], *, inputs: bool = False) -> Iterator[dict[Any, torch.Tensor]]:
    """What the modules put out (or read) in the passes inside the block: [token, width]."""
    found: dict[Any, torch.Tensor] = {}

    def save(name: Any) -> Callable[..., None]:
        def after(module: Any, args: Any, out: Any) -> None:
            value = args[0] if inputs else out[0] if isinstance(out, tuple) else out
            found[name] = value.detach().float().reshape(-1, value.shape[-1]).clone()

        return after

    with ExitStack() as stack:
        for name, module in modules.items():
            stack.callback(module.register_forward_hook(save(name)).remove)
        yield found


def _pass(study: str, slug: str, text: str, **options: Any) -> Any:
    model, tokenizer = _model(study, slug)
    model.set_attn_implementation("eager" if options else "sdpa")  # maps come from eager only
    try:
        with torch.no_grad():
            return model(**tokenizer(text, return_tensors="pt"), **options)
    finally:
        model.set_attn_implementation("eager")


def _close(found: Any, wanted: Any, rtol: float = 2e-5) -> None:
    np.testing.assert_allclose(np.array(found), np.array(wanted), rtol=rtol, atol=1e-7)


def _prompt(name: str) -> str:
    return PROMPTS["input_dependency"]["prompts"][name]["text"]


# --- attention and MLP modules ------------------------------------------------------------------


def _module_reference(study: str, slug: str, texts: list[str]) -> tuple[list[float], list[float]]:
    """Mean token norms out over in, from hooks on the norms and the modules, prompt by prompt."""
    blocks = tracing.Checkpoint.blocks.fget(twin_checkpoint(*SUBJECTS[study][slug]))  # type: ignore[attr-defined]
    modules = {}
    for number, block in enumerate(blocks):
        modules[number, "in", "attention"] = block.input_layernorm
        modules[number, "in", "mlp"] = block.post_attention_layernorm
        modules[number, "out", "attention"] = getattr(block, "attention", None) or block.self_attn
        modules[number, "out", "mlp"] = block.mlp
    gains: dict[Any, list[float]] = {}
    for text in texts:
        with _seen(modules) as seen:
            _pass(study, slug, text)
        for number in range(len(blocks)):
            for name in ("attention", "mlp"):
                norms = [seen[number, side, name].norm(dim=-1).mean() for side in ("in", "out")]
                gains.setdefault((name, number), []).append(float(norms[1] / (norms[0] + 1e-10)))
    n = range(len(blocks))
    attention, mlp = ([float(np.mean(gains[name, i])) for i in n] for name in ("attention", "mlp"))
    return attention, mlp


@pytest.mark.parametrize("slug", SUBJECTS["ffn"])
def test_module_gains_against_hooks(slug: str) -> None:
    (ffn,) = EXPERIMENTS["ffn"]
    texts = PROMPTS[ffn.prompts[slug]]["prompts"]  # type: ignore[index]
    attention, mlp = _module_reference("ffn", slug, texts)
    found = _theirs("ffn", slug)
    assert list(found) == ["attention/gains", "mlp/gains"]
    _close(found["attention/gains"], attention)
    _close(found["mlp/gains"], mlp)


@pytest.mark.parametrize(("slug", "row"), [("pythia-70m", 0), ("pythia-12b", 7)])
def test_scaling_against_hooks(slug: str, row: int) -> None:
    found = _theirs("scaling", slug)
    attention, mlp = _module_reference("scaling", slug, PROMPTS["mlp_scaling"]["prompts"])
    _close(found[f"{row}/attn_gains"], attention)
    _close(found[f"{row}/mlp_gains"], mlp)
    model, _ = _model("scaling", slug)
    assert found[f"{row}/n_params"] == sum(p.numel() for p in model.parameters())


def test_parameters_are_counted_without_buffers(tmp_path: Path) -> None:
    weights = _subject("scaling", "pythia-70m").weights
    model, _ = _model("scaling", "pythia-70m")
    stored = safetensors.torch.load_file(weights.folder / "model.safetensors")
    masks = {
        f"gpt_neox.layers.0.attention.{name}": torch.zeros(*shape)
        for name, shape in (("bias", (1, 1, 9, 9)), ("masked_bias", (1,)))
    }
    masks["gpt_neox.layers.0.attention.rotary_emb.inv_freq"] = torch.zeros(4)
    safetensors.torch.save_file(stored | masks, tmp_path / "model.safetensors")
    model.config.save_pretrained(tmp_path)
    wanted = sum(p.numel() for p in model.parameters())
    assert modules.count_parameters(weights) == wanted
    assert modules.count_parameters(Weights.open(tmp_path)) == wanted


def test_module_gain_of_zeros_is_large_but_finite() -> None:
    zeros, ones = np.zeros((3, 4), np.float32), np.ones((3, 4), np.float32)
    assert module_gain(zeros, ones) == pytest.approx(2e10)
    assert module_gain(zeros, zeros) == 0
    assert module_gain(ones, -3 * ones) == pytest.approx(3)


def test_module_gains_iv() -> None:
    bare = _subject("ffn", "pythia-1p4b").trace("A quiet street")
    for traces in ([], [bare]):
        with pytest.raises(LayerwiseError, match=f"found {len(traces)} texts; trace with modules"):
            module_gains(traces)


# --- whole sequences ----------------------------------------------------------------------------


def _sequence_reference(
    study: str, slug: str, text: str, *, autocast: bool = False
) -> tuple[list[float], torch.Tensor]:
    """Frobenius norms of the embedding's rows and of every block's output; the last logits."""
    model, tokenizer = _model(study, slug)
    blocks = dict(enumerate(twin_checkpoint(*SUBJECTS[study][slug]).blocks))
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast), _seen(blocks) as seen:
        logits = _pass(study, slug, text).logits[0, -1].float()
    ids = tokenizer(text, return_tensors="pt").input_ids
    rows = torch.nn.functional.embedding(ids, model.get_input_embeddings().weight)
    norms = [float(rows.detach().norm()), *(float(seen[i].norm()) for i in blocks)]
    return norms, logits


@pytest.mark.parametrize("slug", SUBJECTS["fourmodel"])
def test_four_models_against_hooks(slug: str) -> None:
    ((name, found),) = _theirs("fourmodel", slug).items()
    assert name.endswith("/norms")
    text = _prompt(streams.CAPITAL)
    norms, _ = _sequence_reference("fourmodel", slug, text, autocast=True)
    _close(found, norms)
    full, _ = _sequence_reference("fourmodel", slug, text)
    assert not np.allclose(full, norms, rtol=1e-5)  # autocast is seen


def test_mistral_against_torch() -> None:
    found = _theirs("mistral", "mistral-7b")
    norms, logits = _sequence_reference("mistral", "mistral-7b", _prompt(streams.CAPITAL))
    _close(found["mistral-7b/norms"], norms[1:])
    p = torch.softmax(logits, -1)
    _close(found["mistral-7b/entropy"], float(-(p * torch.log(p + 1e-10)).sum()))
    model, _ = _model("mistral", "mistral-7b")
    _close(found["unembedding/frobenius_norm"], float(model.lm_head.weight.detach().norm()))
    _close(
        found["embedding/frobenius_norm"], float(model.model.embed_tokens.weight.detach().norm())
    )


@pytest.mark.parametrize("slug", SUBJECTS["llama_anom"])
def test_unembedding_against_torch(slug: str) -> None:
    vocabulary, spectral = _theirs("llama_anom", slug).values()
    model, _ = _model("llama_anom", slug)
    weight = model.get_output_embeddings().weight.detach()
    assert vocabulary == len(weight)
    _close(spectral, float(torch.linalg.svdvals(weight)[0]))


def test_input_dependency_against_torch() -> None:
    found = _theirs("inputdep", "llama-3p1-8b")
    assert len(found) == 10
    for name, prompt in PROMPTS["input_dependency"]["prompts"].items():
        norms, logits = _sequence_reference("inputdep", "llama-3p1-8b", prompt["text"])
        _close(found[f"{name}/gains"], np.array(norms[1:]) / norms[:-1])
        half = torch.softmax(logits, -1).half()
        _close(found[f"{name}/entropy"], scipy.stats.entropy(half.numpy()), rtol=1e-3)


@pytest.mark.parametrize("slug", SUBJECTS["llama23"])
def test_token_means_against_hidden_states(slug: str) -> None:
    out = _pass("llama23", slug, _prompt(streams.PANGRAM), output_hidden_states=True)
    norms = [float(h[0].norm(dim=-1).mean()) for h in out.hidden_states]
    _close(_theirs("llama23", slug)["residual/norms"], norms)


@pytest.mark.parametrize("slug", SUBJECTS["perhead"])
def test_the_last_block_against_hooks(slug: str) -> None:
    *_, block = twin_checkpoint(*SUBJECTS["perhead"][slug]).blocks
    ratios = []
    for text in PROMPTS["per_head"]["prompts"]:
        with _seen({0: block}, inputs=True) as into, _seen({0: block}) as out:
            _pass("perhead", slug, text)
        ratios.append(float(out[0][-1].norm() / into[0][-1].norm()))
    last = SUBJECTS["perhead"][slug][1] - 1
    _close(_theirs("perhead", slug)[f"{last}/residual_ratio"], np.mean(ratios))


def test_the_single_text_is_the_capital(published: Published) -> None:
    """Two notebooks saved Llama's gains for it: in half precision they are one text's gains."""
    file = FOUR
    four = published.document(file)["results"]["llama3.1-8b"]["gains"]
    inputs = published.document(INPUTS)["results"]
    off = {name: abs(entry["gains"][0] / four[0] - 1) for name, entry in inputs.items()}
    assert min(off, key=off.__getitem__) == streams.CAPITAL
    assert sorted(off.values())[0] < 1e-3 < 0.2 < sorted(off.values())[1]


def test_norms_of_a_stream() -> None:
    states = np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)
    assert token_norms(states).tolist() == [5.0, 0.0]
    assert mean_token_norm(states) == 2.5
    trace = Trace("float32", np.array([1, 2]), states, (states, 2 * states), states, states[0])
    assert sequence_norms(trace).tolist() == [5.0, 5.0]  # before the final norm, which doubled it


# --- OPT anomaly --------------------------------------------------------------------------------


def _value_matrices(slug: str) -> list[torch.Tensor]:
    """The notebook's W_V: for GPT-NeoX the last third of the rows, of GPT-2 of the columns."""
    checkpoint = twin_checkpoint(*SUBJECTS["opt"][slug])
    blocks, d = checkpoint.blocks, checkpoint.hidden_size
    if slug == "gpt2":
        return [block.attn.c_attn.weight.detach()[:, 2 * d :].T for block in blocks]
    if slug == "opt-125m":
        return [block.self_attn.v_proj.weight.detach() for block in blocks]
    return [block.attention.query_key_value.weight.detach()[2 * d :] for block in blocks]


@pytest.mark.parametrize("slug", SUBJECTS["opt"])
def test_opt_against_torch(slug: str) -> None:
    found = _fragments("opt", slug)[OPT]
    (of_values,) = {key.rpartition("/")[0] for key in found if key.startswith("/W_V_analysis")}
    s = torch.stack([torch.linalg.svdvals(w.double()) for w in _value_matrices(slug)]).numpy()
    _close(found[f"{of_values}/mean_spectral"], s[:, 0].mean())
    _close(found[f"{of_values}/mean_frobenius"], np.sqrt((s**2).sum(1)).mean())
    _close(found[f"{of_values}/mean_condition"], (s[:, 0] / s[:, -1]).mean(), rtol=1e-4)
    entropies, shares = [], []
    for text in PROMPTS["opt_anomaly"]["prompts"]:
        maps = _pass("opt", slug, text, output_attentions=True).attentions
        means = [m[0].mean(dim=0) for m in maps]
        entropies.append([float(-(a * torch.log(a + 1e-10)).sum(-1).mean()) for a in means])
        shares.append([float((a < 0.01).float().mean()) for a in means])
    attention = of_values.replace("W_V", "attention")
    _close(found[f"{attention}/entropy_by_layer"], np.mean(entropies, axis=0))
    _close(found[f"{attention}/sparsity_by_layer"], np.mean(shares, axis=0))


def test_layers_without_an_entropy_are_left_out_of_its_mean(tmp_path: Path) -> None:
    subject = _subject("opt", "pythia-160m")
    texts = PROMPTS["opt_anomaly"]["prompts"]

    def half_blind(text: str, **options: Any) -> Trace:
        trace = subject.trace(text, **options)
        maps = [m.copy() for m in trace.attention]
        maps[2][:] = np.nan
        if text == texts[0]:
            maps[1][0, -1, 0] = np.nan
        return replace(trace, attention=tuple(maps))

    found = attention_shape(replace(subject, trace=half_blind), texts)
    whole = attention_shape(subject, texts)["entropy_by_layer"]
    second = attention_shape(subject, texts[1:])["entropy_by_layer"]
    assert found["entropy_by_layer"][:2] == [whole[0], second[1]]
    assert math.isnan(found["entropy_by_layer"][2])
    assert found["sparsity_by_layer"][2] == 0  # NaN is not under the limit
    place = "/attention_analysis/EleutherAI~1pythia-160m"
    write_fragments(tmp_path / "found.json", {OPT: {place: found}})
    tables = measured(PUBLISHED, read_fragments(tmp_path / "found.json"))
    means = analysed("spectral_norms", tables, **DRAWS).documents["pythia-160m-attention"]
    assert means["mean_entropy"] == pytest.approx(np.mean([whole[0], second[1]]), rel=1e-12)


# --- what follows from the fragments ------------------------------------------------------------


def test_filled_and_derived_are_disjoint() -> None:
    fragments = merge(_fragments(name, slug) for name, slug in CASES)
    numbers = measured(PUBLISHED, fragments)
    filled = set(numbers.cells) - numbers.unmeasured - numbers.kept
    assert not filled & set(evidence_of(numbers, Draws(**DRAWS), TABLES).rules)


@pytest.mark.parametrize("analysis", ["sequence_gains", "mlp_scaling", "unembedding"])
def test_everything_is_derived_from_the_fragments(analysis: str, tmp_path: Path) -> None:
    merged = merge(_fragments(name, slug) for name, slug in CASES)
    write_fragments(tmp_path / "merged.json", merged)
    tables = measured(PUBLISHED, read_fragments(tmp_path / "merged.json"))
    found, wanted = (analysed(analysis, source, **DRAWS) for source in (tables, PUBLISHED))
    assert set(found.derived) == set(wanted.derived)
