"""Studies of whole-sequence gains, modules and token matrices, against the models themselves.

The reference is written as the notebooks were: transformers' model, hooks on its modules, torch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import scipy.stats
import torch

from layerwise.analyses import replay
from layerwise.errors import LayerwiseError
from layerwise.experiments import Fragments, Subject, lookup
from layerwise.experiments import ffn as ffn_study
from layerwise.experiments import fourmodel as four_study
from layerwise.experiments import llama23 as llama23_study
from layerwise.experiments import mistral as mistral_study
from layerwise.experiments import perhead as perhead_study
from layerwise.experiments import scaling as scaling_study
from layerwise.experiments.matrices import attention_shape
from layerwise.experiments.streams import summary, without_first_token
from layerwise.experiments.table import measure_experiment
from layerwise.extraction import tracing
from layerwise.extraction.projections import Weights
from layerwise.inputs.measured import measured, merge, read_fragments, write_fragments
from layerwise.inputs.published import Published, read_published
from layerwise.measures import unembedding
from layerwise.measures.module_gain import attention_gains, module_gain, module_gains
from layerwise.measures.stream_norms import mean_token_norm, sequence_norms, token_norms
from layerwise.measures.traces import Trace
from layerwise.measures.unembedding import MatrixNorms, are_tied, matrix_norms
from tiny_checkpoints import twin_checkpoint, twinned_model

ROOT = Path(__file__).parents[1]
PROMPTS = json.loads(
    (ROOT / "code/layerwise/inputs/rehearsal/prompts.json").read_text(encoding="utf-8")
)
DRAWS = {"n_resamples": 50, "level": 0.95, "seed": 42}
SCALING = "paper3/Results/scaling_law_multi_pythia_results.json"
OPT = "paper3/Results/OPT_anomaly_20260106_013155.json"

# Each study's models, the family and depth of the twin that stands for each here.
PYTHIA = ("70m", "160m", "410m", "1b", "1p4b", "2p8b", "6p9b", "12b")
SUBJECTS: dict[str, dict[str, tuple[str, int]]] = {
    "ffn": {"pythia-1p4b": ("gpt_neox", 3), "pythia-6p9b": ("gpt_neox", 4)},
    "scaling": {f"pythia-{size}": ("gpt_neox", 2 + row % 3) for row, size in enumerate(PYTHIA)},
    "fourmodel": {
        "pythia-6p9b": ("gpt_neox", 4),
        "gemma-7b": ("gemma", 3),
        "apertus-8b": ("apertus", 30),  # deep enough for the block of Paper 2's inversion
        "llama-3p1-8b": ("llama", 3),
    },
    "mistral": {"mistral-7b": ("mistral", 3)},
    "llama_anom": {
        "llama-3p1-8b": ("llama", 3),
        "mistral-7b": ("mistral", 3),
        "gemma-2-9b": ("gemma2", 3),
    },
    "inputdep": {"llama-3p1-8b": ("llama", 3)},
    "rlhf": {"llama-3p1-8b": ("llama", 3), "llama-3p1-8b-instruct": ("llama", 4)},
    "llama23": {"llama-2-7b": ("llama", 4), "llama-3p1-8b": ("llama", 3)},
    "crossarch": {"gemma-2b": ("gemma", 3), "mistral-7b": ("mistral", 3)},
    "perhead": {"pythia-6p9b": ("gpt_neox", 4), "gpt-j-6b": ("gptj", 3)},
    "opt": {
        "opt-125m": ("opt", 3),
        "gpt2": ("gpt2", 3),
        "pythia-160m": ("gpt_neox", 3),
    },
}
CASES = [(study, slug) for study, models in SUBJECTS.items() for slug in models]


@cache
def _published() -> Published:
    return read_published(ROOT / "published")


@pytest.fixture
def published() -> Published:
    return _published()


def _subject(study: str, slug: str, trace: Any = None) -> Subject:
    family, n_layers = SUBJECTS[study][slug]
    checkpoint = twin_checkpoint(family, n_layers)
    return Subject(
        model=replace(twinned_model(family, n_layers), slug=slug),
        dtype="float32",
        trace=trace or partial(tracing.trace, checkpoint),
        weights=Weights.open(checkpoint.folder, "float32"),
        prompts=PROMPTS,
        published=_published(),
    )


@cache
def _fragments(study: str, slug: str) -> Fragments:
    return measure_experiment(study, _subject(study, slug))


def _deep(study: str, slug: str) -> Fragments:
    """The fragments, per-head layers repeated to the published depth, which the registry's have."""
    found = _fragments(study, slug)
    if study != "perhead":
        return found
    key = f"/models/{perhead_study.NAMES[slug]}"
    entry = found[perhead_study.FILE][key]
    depth = {"pythia-6p9b": 32, "gpt-j-6b": 28}[slug]
    deep = {**entry, "layers": entry["layers"][-1:] * depth}
    return {**found, perhead_study.FILE: {key: deep}}


