"""The column of small trained models: every number is a result file's, and none is a verdict."""

import json
from pathlib import Path
from typing import Any

import pytest

from layerwise.engine.published import DECIDES
from layerwise.engine.question import DrawnNumbers
from layerwise.papers.across.together import PAPERS
from layerwise.papers.shared.names import Choice
from layerwise.present.small_models import (
    FOLDER,
    SmallAnswer,
    SmallModels,
    read_small_models,
    strip_row,
)
from layerwise.statistics.noise import FEWEST_DRAWS
from made_answers import answer as made_answer


@pytest.fixture(scope="module")
def small(root: Path) -> SmallModels:
    return read_small_models(root / FOLDER, PAPERS.questions)


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """The answers of a model, as its result file has them."""
    rows: list[dict[str, Any]] = json.loads((folder / "sensitivity.json").read_text())["rows"]
    return rows


def test_every_answer_is_the_result_files_own(root: Path, small: SmallModels) -> None:
    assert len(small.models) == 2
    for model in small.models:
        folder = root / FOLDER / model.name
        rows = read_rows(folder)
        asked = {row["question"]: row for row in rows if row["reading"] == DECIDES}
        control = json.loads((folder / "control.json").read_text())["answers"]
        assert set(asked) == set(model.answers) <= set(PAPERS.questions)
        for name, answer in model.answers.items():
            assert (answer.value, answer.word) == (asked[name]["value"], asked[name]["word"])
            assert list(answer.drawn.numbers) == control[name]["drawn"]
        validation = json.loads((folder / "validation.json").read_text())
        r = validation["_global_stats"]["ua_output_correlation"]
        assert model.answers["category_inversion"].value == r
        ua = {name: part["asymmetry"] for name, part in validation.items() if "asymmetry" in part}
        others = [value for name, value in ua.items() if name != "ground_truth_numeric"]
        apart = ua["ground_truth_numeric"] - sum(others) / len(others)
        assert len(others) == 5
        assert model.answers["numeric"].value == pytest.approx(apart, rel=1e-12)


def test_the_interval_that_decides_is_shown_and_drawn(small: SmallModels) -> None:
    """Of a claim between two bounds it is narrower than that of 95%."""
    asked = made_answer("yes", 0.001, (-0.02, 0.022), deciding=(-0.013, 0.015), level=0.9)
    shown = SmallAnswer(asked, DrawnNumbers(0.001, (0.0,)))
    assert shown.ends == shown.numbers[1:3] == asked.deciding
    drawn = strip_row(PAPERS.questions["calibration"], small.models[0], shown)
    assert drawn.thin is not None
    assert (drawn.thin.low, drawn.thin.high) == asked.deciding


def test_there_are_as_many_draws_as_tell_a_p(small: SmallModels) -> None:
    for model in small.models:
        assert {len(answer.drawn.numbers) for answer in model.answers.values()} == {FEWEST_DRAWS}
        assert len(model.p_of_draws) == len(model.answers)


def test_the_paragraph_has_the_numbers_that_it_rests_on(root: Path, small: SmallModels) -> None:
    assert "no verdict on the papers' models" in small.text
    for model in small.models:
        late = model.answers["late"]
        rare = [p for p in model.p_of_draws if p <= 0.05]
        assert f"{len(rare)} of {len(model.p_of_draws)} questions for {model.short}" in small.text
        rows = read_rows(root / FOLDER / model.name)
        (over_all,) = (
            row["value"]
            for row in rows
            if (row["question"], row["reading"]) == ("late", Choice.ALL_PAIRS)
        )
        told = f"{late.number} within the categories and {late.spell(over_all)} over all pairs"
        assert f"{told} in {model.short}" in small.text
