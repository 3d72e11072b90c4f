"""The studies of the last gains against plain hooks on the blocks, on small random networks."""

import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch

from judged import analysed
from layerwise.analyses import weight_survival
from layerwise.analyses.evidence import Draws, Evidence
from layerwise.errors import LayerwiseError
from layerwise.experiments import Subject
from layerwise.experiments.table import EXPERIMENTS, measure_experiment
from layerwise.extraction.load import Checkpoint
from layerwise.extraction.tracing import trace
from layerwise.inputs.measured import measured
from layerwise.inputs.models import Model, Shape
from layerwise.inputs.published import Published
from layerwise.inputs.result_files import HUNT, SWEEP
from tiny_checkpoints import built

ROOT = Path(__file__).resolve().parent.parent
DRAWS: Any = {"n_resamples": 10, "level": 0.95, "seed": 0}
CATEGORIES = ("Cliche", "Factual", "Nonsense", "Novel", "Syntactic")
PLAIN = {
    name: {"prompts": [f"{name} {'word ' * n}{n}" for n in range(1, 4)]}
    for name in ("gain_sweep", "rho_hunt", "clean_gain")
}
BY_CATEGORY = {
    name: {"prompts": {c: [f"{c} is {'very ' * n}short" for n in range(5)] for c in CATEGORIES}}
    for name in ("benchmark", "twin", "gpt2_layernorm", "gptj_parallel")
}
PROMPTS: dict[str, Any] = {**PLAIN, **BY_CATEGORY}


def subject(checkpoint: Checkpoint, slug: str, published: Published, **prompts: Any) -> Subject:
    shape = Shape(n_layers=3, hidden_size=16, n_heads=4, kv_heads=4, head_size=4, adds_bos=False)
    family = checkpoint.family
    model = Model(
        slug=slug,
        display=slug,
        lab="Lab",
        family=family,
        parameters=0.1,
        hub=f"org/{slug}",
        revision="unresolved",
        shape=shape,
        experiments={},
    )
    return Subject(
        model=model,
        trace=partial(trace, checkpoint),
        weights=SimpleNamespace(n_heads=4, hidden_size=16),
        prompts={**PROMPTS, **prompts},
        published=published,
    )


def below(found: dict[str, Any], row: str) -> dict[str, Any]:
    start = f"{row}/"
    return {key.removeprefix(start): v for key, v in found.items() if key.startswith(start)}


def outputs(checkpoint: Checkpoint, text: str) -> tuple[Any, list[torch.Tensor]]:
    """As a notebook runs a text: the model's output, and every block's by a hook."""
    seen: list[torch.Tensor] = []
    handles = [
        block.register_forward_hook(
            lambda module, args, out: seen.append(out[0] if isinstance(out, tuple) else out)
        )
        for block in checkpoint.blocks
    ]
    if checkpoint.model._supports_sdpa:
        checkpoint.model.config._attn_implementation = "sdpa"
    tokens = torch.tensor([checkpoint.tokenizer(text).input_ids])
    with torch.no_grad():
        out = checkpoint.model(tokens, output_hidden_states=True)
    checkpoint.model.config._attn_implementation = "eager"
    for handle in handles:
        handle.remove()
    return out, [output[0, -1] for output in seen]


def ratios(checkpoint: Checkpoint, text: str) -> list[float]:
    hidden = outputs(checkpoint, text)[0].hidden_states
    norms = [states[0, -1].float().norm().item() for states in hidden]
    return [norms[i + 1] / (norms[i] + 1e-10) for i in range(len(norms) - 1)]


@pytest.mark.parametrize(
    ("study", "name", "slug", "row"),
    [
        ("sweep", "gpt_neox", "pythia-1p4b", "/models/4"),
        ("hunt", "opt-350m", "opt-350m", "/tested_results/4"),
        ("hunt", "falcon", "falcon-7b", "/tested_results/0"),
        ("hunt", "bloom", "bloom-1b1", "/tested_results/11"),
        ("clean", "gptj", "gpt-j-6b", "/results/gpt-j-6b"),
    ],
)
def test_gains_with_and_without_the_final_norm(
    study: str, name: str, slug: str, row: str, published: Published
) -> None:
    checkpoint = built(name)
    found = measure_experiment(study, subject(checkpoint, slug, published))
    (experiment,) = EXPERIMENTS[study]
    texts = PROMPTS[experiment.prompts]["prompts"]  # type: ignore[index]
    want = np.array([ratios(checkpoint, text) for text in texts])
    entry = below(found[experiment.file], row)  # type: ignore[index]
    near = partial(pytest.approx, rel=1e-5)
    assert entry.pop("all_layer_gains") == near(want.mean(axis=0).tolist())
    if study == "sweep":
        assert entry.pop("residual_gain_all") == near(want[:, -2].tolist())
    assert entry == {"n_heads": 4, "d_model": 16}  # what follows from these is left to rules
    readings = found[f"beyond/{study}"][f"/{slug}"]["gains"]
    assert readings["penultimate"] == near(want[:, -2].tolist())
    assert readings["final_norm"] == near(want[:, -1].tolist())
    blocks = [[v.norm().item() for v in outputs(checkpoint, text)[1]] for text in texts]
    assert readings["last_block"] == near([norms[-1] / norms[-2] for norms in blocks])


def test_a_model_without_a_place_is_measured_for_us_alone(published: Published) -> None:
    found = measure_experiment("hunt", subject(built("gpt2"), "gpt2", published))
    assert list(found) == ["beyond/hunt"]
    words = analysed("lab_heritage", measured(published, found), **DRAWS).documents["hunt"]
    mean = np.mean(found["beyond/hunt"]["/gpt2"]["gains"]["penultimate"])
    assert words["figure3"] == {"gpt2": "DAMPEN" if mean < 1 else "EXPAND"}


