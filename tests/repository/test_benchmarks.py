"""The benchmarks themselves run: at tiny shapes, with no claim about speed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from layerwise.models import needs
from layerwise.models.hidden_states import extract
from layerwise.models.load import load_model
from layerwise.models.registry import read_models
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from tiny_checkpoints import EXAMPLE, TEXTS, twin_checkpoint, twin_folder

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import extraction  # noqa: E402
import gpu  # noqa: E402
import memory  # noqa: E402
import whole  # noqa: E402


def test_gpu_at_a_tiny_shape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "gpu.json"
    arguments = ["gpu.py", "--device", "cpu", "--quick", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", arguments)
    assert gpu.main() == 0
    found = json.loads(out.read_text())
    assert found["environment"]["torch"] == torch.__version__
    assert found["texts"] == "synthetic"
    (shape,) = found["shapes"]
    assert shape["statements"] == 12
    assert shape["floor_seconds"] == max(shape["flop_seconds"], shape["weight_seconds"])
    assert shape["fraction_of_floor"] == shape["floor_seconds"] / shape["seconds"]
    assert min(shape[key] for key in ("seconds", "seconds_with_load", "ratio_20_passes")) > 0
    for dtype in gpu.HALF:
        layers = [row["layer"] for row in shape["noise"][dtype]["layers"]]
        assert layers == [0, 1, 2, 3, "before_norm"]


@pytest.mark.parametrize("slug", memory.SHAPES)
def test_memory_of_a_pass_at_true_width_is_within_the_estimate(slug: str) -> None:
    """Two blocks: weights counted by hand from the shapes, and what a batch takes beside them."""
    model = read_models(memory.MODELS)[slug]
    dtype, own = memory.SHAPES[slug]
    config = memory.config_of(model, own)
    config.num_hidden_layers = 2
    config.layer_types = None
    found = memory.measure(config, dtype)
    words = 2 * config.vocab_size * config.hidden_size
    blocks = (model.parameters * 1e9 - words) / model.shape.n_layers * 2
    assert found["weights"] == pytest.approx((words + blocks) * needs.BYTES[dtype], rel=1e-3)
    estimated = needs.bytes_of(0, config.hidden_size, 2, dtype)
    assert 0.2 * estimated < found["pass"] < estimated


def test_memory_of_a_pass_grows_with_the_blocks_as_estimated() -> None:
    """A deep model keeps pooled states of many layers: a model of 141 GB has them of 80."""
    dtype, own = memory.BEYOND["llama-3.1-70b"]
    found, estimated = [], []
    for blocks in (2, 12):
        config = transformers.AutoConfig.for_model(**{**own, "num_hidden_layers": blocks})
        found.append(memory.measure(config, dtype)["pass"])
        estimated.append(needs.bytes_of(0, own["hidden_size"], blocks, dtype))
    assert found[0] < estimated[0]
    assert np.diff(found) == pytest.approx(np.diff(estimated), rel=0.01)


def test_needed_flop_against_counting_by_hand() -> None:
    checkpoint = twin_checkpoint("gpt_neox")
    tokens = [len(ids) for ids in checkpoint.tokenizer(list(TEXTS)).input_ids]
    hidden, wide = checkpoint.hidden_size, checkpoint.model.config.intermediate_size
    matrices = 3 * (4 * hidden * hidden + 2 * hidden * wide)  # attention and MLP of three blocks
    expected = 2 * (matrices * sum(tokens) + 512 * hidden * (sum(tokens) - len(tokens)))
    assert extraction.needed_flop(checkpoint, list(TEXTS)) == expected


def test_plain_transformers_as_a_peer_agrees(tmp_path: Path) -> None:
    """The process of peers.py, asked twice, and a peer that does not exist is reported."""
    checkpoint = twin_checkpoint("gpt_neox")
    states = extract(checkpoint, TEXTS, (), tmp_path / "states")
    side = extraction.Peers(Path(sys.executable), checkpoint, list(TEXTS), tmp_path / "peers")
    side.seconds = {"transformers": [], "nobody": []}
    side.all_take_a_turn()
    side.all_take_a_turn()
    side.close()
    assert list(side.seconds) == ["transformers"]
    assert len(side.seconds["transformers"]) == 2
    found = np.load(tmp_path / "peers" / "transformers.npz")
    np.testing.assert_allclose(found["nll"], states.nll[side.order], atol=1e-5)
    ours = np.stack([states.pooled(layer)[side.order] for layer in (1, 2)])
    np.testing.assert_allclose(found["states"], ours, atol=5e-5)


def test_loops_compute_what_the_extraction_stores(tmp_path: Path) -> None:
    checkpoint = twin_checkpoint("gpt_neox")
    states = extract(checkpoint, TEXTS, (), tmp_path / "states")
    pooled = extraction.naive_pooled(checkpoint, TEXTS[4], 2)
    np.testing.assert_allclose(pooled, states.pooled(2)[4], atol=5e-5)
    assert extraction.naive_nll(checkpoint, TEXTS[4]) == pytest.approx(states.nll[4], abs=1e-5)
    many, few = extraction.loops(checkpoint, list(TEXTS[:4]), 1)
    assert many > 0
    assert few > 0
    assert checkpoint.model.config._attn_implementation == "eager"


def test_the_whole_is_told_part_by_part(capfd) -> None:
    """Each is timed once, in the process that runs it, and the estimate stands beside them."""
    texts = [f"--{name}={path}" for name, path in EXAMPLE.items()]
    command = [sys.executable, BENCHMARKS / "whole.py", twin_folder("gpt_neox"), *texts]
    subprocess.run(command, check=True)
    said = capfd.readouterr().out
    assert re.match(r"\d+ cores; estimated: time +about \d+ s: start", said)
    rows = dict(re.findall(r"^([a-z ,]+?) +(\d+\.\d\d) s .*%$", said, re.MULTILINE))
    assert list(rows) == [whole.START, *whole.PARTS, "rest", "other processes", "all"]
    parts = [float(seconds) for seconds in rows.values()]
    assert sum(parts[:-1]) == pytest.approx(parts[-1], abs=0.1)
    assert "times the passes on the clock" in said


def test_the_whole_has_a_model_and_texts_where_none_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its own process would write, written here: it would import torch for this alone."""
    monkeypatch.setattr(whole.subprocess, "run", lambda command, **_: exec(command[2]))
    model, pairs, prompts = map(Path, whole.stand_in(tmp_path, "tiny"))
    checkpoint = load_model(model, device="cpu")
    read = read_pairs(pairs)
    assert (len(read.categories), len(read.statements)) == (6, 2 * 230)
    states = extract(checkpoint, read.statements[:4], read_prompts(prompts), tmp_path / "states")
    assert states.pooled(3).shape == (4, extraction.SHAPES["tiny"][0])
