"""Measured numbers over the published structure: nothing published may pass for measured."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from layerwise.engine.derivation import Derivation, evidence_of
from layerwise.engine.evidence import Missing
from layerwise.engine.judging import derive_all
from layerwise.engine.measured import (
    fate,
    measured,
    merge,
    read_fragments,
    sides,
    write_fragments,
)
from layerwise.engine.published import NotMeasured, Published, pointer, split_pointer
from layerwise.errors import LayerwiseError
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.paper3.rules.lab_heritage import OURS, gpt2_gain
from layerwise.papers.shared.result_files import CONSTANTS, HUNT, SWEEP
from layerwise.statistics.bootstrap import Draws

DRAWS = {"n_resamples": 150, "level": 0.95, "seed": 42}
# which claims survive a choice is asked of other numbers where they were measured
DERIVED = [analysis for analysis in TABLES if analysis != "sensitivity"]


def analysed(numbers: Published) -> dict[str, Derivation]:
    return derive_all(TABLES, evidence_of(numbers, Draws(**DRAWS), TABLES))


@pytest.fixture(scope="module")
def of_print(published: Published) -> dict[str, Derivation]:
    return analysed(published)


@pytest.fixture(scope="module")
def as_measured(published: Published) -> dict[str, Derivation]:
    """The analyses of the published numbers as if all of them had been measured."""
    files = {file for file, _ in published.cells}
    fragments = {file: {"": published.document(file)} for file in files}
    return analysed(measured(published, fragments))


@pytest.fixture(scope="module")
def of_nothing(nothing: Published) -> dict[str, Derivation]:
    return analysed(nothing)


@pytest.fixture(scope="module")
def nothing(published: Published) -> Published:
    return measured(published, {})


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


# what is said of upstream's files no measurement gives
OF_WEIGHTS = [analysis for analysis in DERIVED if analysis != "sources"]


@pytest.mark.parametrize("analysis", OF_WEIGHTS)
def test_published_numbers_as_measurements_give_the_published_statistics(
    analysis: str, of_print: dict[str, Derivation], as_measured: dict[str, Derivation]
) -> None:
    want, have = of_print[analysis], as_measured[analysis]
    assert set(have.derived) <= set(want.derived)
    for key in have.derived:
        assert _same(_at(have.documents, key), _at(want.documents, key))
    for key in set(want.derived) - set(have.derived):  # these count names
        leaves = {cell.rpartition("/")[2].lower() for cell in want.derived[key]}
        assert leaves <= CONSTANTS.names | set("0123456789")


def _at(documents: dict[str, Any], statistic: str) -> Any:
    document, _, key = statistic.partition(":")
    node = documents[document]
    for name in split_pointer(key):
        node = node[int(name)] if isinstance(node, list) else node[name]
    return node


@pytest.mark.parametrize("analysis", DERIVED)
def test_without_a_measurement_there_is_no_statistic(
    analysis: str, of_nothing: dict[str, Derivation]
) -> None:
    work = of_nothing[analysis]
    assert not work.derived
    assert _numbers(work.documents) == []


def _numbers(node: Any, name: str = "") -> list[Any]:
    """Leaves that are neither missing, nor what an entry is about, nor typed by a notebook."""
    if isinstance(node, dict):
        return [x for key, entry in node.items() for x in _numbers(entry, str(key))]
    if isinstance(node, list):
        return [x for entry in node for x in _numbers(entry, name)]
    known = CONSTANTS.has("", f"/{name}")
    return [] if node is None or known else [node]


def test_a_fragment_replaces_the_whole_of_its_place(published: Published) -> None:
    tables = measured(published, {SWEEP: {"/models/6": {"residual_gain_mean": 0.5}}})
    assert tables[SWEEP, "/models/6/residual_gain_mean"] == 0.5
    assert tables[SWEEP, "/models/6/model"] == published[SWEEP, "/models/6/model"]
    assert (SWEEP, "/models/6/residual_gain_std") not in tables.cells
    with pytest.raises(NotMeasured, match=r"residual_gain_mean.* was not measured"):
        tables[SWEEP, "/models/5/residual_gain_mean"]


def test_a_list_that_got_shorter_keeps_no_name_of_print(published: Published) -> None:
    """An entry keeps its name only where the entry itself was measured."""
    of_print = _names(published)
    assert {"/models/0/model", "/models/1/model"} <= of_print
    whole = measured(published, {SWEEP: {"": {"models": [{"rho": 0.5}]}}})
    assert [key for file, key in whole.cells if file == SWEEP and key.startswith("/models/")] == [
        "/models/0/rho"
    ]
    entry = measured(published, {SWEEP: {"/models/1": {"rho": 0.5}}})
    assert _names(entry) == of_print


def _names(tables: Published) -> set[str]:
    """The cells of one file that name what an entry is about."""
    return {key for file, key in tables.cells if file == SWEEP and CONSTANTS.is_name(key)}


@pytest.mark.parametrize(
    ("key", "places", "becomes"),
    [
        # a name and a setting; then numbers
        ("/models/1/model", (), "kept"),
        ("/models/1/known_gain", (), "kept"),
        ("/models/1/known_gain", ("/models/1",), "kept"),
        ("/models/1/model", ("/models",), "measured"),
        ("/models/1/known_gain", ("",), "measured"),
        ("/models/1/rho", (), "gone"),
        ("/models/1/rho", ("/models/1/rho",), "measured"),
        ("/models/1/rho", ("/models",), "measured"),
        # a place is whole names: 1 is not the beginning of 10, nor another entry
        ("/models/10/rho", ("/models/1", "/models/2"), "gone"),
        ("/models/1/model", ("/models/1", "/models"), "measured"),
    ],
)
def test_what_becomes_of_a_published_cell(key: str, places: tuple[str, ...], becomes: str) -> None:
    is_constant = CONSTANTS.has(SWEEP, key)
    assert fate(key, places, is_constant=is_constant) == becomes


def test_a_misspelt_key_is_no_missing_measurement(published: Published) -> None:
    """Of GPT-2's gain, which only a run of ours measures."""

    def gain_of(fragment: dict[str, Any]) -> float:
        tables = measured(published, {OURS: fragment})
        return gpt2_gain(evidence_of(tables, Draws(**DRAWS), {})[HUNT])

    assert gain_of({"/gpt2": {"gains": {"penultimate": [1.0, 2.0]}}}) == 1.5
    with pytest.raises(Missing, match="nothing stands at /gpt2/gains/penultimate; there are penu"):
        gain_of({"/gpt2": {"gains": {"penultimat": [1.0, 2.0]}}})
    for nothing in ({}, {"/gpt-j": {"gains": {"penultimate": [1.0, 2.0]}}}):
        with pytest.raises(NotMeasured, match="no run of the papers measured GPT-2"):
            gain_of(nothing)


