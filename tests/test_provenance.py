"""What is recorded beside a number names the very thing that measured it."""

from pathlib import Path

import pytest
import torch
import transformers

from layerwise.extraction import provenance
from layerwise.extraction.hidden_states import extract
from layerwise.extraction.provenance import describe, describe_environment
from layerwise.places.models import RANDOM
from tiny_checkpoints import TEXTS, built, twin_checkpoint


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
    assert found | {"attention": "eager"} == {key: index[key] for key in found}
    assert (index["tokens_per_batch"], index["smaller_batches"]) == (2048, {})
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
    kernels = describe(built(name, dtype))["attention"]
    assert kernels == {"states": states, "traces": traces, "maps": "eager"}


def test_a_gpu_is_named_with_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the record of what it measured; the environment has kinds of GPU, however many."""
    monkeypatch.setattr(provenance, "devices", lambda model: [torch.device("cuda:1")])
    monkeypatch.setattr(provenance, "smi", lambda: ("580.65.06", ["NVIDIA H100, 81559 MiB"]))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA H100")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)
    found = describe(twin_checkpoint("gpt_neox"))
    assert (found["device"], found["driver"]) == ("NVIDIA H100", "580.65.06")
    assert describe_environment() == {"gpus": ["NVIDIA H100"], **provenance.versions()}