@cache
def _model(study: str, slug: str) -> tuple[Any, Any]:
    checkpoint = twin_checkpoint(*SUBJECTS[study][slug])
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


def _prompt(place: tuple[str, str]) -> str:
    return PROMPTS[place[0]]["prompts"][place[1]]["text"]


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
def test_ffn_against_hooks(slug: str) -> None:
    texts = PROMPTS[ffn_study.SETS[slug]]["prompts"]
    document = _fragments("ffn", slug)[ffn_study.FILES[slug]][""]
    attention, mlp = _module_reference("ffn", slug, texts)
    _close(document["attention"]["gains"], attention)
    _close(document["mlp"]["gains"], mlp)
    _close(document["combined"]["gains"], np.multiply(attention, mlp))
    assert document["attention"]["L_star_min"] == int(np.argmin(attention))
    assert document["mlp"]["L_star_max"] == int(np.argmax(mlp))
    assert document["n_prompts"] == 8
    by_prompt = _fragments("ffn", slug)["beyond/ffn"][f"/{slug}"]["mlp_by_prompt"]
    _close(np.mean(by_prompt, axis=0), mlp)


@pytest.mark.parametrize("slug", ["pythia-70m", "pythia-12b"])
def test_scaling_against_hooks(slug: str) -> None:
    found = _fragments("scaling", slug)[SCALING]
    row = 0 if slug == "pythia-70m" else 7
    attention, mlp = _module_reference("scaling", slug, PROMPTS["mlp_scaling"]["prompts"])
    entry = found[f"/models/{row}"]
    _close(entry["attn_gains"], attention)
    _close(entry["mlp_gains"], mlp)
    assert entry["last_layer_mlp_gain"] == entry["mlp_gains"][-1]
    assert entry["attn_contracting_pct"] == 100 * np.mean(np.array(attention) < 1)
    model, _ = _model("scaling", slug)
    assert entry["n_params"] == sum(p.numel() for p in model.parameters())
    assert ("/hypothesis_test/hypothesized_alpha" in found) == (row == 0)


@pytest.mark.parametrize("slug", SUBJECTS["crossarch"])
def test_crossarch_against_hooks(slug: str) -> None:
    entry = _fragments("crossarch", slug)["beyond/crossarch"][f"/{slug}"]
    attention, mlp = _module_reference("crossarch", slug, PROMPTS["mlp_scaling"]["prompts"])
    _close(entry["attn_gains"], attention)
    _close(entry["mlp_gains"], mlp)
    combined = np.multiply(attention, mlp)
    _close(entry["statistics"]["last_combined_gain"], combined[-1])
    assert entry["statistics"]["combined_contracting_pct"] == 100 * np.mean(combined < 1)
    assert entry["universal_tests"]["last_layer_net_expands"] == (combined[-1] > 1)


def test_published_gains_give_the_published_words(published: Published) -> None:
    for slug, file in ffn_study.FILES.items():
        document = published.document(file)
        gains = [np.array(document[module]["gains"]) for module in ("attention", "mlp")]
        if slug == ffn_study.FUNNEL:
            assert ffn_study.funnel_test(*gains) == document["funnel_test"]
        else:
            assert ffn_study.hypothesis_test(*gains) == document["hypothesis_test"]


