"""The column of small trained models: every number is a result file's, and none is a verdict."""

import json
from pathlib import Path

import pytest

from layerwise.engine.answer_words import NO_SPREAD
from layerwise.engine.published import PUBLISHED
from layerwise.papers.across.together import PAPERS
from layerwise.present.small_models import FOLDER, SmallModels, read_small_models


@pytest.fixture(scope="module")
def small(root: Path) -> SmallModels:
    return read_small_models(root / FOLDER, PAPERS.questions)


def test_every_answer_is_the_result_files_own(root: Path, small: SmallModels) -> None:
    assert len(small.models) == 2
    for model in small.models:
        folder = root / FOLDER / model.name
        rows = json.loads((folder / "sensitivity.json").read_text())["rows"]
        asked = {row["question"]: row for row in rows if row["choice"] == PUBLISHED}
        control = json.loads((folder / "control.json").read_text())["answers"]
        assert set(asked) == set(model.answers) <= set(PAPERS.questions)
        for name, answer in model.answers.items():
            assert (answer.value, answer.word) == (asked[name]["value"], asked[name]["word"])
            assert list(answer.drawn) == control[name]["drawn"]
        validation = json.loads((folder / "validation.json").read_text())
        r = validation["_global_stats"]["ua_output_correlation"]
        assert model.answers["category_inversion"].value == r
        ua = {name: part["asymmetry"] for name, part in validation.items() if "asymmetry" in part}
        others = [value for name, value in ua.items() if name != "ground_truth_numeric"]
        apart = ua["ground_truth_numeric"] - sum(others) / len(others)
        assert len(others) == 5
        assert model.answers["numeric"].value == pytest.approx(apart, rel=1e-12)


def test_random_weights_never_agree_where_nothing_is_answered(small: SmallModels) -> None:
    for model in small.models:
        few = [answer for answer in model.answers.values() if answer.word == NO_SPREAD]
        assert few
        assert {answer.same for answer in few} == {0}
        assert all(len(answer.drawn) == 3 for answer in few)


def test_the_paragraph_has_the_numbers_that_it_rests_on(small: SmallModels) -> None:
    assert "no verdict on the papers' models" in small.text
    for model in small.models:
        for number in (model.answers["category_inversion"].value, model.r_without_numeric):
            assert f"{number:+.3f}" in small.text
        numeric = model.answers["numeric"]
        assert f"whose random weights give {numeric.random}" in small.text
        assert numeric.is_reached == (min(numeric.drawn) <= numeric.value < 0)
