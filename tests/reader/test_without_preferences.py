"""States without NLL, as an embedding model has them: asymmetry, and nothing of preferences."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layerwise
from layerwise import LayerwiseError
from parsed_page import Page

NAMES = ("scientific_facts", "business", "lifestyle", "weather")
N_LAYERS, N_PAIRS, HIDDEN = 4, 5, 8
N = len(NAMES) * N_PAIRS
PAIRS = {
    name: {"pairs": [[f"{name} {n}", f"no {name} {n}"] for n in range(N_PAIRS)]} for name in NAMES
}


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    states = rng.normal(size=(N_LAYERS + 1, 2 * N, HIDDEN)) + 1
    others = {name: rng.normal(size=states[0].shape) for name in ("last_token", "before_norm")}
    return {"hidden_states": states, "all_tokens": states + 0.1, **others, "pairs": PAIRS}


def no_constant(name: str) -> None:
    raise AssertionError(f"{name} stands in a result file")


def naive_asymmetry(states: np.ndarray, category: int) -> float:
    """The mean cosine of every two statements of side A, less that of side B."""
    of_sides = []
    for start in (0, N):
        first = start + category * N_PAIRS
        rows = [states[row].tolist() for row in range(first, first + N_PAIRS)]
        cosines = [
            sum(x * y for x, y in zip(a, b, strict=True)) / (np.linalg.norm(a) * np.linalg.norm(b))
            for a, b in combinations(rows, 2)
        ]
        of_sides.append(sum(cosines) / len(cosines))
    return float(of_sides[0] - of_sides[1])


@pytest.mark.usefixtures("quick")
def test_states_without_nll_have_the_asymmetries_of_a_naive_loop(given: dict[str, Any]) -> None:
    found = layerwise.measure(**given, nll=None)
    readings = {"mean_pooled": given["hidden_states"][-1], "last_token": given["last_token"]}
    readings |= {f"layer_{layer}": given["hidden_states"][layer] for layer in (0, N_LAYERS)}
    by_reading = found.documents["layers"]["asymmetries"]
    assert set(by_reading) == set(readings)
    for reading, states in readings.items():
        expected = [naive_asymmetry(states, number) for number in range(len(NAMES))]
        assert list(by_reading[reading]) == [*NAMES]
        np.testing.assert_allclose([*by_reading[reading].values()], expected, atol=1e-6)
    last = [row["UA"] for row in found.categories.records]
    np.testing.assert_allclose(last, [*by_reading["mean_pooled"].values()], rtol=1e-12)


@pytest.mark.usefixtures("quick")
def test_with_nll_the_same_states_have_the_same_asymmetries(given: dict[str, Any]) -> None:
    """And every question that is asked without it has the same answer."""
    alone = layerwise.measure(**given, nll=None)
    whole = layerwise.measure(**given, nll=np.random.default_rng(1).gamma(4.0, size=2 * N))
    for reading, strategy in whole.documents["layers"]["strategies"].items():
        by_category = alone.documents["layers"]["asymmetries"][reading]
        assert [*by_category.values()] == strategy["category_uas"]
    validation = alone.documents["validation"]
    for place in (*NAMES, "_global_stats"):
        more = whole.documents["validation"][place]
        assert validation[place] == {key: more[key] for key in validation[place]}, place
    answers = {one["question"]: one for one in whole.answers.records}
    assert len(alone.answers) == 4
    assert alone.answers.records == [answers[one["question"]] for one in alone.answers.records]


@pytest.mark.usefixtures("quick")
def test_what_needs_preferences_is_left_out_with_a_sentence(
    given: dict[str, Any], tmp_path: Path
) -> None:
    """On the page, in what is printed, and nowhere as a number that is none."""
    found = layerwise.measure(**given, nll=None, out=tmp_path)
    left = {"category_bootstrap", "bins", "pairs"}
    assert set(found.absent) == left | {"anisotropy", "gains", "spectral"}
    written = {path.stem for path in tmp_path.glob("*.json")}
    assert written == set(found.documents) == {"validation", "layers", "sensitivity"}
    for path in tmp_path.glob("*.json"):
        json.loads(path.read_text(), parse_constant=no_constant)
    page = " ".join(" ".join(Page((tmp_path / "index.html").read_text()).words).split())
    (warned,) = (caution for caution in found.cautions if "NLL" in caution)
    whole = " ".join(str(found).split())
    assert warned in page
    assert warned in whole
    assert all(f"{name}.json" in page and f"{name}.json" in found.summary for name in left)
    assert not {path.name for path in tmp_path.iterdir()} & {"figures"}
    assert "nan" not in found.by_pair.csv.lower()
    assert [name for name in found.by_pair.columns if "NLL" in name or "prefer" in name] == []


@pytest.mark.usefixtures("quick")
def test_models_without_preferences_are_not_compared(given: dict[str, Any]) -> None:
    alone = layerwise.measure(**given, nll=None, name="embeds")
    whole = layerwise.measure(**given, nll=np.random.default_rng(1).gamma(4.0, size=2 * N))
    with pytest.raises(LayerwiseError, match="found none of embeds"):
        layerwise.compare([whole, alone])
