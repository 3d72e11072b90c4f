"""What is recorded beside a number names the very thing that measured it."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from layerwise.models import provenance
from layerwise.models.checkpoint_tokenizer import digest_of_tokenizer
from layerwise.models.hidden_states import extract
from layerwise.models.load import load_model
from layerwise.models.passes import Passes
from layerwise.models.probe import probe
from layerwise.models.provenance import describe, describe_environment
from layerwise.models.registry import RANDOM
from tiny_checkpoints import TEXTS, built, twin_checkpoint, twin_folder


def test_describe_names_model_device_kernels_and_versions(tmp_path: Path) -> None:
    """So does the index of an extraction, beside its batches."""
    checkpoint = twin_checkpoint("gpt_neox")
    found = describe(checkpoint)
    assert found["model"] == checkpoint.name
    assert found["revision"].startswith("sha256:")
    assert (found["dtype"], found[RANDOM]) == ("float32", True)
    assert found["device"].startswith("cpu (")
    assert found["torch"] == torch.__version__
    assert found["transformers"] == transformers.__version__
    index = extract(checkpoint, TEXTS, (), tmp_path / "out").index
    passes = Passes("eager", probed=index["passes"]["probed"]).record
    known = found | {"attention": "eager", "passes": passes}
    assert known == {key: index[key] for key in found}
    assert (index["tokens_per_batch"], index["smaller_batches"]) == (2048, {})
    assert re.fullmatch("[0-9a-f]{64}", found["tokenizer_sha256"])
    assert found["arithmetic"] == {
        "float32": "ieee",
        "tf32": False,
        "reduced_sums": False,
        "sdpa": ["flash", "math"],
    }
    trained = built("gpt2")
    trained.model.lm_head.to("meta")
    del trained.model.config.random_weights
    assert RANDOM not in describe(trained)
    assert describe(trained)["device"].endswith("meta")


@pytest.mark.parametrize(
    ("name", "dtype", "states", "traces"),
    [
        ("gpt_neox", "float32", "eager", "sdpa"),
        ("gpt_neox", "float16", "sdpa", "sdpa"),
        ("gptj", "float16", "eager", "eager"),  # it has no fused kernel
    ],
)
def test_kernels_are_those_that_ran(name: str, dtype: str, states: str, traces: str) -> None:
    checkpoint = built(name, dtype)
    ids = {"statements": [np.arange(30, 49, dtype=np.int32)]}
    found = describe(replace(checkpoint, passes=probe(checkpoint, ids)))
    assert found["attention"] == {"states": states, "traces": traces, "maps": "eager"}


def test_a_gpu_is_named_with_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the record of what it measured; the environment has kinds of GPU, however many."""
    monkeypatch.setattr(provenance, "devices", lambda model: [torch.device("cuda:1")])
    monkeypatch.setattr(provenance, "driver", lambda: "580.65.06")
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA H100")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)
    found = describe(twin_checkpoint("gpt_neox"))
    assert (found["device"], found["driver"]) == ("NVIDIA H100", "580.65.06")
    assert describe_environment() == {"gpus": ["NVIDIA H100"], **provenance.versions()}


@pytest.mark.parametrize(
    "said",
    [
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build",
    ],
)
def test_the_driver_is_known_where_nvidia_smi_fails(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And without the kernel's file it is what nvidia-smi says."""
    monkeypatch.setattr(provenance, "KERNEL_MODULE", tmp_path / "version")
    monkeypatch.setattr(provenance, "smi", lambda: ("535.1", ()))
    assert provenance.driver() == "535.1"
    monkeypatch.setattr(provenance, "smi", lambda: ("", ()))
    assert provenance.driver() == ""
    (tmp_path / "version").write_text(f"{said}\nGCC version:  gcc version 12.2.0\n")
    assert provenance.driver() == "550.54.15"


def test_a_tokenizer_is_known_by_its_files_and_by_nothing_else(tmp_path: Path) -> None:
    one, two = (Path(shutil.copytree(twin_folder("opt"), tmp_path / name)) for name in "ab")
    (two / "config.json").unlink()
    (two / "README.md").write_text("more")
    assert digest_of_tokenizer(one) == digest_of_tokenizer(two)
    assert load_model(one, device="cpu").tokenizer_sha256 == digest_of_tokenizer(one)
    (two / "tokenizer.json").write_text("{}")
    assert digest_of_tokenizer(one) != digest_of_tokenizer(two)


def test_the_commit_is_that_of_the_code_that_ran(tmp_path: Path) -> None:
    """Of a clone, of an unpacked archive, and of neither."""
    ask = provenance.commit_of_code.__wrapped__
    assert ask(tmp_path) is None
    record = tmp_path / "PROVENANCE.json"
    for text, commit in (('{"name": "layerwise", "commit": "abc"}', "abc"), ("[", None)):
        record.write_text(text)
        assert ask(tmp_path) == commit
    for name in ("code/a.py", "dvc.lock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    assert subprocess.run([*git, "init", "-q"], check=True)
    assert ask(tmp_path) is None  # nothing is committed
    for command in (["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True).stdout
    (tmp_path / "dvc.lock").write_text("2")  # as a run does
    assert ask(tmp_path) == head.strip()
    (tmp_path / "code" / "a.py").write_text("2")
    assert ask(tmp_path) == f"{head.strip()} changed"
