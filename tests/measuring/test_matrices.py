"""Singular values that other processes compute while a model's texts are run."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_measure import CHOICES, DRAWS, STAND_INS

from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.measures.spectral import spectrum
from layerwise.measuring import registered_models
from layerwise.measuring.given_texts import Texts
from layerwise.measuring.registered_models import PassedThrough, pass_through
from layerwise.models.load import Checkpoint
from layerwise.papers.experiments.matrices import projections
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.papers.shared.names import MATRICES
from stand_ins import MODELS, checkpoint, subject
from tiny_checkpoints import PUBLISHED

SLUG = "pythia-160m"  # whose matrices the notebooks cut in another way than the model
MODEL = MODELS[SLUG].model_copy(update={"extractions": {}, "experiments": {"spectral": "float32"}})


def run(loaded: Checkpoint, scratch: Path) -> PassedThrough:
    prompts = STAND_INS / "prompts.json"
    texts = Texts(read_pairs(STAND_INS / "pairs.json"), read_prompts(prompts), read_json(prompts))
    given = (MODEL, lambda dtype: loaded, texts, PUBLISHED, scratch)
    return pass_through(*given, choices=CHOICES, draws=DRAWS)


def test_other_processes_give_the_bytes_of_this_one() -> None:
    weights = subject(SLUG).weights
    measured = projections(subject(SLUG), None)
    for name in MATRICES:
        legacy, correct = (
            [spectrum(weights.matrix(block, name, slicing)) for block in range(weights.n_layers)]
            for slicing in ("legacy", "correct")
        )
        for number in ("spectral_norm", "effective_rank", "frobenius_norm"):
            assert measured[f"{name}_{number}"] == [getattr(one, number) for one in legacy]
        if name in measured["beyond"]["correct"]:
            mean = float(np.mean([one.spectral_norm for one in correct]))
            assert measured["beyond"]["correct"][name] == mean
    assert measured["beyond"]["correct"]["W_V"] != measured["beyond"]["legacy"]["W_V"]


def test_matrices_of_no_file_are_read_before_the_model_is_gone(tmp_path: Path) -> None:
    """A draw of random weights is in memory alone, and the next one takes its place."""
    loaded = checkpoint(SLUG)
    drawn = replace(loaded, model=copy.deepcopy(loaded.model), files=None)
    of_files = run(loaded, tmp_path / "files").document()
    passed = run(drawn, tmp_path / "memory")
    with torch.no_grad():
        for weight in drawn.model.parameters():
            weight.zero_()
    in_memory = passed.document()
    assert of_files["absent"] == in_memory["absent"] == {}
    fragments = [document["runs"]["spectral"]["fragments"] for document in (of_files, in_memory)]
    assert fragments[0] == fragments[1]


def test_a_fault_of_matrices_is_that_runs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise LayerwiseError("no tensor of that name")

    monkeypatch.setattr(registered_models, "measure_experiment", fail)
    document = run(checkpoint(SLUG), tmp_path).document()
    assert document["absent"] == {"spectral": "no tensor of that name"}
    assert document["runs"] == {}
