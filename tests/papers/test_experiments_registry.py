"""All experiments: whom they refuse, and that they fill the lowest level and nothing else."""

import re
from typing import Any

import pytest

from judged import DRAWS
from layerwise.engine.derivation import evidence_of
from layerwise.engine.evidence import Evidence
from layerwise.engine.experiment import Experiment, Subject
from layerwise.engine.measured import measured, merge
from layerwise.engine.published import Published
from layerwise.errors import LayerwiseError
from layerwise.models.registry import Model
from layerwise.papers.across.analyses import TABLES, analyse
from layerwise.papers.experiments.table import EXPERIMENTS, measure_experiment
from layerwise.papers.shared.result_files import CONSTANTS, SWEEP
from stand_ins import MODELS, found
from tiny_checkpoints import PROMPTS, PUBLISHED

OVER_PROMPTS = [
    name
    for name, experiments in EXPERIMENTS.items()
    if all(isinstance(experiment, Experiment) for experiment in experiments)
]


class Read(Exception):
    """Something of the model was looked at."""


class Guarded:
    """Stands for weights, and tells when they are used."""

    def __getattr__(self, name: str) -> Any:
        raise Read


def read(text: str, **_: bool) -> Any:
    raise Read


def measure(study: str, model: Model, published: Published) -> None:
    subject = Subject(model, read, Guarded(), PROMPTS, published)
    measure_experiment(study, subject)


@pytest.mark.parametrize("study", OVER_PROMPTS)
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


def test_a_number_without_a_place_refused(published: Published) -> None:
    misspelt = Experiment(SWEEP, "models", lambda *_: {"n_heads": 4, "all_layer_gain": [1.0]})
    subject = Subject(MODELS["pythia-70m"], read, Guarded(), PROMPTS, published)
    message = "must have a place in it, found none at /models/0/all_layer_gain; correct the name"
    with pytest.raises(LayerwiseError, match=message):
        misspelt.fragments("sweep", subject)


# --- the lowest level ---------------------------------------------------------------------------

# What no experiment measures: the packed bytes, and what rests on extractions of the pairs.
ELSEWHERE = {
    "critical_layer": "calibration:",
    "sheaf_trace": ("Mistral", "gemma-2b", "pythia-1b", "pythia-2.8b", "pythia-6.9b"),
    "spectral_norms": "study:/prediction",
    "anisotropy": "pythia-6p9b:",
}
OF_TRACES = (
    *("anisotropy", "critical_layer", "crowding", "depth_gain", "lab_heritage", "mlp_scaling"),
    *("sequence_gains", "sheaf_trace", "spectral_norms", "thermodynamic_benchmark", "twins"),
)
# Of this experiment the file has no conclusions; it holds a copy, as text, of what stands in the
# rows, and no claim is about the means of W_K and W_Q, or a deviation.
NUMBERS_ALONE = ("spectral",)
NO_NUMBERS = (
    *("summary", "models_tested", "timestamp"),
    *("W_K_mean_spectral", "W_Q_mean_spectral", "_std_spectral"),
)


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    """The published files with the numbers of twins in their places."""
    texts = {"prompts.json": {"/anisotropy/n_prompts": 3}}
    parts = [found(name, slug) for slug, model in MODELS.items() for name in model.experiments]
    return evidence_of(measured(PUBLISHED, merge([texts, *parts])), DRAWS, TABLES)


@pytest.mark.parametrize("analysis", OF_TRACES)
def test_every_statistic_of_the_experiments_is_measured(analysis: str, evidence: Evidence) -> None:
    """As of the pairs, of what is traced: what is lost is found here, not on a rented GPU."""
    wanted, there = (analyse(analysis, source) for source in (Evidence(PUBLISHED, DRAWS), evidence))
    known = [f"{key}/" for key in (*there.derived, *there.undefined)]
    elsewhere = ELSEWHERE.get(analysis, ())
    lost = [
        key for key in wanted.derived if not any(f"{key}/".startswith(start) for start in known)
    ]
    assert [key for key in lost if not key.startswith(elsewhere)] == []


def test_what_is_filled_and_what_is_derived_are_disjoint_and_cover(evidence: Evidence) -> None:
    cells = evidence.cells
    filled = set(cells.cells) - cells.unmeasured - cells.kept
    assert not filled & evidence.rules.keys()
    ours = {experiment.file for name in NUMBERS_ALONE for experiment in EXPERIMENTS[name]}
    missing = {
        (file, key)
        for file, key in cells.unmeasured
        if file in ours and (file, key) not in evidence.rules and not CONSTANTS.is_name(key)
        if not any(name in key for name in NO_NUMBERS)
    }
    assert not missing, sorted({key.rpartition("/")[2] for _, key in missing})
