"""What is measured stops at once, in one sentence, where it cannot be."""

from types import SimpleNamespace

import pytest
import torch
import yaml

from layerwise.engine.measured import read_measurements
from layerwise.errors import LayerwiseError, TryAgainError
from layerwise.files import read_json
from layerwise.run.steps import fetch, preflight

ELSEWHERE = r"`make reproduce` \(the published numbers\) and `make rehearse` .* run here$"
STAND_INS = "code/layerwise/models/rehearsal"


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
    monkeypatch.setattr("layerwise.models.devices.free_bytes", lambda device: 40e9)
    monkeypatch.setattr(preflight.upstream, "verify_data", lambda folder: None)
    nothing = SimpleNamespace(weights={})
    monkeypatch.setattr("layerwise.models.hub.look_up_registered", lambda model, texts: nothing)
    return tmp_path


def run(folder):
    return preflight.run(folder / "environment.json", folder / "measured" / "texts", folder)


def test_with_everything(here, capfd):
    run(here)
    assert "1 of 2 can be measured on cuda: " in capfd.readouterr().err  # at once
    assert read_json(here / "environment.json")["torch"] == torch.__version__
    texts = read_measurements(here / "measured")["texts"]
    assert texts["runs"]["pairs"]["fragments"]["dataset.json"]


def refusing(error):
    def look_up(model, texts):
        raise error

    return look_up


@pytest.mark.parametrize(
    ("place", "there", "message"),
    [
        ("torch.cuda.is_available", lambda: False, "need a CUDA device and none was found"),
        (
            "layerwise.models.hub.look_up_registered",
            refusing(TryAgainError("the hub cannot be reached; connect to the network")),
            "the hub cannot be reached",
        ),
        (
            "layerwise.models.hub.look_up_registered",
            refusing(LayerwiseError("it is gated: accept its licence")),
            "0 of 2 can be measured on cuda: .*: it is gated: accept its licence",
        ),
    ],
)
def test_without_a_gpu_the_hub_or_any_model_refused(here, monkeypatch, place, there, message):
    monkeypatch.setattr(place, there)
    with pytest.raises(LayerwiseError, match=message + ".*" + ELSEWHERE) as error:
        run(here)
    assert str(error.value).startswith("nothing can be measured here: ")
    assert "\n" not in str(error.value)
    assert not (here / "environment.json").exists()


def test_without_a_device_upstream_is_not_asked(monkeypatch, tmp_path):
    def require(device):
        raise LayerwiseError("no device; take cpu")

    monkeypatch.setattr("layerwise.models.devices.require_accelerator", require)
    monkeypatch.setattr(fetch, "run", lambda out: pytest.fail("upstream was asked"))
    with pytest.raises(LayerwiseError, match="no device; take cpu.*" + ELSEWHERE):
        fetch.stage(tmp_path / "fetched", tmp_path / "stamp.json")
    assert not (tmp_path / "stamp.json").exists()


def test_without_the_data_refused(monkeypatch, tmp_path):
    """The first stage of all that is measured."""
    monkeypatch.setattr("layerwise.models.devices.require_accelerator", lambda device: None)
    monkeypatch.setenv("LAYERWISE_MIRROR", str(tmp_path / "nowhere"))
    with pytest.raises(LayerwiseError, match="the mirror .* must be a folder.*" + ELSEWHERE):
        fetch.stage(tmp_path / "fetched", tmp_path / "stamp.json")
    assert not (tmp_path / "fetched").exists()
    assert not (tmp_path / "stamp.json").exists()