def test_a_funnel_is_confirmed_only_by_all_three() -> None:
    attention, mlp = np.array([0.5, 0.9, 0.1, 0.2]), np.array([0.5, 1.1, 1.2, 1.3])
    assert ffn_study.funnel_test(attention, mlp)["funnel_confirmed"]
    assert not ffn_study.funnel_test(attention + 0.1, mlp)["funnel_confirmed"]
    assert not ffn_study.funnel_test(attention, mlp + 0.5)["funnel_confirmed"]
    assert not ffn_study.funnel_test(attention, mlp[::-1])["funnel_confirmed"]


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
    assert scaling_study.count_parameters(weights) == wanted
    assert scaling_study.count_parameters(Weights.open(tmp_path)) == wanted


def test_module_gain_of_zeros_is_large_but_finite() -> None:
    zeros, ones = np.zeros((3, 4), np.float32), np.ones((3, 4), np.float32)
    assert module_gain(zeros, ones) == pytest.approx(2e10)
    assert module_gain(zeros, zeros) == 0
    assert module_gain(ones, -3 * ones) == pytest.approx(3)


def test_module_gains_iv() -> None:
    with pytest.raises(LayerwiseError, match="at least one prompt, found none"):
        module_gains([])
    bare = _subject("ffn", "pythia-1p4b").trace("A quiet street")
    with pytest.raises(LayerwiseError, match="trace with modules=True"):
        attention_gains(bare)


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
def test_fourmodel_against_hooks(slug: str) -> None:
    name = four_study.NAMES[slug]
    entry = _fragments("fourmodel", slug)[four_study.FILE][f"/results/{name}"]
    text = _prompt(lookup.CAPITAL)
    norms, _ = _sequence_reference("fourmodel", slug, text, autocast=True)
    _close(entry["norms"], norms)
    gains = np.array(norms[1:]) / norms[:-1]
    _close(entry["gains"], gains)
    _close(entry["cumulative_energy"], np.cumprod(gains), rtol=1e-4)
    assert entry["contracting_pct"] + entry["expanding_pct"] == 100
    assert entry["contracting_pct"] == 100 * np.mean(gains < 1)
    full, _ = _sequence_reference("fourmodel", slug, text)
    assert not np.allclose(full, norms, rtol=1e-5)  # autocast is seen
    if slug == "apertus-8b":
        assert entry["paper2_inversion_gain"] == entry["gains"][28]
    else:
        assert entry["paper2_inversion_layer"] is None


def test_typed_gains_are_the_measured_ones_with_two_decimals() -> None:
    place = "/hypothesis_1_titanium_projector/results/{}/last_gain"
    for slug, name in four_study.TYPED.items():
        found = _fragments("fourmodel", slug)
        entry = found[four_study.FILE][f"/results/{four_study.NAMES[slug]}"]
        assert found[four_study.HYPOTHESES] == {place.format(name): round(entry["last_gain"], 2)}
    found = _fragments("mistral", "mistral-7b")
    stream = found[mistral_study.FILE]["/residual_stream_analysis/mistral-7b"]
    gain = round(stream["last_gain"], 2)
    assert found[four_study.HYPOTHESES] == {place.format("mistral-7b"): gain}
    assert found[four_study.FILE] == {
        "/mistral_reference/last_layer_gain": gain,
        "/mistral_reference/initial_explosion": round(stream["max_gain"], 2),
    }


def test_mistral_against_torch() -> None:
    found = _fragments("mistral", "mistral-7b")[mistral_study.FILE]
    norms, logits = _sequence_reference("mistral", "mistral-7b", _prompt(lookup.CAPITAL))
    stream = found["/residual_stream_analysis/mistral-7b"]
    _close(stream["norms"], norms[1:])
    assert stream["n_layers"] == len(stream["gains"]) == 2  # three blocks
    assert stream["expansion_layers"] == [[i, g] for i, g in enumerate(stream["gains"]) if g > 1]
    output = found["/entropy_analysis/mistral-7b"]
    p = torch.softmax(logits, -1)
    entropy = float(-(p * torch.log(p + 1e-10)).sum())
    _close(output["entropy"], entropy)
    _close(output["effective_vocab"], math.exp(entropy))
    _close(output["top10_prob_mass"], float(p.topk(10).values.sum()))
    _close(output["logit_std"], float(logits.std()))
    _close(output["logit_range"], float(logits.max() - logits.min()))
    model, _ = _model("mistral", "mistral-7b")
    matrices = found["/unembedding_analysis/mistral-7b"]
    _matches(matrices["unembedding"], model.lm_head.weight.detach())
    _matches(matrices["embedding"], model.model.embed_tokens.weight.detach())
    assert matrices["tied_embeddings"] is False
    frobenius = [float(w.weight.detach().norm()) for w in (model.lm_head, model.model.embed_tokens)]
    _close(matrices["wu_we_ratio"], frobenius[0] / frobenius[1])


