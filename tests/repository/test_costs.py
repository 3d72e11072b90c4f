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
    """But for loading, where the doctor knows of no memory that holds files."""
    by_name = {part.name: part.seconds for part in costs.parts(models, 5, 5)}
    by_part = [
        needs.seconds_by_part(model, "cuda", replicates=5, control=model.n_draws(5))
        for model in models
    ]
    for name in needs.PARTS:
        expected = sum(seconds[name] for seconds in by_part)
        if name == "loading":
            assert by_name[name] < expected
        else:
            assert by_name[name] == pytest.approx(expected)
    assert by_name["starting a stage for each model"] == costs.STAGE * len(models)


def test_a_file_is_read_from_the_disk_once_where_memory_holds_it(costs, models):
    """In no dtype where it was written just now, in every one where memory is too small."""

    def loading(model, **where):
        return costs.seconds_of_loading(model, **where)

    for model in models:
        from_disk = loading(model, is_fetched=False, is_in_memory=False)
        read_once = loading(model, is_fetched=False, is_in_memory=True)
        written = loading(model, is_fetched=True, is_in_memory=True)
        assert from_disk == needs.seconds_by_part(model, "cuda")["loading"]
        assert written < read_once <= from_disk
        assert (read_once == from_disk) == (len(model.dtypes) == 1)
        assert loading(model, is_fetched=True, is_in_memory=False) == from_disk


def test_weights_are_waited_for_only_beyond_the_time_of_the_models_before(costs, models):
    """With two ahead the third follows the second; with one it begins with the second's stage."""
    some = models[:3]
    first, second, third = (
        costs.bytes_of_files(model) * (1 / costs.LINE + 1 / costs.HASHED) for model in some
    )
    measured = second / 2

    def waiting(ahead, of_first, of_second):
        return pytest.approx(costs.seconds_waiting(some, [of_first, of_second, 1.0], ahead))

    assert first + second + third == waiting(1, 0.0, 0.0) == waiting(2, 0.0, 0.0)
    assert first + second - measured + third == waiting(1, measured, 0.0)
    assert first == waiting(1, second, third) == waiting(2, second + third, 0.0)
    assert first + third == waiting(1, second + third, 0.0)


def test_a_filled_cache_saves_the_waiting_and_costs_reading(costs, models):
    empty, filled = (costs.parts(models, 5, 5, fills_cache=fills) for fills in (True, False))
    saved = {one.name for one, other in zip(empty, filled, strict=True) if one != other}
    assert saved == {"waiting for weights", "loading"}
    assert {part.name for part in empty} == costs.TERMS.keys() >= {*needs.PARTS}
