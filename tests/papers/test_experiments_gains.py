"""The studies of the last gains against plain hooks on the blocks, on small random networks."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch

from judged import analysed
from layerwise.engine.measured import measured
from layerwise.engine.published import Published
from layerwise.errors import LayerwiseError
from layerwise.papers.experiments.table import EXPERIMENTS, measure_experiment
from stand_ins import blocks_of, found, passed, subject
from tiny_checkpoints import PROMPTS

DRAWS: Any = {"n_resamples": 10, "level": 0.95, "seed": 0}


def below(cells: dict[str, Any], row: str) -> dict[str, Any]:
    start = f"{row}/"
    return {key.removeprefix(start): v for key, v in cells.items() if key.startswith(start)}


def ratios(slug: str, text: str) -> list[float]:
    hidden = passed(slug, "float32", text).hidden_states
    norms = [states[0, -1].float().norm().item() for states in hidden]
    return [norms[i + 1] / (norms[i] + 1e-10) for i in range(len(norms) - 1)]


@pytest.mark.parametrize(
    ("study", "slug", "row"),
    [
        ("sweep", "pythia-1p4b", "/models/4"),
        ("hunt", "opt-350m", "/tested_results/4"),
        ("hunt", "falcon-7b", "/tested_results/0"),
        ("hunt", "bloom-1b1", "/tested_results/11"),
        ("clean", "gpt-j-6b", "/results/gpt-j-6b"),
    ],
)
def test_gains_with_and_without_the_final_norm(study: str, slug: str, row: str) -> None:
    (experiment,) = EXPERIMENTS[study]
    texts = PROMPTS[experiment.prompts]["prompts"]  # type: ignore[index]
    want = np.array([ratios(slug, text) for text in texts])
    entry = below(found(study, slug)[experiment.file], row)  # type: ignore[index]
    near = partial(pytest.approx, rel=1e-5)
    assert entry.pop("all_layer_gains") == near(want.mean(axis=0).tolist())
    if study == "sweep":
        assert entry.pop("residual_gain_all") == near(want[:, -2].tolist())
    assert entry == {"n_heads": 4, "d_model": 16}  # what follows from these is left to rules
    readings = found(study, slug)[f"beyond/{study}"][f"/{slug}"]["gains"]
    assert readings["penultimate"] == near(want[:, -2].tolist())
    assert readings["final_norm"] == near(want[:, -1].tolist())
    blocks = [[v[-1].norm().item() for v in blocks_of(slug, "float32", text)[0]] for text in texts]
    assert readings["last_block"] == near([norms[-1] / norms[-2] for norms in blocks])


def test_a_model_without_a_place_is_measured_for_us_alone(published: Published) -> None:
    parts = found("hunt", "gpt2")
    assert list(parts) == ["beyond/hunt"]
    words = analysed("lab_heritage", measured(published, parts), **DRAWS).documents["hunt"]
    mean = np.mean(parts["beyond/hunt"]["/gpt2"]["gains"]["penultimate"])
    assert words["figure3"] == {"gpt2": "DAMPEN" if mean < 1 else "EXPAND"}


@pytest.mark.parametrize(
    ("study", "slug", "dtype", "model"),
    [
        ("bench", "pythia-6p9b", "float16", "Pythia-6.9B"),
        ("bench", "gemma-7b", "float16", "Gemma-7B"),
        ("twin", "mistral-7b-instruct", "bfloat16", "Mistral-7B-Instruct"),
        ("gpt2_ln", "gpt2-large", "float32", "GPT2-Large"),
    ],
)
def test_a_row_per_prompt(
    study: str, slug: str, dtype: str, model: str, published: Published
) -> None:
    (rows,) = EXPERIMENTS[study]
    measurements = found(study, slug, dtype)
    filled, table = measurements[rows.file], published.document(rows.file)
    about = [row for row, entry in enumerate(table) if entry["Model"] == model]
    assert len(about) == 25
    assert list(dict.fromkeys(key.split("/")[1] for key in filled)) == [str(row) for row in about]
    counts: dict[str, int] = dict.fromkeys(PROMPTS[rows.prompts]["prompts"], 0)
    for row in about:
        category = table[row]["Category"]
        text = PROMPTS[rows.prompts]["prompts"][category][counts[category]]
        counts[category] += 1
        cells = below(filled, f"/{row}")
        blocks, logits = blocks_of(slug, dtype, text)
        norms = [states[-1].norm().item() for states in blocks]  # in the model's dtype
        assert cells["Last_Gain"] == pytest.approx(norms[-1] / norms[-2], rel=1e-6)
        assert cells["Entropy"] == pytest.approx(_entropy(study, logits), rel=1e-5)
        assert cells.get("Complexity") == table[row].get("Complexity")
        if study == "bench":  # the shortest decimals
            assert cells["Entropy"] == float(str(np.float32(cells["Entropy"])))
    readings = measurements[f"beyond/{study}"][f"/{slug}"]["gains"]
    assert readings["last_block_rounded"] == [filled[f"/{row}/Last_Gain"] for row in about]
    json.dumps(measurements, allow_nan=False)


def _entropy(study: str, logits: torch.Tensor) -> float:
    if study == "bench":
        return float(scipy.stats.entropy(torch.softmax(logits.float(), dim=-1).half().numpy()))
    p = np.clip(torch.softmax(logits.float(), dim=-1).numpy().astype(np.float64), 1e-10, 1.0)
    return float(scipy.stats.entropy(p / p.sum()))


def test_prompts_that_do_not_fit_the_rows() -> None:
    short = {"benchmark": {"prompts": {"Factual": ["a b"]}}}
    given = replace(subject("pythia-6p9b"), prompts=short)
    with pytest.raises(LayerwiseError, match=r"about pythia-6.9b ask for the prompts .*'Factual'"):
        measure_experiment("bench", given)
