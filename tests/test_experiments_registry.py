"""A model that `models.yaml` gives a study in error is refused before anything is measured."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from layerwise.errors import LayerwiseError
from layerwise.experiments import Experiment, Subject
from layerwise.experiments.table import EXPERIMENTS, measure_experiment
from layerwise.inputs.models import Model, read_models
from layerwise.inputs.published import Published
from layerwise.inputs.result_files import CONTROL, EXTENDED, SWEEP
from layerwise.ledger.claims import Claim, read_ledger
from tiny_checkpoints import PROMPTS

ROOT = Path(__file__).parents[1]
MODELS = read_models(ROOT / "models.yaml")


class Read(Exception):
    """Something of the model was looked at."""


class Guarded:
    """Stands for weights, and tells when they are used."""

    def __getattr__(self, name: str) -> Any:
        raise Read


def read(text: str, **_: bool) -> Any:
    raise Read


@pytest.fixture(scope="module")
def claims(published: Published) -> list[Claim]:
    return read_ledger(ROOT / "claims", published)


def measure(study: str, model: Model, published: Published) -> None:
    subject = Subject(model, read, Guarded(), PROMPTS, published)
    measure_experiment(study, subject)


@pytest.mark.parametrize("study", EXPERIMENTS)
def test_models_of_the_registry_are_measured_and_all_others_refused(
    study: str, published: Published
) -> None:
    ours = [slug for slug, model in MODELS.items() if study in model.experiments]
    for model in MODELS.values():
        if model.slug in ours:
            with pytest.raises(Read):
                measure(study, model, published)
            continue
        with pytest.raises(LayerwiseError) as error:
            measure(study, model, published)
        assert re.search(
            r"one entry of '[\w/]*' must be about|was published for|ask for the prompts {}, by",
            str(error.value),
        )
        assert re.search(
            rf"take .* out of .*\b{model.slug}'s|the model's experiments", str(error.value)
        )


def test_a_number_without_a_place_iv(published: Published) -> None:
    misspelt = Experiment(SWEEP, "models", lambda *_: {"n_heads": 4, "all_layer_gain": [1.0]})
    subject = Subject(MODELS["pythia-70m"], read, Guarded(), PROMPTS, published)
    message = "must have a place in it, found none at /models/0/all_layer_gain; correct the name"
    with pytest.raises(LayerwiseError, match=message):
        misspelt.fragments("sweep", subject)


# --- what cannot be measured --------------------------------------------------------------------


def test_the_ledger_says_why_packed_bytes_are_not_measured(claims: list[Claim]) -> None:
    of_bytes = [claim for claim in claims if claim.source_file == EXTENDED]
    assert len(of_bytes) == 10
    assert all("packed bytes of 4-bit weights" in (claim.unmeasured or "") for claim in of_bytes)


def test_the_ledger_says_why_the_neutral_control_is_not_measured(claims: list[Claim]) -> None:
    control = [claim for claim in claims if claim.source_file == CONTROL]
    assert len(control) == 8
    assert all("no file or code" in (claim.unmeasured or "") for claim in control)
