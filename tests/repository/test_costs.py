"""The table of costs: computed, and by the one model of cost."""

import importlib.util

import pytest

from layerwise.models import needs
from layerwise.models.registry import read_models


@pytest.fixture(scope="module")
def costs(root):
    spec = importlib.util.spec_from_file_location("costs", root / "docs" / "costs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def models(root):
    registry = read_models(root / "models.yaml")
    return [model for model in registry.values() if not model.skipped]


def test_the_page_holds_what_is_computed(root, costs):
    assert (root / "docs" / "costs.md").read_text(encoding="utf-8") == costs.page(root)


def test_the_parts_are_those_that_the_doctor_adds_up(costs, models):
    by_name = {part.name: part.seconds for part in costs.parts(models, 5, 5)}
    expected = sum(
        needs.seconds(model, "cuda", replicates=5, control=model.n_draws(5)) for model in models
    )
    assert sum(by_name[name] for name in needs.PARTS) == pytest.approx(expected)
    assert by_name["starting a stage for each model"] == costs.STAGE * len(models)


def test_weights_are_waited_for_only_beyond_the_time_of_the_model_before(costs, models):
    """The first model has none before it; of a small one behind a large one nothing is waited."""

    def waited(*given):
        return {part.name: part.seconds for part in costs.parts(given, 0, 0)}["waiting for weights"]

    by_size = sorted(models, key=lambda model: model.parameters)
    small, large = by_size[0], by_size[-1]
    assert waited(small) > 0
    assert waited(large, small) == waited(large)
    assert waited(small, large) < waited(small) + waited(large)


def test_a_filled_cache_saves_the_waiting_and_nothing_else(costs, models):
    empty, filled = (costs.parts(models, 5, 5, fills_cache=fills) for fills in (True, False))
    saved = {one.name for one, other in zip(empty, filled, strict=True) if one != other}
    assert saved == {"waiting for weights"}
    assert {part.name for part in empty} == costs.TERMS.keys() >= {*needs.PARTS}
