"""The full reproduction stops at once, in one sentence, where it cannot run."""

import pytest
import torch
import yaml

from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.steps import preflight

ELSEWHERE = r"`dvc repro typeset@published` and `dvc repro typeset@mini` run here$"


@pytest.fixture
def gpu(monkeypatch):
    """A machine that says it has a CUDA device."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)


@pytest.fixture
def models(tmp_path, root):
    """One model of the registry, at a commit, which is in no cache."""
    entry = yaml.safe_load((root / "models.yaml").read_text())["models"]["pythia-410m"]
    path = tmp_path / "models.yaml"
    path.write_text(yaml.safe_dump({"models": {"pythia-410m": entry}}))
    return path


def run(models, data, tmp_path):
    out = tmp_path / "environment.json"
    return preflight.run(models, data, out)


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
    refused(models, tmp_path, tmp_path, r"pythia-410m at [0-9a-f]{40} is not in the local cache")


def test_with_everything(gpu, models, tmp_path, monkeypatch):
    monkeypatch.setattr(preflight.upstream, "verify_data", lambda folder: None)
    monkeypatch.setattr(preflight, "require_hub", lambda wanted: None)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    run(models, tmp_path, tmp_path)
    assert read_json(tmp_path / "environment.json")["torch"] == torch.__version__


def test_models_that_are_skipped_are_not_asked_for(gpu, models, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(preflight.upstream, "verify_data", lambda folder: None)
    monkeypatch.setattr(preflight, "require_hub", asked.extend)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    run(models, tmp_path, tmp_path)
    assert [model.slug for model in asked] == ["pythia-410m"]
    asked.clear()
    entry = yaml.safe_load(models.read_text())["models"]["pythia-410m"] | {"skip": "too large"}
    models.write_text(yaml.safe_dump({"models": {"pythia-410m": entry}}))
    run(models, tmp_path, tmp_path)
    assert asked == []