def _matches(entry: dict[str, Any], matrix: torch.Tensor) -> None:
    rows, d = matrix.norm(dim=1), matrix.shape[1]
    assert entry["shape"] == list(matrix.shape)
    _close(entry["frobenius_norm"], float(matrix.norm()))
    _close(entry["spectral_norm"], float(torch.linalg.svdvals(matrix)[0]))
    _close(entry["mean_row_norm"], float(rows.mean()))
    _close(entry["std_row_norm"], float(rows.std()))
    _close([entry["max_row_norm"], entry["min_row_norm"]], [float(rows.max()), float(rows.min())])
    _close([entry["mean_abs"], entry["std_abs"]], [float(f(matrix.abs())) for f in _MOMENTS])
    _close(entry["frobenius_normalized"], float(matrix.square().mean().sqrt()))
    _close(entry["spectral_normalized"], entry["spectral_norm"] / math.sqrt(d))


_MOMENTS = (torch.mean, torch.std)


def test_rlhf_is_the_four_model_measure() -> None:
    for slug, tuned in (("llama-3p1-8b", False), ("llama-3p1-8b-instruct", True)):
        entry = _fragments("rlhf", slug)["beyond/rlhf"][f"/{slug}"]
        norms, _ = _sequence_reference("rlhf", slug, _prompt(lookup.CAPITAL), autocast=True)
        _close(entry["norms"], norms)
        assert entry["rlhf"] is tuned
        assert entry["last_expands"] == (norms[-1] > norms[-2])


def test_inputdep_against_torch() -> None:
    found = _fragments("inputdep", "llama-3p1-8b")
    file = "paper3/Results/input_dependency_thermodynamics.json"
    prompts = PROMPTS["input_dependency"]["prompts"]
    assert list(found[file]) == [f"/results/{name}" for name in prompts]
    for name, prompt in prompts.items():
        entry = found[file][f"/results/{name}"]
        norms, logits = _sequence_reference("inputdep", "llama-3p1-8b", prompt["text"])
        _close(entry["gains"], np.array(norms[1:]) / norms[:-1])
        assert entry["last_gain"] == entry["gains"][-1]
        half = torch.softmax(logits, -1).half()
        _close(entry["entropy"], scipy.stats.entropy(half.numpy()), rtol=1e-3)
        _close([t["1"] for t in entry["top_tokens"]], half.topk(5).values.numpy(), rtol=1e-3)
        exact = scipy.stats.entropy(torch.softmax(logits.double(), -1).numpy())
        _close(found["beyond/inputdep"]["/llama-3p1-8b"][name]["entropy"], exact)


@pytest.mark.parametrize("slug", SUBJECTS["llama23"])
def test_llama23_against_hidden_states(slug: str) -> None:
    entry = _fragments("llama23", slug)[llama23_study.FILE][f"/models/{llama23_study.NAMES[slug]}"]
    out = _pass("llama23", slug, _prompt(lookup.PANGRAM), output_hidden_states=True)
    norms = [float(h[0].norm(dim=-1).mean()) for h in out.hidden_states]
    residual = entry["residual"]
    _close(residual["norms"], norms)
    gains = np.array(norms[1:]) / norms[:-1]
    _close([residual["initial_gain"], residual["last_gain"]], gains[[0, -1]])
    _close(residual["cumulative_energy"], norms[-1] / norms[0])
    assert residual["contracting_layers"] == int(np.sum(gains < 1))
    assert residual["expanding_layers"] + residual["contracting_layers"] == len(gains)
    model, _ = _model("llama23", slug)
    weight = model.lm_head.weight.detach()
    _close(entry["w_u"]["spectral_norm"], float(torch.linalg.svdvals(weight)[0]))
    assert entry["rope"]["rope_theta"] == 10000.0


