"""The papers' claims on a reader's model: no word without an interval, and the papers' numbers."""

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from layerwise.analyses.answers import (
    CHOICE_TEXTS,
    OPPOSITE,
    QUESTIONS,
    SHOWN,
    TOO_FEW,
    UNCLEAR,
    Answer,
    Estimate,
    answers,
    decisive_category,
    of_means,
    over_models,
    slope,
)
from layerwise.analyses.evidence import Evidence
from random_states import DRAWS, results_of

GAINS = np.array([0.91, 0.95, 0.9, 0.97, 0.93, 0.94])


@pytest.fixture(scope="module")
def evidence(published: Any) -> Evidence:
    return Evidence(published, DRAWS)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The documents of random states over six categories, with gains and norms."""
    documents = results_of(tmp_path_factory.mktemp("states"), tuple("abcdef"))
    rng = np.random.default_rng(0)
    norms = {f"{name}_{kind}_norm": rng.uniform(1, 2, 10).tolist() for name in ("W_V", "W_O")
             for kind in ("spectral", "frobenius")}  # fmt: skip
    gains = {
        "n_layers": 10,
        "n_prompts": 6,
        "readings": {"penultimate": {"all": GAINS.tolist()}, "final_norm": {"all": [2.0, 3.0] * 3}},
        "all_layer_gains": [3.0, *[0.9] * 9],
        "all_layer_gains_std": [0.1] * 10,
        "residual_gain_mean": 0.93,
        "gain_with_ln_mean": 2.5,
    }
    return {**documents, "gains": gains, "spectral": norms}


@pytest.fixture(scope="module")
def found(results: dict[str, Any], evidence: Evidence) -> dict[str, Answer]:
    return {one.question.name: one for one in answers(results, evidence)}


@pytest.mark.parametrize(
    ("estimate", "claim", "expected"),
    [
        ((-0.85, -1.0, -0.2, 3, 0.36), "late", TOO_FEW),
        ((-0.85, -1.0, -0.2, 6, 0.36), "late", UNCLEAR),  # the resamples of few points mislead
        ((-0.85, -1.0, -0.2, 6, 0.03), "late", SHOWN),
        ((-0.85, -1.0, 0.1, 6, 0.03), "late", UNCLEAR),
        ((0.85, 0.2, 1.0, 6, 0.03), "late", OPPOSITE),
        ((-0.2, -0.3, -0.1, 230, None), "late", SHOWN),
        ((-0.2, -math.inf, math.inf, 9, None), "late", UNCLEAR),
        ((0.0, -0.01, 0.01, 5, None), "calibration", SHOWN),
        ((0.0, -0.4, 0.4, 5, None), "calibration", UNCLEAR),  # holding zero is no evidence
        ((0.1, 0.015, 0.4, 5, None), "calibration", OPPOSITE),
    ],
)
def test_word(estimate: tuple[Any, ...], claim: str, expected: str) -> None:
    (question,) = [one for one in QUESTIONS if one.name == claim]
    assert question.word(Estimate(*estimate)) == expected


def test_every_claim_is_asked_of_the_documents_that_are_there(
    found: dict[str, Answer], results: Any, evidence: Evidence
) -> None:
    assert list(found) == [question.name for question in QUESTIONS]
    assert all(one.published for one in found.values())
    asked = {choice for one in found.values() for choice in one.others}
    assert len({CHOICE_TEXTS[choice] for choice in asked}) == len(asked)
    some = {name: results[name] for name in ("gains", "validation")}  # the others are not asked
    assert [one.question.name for one in answers(some, evidence)] == ["damping", "bound"]


def test_gains_against_scipy(found: dict[str, Answer]) -> None:
    low, high = stats.ttest_1samp(GAINS, 0).confidence_interval(0.95)
    asked = found["damping"].estimate
    assert (asked.low, asked.high) == pytest.approx((low, high))
    assert asked.value == pytest.approx(GAINS.mean())
    assert (found["damping"].word, found["damping"].words["final_norm"]) == (SHOWN, OPPOSITE)
    assert found["bound"].estimate.value == pytest.approx(GAINS.mean() / 10**0.1)
    assert found["bound"].words["largest_block"] == OPPOSITE
    assert found["bound"].others["largest_block"].where == "block 0"


def test_slopes_against_scipy() -> None:
    shares = [0.1, 0.15, 0.22, 0.24, 0.35, 0.4, 0.9, 0.8, 0.72, 0.6, 0.55, 0.5]
    for rise, part in ((True, shares[:6]), (False, shares[6:])):
        line = stats.linregress(range(6), part)
        asked = slope(shares, rise=rise)
        half = float(stats.t.ppf(0.975, 4)) * line.stderr
        assert (asked.value, asked.high - asked.value) == pytest.approx((line.slope, half))
        assert asked.where == "peak at layer 6"
    assert not math.isfinite(slope(shares[:7], rise=False).high)  # one layer has no slope


def test_norms_are_compared_by_their_means_as_in_print(
    found: dict[str, Answer], results: Any, works: Any
) -> None:
    """Against resamples of the blocks; and block by block against scipy, as another choice."""
    pair = np.array([results["spectral"][f"{of}_spectral_norm"] for of in ("W_V", "W_O")])
    asked = found["spectral_norms"].estimate
    assert asked.value == pytest.approx(pair[0].mean() / pair[1].mean(), rel=1e-6)
    blocks = np.random.default_rng(0).integers(10, size=(4000, 10))
    over, under = pair[:, blocks].mean(axis=2)
    spread = np.std(np.log(over / under)) * np.sqrt(10 / 9)
    half = float(stats.t.ppf(0.975, 9)) * spread
    assert np.log([asked.low, asked.high]) == pytest.approx(
        np.log(asked.value) + np.array([-half, half]), abs=0.1 * half
    )
    test = stats.ttest_rel(*np.log(pair)).confidence_interval(0.95)
    other = found["spectral_norms"].others["by_block"]
    assert (other.low, other.high) == pytest.approx(tuple(np.exp(test)))
    printed = {
        name: document["W_V_over_W_O"]
        for name, document in works["spectral_norms"].documents.items()
        if "W_V_over_W_O" in document
    }
    assert found["spectral_norms"].published == printed
    assert printed["pythia-410m"] == pytest.approx(6.89, abs=0.01)


def test_every_block_of_one_ratio_leaves_no_doubt() -> None:
    under = [1.0, 2.0, 5.0, 3.0]
    asked = of_means([3 * one for one in under], under)
    assert (asked.value, asked.low, asked.high, asked.n) == pytest.approx((3, 3, 3, 4))


def test_the_category_that_makes_r_is_named() -> None:
    """As in the trained model of `make real`: five points without a trend and one far from them."""
    rng = np.random.default_rng(3)
    points = {name: rng.uniform(-0.02, 0.02, 2).tolist() for name in "abcde"}

    def validation(**more: list[float]) -> dict[str, Any]:
        of = points | more
        x, y = np.array(list(of.values())).T
        return {
            **{name: dict(zip(("asymmetry", "output_preference"), at, strict=True))
               for name, at in of.items()},
            "_global_stats": {"ua_output_correlation": stats.pearsonr(x, y)[0]},
        }  # fmt: skip

    assert decisive_category(validation(far=[-0.3, -5.0])) == "far"
    line = {name: [at[0], 2 * at[0]] for name, at in points.items()}
    assert decisive_category(validation(**line)) is None


def test_without_a_category_the_weakest_r_is_asked(found: dict[str, Answer], results: Any) -> None:
    of = [one for name, one in results["validation"].items() if not name.startswith("_")]
    x, y = np.array([(one["asymmetry"], one["output_preference"]) for one in of]).T
    tests = [stats.pearsonr(np.delete(x, row), np.delete(y, row)) for row in range(6)]
    weakest = min(tests, key=lambda test: abs(test.statistic))
    asked = found["category_inversion"].others["left_out"]
    assert (asked.value, asked.p) == pytest.approx((weakest.statistic, weakest.pvalue))
    low, high = weakest.confidence_interval(0.95)
    assert (asked.low, asked.high, asked.n) == pytest.approx((low, high, 5))
    at_once = found["category_inversion"].others["multiplicity"]
    assert at_once.p == results["sensitivity"]["holm"]["10"]["p_holm"]


def test_planted_effects_are_found_and_their_opposite(results: Any, evidence: Evidence) -> None:
    for sign, expected in ((1, SHOWN), (-1, OPPOSITE)):
        planted = json.loads(json.dumps(results))
        for layer, at in (("0", 0.5 * sign), ("8", -0.5 * sign), ("10", -0.5 * sign)):
            ends = {"r": at, "ci_lower": at - 0.1, "ci_upper": at + 0.1}
            planted["pairs"]["results"][layer]["centroid_asymmetry"] |= ends
        said = {one.question.name: one.word for one in answers(planted, evidence)}
        assert (said["early"], said["late"]) == (expected, expected)


def test_the_papers_models_against_their_statistics(found: dict[str, Answer], works: Any) -> None:
    phases = works["phases"].documents
    assert found["late"].published["Gemma-2B"] == phases["gemma-2b"]["means"]["late"]
    profile = works["anisotropy"].documents["pythia-6p9b"]
    assert found["fall"].published["Pythia-6.9B"] == profile["phase2_slope"]
    sizes = works["depth_gain"].documents["family"]["models"]
    assert found["damping"].published == {
        row["model"]: pytest.approx(row["residual_gain_mean"]) for row in sizes
    }
    assert {name for name, ratio in found["bound"].published.items() if ratio > 1} == {"pythia-1b"}
    assert found["category_inversion"].published["Pythia-6.9B"] == pytest.approx(-0.874, abs=5e-4)


def test_depth_and_gain_over_models(results: Any, evidence: Evidence, works: Any) -> None:
    def model(n_layers: int, gain: float) -> dict[str, Any]:
        made = {"n_layers": n_layers, "residual_gain_mean": gain, "gain_with_ln_mean": -gain}
        return {"gains": {**results["gains"], **made}}

    sizes = {6: 1.2, 12: 1.16, 16: 1.1, 24: 0.98, 32: 0.97}
    models = {f"model {n}": model(n, gain) for n, gain in sizes.items()}
    (asked,) = over_models(models, evidence)
    test = stats.pearsonr(list(sizes), list(sizes.values()))
    assert (asked.estimate.value, asked.estimate.p) == pytest.approx((test[0], test[1]))
    assert (asked.word, asked.words) == (SHOWN, {"final_norm": OPPOSITE})
    printed = works["depth_gain"].documents["family"]["depth_gain"]["depth"]["r"]
    assert list(asked.published.values()) == pytest.approx([printed])
    assert over_models(dict(list(models.items())[:2]), evidence) == []
    assert over_models({"no gains": {}}, evidence) == []
