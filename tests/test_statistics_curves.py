"""What is read off a curve over layers, and the words for it: every limit from both sides."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judged import DRAWS
from layerwise.analyses import anisotropy, calibration, critical_layer, layers, twins, validation
from layerwise.analyses.evidence import Evidence
from layerwise.analyses.gain_files import dampens, share
from layerwise.analyses.lab_heritage import chi_square_p
from layerwise.analyses.sequence_gains import ratios
from layerwise.errors import LayerwiseError
from layerwise.inputs.measured import alone
from layerwise.statistics import curves, phases

ACROSS, ABOVE, BELOW = (-0.1, 0.1), (0.1, 0.2), (-0.2, -0.1)
PYTHIA, INVERSION = "PYTHIA_PATTERN: positive early, negative late", "LATE_INVERSION"
PARTIAL = "PARTIAL MATCH: positive early, negative late"


def entry(document, **others):
    return Evidence(alone({"it": document, **others}), DRAWS)["it"]


def pooling(mean, last):
    r = {"mean_pooled": {"correlation": mean}, "last_token": {"correlation": last}}
    return layers.pooling_verdict(entry(r))


def profile(peak, n_layers=32):
    """A profile of 32 blocks, whose peak the notebook expects at layer 28."""
    shares = {"intrinsic_dim_ratio": np.eye(n_layers + 1)[peak].tolist()}
    return entry(shares, **{"notebook 004": {"PAPER2_L_STAR_ESTIMATE": 28}})


# a rule, and by word what it is said of: one value, or the arguments
WORDS = [
    # r, UA and preferences of categories
    (validation.aligned, {"YES": [(0.1, 0.5), (-0.1, -0.5), (0.019, -0.09)],
                          "NO": [(0.1, -0.5), (0.02, -0.09), (0.019, -0.1), (0.0, 0.2)]}),
    (validation.coupling, {"ALIGNED": [0.51], "DECOUPLED": [0.5, -0.3], "INVERTED": [-0.31]}),
    (validation.key_question, {"YES": [(0.019, 0.51), (0.019, -0.6)], "NO": [(-0.051, 0.6)],
                               "UNCLEAR": [(0.019, 0.5), (0.02, 0.51), (0.05, 0.6)]}),
    (lambda r: curves.under(r, layers.BANDS, "above"),
     {"INVERSE (strong negative)": [-0.51], "Weak negative": [-0.5], "above": [0.5],
      "DECOUPLED (near zero)": [-0.2, 0.0, 0.199], "Weak positive": [0.2, 0.499]}),
    (pooling, {"more": [(-0.87, -0.34)], "less": [(0.5, 0.29)],  # signed
               "minimal": [(0.5, 0.69), (0.5, 0.31)]}),
    (lambda peak: anisotropy.PROFILE["match_verdict"](profile(peak)),
     {"EXCELLENT MATCH": [31, 25], "GOOD MATCH": [24, 23], "DISCREPANCY": [22]}),
    # phase means: early, mid, late
    (phases.thirds_label, {PYTHIA: [(0.4, 0.05, -0.2)], INVERSION: [(0.1, -0.2, -0.11)],
                           "DECOUPLED": [(0.14, 0.14, -0.1)],
                           "OTHER": [(0.4, 0.3, -0.1), (0.0, 0.15, 0.0)]}),
    (phases.llama_label, {"MATCHES": [(0.1, 0.1, -0.1)], PARTIAL: [(0.1, 0.0, -0.1)],
                          "PARTIAL": [(0.0, 0.1, -0.1)], "DIFFERENT PATTERN": [(0.4, 0.3, 0.0)]}),
    (phases.template_label, {"PYTHIA_PATTERN": [(0.4, 0.3, -0.2)], "DECOUPLED": [(0.09,) * 3],
                             "OTHER": [(0.4, 0.1, -0.2), (0.4, 0.2, -0.1), (0.1, 0.09, -0.09)]}),
    (phases.structured, {"Yes": [(0.1, -0.1, True)],
                         "No": [(0.0, -0.1, True), (0.1, 0.0, True), (0.1, -0.1, False)]}),
    (phases.late_inversion, {"TRUE": [-0.11], "FALSE": [-0.1]}),
    # gains
    (dampens, {True: [0.999, (0.996, 3)], False: [1.0, (0.996, 2)]}),
    (twins.effect, {"DAMPENS": [-0.06], "NEUTRAL": [-0.05, 0.05], "AMPLIFIES": [0.06]}),
    # Paper 1
    (calibration.paper_status, {"Pass": [(ACROSS, -0.29), ((0.0, 0.02), 0.1)],
                                "not Pass": [(ACROSS, 0.3), (ABOVE, 0.1)]}),
    (calibration.code_status, {"NEUTRAL": [(ACROSS, 0.19)], "MARGINAL": [(ACROSS, -0.2)],
                               "ASYMMETRY": [(ABOVE, 0.1)]}),
    (calibration.rank, {"lowest": [{"apertus": -0.2, "a": 0.1}],
                        "place 2 of 3 from below": [{"a": -0.3, "apertus": -0.2, "b": 0.1}]}),
    (calibration.below, {"d < 0.3": [("d", [0.1, 0.29], 0.3)],
                         ">= -0.14": [("", [-0.2, -0.14], -0.14)]}),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "found"), WORDS, ids=lambda of: getattr(of, "__name__", ""))
def test_words(rule, found):
    for word, cases in found.items():
        for case in cases:
            assert rule(*(case if isinstance(case, tuple) else (case,))) == word, case


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: share([]), "at least one model"),
        *((lambda norms=norms: ratios(entry({"norms": norms})), "all positive and finite")
          for norms in ([1.0], [1.0, 0.0], [1.0, math.nan])),
        (lambda: critical_layer.relative_error(3, 0), "other than 0"),
        (lambda: chi_square_p(np.array([[0, 3], [0, 9]])),
         r"no empty row or column, found \[\[0, 3\], \[0, 9\]\]"),
        (lambda: phases.thirds_of_list([0, 4]), "at least three sampled layers, found 2"),
        (lambda: phases.phase_of(5, {"early": [0, 4]}), "layer 5 is in no phase"),
        *((lambda r=r, n=n: phases.fisher_interval(r, n), f"found n={n}, r={r}")
          for r, n in ((0.5, 3), (1.0, 10), (-1.0, 10))),
    ],
)  # fmt: skip
def test_what_has_no_word_iv(call, said):
    with pytest.raises(LayerwiseError, match=said):
        call()


# --- curves ---


@given(st.integers(3, 40))
def test_thirds_keep_every_layer(n):
    every = list(range(n))
    for parts in (phases.thirds_of_list(every), phases.thirds_of_depth(every, n - 1)):
        assert list(itertools.chain(*parts.values())) == every
        assert all(phases.phase_of(layer, parts) == name for name, of in parts.items()
                   for layer in of)  # fmt: skip


def test_thirds_of_what_was_sampled_and_of_the_depth():
    nine, ten = list(range(0, 33, 4)), list(range(0, 19, 2))
    spans = {"early": [0, 4, 8], "mid": [12, 16, 20], "late": [24, 28, 32]}
    assert phases.thirds_of_list(nine) == phases.thirds_of_depth(nine, 32) == spans
    assert [len(part) for part in phases.thirds_of_list(ten).values()] == [3, 3, 4]
    assert [len(part) for part in phases.thirds_of_depth(ten, 18).values()] == [4, 3, 3]


def test_transition_is_the_first_from_positive_to_negative():
    assert phases.transition({0: -0.4, 2: 0.4, 4: 0.1, 6: -0.1, 8: 0.2, 10: -0.3}) == "L4-6"
    assert phases.transition({0: -0.4, 2: 0.4}) == "---"
    assert phases.transition({0: 0.4, 4: 0.0, 8: -0.4}) == "---"
    assert phases.first_not_positive({0: 0.4, 4: 0.0, 8: -0.4}) == "L4"
    assert phases.first_not_positive({0: 0.4}) == "---"
    assert phases.equal_signs({0: 0.1, 4: -0.1, 8: 0.0}, {0: 0.2, 4: 0.2, 8: 0.0}) == 1


def test_a_zero_makes_no_sign_change():
    found = curves.sign_changes({0: -0.1, 4: 0.2, 8: 0.0, 12: -0.3}, 16)
    assert found == [{"layer_before": 0, "layer_after": 4, "midpoint_pct": 12.5, "layers": [0, 4]}]
    series = ((-0.1, 0.2), (-0.1, -0.2), (0.1, 0.2), (0.1, 0.0))
    words = [layers.no_sign_change(dict(enumerate(r))) for r in series]
    assert words == [None, "NEGATIVE", "POSITIVE", "unclear"]


def test_fisher_interval_against_scipy():
    found = stats.pearsonr(*np.random.RandomState(3).normal(size=(2, 40)))
    low, high = found.confidence_interval(0.95)
    assert phases.fisher_interval(float(found.statistic), 40) == pytest.approx((low, high))


@pytest.mark.parametrize(("r", "interval"), [(0.15, ABOVE), (-0.15, BELOW), (0.05, (-0.1, 0.1))])
def test_a_stable_layer_has_the_sign_and_excludes_zero(r, interval):
    found = [curves.some_stable({8: r}, {8: interval}, positive=of) for of in (True, False)]
    assert found == [interval is ABOVE, interval is BELOW]


def test_line_fit_against_scipy():
    values = np.random.default_rng(0).normal(size=12).tolist()
    expected = stats.linregress(range(12), values)
    assert curves.line_fit(values) == pytest.approx((expected.slope, expected.rvalue), abs=1e-14)
    for constant in ([], [3.0], [0.1, 0.1, 0.1]):
        assert curves.line_fit(constant) == (0, 0)


def test_bell_test_splits_at_the_first_maximum():
    found = curves.bell_test([0.1, 0.3, 0.9, 0.9, 0.5, 0.4])
    assert found.l_star == 2
    assert found.is_bell_curve
    before, after = stats.linregress([0, 1], [0.1, 0.3]), [0.9, 0.9, 0.5, 0.4]
    assert found.phase1_slope == pytest.approx(before.slope)
    assert found.phase2_slope == pytest.approx(stats.linregress(range(4), after).slope)
    assert not curves.bell_test([0.9, 0.5]).is_bell_curve  # nothing before the peak
    assert not curves.bell_test([0.1, 0.2, 0.3]).is_bell_curve  # nothing after it


def test_layers_of_the_profile():
    assert curves.spectrum_layers(7, 32) == [0, 3, 7, 19, 32]
    assert list(anisotropy.three_phases(profile(7)).values()) == ["0-7", "7-28", "28-32"]
    assert anisotropy.three_phases(profile(7, 12)) is None
