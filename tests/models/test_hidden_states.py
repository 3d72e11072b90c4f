import os
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors
import torch

import layerwise.models.hidden_states as module
from layerwise import analyze
from layerwise.errors import LayerwiseError
from layerwise.models import forward as passing
from layerwise.models.forward import forward, mean_token_nll
from layerwise.models.hidden_states import extract
from layerwise.models.load import Checkpoint, attention_kernel, load_model
from layerwise.models.passes import Passes
from layerwise.models.replicates import Replicates
from layerwise.models.store import BEFORE_NORM, POOLINGS, HiddenStates
from tiny_checkpoints import (
    EVERY_KIND,
    EXAMPLE,
    TEXTS,
    TWO_PROCESSES,
    built,
    contents,
    twin_checkpoint,
    twin_folder,
)

PROMPTS = ("Go", "The river rises", "An owl sat on the wall", "The river falls")


@pytest.fixture
def checkpoint() -> Checkpoint:
    return twin_checkpoint("gpt_neox")


def one_by_one(checkpoint: Checkpoint, text: str) -> tuple[dict[int | str, torch.Tensor], float]:
    """All hidden states (token, hidden) and the model's own loss, without our hooks."""
    ids = torch.tensor([checkpoint.tokenizer(text).input_ids])
    last = []
    handle = checkpoint.blocks[-1].register_forward_hook(lambda m, i, out: last.append(out))
    kernel = "eager" if checkpoint.dtype == "float32" else checkpoint.kernel
    with torch.no_grad(), attention_kernel(checkpoint.model, kernel):
        out = checkpoint.model(input_ids=ids, labels=ids, output_hidden_states=True)
    handle.remove()
    states = {layer: hidden[0] for layer, hidden in enumerate(out.hidden_states)}
    states[BEFORE_NORM] = (last[0] if torch.is_tensor(last[0]) else last[0][0])[0]
    return states, float(out.loss)


def assert_like_one_by_one(checkpoint: Checkpoint, found: HiddenStates, atol: float) -> None:
    start = 0
    for number, text in enumerate(TEXTS):
        states, loss = one_by_one(checkpoint, text)
        assert found.nll[number] == pytest.approx(loss, abs=1e-6)
        for layer, hidden in states.items():
            pooled = {
                "mean": hidden[1:].mean(dim=0),
                "mean_all": hidden.mean(dim=0),
                "last": hidden[-1],
                "first": hidden[0],
            }
            for name in POOLINGS:
                expected = pooled[name].float().numpy()
                np.testing.assert_allclose(
                    found.pooled(layer, name)[number], expected, atol=atol, err_msg=f"{layer}"
                )
    for prompt in PROMPTS:
        states, _ = one_by_one(checkpoint, prompt + " and on")
        n_tokens = len(checkpoint.tokenizer(prompt).input_ids)
        states, _ = one_by_one(checkpoint, prompt) if n_tokens > 1 else (states, 0.0)
        for layer, hidden in states.items():
            rows = found.tokens(layer)[start : start + n_tokens]
            np.testing.assert_allclose(rows, hidden[:n_tokens].float().numpy(), atol=atol)
        start += n_tokens
    assert start == len(found.tokens(0))


@pytest.mark.parametrize("family", EVERY_KIND)
def test_every_family_against_naive(tmp_path: Path, family: str) -> None:
    """Against one text at a time and the model's own outputs; OPT-350M's last layer is narrower."""
    checkpoint = twin_checkpoint(family)
    states = extract(checkpoint, TEXTS, PROMPTS, tmp_path / "out")
    assert_like_one_by_one(checkpoint, states, atol=2e-5)
    assert states.index["adds_bos"] == checkpoint.declaration.adds_bos
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    if family == "opt-350m":
        assert states.pooled(3).shape == (len(TEXTS), 8)
    else:
        assert not np.allclose(states.pooled(3), states.pooled(BEFORE_NORM))


@pytest.mark.parametrize(("dtype", "stored"), [("float16", "float16"), ("bfloat16", "float32")])
def test_half_precision_pools_in_the_models_dtype(tmp_path: Path, dtype: str, stored: str) -> None:
    """numpy has no bfloat16, float32 holds it exactly."""
    checkpoint = built(dtype=dtype)
    states = extract(checkpoint, TEXTS, (), tmp_path / "out", tokens_per_batch=1)
    assert states.index["attention"] == "sdpa"  # eager scores of 16 bits can overflow
    with attention_kernel(checkpoint.model, "sdpa"):
        hidden, loss = one_by_one(checkpoint, TEXTS[1])
    expected = hidden[2][1:].mean(dim=0)
    assert expected.dtype == getattr(torch, dtype)
    np.testing.assert_array_equal(states.pooled(2)[1], expected.float().numpy())
    assert states.nll[1] == loss
    with safetensors.safe_open(next(states.folder.glob("statements_*")), "np") as batch:
        assert batch.get_tensor("mean/2").dtype == stored
    assert not list(states.folder.glob("prompts_*"))


