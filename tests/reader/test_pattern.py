"""What the first sentences of an own model's page say, on made answers."""

import re
from dataclasses import replace
from typing import Any

import pytest

from layerwise.reader.page.pattern import describe_pattern
from made_answers import answer, model_answers


def curve(early: str, late: str, **fields: Any) -> list[Any]:
    """Answers on early and late layers, with the words."""
    values = {"yes": 0.3, "no": -0.3}
    first = answer(early, values.get(early, 0.0), (-0.9, 0.9), n=6, unit="categories", **fields)
    sign = {"yes": -0.3, "no": 0.3}.get(late, 0.0)
    last = answer(late, sign, (-0.9, 0.9), n=6, unit="categories", **fields)
    theirs = {"m": answer("yes"), "n": answer("undecided")}
    return [
        model_answers(first, question="early"),
        replace(model_answers(last, question="late"), printed=theirs),
    ]


@pytest.mark.parametrize("early", ["yes", "no", "undecided"])
@pytest.mark.parametrize("late", ["yes", "no", "undecided"])
def test_each_pattern_is_told_apart(early: str, late: str) -> None:
    """Two words on two phases are nine patterns, and no two of them read the same."""
    words = ("yes", "no", "undecided")

    def pattern(first: str, second: str) -> str:
        told, *_ = describe_pattern(curve(first, second), {})
        return re.sub(r"[-+\d.]+", "", told)

    others = {pattern(a, b) for a in words for b in words if (a, b) != (early, late)}
    assert pattern(early, late) not in others


def test_the_papers_models_with_the_same_word_are_named() -> None:
    _, alike = describe_pattern(curve("yes", "yes"), {})
    assert alike.endswith("in m.")
    assert len(describe_pattern(curve("yes", "undecided"), {})) == 1


@pytest.mark.parametrize(
    ("r", "low", "high", "is_told"),
    [(0.2, -0.4, -0.1, True), (0.2, -0.4, 0.1, False), (-0.2, -0.4, -0.1, False)],
)
def test_where_all_pairs_say_the_opposite_it_is_said(
    r: float, low: float, high: float, is_told: bool
) -> None:
    mean = {"r": (low + high) / 2, "n": 6, "interval": [low, high]}
    within = {"0": {"r": 0.0, "mean": None}, "4": {"r": r, "mean": mean}}
    sentences = describe_pattern(
        curve("yes", "undecided"), {"sensitivity": {"within_categories": within}}
    )
    assert any("layer 4 all pairs" in sentence for sentence in sentences) == is_told


def test_pairs_without_categories_give_no_sign() -> None:
    (told,) = describe_pattern(curve("no categories", "no categories"), {})
    assert "turns" not in told
    assert told != describe_pattern(curve("undecided", "undecided"), {})[0]
