"""Models that are left out, studies that fail, and what assembling makes of both."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml

from layerwise.errors import LayerwiseError
from layerwise.experiments import Subject
from layerwise.experiments.table import EXPERIMENTS
from layerwise.files import read_json
from layerwise.inputs import left_out
from layerwise.inputs.measured import read_fragments
from layerwise.inputs.models import read_models
from layerwise.inputs.published import Published, read_published
from layerwise.steps import assemble, extract, measure, survey

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "models.yaml"
PARAMS: dict[str, Any] = {
    "extract": {"tokens_per_batch": 2048},
    "measure": {"layer_step": 4, "seed": 42, "bins": {}},
}
SWEEP = "paper3/Results/pythia_family_NO_FINAL_LN_20260105_174820.json"


@pytest.fixture(scope="module")
def published() -> Published:
    return read_published(ROOT / "published")


def _surveyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, published: Published, broken: str
) -> survey.Survey:
    """A survey of one model whose study `broken` refuses."""
    model = read_models(MODELS)["pythia-70m"].model_copy(
        update={"experiments": {"sweep": "float16", "scaling": "float32"}}
    )
    loaded: list[str] = []

    def load(dtype: str) -> Any:
        loaded.append(dtype)
        return SimpleNamespace(folder=tmp_path)

    def fragments(name: str, subject: Subject) -> dict[str, Any]:
        if name == broken:
            raise LayerwiseError(f"{name} overflows in {subject.dtype}; try bfloat16")
        return {SWEEP: {f"/models/{list(EXPERIMENTS).index(name)}": {"residual_gain_mean": 1.5}}}

    monkeypatch.setattr(survey, "measure_experiment", fragments)
    monkeypatch.setattr(survey.Weights, "open", lambda *args: None)
    found = survey.survey(model, load, {}, published)
    assert loaded == ["float16", "float32"]
    return found


def test_a_study_that_fails_leaves_the_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, published: Published
) -> None:
    found = _surveyed(tmp_path, monkeypatch, published, broken="scaling")
    assert found.failed == {"scaling": "scaling overflows in float32; try bfloat16"}
    assert list(found.fragments[SWEEP].values()) == [{"residual_gain_mean": 1.5}]


def test_a_model_that_is_skipped_is_marked_and_nothing_is_loaded(tmp_path: Path) -> None:
    registry = tmp_path / "models.yaml"
    document = yaml.safe_load(MODELS.read_text())
    document["models"]["gemma-2b"]["skip"] = "its licence was not accepted"
    registry.write_text(yaml.safe_dump(document))
    out = tmp_path / "surveys" / "gemma-2b.json"
    text = survey.run("gemma-2b", registry, tmp_path, tmp_path, out, None)
    assert "gemma-2b is skipped: its licence was not accepted; its claims" in text
    assert read_json(out)["left_out"] is True
    states, values = tmp_path / "states", tmp_path / "gemma-2b.npz"
    extract.run("gemma-2b", registry, tmp_path, tmp_path, states, PARAMS, None)
    assert left_out.states_left_out(states)
    measure.run(states, tmp_path, values, PARAMS["measure"])
    assert left_out.values_left_out(values)


def test_values_are_not_a_mark(tmp_path: Path) -> None:
    np.savez(tmp_path / "values.npz", left_out=np.array(True), nll=np.ones(2))
    assert not left_out.values_left_out(tmp_path / "values.npz")


def test_assembling_takes_what_is_there(tmp_path: Path, published: Published) -> None:
    surveys, values = tmp_path / "surveys", tmp_path / "values"
    model = read_models(MODELS)["pythia-70m"]
    found = survey.Survey({SWEEP: {"/models/0": {"residual_gain_mean": 1.5}}}, {"scaling": "no"})
    survey.write(model, "0" * 40, found, surveys / "pythia-70m.json")
    survey.write(model, None, None, surveys / "pythia-160m.json")
    left_out.mark_values(values / "gemma-2b.npz")
    pairs = ROOT / "code" / "layerwise" / "inputs" / "rehearsal" / "pairs.json"
    infer = {"n_resamples": 100, "level": 0.95, "seed": 42}
    out = tmp_path / "measured.json"
    assemble.run(surveys, values, pairs, ROOT / "published", MODELS, out, infer)
    merged = read_fragments(out)
    assert merged[SWEEP] == {"/models/0": {"residual_gain_mean": 1.5}}
    with pytest.raises(LayerwiseError, match="nothing measured here"):
        assemble.run(surveys, tmp_path / "none", pairs, ROOT / "published", MODELS, out, infer)
