"""The full reproduction stops at once, in one sentence, where it cannot run."""

import pytest
import torch

from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.stages import preflight

ELSEWHERE = r"`dvc repro typeset@published` and `dvc repro typeset@mini` run here$"


@pytest.fixture
def gpu(monkeypatch):
    """A machine that says it has a CUDA device."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)


@pytest.fixture
def models(tmp_path, root):
    """The registry with the models of the papers, none of them in any cache."""
    path = tmp_path / "models.yaml"
    path.write_text((root / "models.yaml").read_text())
    return path


def run(models, data, tmp_path):
    return preflight.run(models, data, tmp_path / "environment.json")


def refused(models, data, tmp_path, message):
    with pytest.raises(LayerwiseError, match=message) as error:
        run(models, data, tmp_path)
    assert str(error.value).startswith("the full reproduction cannot run here: ")
    assert not (tmp_path / "environment.json").exists()


def test_without_a_gpu(models, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    refused(models, tmp_path, tmp_path, "need a CUDA device and none was found; " + ELSEWHERE)


def test_without_the_data(gpu, models, tmp_path):
    refused(models, tmp_path / "data", tmp_path, "layerwise fetch.*" + ELSEWHERE)


def test_without_the_hub(gpu, models, tmp_path, monkeypatch):
    monkeypatch.setattr(preflight.upstream, "verify_data", lambda folder: None)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    refused(models, tmp_path, tmp_path, "EleutherAI/pythia-410m is not in the local cache")


def test_with_everything(gpu, models, tmp_path, monkeypatch):
    monkeypatch.setattr(preflight.upstream, "verify_data", lambda folder: None)
    monkeypatch.setattr(preflight, "require_hub", lambda wanted: None)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    run(models, tmp_path, tmp_path)
    assert read_json(tmp_path / "environment.json")["torch"] == torch.__version__