@pytest.mark.parametrize("slug", SUBJECTS["llama_anom"])
def test_llama_anom_against_torch(slug: str) -> None:
    name = import_module("layerwise.experiments.llama_anom").NAMES[slug]
    (found,) = _fragments("llama_anom", slug).values()
    model, _ = _model("llama_anom", slug)
    weight = model.get_output_embeddings().weight.detach()
    place = f"/hypothesis_1_titanium_projector/results/{name}"
    spectral = float(torch.linalg.svdvals(weight)[0])
    _close(found[f"{place}/spectral_norm"], spectral)
    _close(found[f"{place}/frobenius_norm"], float(weight.norm()))
    _close(found[f"{place}/std_row_norm"], float(weight.norm(dim=1).std()))
    _close(found[f"{place}/spectral_per_sqrt_vocab"], spectral / math.sqrt(len(weight)))
    assert f"{place}/last_gain" not in found  # measured by other studies
    assert found[f"/hypothesis_2_rope/results/{name}/rope_theta"] == 10000.0


def test_published_norms_give_the_published_stream(published: Published) -> None:
    for model, entry in published.document(four_study.FILE)["results"].items():
        found = summary(np.array(entry["norms"]))
        for name in set(found) - {"norms", "gains", "cumulative_energy"}:
            assert found[name] == pytest.approx(entry[name], rel=1e-12), (model, name)
        _close(found["cumulative_energy"], entry["cumulative_energy"], rtol=1e-12)


def test_a_stream_without_a_norm_is_refused() -> None:
    with pytest.raises(LayerwiseError, match="all positive and finite"):
        summary(np.array([1.0, 0.0, 2.0]))


def test_first_token_is_left_out() -> None:
    trace = _subject("rlhf", "llama-3p1-8b").trace(_prompt(lookup.CAPITAL))
    rest = [float(np.linalg.norm(out[1:])) for out in (trace.embedding, *trace.block_outputs)]
    _close(without_first_token(trace), np.array(rest[1:]) / rest[:-1])
    one = np.ones((1, 4), np.float32)
    assert without_first_token(Trace("float32", np.array([1]), one, (one, one), one, one[0])) == []


def test_norms_of_a_stream() -> None:
    states = np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)
    assert token_norms(states).tolist() == [5.0, 0.0]
    assert mean_token_norm(states) == 2.5
    trace = Trace("float32", np.array([1, 2]), states, (states, 2 * states), states, states[0])
    assert sequence_norms(trace).tolist() == [5.0, 5.0]  # before the final norm, which doubled it


# --- heads --------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", SUBJECTS["perhead"])
def test_perhead_against_hooks(slug: str) -> None:
    texts, n_heads = PROMPTS["per_head"]["prompts"], 4
    found = _fragments("perhead", slug)
    entry = found[perhead_study.FILE][f"/models/{perhead_study.NAMES[slug]}"]
    blocks = twin_checkpoint(*SUBJECTS["perhead"][slug]).blocks
    attention = {i: getattr(b, "attention", None) or b.attn for i, b in enumerate(blocks)}
    chunks, before, after = [], [], []
    for text in texts:
        with (
            _seen(attention) as out,
            _seen(dict(enumerate(blocks)), inputs=True) as into,
            _seen(dict(enumerate(blocks))) as beyond,
        ):
            _pass("perhead", slug, text)
        n = range(len(blocks))
        chunks.append([out[i][-1].reshape(n_heads, -1).norm(dim=1).numpy() for i in n])
        before.append([float(into[i][-1].norm()) for i in n])
        after.append([float(beyond[i][-1].norm()) for i in n])
    ratios = np.mean(np.array(after) / np.array(before), axis=0)
    norms = np.mean(chunks, axis=0)
    for number, layer in enumerate(entry["layers"]):
        _close(layer["head_norms"], norms[number])
        _close(layer["residual_ratio"], ratios[number])
    growth = np.mean(np.array(after) - np.array(before), axis=0)
    np.testing.assert_allclose([x["residual_growth"] for x in entry["layers"]], growth, atol=1e-5)
    assert entry["last_layer_residual_ratio"] == entry["layers"][-1]["residual_ratio"]
    low = np.flatnonzero(norms[-1] < norms[-1].mean() - norms[-1].std())
    assert entry["beautiful_ones_last_layer"] == low.tolist()
    assert entry["rho"] == n_heads / entry["d_head"]