def runs_of(*numbers: float) -> dict[str, Any]:
    """A document: one run in 16 bits and one in 32, of the first number, then its draws."""

    def document(number: float, names: list[str]) -> dict[str, Any]:
        runs = {name: {"fragments": {SWEEP: {f"/{name}": number}}} for name in names}
        return {"runs": runs, "absent": {}}

    drawn = [document(number, ["half"]) for number in numbers[1:]]
    return {**document(numbers[0], ["half", "single"]), "noise": drawn, "control": drawn}


def test_each_side_has_the_draw_of_its_number() -> None:
    """As many as every model has; what a replicate did not measure anew stands as it was."""
    by_side = sides({"one": runs_of(1.0, 1.1, 1.2, 1.3), "other": runs_of(2.0, 2.1, 2.2)})
    assert list(by_side) == ["", "noise/0", "noise/1", "control/0", "control/1"]
    for number, drawn in enumerate([(1.1, 2.1), (1.2, 2.2)]):
        for slug, measured_value, own in zip(("one", "other"), drawn, (1.0, 2.0), strict=True):
            noisy, random = (by_side[f"{kind}/{number}"][slug] for kind in ("noise", "control"))
            values = {
                name: run["fragments"][SWEEP][f"/{name}"] for name, run in noisy["runs"].items()
            }
            assert values == {"half": measured_value, "single": own}
            assert random["runs"]["half"]["fragments"][SWEEP]["/half"] == measured_value
            assert list(random["runs"]) == ["half"]


def test_two_fragments_of_one_place_are_refused() -> None:
    one = {SWEEP: {"/models/0": {"residual_gain_mean": 1.0}}}
    assert merge([one, {SWEEP: {"/models/1": {}}}])[SWEEP].keys() == {"/models/0", "/models/1"}
    with pytest.raises(LayerwiseError, match="measured twice; one extraction or exp"):
        merge([one, one])


def test_a_missing_number_survives_the_file(tmp_path: Path, published: Published) -> None:
    key = pointer("results", "a/b")
    write_fragments(tmp_path / "x.json", {SWEEP: {key: [1.0, math.nan]}})
    found = read_fragments(tmp_path / "x.json")
    assert math.isnan(found[SWEEP][key][1])
    tables = measured(published, found)
    assert math.isnan(tables[SWEEP, f"{key}/1"])
