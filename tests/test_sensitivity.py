"""Which claims survive another choice: statistics against loops, words by rule, figure, table."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from layerwise.analyses import TABLES, sensitivity, survival
from layerwise.analyses.derivation import Derivation, derive, evidence_of
from layerwise.analyses.sensitivity import advice
from layerwise.analyses.survival import WORDS, Finding, compare
from layerwise.experiments import Fragments
from layerwise.experiments.of_pairs import choices
from layerwise.experiments.reduction import measure
from layerwise.inputs.measured import measured
from layerwise.inputs.published import read_published
from layerwise.measures.values import ANISOTROPY, Values
from layerwise.places.result_files import ANISOTROPY as ANISOTROPY_FILE
from layerwise.places.result_files import CHOICES_FILE, DATASET, GEMMA_ANISOTROPY
from layerwise.statistics.bootstrap import Draws
from random_states import CATEGORIES, SIZES, some_pairs, write_states

ROOT = Path(__file__).parents[1]
N = sum(SIZES)
DRAWS = Draws(150, 0.95, 42)
NAMES = ("ground_truth_numeric", *CATEGORIES[1:])


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> Values:
    states = write_states(tmp_path_factory.mktemp("extraction") / "states", hidden=8)
    pairs = some_pairs(SIZES, NAMES)
    return measure(states, pairs, layer_step=2, k_values=(5,), n_permutations=1, k_stable=5)


def statistics(fragments: Fragments) -> dict[str, Any]:
    """The documents of these measurements alone, of pairs in the categories of `NAMES`."""
    sizes = {name: {"n_pairs": size} for name, size in zip(NAMES, SIZES, strict=True)}
    tables = measured(read_published(ROOT / "published"), {DATASET: {"": sizes}, **fragments})
    work = derive(sensitivity.documents, evidence_of(tables, DRAWS, TABLES))
    documents: dict[str, Any] = json.loads(json.dumps(work.documents, allow_nan=False))
    return documents


def rows_of(values: Values) -> list[dict[str, Any]]:
    found = statistics({CHOICES_FILE: {"/it": choices.document(values, DRAWS)}})
    rows: list[dict[str, Any]] = found["it"]["rows"]
    return rows


def found(values: Values, claim: str, choice: str) -> dict[str, Any]:
    (row,) = [row for row in rows_of(values) if (row["claim"], row["choice"]) == (claim, choice)]
    return row


# --- words --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("claim", "before", "after", "outcome", "said"),
    [
        ("bell", (-0.3, True), (-0.1, True), "survives", "The claim does not rest on this choice."),
        ("bell", (-0.3, True), (-0.1, False), "lost", "direction stays, the evidence does not"),
        ("bell", (-0.3, False), (-0.1, True), "appears", "this choice only, not as published"),
        ("bell", (-0.3, False), (-0.1, False), "absent", "neither as published nor under this"),
        ("bell", (-0.3, True), (0.1, False), "lost", "the other one turns its sign"),
        # of a claim about no sign
        ("damping", (-0.3, True), (0.1, False), "lost", "choice: under the other it does not"),
    ],
)  # fmt: skip
def test_outcome_and_conclusion(
    claim: str, before: tuple[float, bool], after: tuple[float, bool], outcome: str, said: str
) -> None:
    row = compare(claim, "before_norm", Finding(*before, "a"), Finding(*after, "b"))
    assert row["outcome"] == outcome
    assert said in row["conclusion"]


def test_advice_over_models() -> None:
    def of(**named: list[str]) -> str:
        return advice({"survives": [], "lost": [], "appears": [], "absent": []} | named)

    assert of(absent=["a"]).startswith("As published the claim holds in no model")
    assert of(survives=["a", "b"]) == "It survives where it shows: in a and b."
    assert "lost in the one model that shows it" in of(lost=["a"])
    mixed = of(survives=["a"], lost=["b", "c", "d"], appears=["e", "f"])
    assert "survives in a and is lost in b, c and d, of the 4 models that show it" in mixed
    assert "appears in e and f, where it did not hold as published" in mixed


# --- one model ----------------------------------------------------------------------------------
def naive_curves(values: Values) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """r by layer, and resampled r, under each choice, one correlation at a time."""
    plain = values.pair_metrics[:, 0]
    before = np.vstack([plain[:-1], values.pair_metrics_before_norm[0]])
    choices = {"published": plain, "before_norm": before}
    choices["all_tokens"] = values.pair_metrics_all_tokens[:, 0]
    y = values.preferences

    def r(rows: np.ndarray, points: np.ndarray) -> list[float]:
        return [np.corrcoef(x[points], y[points])[0, 1] for x in rows]

    stream = np.random.RandomState(42)
    drawn = [stream.randint(0, N, N) for _ in range(150)]
    members = [np.flatnonzero(values.category_of_pair == c) for c in range(len(SIZES))]
    stream = np.random.RandomState(42)
    clusters = [np.concatenate([members[c] for c in stream.randint(0, 6, 6)]) for _ in drawn]
    everyone = np.arange(N)
    curves = {
        choice: (np.array(r(rows, everyone)), np.array([r(rows, points) for points in drawn]))
        for choice, rows in choices.items()
    }
    by_cluster = np.array([r(plain, points) for points in clusters])
    return curves | {"clusters": (curves["published"][0], by_cluster)}


def test_curves_against_a_loop(values: Values) -> None:
    assert values.layers == (0, 2, 4, 6, 8, 10)
    for choice, (r, drawn) in naive_curves(values).items():
        other, side = (choice, "other") if choice != "published" else ("before_norm", "published")
        have = found(values, "sign_change", other)[side]
        fall = drawn[:, 4:].mean(axis=1) - drawn[:, :2].mean(axis=1)
        assert have["value"] == pytest.approx(r[4:].mean() - r[:2].mean())
        assert [have["low"], have["high"]] == pytest.approx(list(np.percentile(fall, [2.5, 97.5])))
        assert have["holds"] == (r[:2].mean() > 0 > r[4:].mean() and have["high"] < 0)
        have = found(values, "late_inversion", other)[side]
        lows, highs = np.percentile(drawn[:, 4:], [2.5, 97.5], axis=0)
        lowest = int(np.argmin(highs))
        want = [r[4 + lowest], lows[lowest], highs[lowest]]
        assert [have["value"], have["low"], have["high"]] == pytest.approx(want)
        assert have["holds"] == (r[4 + lowest] < 0 and highs[lowest] < 0)


def planted(values: Values, early: float, late: float, last: float) -> Values:
    """Curves of known strength: `last` is the one before the final norm."""
    rng = np.random.default_rng(3)

    def like(strength: float) -> np.ndarray:
        return strength * stats.zscore(values.preferences) + rng.normal(size=N)

    metrics = values.pair_metrics.copy()
    metrics[:, 0] = [like(s) for s in (early, early, early, late, late, late)]
    before = values.pair_metrics_before_norm.copy()
    before[0] = like(last)
    return dataclasses.replace(values, pair_metrics=metrics, pair_metrics_before_norm=before)


def test_a_planted_sign_change_is_found_and_its_loss_too(values: Values) -> None:
    strong = planted(values, 1.0, -1.0, -1.0)
    for choice in ("before_norm", "clusters", "multiplicity"):
        claims = ["late_inversion"] + ["sign_change"] * (choice != "multiplicity")
        assert {found(strong, claim, choice)["outcome"] for claim in claims} == {"survives"}
    assert found(strong, "sign_change", "all_tokens")["outcome"] == "lost"
    flat = planted(values, 1.0, 1.0, 1.0)
    assert found(flat, "sign_change", "before_norm")["published"]["label"] == "+ to +"
    assert not found(flat, "late_inversion", "before_norm")["published"]["holds"]


def test_multiplicity_is_holm_over_all_layers(values: Values) -> None:
    row, r = found(values, "late_inversion", "multiplicity"), naive_curves(values)["published"][0]
    p = np.array([stats.pearsonr(x, values.preferences).pvalue for x in values.pair_metrics[:, 0]])
    layer = 4 + int(np.argmin(r[4:]))
    rank = int(np.sum(p < p[layer]))
    adjusted = max(np.sort(p)[k] * (len(p) - k) for k in range(rank + 1))
    assert row["other"]["value"] == pytest.approx(r[layer])
    assert row["other"]["holds"] == bool(r[layer] < 0 and adjusted < 0.05)
    drawn = naive_curves(values)["published"][1][:, layer]
    wide = np.percentile(drawn, [100 * 0.025 / 6, 100 * (1 - 0.025 / 6)])
    assert [row["other"]["low"], row["other"]["high"]] == pytest.approx(list(wide))


def test_categories_and_calibration_of_every_reading(values: Values) -> None:
    y = values.category_preferences()
    for choice, reading in {
        "before_norm": "layer_10_before_norm",
        "all_tokens": "layer_10_all_tokens",
        "last_token": "last_token",
        "first_token": "first_token",
    }.items():
        ua = values.asymmetries(reading)
        have = found(values, "category_inversion", choice)["other"]
        assert have["value"] == pytest.approx(stats.pearsonr(ua, y).statistic)
        assert have["holds"] == (have["value"] < 0 and have["high"] < 0)
        have, neutral = found(values, "calibration", choice)["other"], ua[1:]
        assert have["value"] == pytest.approx(neutral.mean())
        passes = have["low"] <= 0 <= have["high"] and abs(neutral.mean() / neutral.std()) < 0.3
        assert (have["label"] == "Pass") == have["holds"] == passes


def test_the_bell_before_the_norm(values: Values) -> None:
    shares = [0.1, 0.2, 0.4, 0.6, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.99]
    profiles = values.anisotropy.copy()
    profiles[ANISOTROPY.index("first_pc_share")] = shares
    row = found(dataclasses.replace(values, anisotropy=profiles), "bell", "before_norm")
    assert (row["published"]["label"], row["published"]["holds"]) == ("L4", True)
    assert (row["other"]["label"], row["outcome"]) == ("L10", "lost")


def test_what_cannot_be_asked_is_left_out(values: Values, tmp_path: Path) -> None:
    claims = {row["claim"] for row in rows_of(values)}
    assert claims == {"sign_change", "late_inversion", "category_inversion", "calibration", "bell"}
    states = write_states(tmp_path / "states", hidden=8, tokens=0)
    bins: dict[str, Any] = {"k_values": (5,), "n_permutations": 1, "k_stable": 5}
    few = measure(states, some_pairs(SIZES, NAMES), layers=[0, 10], **bins)
    left = {row["claim"] for row in rows_of(few)}
    assert left == {"category_inversion", "calibration"}
    same = values.uniformity.copy()
    same[values.readings.index("first_token")] = 1.0
    bos = dataclasses.replace(values, uniformity=same)
    assert "first_token" not in {row["choice"] for row in rows_of(bos)}


# --- weights ------------------------------------------------------------------------------------
BOTH = {
    "legacy": {"W_V": 4.0, "W_O": 2.0, "L_star_full": 3, "L_star_full_guarded": 5},
    "correct": {"W_V": 1.0, "W_O": 2.0, "L_star_full": 3, "L_star_full_guarded": 3},
}
MEANS = {
    "legacy": {"argmax": 2.5, "argmax_sd": 0.1, "argmax_guarded": 2.5, "nan_layers": []},
    "correct": {"argmax": 7.0, "argmax_sd": 0.2, "argmax_guarded": None, "nan_layers": []},
}


SHARES = {"": {"intrinsic_dim_ratio": [0.1, 0.3, 0.9, 0.5, 0.2]}}
LAST = {"last_share_before_norm": 0.95}  # before the final norm the last layer makes no fall


@pytest.fixture(scope="module")
def every(values: Values) -> dict[str, Any]:
    """Two models of which states were measured, of one also the weights; two have weights alone."""
    states = {"/gemma-2b": values, "/b": planted(values, 1.0, -1.0, 1.0)}
    return statistics(
        {
            CHOICES_FILE: {at: choices.document(of, DRAWS) for at, of in states.items()},
            "beyond/spectral": {"/gemma-2b": BOTH, "/gpt2": BOTH, "/opt": {"it": {"legacy": 1}}},
            "beyond/lstar": {"/gpt2": MEANS},
            "beyond/aniso": {"/gemma-2b": LAST, "/pythia-6p9b": LAST},
            **{GEMMA_ANISOTROPY: SHARES, ANISOTROPY_FILE: SHARES},
            "paper3/Results/x.json": {"/gpt2": BOTH},
        }
    )


def test_what_the_weights_alone_say(every: dict[str, Any]) -> None:
    rows = [*every["gpt2"]["rows"], *every["pythia-6p9b"]["rows"]]
    assert {row["outcome"] for row in rows} == {"lost"}
    sides = [(row["published"]["value"], row["other"]["value"]) for row in rows]
    assert sides[:-1] == [(2.0, 0.5), (2.0, 1.0), (2.0, 1.0)]
    assert [(row["claim"], row["choice"], row["other"]["label"]) for row in rows] == [
        ("spectral_norms", "correct_slices", "W_V <= W_O"),
        ("critical_layer", "correct_slices", "lstar argmax: 2.5 to 7.0"),
        ("critical_layer", "without_nan", "spectral L_star_full: 3 to 5"),
        ("bell", "before_norm", "L4"),
    ]


def test_a_claim_is_answered_once_and_the_summary_counts_every_model_once(
    values: Values, every: dict[str, Any]
) -> None:
    assert list(every) == ["gemma-2b", "b", "gpt2", "pythia-6p9b", "summary"]
    rows = every["gemma-2b"]["rows"]  # what the states say is not said again by the weights
    assert [row for row in rows if row["claim"] == "bell"] == [found(values, "bell", "before_norm")]
    assert [row["claim"] for row in rows[len(rows_of(values)) :]] == [
        row["claim"] for row in every["gpt2"]["rows"]
    ]
    *documents, summary = every.values()
    keys = [(row["claim"], row["choice"]) for row in summary["rows"]]
    claims, names = list(survival.CLAIMS), list(survival.CHOICES)
    assert keys == sorted(keys, key=lambda key: (claims.index(key[0]), names.index(key[1])))
    assert len(keys) == len(set(keys))
    for row in summary["rows"]:
        named = [name for word in WORDS for name in row[word]]
        assert len(set(named)) == row["n_models"] == (3 if row["claim"] == "bell" else 2)
    assert len(summary["models"]) == sum(len(of["rows"]) for of in documents)
    assert survival.STATISTICS.keys() == survival.CLAIMS.keys()


# --- what the published numbers can tell --------------------------------------------------------
def test_published_curves_tested_at_once(works: dict[str, Derivation]) -> None:
    in_print = works["sensitivity"]
    rows = {(row["claim"], row["choice"]): row for row in in_print.documents["summary"]["rows"]}
    late = rows["late_inversion", "multiplicity"]
    assert late["absent"] == ["gemma-2b"]
    assert len(late["survives"]) == 5
    assert rows["category_inversion", "multiplicity"]["lost"] == ["pythia-6p9b"]
    singles = in_print.documents["pythia-6p9b"]["rows"]
    single, without = (row for row in singles if row["claim"] == "category_inversion")
    other = single["other"]
    assert without["other"]["label"] == "without ground truth numeric"
    assert (without["outcome"], round(without["other"]["value"], 4)) == ("lost", -0.6043)
    # nine layers: z = 2.773 for 0.05 / 9, half width z / sqrt(6 - 3)
    assert np.arctanh(other["high"]) - np.arctanh(other["value"]) == pytest.approx(
        stats.norm.isf(0.05 / 18) / np.sqrt(3)
    )
    assert single["published"]["high"] == pytest.approx(-0.11866444976211941)
    assert in_print.derived["pythia-6p9b:/rows"]