def test_own_contributions_of_heads_against_hooks() -> None:
    """GPT-J's attention has no biases: a head's part of W_O's input, through its columns."""
    found = _fragments("perhead", "gpt-j-6b")["beyond/perhead"]["/gpt-j-6b"]["layers"]
    blocks = twin_checkpoint(*SUBJECTS["perhead"]["gpt-j-6b"]).blocks
    modules = {i: block.attn.out_proj for i, block in enumerate(blocks)}
    norms: list[Any] = []
    for text in PROMPTS["per_head"]["prompts"]:
        with _seen(modules, inputs=True) as seen:
            _pass("perhead", "gpt-j-6b", text)
        parts = {i: seen[i][-1].reshape(4, -1) for i in modules}
        columns = {i: m.weight.detach().reshape(len(m.weight), 4, -1) for i, m in modules.items()}
        norms.append(
            [torch.einsum("hs,dhs->hd", parts[i], columns[i]).norm(dim=1).numpy() for i in modules]
        )
    _close([layer["head_norms"] for layer in found], np.mean(norms, axis=0))


def test_a_block_that_reads_zeros_has_a_finite_gain() -> None:
    zeros, ones = np.zeros((2, 4), np.float32), np.ones((2, 4), np.float32)
    trace = Trace("float32", np.array([0, 1]), zeros, (zeros, ones), ones, ones[0])
    before, after = perhead_study.stream_norms(trace, 0)
    assert (before, after) == (0.0, 2.0)
    assert math.isfinite(after / (before + perhead_study.OFFSET))


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

    found = attention_shape(_subject("opt", "pythia-160m", half_blind), texts)
    whole = attention_shape(subject, texts)["entropy_by_layer"]
    second = attention_shape(subject, texts[1:])["entropy_by_layer"]
    assert found["entropy_by_layer"][:2] == [whole[0], second[1]]
    assert math.isnan(found["entropy_by_layer"][2])
    assert found["sparsity_by_layer"][2] == 0  # NaN is not under the limit
    place = "/attention_analysis/EleutherAI~1pythia-160m"
    write_fragments(tmp_path / "found.json", {OPT: {place: found}})
    tables = measured(_published(), read_fragments(tmp_path / "found.json"))
    means = replay("spectral_norms", tables, **DRAWS).documents["pythia-160m"]["attention"]
    assert means["mean_entropy"] == pytest.approx(np.mean([whole[0], second[1]]), rel=1e-12)


# --- token matrices -----------------------------------------------------------------------------