def test_extract_batch(checkpoint: Checkpoint, tmp_path: Path) -> None:
    """Neither the size of a batch nor the order of statements changes the answer."""
    large = extract(checkpoint, TEXTS, PROMPTS, tmp_path / "large")
    small = extract(checkpoint, TEXTS, PROMPTS, tmp_path / "small", tokens_per_batch=1)
    back = extract(checkpoint, TEXTS[::-1], PROMPTS[::-1], tmp_path / "back")
    for layer in (0, 2, 3, BEFORE_NORM):
        np.testing.assert_allclose(large.pooled(layer), small.pooled(layer), atol=5e-6)
        np.testing.assert_allclose(large.pooled(layer), back.pooled(layer)[::-1], atol=5e-6)
        np.testing.assert_allclose(large.tokens(layer), small.tokens(layer), atol=5e-6)
    np.testing.assert_allclose(large.nll, back.nll[::-1], atol=3e-6)


def test_finished_extraction_is_returned_at_once(
    checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = contents(extract(checkpoint, TEXTS, PROMPTS, tmp_path / "out").folder)
    again = extract(checkpoint, TEXTS[:-1], PROMPTS, tmp_path / "out")
    assert len(again.nll) == len(TEXTS) - 1  # other statements: done anew
    extract(checkpoint, TEXTS, PROMPTS, tmp_path / "out")
    other = extract(checkpoint, TEXTS, PROMPTS, tmp_path / "other", tokens_per_batch=3)
    assert (other.folder / "fingerprint").read_bytes() != first["fingerprint"]
    monkeypatch.setattr(module, "forward", None)
    assert contents(extract(checkpoint, TEXTS, PROMPTS, tmp_path / "out").folder) == first


def test_every_replicate_is_an_extraction_of_its_own(tmp_path: Path) -> None:
    """In one folder none takes up the states of another, nor those without noise."""
    loaded = load_model(twin_folder("llama"), "float16", "cpu")
    checkpoint = replace(loaded, passes=Passes("sdpa"))
    replicates, nll = Replicates(checkpoint), []
    for seed in (None, 0, 1):
        watched = nullcontext(checkpoint) if seed is None else replicates.disturbed(seed)
        with watched as one:
            nll.append(extract(one, TEXTS, PROMPTS, tmp_path / "out").nll.tolist())
    assert len({*map(tuple, nll)}) == len(nll)


SCRIPT = """
import os
import sys
from pathlib import Path
from layerwise.run.cli import main
from layerwise.models.hidden_states import extract
from layerwise.models.load import load_model
from layerwise.reader.page import figures
from layerwise.reader import of_checkpoint
from tiny_checkpoints import TEXTS
of_checkpoint.N_RESAMPLES, figures.OF_ONE = 200, ("layers",)  # as `quick` does
checkpoint, out = load_model(Path(sys.argv[1]), device="cpu"), Path(sys.argv[2])
prompts = ("The river rises", "An owl")
extract(checkpoint, TEXTS * 2, prompts, out / "two", tokens_per_batch=8)
extract(checkpoint, TEXTS * 2, prompts, out / "two", tokens_per_batch=8)  # found finished
assert main(["analyze", *sys.argv[3:], f"--out={out / 'analyzed'}"]) == 0
(out / "file").touch()
try:
    extract(checkpoint, TEXTS, (), out / "file" / "states")
except OSError as error:  # in every process, not a wait for the one that failed
    # in one write: both processes share the pipe
    os.write(1, f"refused: {os.environ['WORLD_SIZE']} {error}\\n".encode())
"""


@pytest.mark.usefixtures("quick")
def test_two_processes_as_one(tmp_path: Path) -> None:
    """Two processes on gloo: an extraction, and the whole of `analyze` from the command line.

    They share the batches; the first alone writes and speaks. Both refuse what one of them cannot.
    """
    checkpoint = built()
    one = extract(
        checkpoint, TEXTS * 2, ("The river rises", "An owl"), tmp_path / "one", tokens_per_batch=8
    )
    (tmp_path / "run.py").write_text(SCRIPT)
    path = os.pathsep.join((str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")))
    given = {"model": twin_folder("gpt_neox", 5), **EXAMPLE}
    alone = analyze(**given, out=tmp_path / "alone").folder
    said = [f"--{name}={place}" for name, place in given.items()]
    done = subprocess.run(
        [
            sys.executable,
            *TWO_PROCESSES,
            tmp_path / "run.py",
            twin_folder("gpt_neox"),
            tmp_path,
            *said,
        ],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("refused: 2 ") == 2
    assert done.stdout.count("File exists") == 2
    assert contents(tmp_path / "two") == contents(one.folder)
    assert not (tmp_path / "two.partial").exists()
    assert done.stdout.count("gains.json") == 1
    assert alone is not None
    assert contents(tmp_path / "analyzed") == contents(alone)


def test_extract_refused(checkpoint: Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(
        LayerwiseError, match=r"statement 1 \('G'\): statements need at least 2 tok"
    ):
        extract(checkpoint, [TEXTS[0], "G"], (), tmp_path / "out")
    with pytest.raises(LayerwiseError, match=r"prompt 0 \(''\): prompts need at least 1 tokens"):
        extract(checkpoint, TEXTS, [""], tmp_path / "out")
    with pytest.raises(LayerwiseError, match="takes at most 256 tokens, this text has"):
        extract(checkpoint, ["owl " * 300], (), tmp_path / "out")
    for texts, limit in (((), 8), (TEXTS, 0)):
        with pytest.raises(LayerwiseError, match="at least one statement and one token per batch"):
            extract(checkpoint, texts, (), tmp_path / "out", tokens_per_batch=limit)
    assert list(tmp_path.iterdir()) == []  # nothing ran, nothing was written


def test_head_and_tokenizer_that_do_not_fit(tmp_path: Path) -> None:
    loaded = built()
    with torch.no_grad():
        loaded.head.weight[3, 0] = float("nan")
    with pytest.raises(LayerwiseError, match="token NLLs are not finite for statement 0"):
        extract(loaded, TEXTS[:1], (), tmp_path / "out")
    loaded.model.set_input_embeddings(torch.nn.Embedding(2, loaded.hidden_size))
    with pytest.raises(LayerwiseError, match="embeds and predicts ids below 2"):
        extract(loaded, TEXTS[:1], (), tmp_path / "other")


def test_no_tensor_of_all_logits(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """The NLL is the same whatever the number of rows whose logits exist at once."""
    rows: list[int] = []
    checkpoint = replace(checkpoint, passes=Passes("eager"))
    ids = torch.arange(35).reshape(7, 5)
    with torch.inference_mode():
        hidden = forward(checkpoint, ids, lambda layer, states: None)
        whole = mean_token_nll(checkpoint, hidden, ids)
        monkeypatch.setattr(passing, "HEAD_ROWS", 8)
        handle = checkpoint.head.register_forward_hook(
            lambda *of: rows.append(of[2][..., 0].numel())
        )
        torch.testing.assert_close(mean_token_nll(checkpoint, hidden, ids), whole)
        handle.remove()
    assert rows == [8, 8, 8, 4]


def test_hooks_are_taken_off_after_an_error(checkpoint: Checkpoint) -> None:
    def fail(layer: object, states: torch.Tensor) -> None:
        raise KeyError(layer)

    def hooks() -> list[int]:
        return [len(b._forward_hooks) + len(b._forward_pre_hooks) for b in checkpoint.blocks]

    before = hooks()
    with torch.inference_mode(), pytest.raises(KeyError):
        forward(checkpoint, torch.ones(1, 3, dtype=torch.long), fail)
    assert hooks() == before


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_gpu_agrees_with_cpu(checkpoint: Checkpoint, tmp_path: Path) -> None:
    path = twin_folder("gpt_neox")
    cpu = extract(checkpoint, TEXTS, PROMPTS, tmp_path / "cpu")
    for device in ("cuda:0", "auto"):
        gpu = extract(load_model(path, device=device), TEXTS, PROMPTS, tmp_path / device)
        for layer in (0, 2, 3, BEFORE_NORM):
            np.testing.assert_allclose(gpu.pooled(layer), cpu.pooled(layer), atol=1e-3)
        np.testing.assert_allclose(gpu.nll, cpu.nll, atol=1e-3)
