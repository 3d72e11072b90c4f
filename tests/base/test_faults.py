"""What can go wrong in a long run, done for real: kills, full and read-only disks, no memory."""

import errno
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch

import layerwise.models.hidden_states as module
from hostile import as_nobody
from layerwise.errors import LayerwiseError
from layerwise.home import partial_of
from layerwise.models import fitting
from layerwise.models.batches import Batch
from layerwise.models.hidden_states import extract
from layerwise.models.store import BEFORE_NORM, open_states
from tiny_checkpoints import TEXTS, built, contents, twin_checkpoint, twin_folder

PROMPTS = ("The river rises", "An owl")


@pytest.fixture
def checkpoint():
    return twin_checkpoint("gpt_neox")


def test_killed_before_every_change_of_the_file_system(tmp_path):
    """Creating, writing, merging, replacing an older extraction, tidying up."""
    done = subprocess.run(
        [
            sys.executable,
            Path(__file__).parents[1] / "faults_worker.py",
            twin_folder("gpt_neox", 1),
            tmp_path,
        ],
        env={**os.environ, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["wrong"] == []
    assert result["points"] > 30
    assert {
        "fsync",
        "open to write",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "array of a batch",
    } <= set(result["kinds"])


def test_a_disk_that_is_full_in_the_middle(checkpoint, tmp_path, monkeypatch):
    whole = extract(checkpoint, TEXTS, PROMPTS, tmp_path / "whole", tokens_per_batch=8)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    forward, seen = module.forward, []

    def limited(*arguments):
        seen.append(1)
        if len(seen) == 4:
            resource.setrlimit(resource.RLIMIT_FSIZE, (600, before[1]))
        return forward(*arguments)

    monkeypatch.setattr(module, "forward", limited)
    try:
        with pytest.raises(OSError, match="File too large"):
            extract(checkpoint, TEXTS, PROMPTS, tmp_path / "out", tokens_per_batch=8)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not (tmp_path / "out").exists()
    with pytest.raises(LayerwiseError, match="no finished extraction here"):
        open_states(partial_of(tmp_path / "out"))
    kept = sorted(file.name for file in partial_of(tmp_path / "out").iterdir())
    assert kept == ["fingerprint", *(f"statements_0000{number}.safetensors" for number in range(3))]
    n_all = len(list(whole.folder.glob("*.safetensors")))
    again = extract(checkpoint, TEXTS, PROMPTS, tmp_path / "out", tokens_per_batch=8)
    assert len(seen) == n_all + 1  # the batch that was lost is run again
    assert contents(again.folder) == contents(whole.folder)


def test_a_finished_extraction_in_a_read_only_folder_opens_and_no_other(checkpoint):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        extract(checkpoint, TEXTS, (), place / "out")
        place.chmod(0o555)
        for parent in (checkpoint.files.folder, *checkpoint.files.folder.parents[:2]):
            parent.chmod(0o755)  # its tokenizer.json is read again
        try:
            with as_nobody():
                assert len(extract(checkpoint, TEXTS, (), place / "out").nll) == len(TEXTS)
                with pytest.raises(OSError, match="Permission denied"):
                    extract(checkpoint, TEXTS[1:], (), place / "out")
            assert [path.name for path in place.iterdir()] == ["out"]
        finally:
            place.chmod(0o755)


@pytest.mark.parametrize("spoil", ["cut", "gone", "garbage"])
def test_batch_that_is_not_whole_is_not_opened(checkpoint, tmp_path, spoil):
    states = extract(checkpoint, TEXTS, PROMPTS, tmp_path / "out")
    file = states.folder / "statements_00000.safetensors"
    if spoil == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-1] if spoil == "cut" else b"text")
    with pytest.raises(LayerwiseError, match=r"whole batches, found .* missing or cut off; copy"):
        open_states(tmp_path / "out")


# Memory


def only_fits(monkeypatch, most, error):
    """The forward pass runs out of memory above `most` texts; the sizes that were tried."""
    forward, tried = module.forward, []

    def limited(checkpoint, tokens, see):
        tried.append(tuple(tokens.shape))
        if len(tokens) > most:
            raise error
        return forward(checkpoint, tokens, see)

    monkeypatch.setattr(module, "forward", limited)
    return tried


