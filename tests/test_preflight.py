"""What is measured stops at once, in one sentence, where it cannot be."""

import re

import pytest
import torch
import yaml

from layerwise.errors import LayerwiseError, TryAgainError
from layerwise.files import read_json
from layerwise.inputs.measured import read_measurements
from layerwise.steps import fetch, preflight

ELSEWHERE = r"`make reproduce` \(the published numbers\) and `make rehearse` .* run here$"
STAND_INS = "code/layerwise/inputs/rehearsal"


@pytest.fixture
def here(tmp_path, root, monkeypatch):
    """Where all is there: two models of the registry, one of which nobody has a commit of."""
    registry = yaml.safe_load((root / "models.yaml").read_text())["models"]
    models = {slug: registry[slug] for slug in ("pythia-410m", "bloom-1b1")}
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": models}))
    (tmp_path / "params.yaml").write_bytes((root / "params.yaml").read_bytes())
    (tmp_path / "data").mkdir()
    for name, source in (("dataset.json", "pairs.json"), ("prompts.json", "prompts.json")):
        (tmp_path / "data" / name).write_bytes((root / STAND_INS / source).read_bytes())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr("layerwise.extraction.load.free_bytes", lambda device: 40e9)
    monkeypatch.setattr(preflight.upstream, "verify_data", lambda folder: None)
    monkeypatch.setattr("layerwise.extraction.hub.look_up", lambda model: {})
    return tmp_path


def run(folder):
    return preflight.run(folder / "environment.json", folder / "measured" / "texts", folder)


def refused(folder, message):
    with pytest.raises(LayerwiseError, match=message + ".*" + ELSEWHERE) as error:
        run(folder)
    assert str(error.value).startswith("nothing can be measured here: ")
    assert "\n" not in str(error.value)
    assert not (folder / "environment.json").exists()


def test_with_everything(here, capfd):
    run(here)
    assert "1 of 2 can be measured on cuda: " in capfd.readouterr().err  # at once
    assert read_json(here / "environment.json")["torch"] == torch.__version__
    texts = read_measurements(here / "measured")["texts"]
    assert texts["runs"]["pairs"]["fragments"]["dataset.json"]


def test_without_a_gpu(here, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    refused(here, "need a CUDA device and none was found")
    params = here / "params.yaml"
    params.write_text(params.read_text().replace("device: cuda", "device: cpu"))
    run(here)


def test_without_the_hub(here, monkeypatch):
    def unreachable(model):
        raise TryAgainError("the hub cannot be reached; connect to the network")

    monkeypatch.setattr("layerwise.extraction.hub.look_up", unreachable)
    refused(here, "the hub cannot be reached")


def test_a_gate_stops_no_other_model(here, root, monkeypatch, capfd):
    def gated(model):
        if model.slug == "pythia-410m":
            raise LayerwiseError("it is gated: accept its licence")
        return {"model.safetensors": 1}

    monkeypatch.setattr("layerwise.extraction.hub.look_up", gated)
    refused(here, "0 of 2 can be measured on cuda: .* .it is gated: accept its licence")
    registry = yaml.safe_load((root / "models.yaml").read_text())["models"]
    models = {slug: registry[slug] for slug in ("pythia-410m", "gpt2")}
    (here / "models.yaml").write_text(yaml.safe_dump({"models": models}))
    run(here)
    said = capfd.readouterr().err
    assert "1 of 2 can be measured on cuda: " in said
    assert re.search(r"\npythia-410m +no .* it is gated: accept its licence\n", said)
    assert re.search(r"\ngpt2 +yes +1\.0 +0\.0 ", said)


def test_without_the_data(here, monkeypatch, tmp_path):
    """The first stage of all that is measured."""
    monkeypatch.setenv("LAYERWISE_MIRROR", str(tmp_path / "nowhere"))
    with pytest.raises(LayerwiseError, match="the mirror .* must be a folder.*" + ELSEWHERE):
        fetch.stage(tmp_path / "fetched", tmp_path / "stamp.json")
    assert not (tmp_path / "fetched").exists()
    assert not (tmp_path / "stamp.json").exists()
