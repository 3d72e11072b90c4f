"""What figures state: every count, mean and list against the published tables, by a plain loop."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layerwise.engine.published import Published
from layerwise.files import read_json
from layerwise.papers.across.figures.drawing import draw
from layerwise.papers.across.rules import drawn
from layerwise.papers.shared import result_files as files
from layerwise.papers.shared.names import SLUG
from layerwise.present.figures.numbers import OWN, Numbers


@pytest.fixture(scope="module")
def stated(results: Path) -> Any:
    """The statistics of print, {analysis: {document: ...}}."""
    folder = results / "published" / "statistics"
    return {path.stem: read_json(path)["documents"] for path in folder.glob("*.json")}


def short(name: str) -> str:
    return name.rpartition("/")[2]


# --- of print -----------------------------------------------------------------------------------


def test_counts_of_layers_are_those_of_the_tables(stated: Any, published: Published) -> None:
    document = published.document
    tests = document(files.BOOTSTRAP)["layer_results"].values()
    clear = [row for row in tests if row["ci_lower"] > 0 or row["ci_upper"] < 0]
    assert stated["category_bootstrap"][SLUG]["drawn"]["n_excluding_zero"] == len(clear) > 0
    layers = document(files.PAIRS)["results"]
    first, last = layers["0"], layers["32"]
    turning = [name for name in first if first[name]["r"] * last[name]["r"] < 0]
    assert stated["pairs"][SLUG]["drawn"]["turning"] == turning
    assert 0 < len(turning) < len(first)

    def is_clear(test: Any) -> bool:
        return test["ci_lower"] * test["ci_upper"] > 0

    clear = [name for name in turning if is_clear(first[name]) and is_clear(last[name])]
    assert stated["pairs"][SLUG]["drawn"]["turning_clearly"] == clear
    for how in ("with", "without"):
        high = [
            row["ci_hi"] for row in document(files.TEMPLATE)[f"results_{how}_template"].values()
        ]
        n_below = stated["cross_model"]["llama-3p1-8b-instruct"]["drawn"]["n_below_zero"]
        assert n_below[how] == np.sum(np.array(high) < 0) > 0
    for slug, file in files.PROFILES.items():
        shares = document(file)["intrinsic_dim_ratio"]
        peak = int(np.argmax(shares))
        behind = [n for n, share in enumerate(shares) if n > peak and share < max(shares) / 2]
        rise = max(range(1, len(shares)), key=lambda n: shares[n] - shares[n - 1])
        drawn = stated["anisotropy"][slug]["drawn"]
        assert drawn["half_layer"] == behind[0]
        assert drawn["steepest_rise"] == [rise, shares[rise] - shares[rise - 1]]


def test_counts_of_models_are_those_of_the_tables(stated: Any, published: Published) -> None:
    lifestyle, numeric = (
        [
            document["uniformity_a"] - document["uniformity_b"]
            for document in (published.document(file)[name] for file in files.PAPER1.values())
        ]
        for name in ("lifestyle", "ground_truth_numeric")
    )
    assert stated["calibration"]["models"]["drawn"] == {
        "n_models": 4,
        "n_within": sum(abs(value) < 0.015 for value in lifestyle),
        "n_negative": sum(value < 0 for value in numeric),
    }
    late = [
        curve["means"]["late"]
        for slug, curve in stated["phases"].items()
        if slug != "paper" and "instruct" not in slug
    ]
    assert stated["phases"]["paper"]["drawn"] == {
        "n_models": len(late),
        "n_negative_late": sum(mean < 0 for mean in late),
    }


def test_labs_have_the_counts_of_their_models(stated: Any, published: Published) -> None:
    hunt = {short(row["model"]): row for row in published.document(files.HUNT)["tested_results"]}
    drawn = stated["lab_heritage"]["hunt"]["drawn"]
    assert drawn["models"].keys() == hunt.keys()
    for name, row in hunt.items():
        # Student's of five prompts, whose deviation is over n
        half = 2.776445 * row["gain_no_ln_std"] / 2
        wanted = row["gain_no_ln_mean"] - half, row["gain_no_ln_mean"] + half
        np.testing.assert_allclose(drawn["models"][name]["interval"], wanted, rtol=1e-6)
    for name, counts in drawn["counts"].items():
        gains = [
            row["gain_no_ln_mean"]
            for row in hunt.values()
            if (row["lab"] == "EleutherAI") == (name == "EleutherAI")
        ]
        below = sum(gain < 1 for gain in gains)
        assert counts == {"n": len(gains), "below": below}


# --- of readers' models -------------------------------------------------------------------------


def gains_of(*second_last: float) -> dict[str, Any]:
    return {"residual_gain_all": list(second_last), "all_layer_gains": [1.0] * 10}


def test_a_result_file_is_stated_beside_its_own_keys() -> None:
    validation = {
        name: {"n_pairs": 9, "uniformity_a": ua, "uniformity_b": 0.0, "output_preference": nats}
        for name, ua, nats in (("a", 0.1, 1.0), ("b/~c", 0.2, 0.5), ("d", 0.4, 0.7), ("e", 0.3, 0))
    } | {"_global_stats": {"ua_output_correlation": -0.5}}
    anisotropy = {"intrinsic_dim_ratio": [0.2, 0.9, 0.5, 0.4]}
    results = {"validation": validation, "anisotropy": anisotropy, "gains": gains_of(1.0)}
    stated = drawn.add_drawn(results)
    assert {name: document.keys() - results[name].keys() for name, document in stated.items()} == {
        "validation": {"_without_one", "_interval"},
        "anisotropy": {"drawn"},
        "gains": set(),
    }
    assert results["anisotropy"] == {"intrinsic_dim_ratio": [0.2, 0.9, 0.5, 0.4]}  # as it was
    assert stated["anisotropy"]["drawn"].keys() == {"half_layer", "steepest_rise"}
    others = [(0.1, 1.0), (0.4, 0.7), (0.3, 0)]
    np.testing.assert_allclose(
        stated["validation"]["_without_one"]["b/~c"]["r"], np.corrcoef(np.transpose(others))[0, 1]
    )


@pytest.mark.parametrize(
    ("shares", "half", "said"),
    [
        ([0.2, 0.9, 0.5, 0.4, 0.3], 3, "and less than half of that from layer 3 on"),
        ([0.2, 0.9, 0.5, 0.4], 3, "; still 0.500 at layer 2, and 0.400 after the final norm"),
        ([0.2, 0.9, 0.5, 0.6], None, "and more than half of that at every later layer"),
        ([0.2, 0.4, 0.9], None, "at layer 2 of 2: 0.900 of it"),
    ],
)
def test_a_share_falls_to_half_or_does_not(
    shares: list[float], half: int | None, said: str
) -> None:
    document = {"intrinsic_dim_ratio": shares, "n_layers": len(shares) - 1, "n_prompts": 9}
    document["L_star_anisotropy"] = shares.index(0.9)
    stated = drawn.add_drawn({"anisotropy": document})
    assert stated["anisotropy"]["drawn"]["half_layer"] == half
    figure = draw(
        "anisotropy", Numbers(OWN, {"anisotropy": {"m": stated["anisotropy"]}}, {"m": "M"})
    )
    assert figure.title.endswith(said), figure.reason


def test_several_models_are_stated_without_those_that_lack_a_number() -> None:
    bound = 10 ** (1 / 10)
    several: dict[str, dict[str, Any]] = {
        "under": {"gains": gains_of(bound - 0.1, bound)},
        "a/b~": {"gains": gains_of(bound, bound + 0.1)},
        "old": {"gains": {"residual_gain_all": [1.0]}},
        "none": {},
    }
    (gains,) = drawn.drawn_over_models(several).values()
    assert gains["above_bound"] == ["a/b~"]
    assert gains["bound"] == {"under": bound, "a/b~": bound}
    np.testing.assert_allclose(gains["range"], [bound - 0.05, bound + 0.05])
    assert drawn.drawn_over_models({"old": several["old"]}) == {}


# --- of questions -------------------------------------------------------------------------------