def test_matrix_norms_do_not_depend_on_the_parts_read(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(1).standard_normal((50, 6)).astype(np.float32)
    whole = matrix_norms(matrix)
    monkeypatch.setattr(unembedding, "ROWS", 7)
    parts = matrix_norms(matrix)
    for name, value in vars(whole).items():
        assert getattr(parts, name) == pytest.approx(value, rel=1e-12), name
    assert are_tied(matrix, matrix + np.float32(9e-4))
    late = matrix.copy()
    late[49, 5] += 2e-3
    assert not are_tied(matrix, late)
    assert not are_tied(matrix, matrix[:, :5])


def test_matrix_norms_iv() -> None:
    with pytest.raises(LayerwiseError, match="at least two rows, found 1"):
        matrix_norms(np.ones((1, 3), np.float32))
    with pytest.raises(LayerwiseError, match="must be finite"):
        matrix_norms(np.array([[1.0], [np.nan]], np.float32))
    assert matrix_norms(np.zeros((3, 2), np.float32)).spectral == 0


def test_scaled_norms_against_published(published: Published) -> None:
    entry = published.document(mistral_study.FILE)["unembedding_analysis"]["mistral-7b"]
    tests = published.document(four_study.HYPOTHESES)["hypothesis_1_titanium_projector"]["results"]
    for found in (entry["unembedding"], entry["embedding"]):
        norms = _norms(found)
        assert norms.frobenius_per_entry == pytest.approx(found["frobenius_normalized"], rel=1e-12)
        assert norms.spectral_per_root_width == pytest.approx(
            found["spectral_normalized"], rel=1e-12
        )
    for found in tests.values():
        assert _norms(found).spectral_per_root_vocabulary == pytest.approx(
            found["spectral_per_sqrt_vocab"], rel=1e-12
        )


def _norms(found: dict[str, Any]) -> MatrixNorms:
    sizes = (*found["shape"], found["frobenius_norm"], found["spectral_norm"])
    return MatrixNorms(*sizes, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


# --- lookups, and what follows from the fragments -----------------------------------------------


def test_lookups_iv() -> None:
    subject = _subject("inputdep", "llama-3p1-8b")
    with pytest.raises(LayerwiseError, match="no set is called 'none'; there are anisotropy"):
        lookup.texts(subject, "none")
    with pytest.raises(LayerwiseError, match="'benchmark' must be a list of texts, found dict"):
        lookup.texts(subject, "benchmark")
    with pytest.raises(LayerwiseError, match="must name a text '6_Other'"):
        lookup.text(subject, ("input_dependency", "6_Other"))
    with pytest.raises(LayerwiseError, match="published for mistral-7b, not for llama-3p1-8b"):
        lookup.published_name(subject, mistral_study.NAMES)


def test_the_single_text_is_the_capital(published: Published) -> None:
    """Two notebooks saved Llama's gains for it: in half precision they are one text's gains."""
    four = published.document(four_study.FILE)["results"]["llama3.1-8b"]["gains"]
    inputs = published.document("paper3/Results/input_dependency_thermodynamics.json")["results"]
    off = {name: abs(entry["gains"][0] / four[0] - 1) for name, entry in inputs.items()}
    assert min(off, key=off.__getitem__) == lookup.CAPITAL[1]
    assert sorted(off.values())[0] < 1e-3 < 0.2 < sorted(off.values())[1]


@pytest.mark.parametrize(("study", "slug"), CASES)
def test_no_fragment_holds_a_text(study: str, slug: str) -> None:
    def leaves(node: Any) -> Iterator[Any]:
        if isinstance(node, dict | list):
            for entry in node.values() if isinstance(node, dict) else node:
                yield from leaves(entry)
        else:
            yield node

    kinds = {type(leaf) for leaf in leaves(_fragments(study, slug))}
    assert kinds <= {int, float, bool, type(None)}


@pytest.mark.parametrize("analysis", ["sequence_gains", "mlp_scaling", "unembedding"])
def test_replay_derives_everything_from_the_fragments(analysis: str, tmp_path: Path) -> None:
    merged = merge(_deep(study, slug) for study, slug in CASES)
    write_fragments(tmp_path / "merged.json", merged)
    tables = measured(_published(), read_fragments(tmp_path / "merged.json"))
    found, wanted = (replay(analysis, source, **DRAWS) for source in (tables, _published()))
    assert set(found.derived) == set(wanted.derived)
    if analysis == "sequence_gains":
        for slug, name in perhead_study.NAMES.items():
            entry = _fragments("perhead", slug)[perhead_study.FILE][f"/models/{name}"]
            last = found.documents["per_head"][name]["last_layer"]["residual_ratio"]
            assert last == entry["last_layer_residual_ratio"]


@pytest.mark.parametrize(("study", "slug"), CASES)
def test_one_model_alone_leaves_the_rest_unmeasured(study: str, slug: str) -> None:
    tables = measured(_published(), _deep(study, slug))
    for analysis in ("sequence_gains", "mlp_scaling", "unembedding", "spectral_norms"):
        replay(analysis, tables, **DRAWS)
