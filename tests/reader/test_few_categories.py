"""Pairs in fewer than three categories: what needs none is measured, and what is open says so."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layerwise
from layerwise import LayerwiseError

N_LAYERS, HIDDEN = 8, 6
NEEDS_CATEGORIES = {"category_bootstrap", "bins"}


def measure(sizes: dict[str, int] | int, **more: Any) -> layerwise.Result:
    """Measure made states of pairs, in categories of these sizes or in none."""
    n = sizes if isinstance(sizes, int) else sum(sizes.values())
    pairs: Any = [[f"one {number}", f"other {number}"] for number in range(n)]
    if isinstance(sizes, dict):
        ends = np.cumsum([0, *sizes.values()])
        pairs = {
            name: {"pairs": pairs[start:end]}
            for name, start, end in zip(sizes, ends, ends[1:], strict=False)
        }
    states, nll = _states_and_nll(n)
    return layerwise.measure(states, nll, pairs, all_tokens=states + 0.1, **more)


def _states_and_nll(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.normal(size=(N_LAYERS + 1, 2 * n, HIDDEN)) + 1, rng.gamma(4.0, size=2 * n)


def naive_r(n: int, layer: int) -> float:
    """r of cos(A, mean of A) - cos(B, mean of B) and NLL(B) - NLL(A), pair by pair."""
    states, nll = _states_and_nll(n)
    asymmetry = []
    for pair in range(n):
        of_sides = []
        for side in (states[layer][:n], states[layer][n:]):
            center = sum(side) / n
            norms = np.linalg.norm(side[pair]) * np.linalg.norm(center)
            of_sides.append(float(side[pair] @ center / norms))
        asymmetry.append(of_sides[0] - of_sides[1])
    return float(np.corrcoef(asymmetry, nll[n:] - nll[:n])[0, 1])


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("sizes", [24, {"kitchen": 24}])
def test_pairs_of_no_category_have_their_curve_and_every_answer_is_open(sizes: Any) -> None:
    """Whatever the interval is: nothing says how far other kinds of statements would move it."""
    found = measure(sizes)
    assert set(found.absent) >= NEEDS_CATEGORIES
    assert {"validation", "layers", "pairs", "sensitivity"} == set(found.documents)
    rows = {row["question"]: row for row in found.answers.records}
    assert len(rows) == 7
    assert {row["answer"] for row in rows.values()} == {"no categories"}
    within = found.documents["sensitivity"]["within_categories"]
    for layer in within:
        assert within[layer]["r"] == pytest.approx(naive_r(24, int(layer)), abs=1e-6)
        assert within[layer]["mean"] is None


@pytest.mark.usefixtures("quick")
def test_one_category_and_none_have_the_same_numbers() -> None:
    named, bare = measure({"kitchen": 24}), measure(24)
    assert named.documents["pairs"] == bare.documents["pairs"] | {
        key: named.documents["pairs"][key] for key in ("_run",)
    }
    assert named.answers.records == bare.answers.records


@pytest.mark.usefixtures("quick")
def test_two_categories_are_answered_over_both() -> None:
    """By Student's t with one degree of freedom, and never by r over two points."""
    found = measure({"kitchen": 14, "weather": 10})
    assert set(found.absent) >= NEEDS_CATEGORIES
    assert "ua_output_correlation" not in found.documents["validation"]["_global_stats"]
    within = found.documents["sensitivity"]["within_categories"]
    for row in within.values():
        z = np.arctanh([part["r"] for part in row["by_category"].values()])
        between = 12.706204736432095 * abs(z[0] - z[1]) / 2  # t(1), n = 2
        alike = 1.959963984540054 * np.sqrt(1 / 11 + 1 / 7) / 2
        half = max(between, alike)
        expected = np.tanh([z.mean() - half, z.mean() + half])
        np.testing.assert_allclose(row["mean"]["interval"], expected, atol=1e-9)
    assert {row["n"] for row in found.answers.records} == {2}


@pytest.mark.usefixtures("quick")
def test_the_results_are_written_and_hold_numbers_alone(tmp_path: Path) -> None:
    def no_constant(name: str) -> None:
        raise AssertionError(f"{name} stands in a result file")

    found = measure(24, out=tmp_path)
    for name in found.documents:
        json.loads((tmp_path / f"{name}.json").read_text(), parse_constant=no_constant)
    assert "nan" not in found.by_pair.csv.lower()
    other = measure({"kitchen": 8, "weather": 8, "travel": 8}, name="other")
    with pytest.raises(LayerwiseError, match="found none of arrays"):
        layerwise.compare([found, other])


@pytest.mark.usefixtures("quick")
def test_a_lone_category_of_numeric_facts_is_held_against_no_other() -> None:
    found = measure({"ground_truth_numeric": 12})
    assert "numeric" not in {row["question"] for row in found.answers.records}
    assert {row["answer"] for row in found.answers.records} == {"no categories"}