@pytest.mark.parametrize(
    ("study", "name", "slug", "dtype", "model"),
    [
        ("bench", "gpt_neox", "pythia-6p9b", "float16", "Pythia-6.9B"),
        ("bench", "gemma", "gemma-7b", "float16", "Gemma-7B"),
        ("twin", "mistral", "mistral-7b-instruct", "bfloat16", "Mistral-7B-Instruct"),
        ("gpt2_ln", "gpt2", "gpt2-large", "float32", "GPT2-Large"),
        ("gptj", "gptj", "gpt-j-6b", "bfloat16", "GPT-J-6B"),
    ],
)
def test_a_row_per_prompt(
    study: str, name: str, slug: str, dtype: str, model: str, published: Published
) -> None:
    checkpoint = built(name, dtype)
    (rows,) = EXPERIMENTS[study]
    measurements = measure_experiment(study, subject(checkpoint, slug, published))
    found, table = measurements[rows.file], published.document(rows.file)
    about = [row for row, entry in enumerate(table) if entry["Model"] == model]
    assert len(about) == 25
    assert list(dict.fromkeys(key.split("/")[1] for key in found)) == [str(row) for row in about]
    counts = dict.fromkeys(CATEGORIES, 0)
    for row in about:
        category = table[row]["Category"]
        text = PROMPTS[rows.prompts]["prompts"][category][counts[category]]
        counts[category] += 1
        cells = below(found, f"/{row}")
        out, blocks = outputs(checkpoint, text)
        norms = [state.norm().item() for state in blocks]  # in the model's dtype
        assert cells["Last_Gain"] == pytest.approx(norms[-1] / norms[-2], rel=1e-6)
        assert cells["Entropy"] == pytest.approx(_entropy(study, out.logits[0, -1]), rel=1e-5)
        assert cells.get("Complexity") == table[row].get("Complexity")
        if study == "bench":  # the shortest decimals
            assert cells["Entropy"] == float(str(np.float32(cells["Entropy"])))
    readings = measurements[f"beyond/{study}"][f"/{slug}"]["gains"]
    assert readings["last_block_rounded"] == [found[f"/{row}/Last_Gain"] for row in about]
    json.dumps(measurements, allow_nan=False)


def _entropy(study: str, logits: torch.Tensor) -> float:
    if study == "bench":
        return float(scipy.stats.entropy(torch.softmax(logits.float(), dim=-1).half().numpy()))
    p = np.clip(torch.softmax(logits.float(), dim=-1).numpy().astype(np.float64), 1e-10, 1.0)
    return float(scipy.stats.entropy(p / p.sum()))


def test_prompts_that_do_not_fit_the_rows(published: Published) -> None:
    short = {"benchmark": {"prompts": {"Factual": ["a b"]}}}
    given = subject(built("gpt_neox", "float16"), "pythia-6p9b", published, **short)
    with pytest.raises(LayerwiseError, match=r"about pythia-6.9b ask for the prompts .*'Factual'"):
        measure_experiment("bench", given)


def test_the_definition_of_the_gain_is_a_choice(published: Published) -> None:
    """Behind the final norm this model damps, and by the others it expands, as published."""
    readings = {name: [1.2, 1.1] for name in ("penultimate", "last_block", "sequence", "token")}
    readings |= {"final_norm": [1.3, 0.5], "total_amplification": [0.1, 0.1]}
    fragments = {"beyond/sweep": {"/pythia-70m": {"gains": readings}}}
    evidence = Evidence(measured(published, fragments), Draws(**DRAWS))
    (row,) = weight_survival.rows(evidence)["pythia-70m"]
    assert (row["claim"], row["choice"], row["outcome"]) == ("damping", "gain_definition", "lost")
    assert (row["published"]["value"], row["other"]["value"]) == (4, 3)
    assert row["other"]["label"] == "sweep final_norm: 1.15 to 0.90"


def all_expanding(published: Published) -> Published:
    """The sweep and the hunt of models that all expand, with few heads."""
    fragments: dict[str, Any] = {SWEEP: {}, HUNT: {}}
    for file, group in ((SWEEP, "models"), (HUNT, "tested_results")):
        for row in range(len(published.document(file)[group])):
            entry = {
                "n_layers": 3 + row,
                "n_heads": 1,
                "d_model": 64,
                "all_layer_gains": [2.0, 1.5, 3.0],
            }
            more = {"residual_gain_all": [1.4, 1.6 + row / 100]} if file == SWEEP else {}
            fragments[file][f"/{group}/{row}"] = {**entry, **more}
    return measured(published, fragments)


def test_statistics_without_both_classes(published: Published) -> None:
    tables = all_expanding(published)
    hunted = analysed("lab_heritage", tables, **DRAWS).documents["hunt"]
    assert hunted["fisher"]["hunt"] == hunted["fisher"]["pooled"] == "1.000"
    assert "chi_square_rounded" not in hunted
    work = analysed("crowding", tables, **DRAWS)
    family = work.documents["family"]
    assert "no limit separates" in work.undefined["family:/separating_interval"]
    assert "at least one model" in work.undefined["family:/analysis/high_rho_dampen_rate"]
    assert family["analysis"]["low_rho_expand_rate"] == 1
    assert work.documents["pooled"]["n_models"] == 23
    laws = analysed("laws", tables, **DRAWS).documents["laws"]
    assert laws["below"]["first_two"] is False