def test_out_of_memory_halves_the_batch(checkpoint, tmp_path, monkeypatch, capsys):
    texts = [f"{a} {b}" for a in TEXTS for b in ("now", "then")] + [TEXTS[0]] * 7
    whole = extract(checkpoint, texts, PROMPTS, tmp_path / "whole")
    assert whole.index["smaller_batches"] == {}
    tried = only_fits(monkeypatch, 2, MemoryError())
    small = extract(checkpoint, texts, PROMPTS, tmp_path / "small")
    for layer in (0, 2, 3, BEFORE_NORM):
        np.testing.assert_allclose(small.pooled(layer), whole.pooled(layer), atol=5e-6)
    np.testing.assert_allclose(small.nll, whole.nll, atol=3e-6)
    said = [line for line in capsys.readouterr().err.splitlines() if "out of memory" in line]
    assert len(said) == len(set(said)) == sum(n > 2 for n, _ in tried)  # once per size
    sizes = small.index["smaller_batches"]
    assert sizes
    assert set(sizes.values()) <= {1, 2}
    same = {key: small.index[key] for key in whole.index if key != "smaller_batches"}
    assert same == {key: whole.index[key] for key in same}


def test_sizes_are_halved_and_later_batches_keep_to_what_fitted(checkpoint, monkeypatch, capsys):
    room, ran = fitting.Room(), []

    def run(part):
        if len(part.members) > 3:
            raise MemoryError
        ran.append(len(part.members))

    batch = Batch("statements", tuple(range(13)), 10)
    assert fitting.run_in_parts(checkpoint, batch, room, run) == (2, [None] * 7)
    assert ran == [2] * 6 + [1]
    assert "with 13 statements of 10 tokens at a time: going on with 7;" in capsys.readouterr().err
    longer = Batch("statements", tuple(range(5)), 20)
    assert fitting.run_in_parts(checkpoint, longer, room, run)[0] == 1
    shorter = Batch("statements", tuple(range(3)), 5)
    assert fitting.run_in_parts(checkpoint, shorter, room, run)[0] == 3
    assert capsys.readouterr().err == ""


def test_one_statement_that_does_not_fit(checkpoint, tmp_path, monkeypatch):
    only_fits(monkeypatch, 0, torch.OutOfMemoryError("CUDA out of memory"))
    with pytest.raises(
        LayerwiseError,
        match=r"one of the statements of 2 tokens does not fit beside "
        r"the weights, [\d.]+ GiB are free on cpu; use a 16-bit dtype, device 'auto'",
    ):
        extract(checkpoint, TEXTS, (), tmp_path / "out")


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to alloc"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCrea"), True),
        (MemoryError(), True),
        (RuntimeError("shape mismatch"), False),
        (OSError(errno.ENOMEM, "no"), False),
    ],
)
def test_what_is_taken_for_too_little_memory(error, is_memory):
    assert fitting.is_out_of_memory(error) == is_memory


# States that are no states

SPREAD = {"a": 0, "b": 1}  # what device_map has returned on several GPUs is a layer of zeros


@pytest.mark.parametrize(
    ("dtype", "value", "devices", "message"),
    [
        ("float32", np.nan, {"": 0}, r"not finite for statements 0, 1, .*float32; check the w"),
        ("float16", np.inf, {"": 0}, "not finite .* in float16; try dtype bfloat16 or float32$"),
        ("float32", 0.0, SPREAD, "all zero .* the model is spread over several devices, try one"),
    ],
)
def test_states_that_are_none(tmp_path, dtype, value, devices, message):
    loaded = built(dtype=dtype)
    loaded.model.hf_device_map = devices
    loaded.blocks[1].register_forward_hook(lambda part, inputs, out: torch.full_like(out, value))
    with pytest.raises(LayerwiseError, match="hidden states at layer 2 are " + message):
        extract(loaded, TEXTS, (), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_every_text_that_overflows_is_named_where_it_first_does(tmp_path):
    loaded = built(dtype="float16")
    lengths = [len(ids) for ids in loaded.tokenizer(TEXTS).input_ids]
    spoilt = {1: min(lengths), 3: max(lengths)}  # length in tokens, by layer
    assert min(lengths) < max(lengths)

    def overflow(length):
        return lambda part, inputs, out: out * (np.inf if out.shape[1] == length else 1)

    loaded.blocks[0].register_forward_hook(overflow(spoilt[1]))
    loaded.blocks[2].register_forward_hook(overflow(spoilt[3]))
    with pytest.raises(LayerwiseError) as raised:
        extract(loaded, TEXTS, (), tmp_path / "out")
    at_layer = r"layer (\w+) are not finite for statements? ([\d, ]+) \("
    named = re.findall(at_layer, str(raised.value))
    last = "before_norm" if loaded.n_layers == 3 else "3"
    assert dict(named) == {
        layer: ", ".join(str(number) for number, n in enumerate(lengths) if n == length)
        for layer, length in (("1", spoilt[1]), (last, spoilt[3]))
    }
    assert not (tmp_path / "out").exists()
