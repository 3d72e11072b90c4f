"""What is read off a curve over layers, its critical layer, and the words, from both sides."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judged import DRAWS
from layerwise.engine.evidence import Evidence
from layerwise.errors import LayerwiseError
from layerwise.papers.paper1.rules import calibration
from layerwise.papers.paper3.rules import anisotropy, critical_layer, crowding, lab_heritage, twins
from layerwise.papers.paper3.rules.gain_files import Rows, dampens, share
from layerwise.papers.paper3.rules.sequence_gains import last_gain
from layerwise.papers.shared.published import tables_of_reader
from layerwise.statistics import critical_layer as rules
from layerwise.statistics import curves, phases

ACROSS, ABOVE, BELOW = (-0.1, 0.1), (0.1, 0.2), (-0.2, -0.1)
PYTHIA, INVERSION = "PYTHIA_PATTERN: positive early, negative late", "LATE_INVERSION"
PARTIAL = "PARTIAL MATCH: positive early, negative late"


def entry(document, **others):
    return Evidence(tables_of_reader({"it": document, **others}), DRAWS)["it"]


def profile(peak, n_layers=32):
    """A profile of 32 blocks, whose peak the notebook expects at layer 28."""
    shares = {"intrinsic_dim_ratio": np.eye(n_layers + 1)[peak].tolist()}
    return entry(shares, **{"notebook 004": {"PAPER2_L_STAR_ESTIMATE": 28}})


def model(last):
    """One whose density of heads, 4 over 20, is at the limit."""
    return entry({"n_heads": 4, "d_model": 80, "all_layer_gains": [last, 1.0]})


def tuning(base, tuned):
    """A family of a base model and its tuned version, two prompts each around these gains."""
    rows = [
        {"Family": "it", "Variant": variant, "Last_Gain": mean + side}
        for variant, mean in (("base", base), ("instruct", tuned))
        for side in (-0.05, 0.05)
    ]
    return Rows(Evidence(tables_of_reader({"it": rows}), DRAWS)["it"])


def surveyed(*gains):
    """A survey of such models; each is foretold to damp, as its density is at the limit."""
    group = {
        f"m{number}": {"n_heads": 4, "d_model": 80, "all_layer_gains": [gain, 1.0]}
        for number, gain in enumerate(gains)
    }
    return entry({"tested_results": group})


# a rule, and by word what it is said of: one value, or the arguments
WORDS = [
    (
        lambda peak: anisotropy.profile_statistics(profile(peak))["match_verdict"](),
        {"EXCELLENT MATCH": [31, 25], "GOOD MATCH": [24, 23], "DISCREPANCY": [22]},
    ),
    # phase means: early, mid, late
    (
        phases.thirds_label,
        {
            PYTHIA: [(0.4, 0.05, -0.2)],
            INVERSION: [(0.1, -0.2, -0.11)],
            "DECOUPLED": [(0.14, 0.14, -0.1)],
            "OTHER": [(0.4, 0.3, -0.1), (0.0, 0.15, 0.0)],
        },
    ),
    (
        phases.llama_label,
        {
            "MATCHES": [(0.1, 0.1, -0.1)],
            PARTIAL: [(0.1, 0.0, -0.1)],
            "PARTIAL": [(0.0, 0.1, -0.1)],
            "DIFFERENT PATTERN": [(0.4, 0.3, 0.0)],
        },
    ),
    (
        phases.template_label,
        {
            "PYTHIA_PATTERN": [(0.4, 0.3, -0.2)],
            "DECOUPLED": [(0.09,) * 3],
            "OTHER": [(0.4, 0.1, -0.2), (0.4, 0.2, -0.1), (0.1, 0.09, -0.09)],
        },
    ),
    (
        phases.structured,
        {
            "Yes": [(0.1, -0.1, True)],
            "No": [(0.0, -0.1, True), (0.1, 0.0, True), (0.1, -0.1, False)],
        },
    ),
    (
        phases.transition,
        {
            "L4-6": [{0: -0.4, 2: 0.4, 4: 0.1, 6: -0.1, 8: 0.2, 10: -0.3}],
            "---": [{0: -0.4, 2: 0.4}, {0: 0.4, 4: 0.0, 8: -0.4}],
        },
    ),
    (phases.first_not_positive, {"L4": [{0: 0.4, 4: 0.0, 8: -0.4}], "---": [{0: 0.4}]}),
    (phases.equal_signs, {1: [({0: 0.1, 4: -0.1, 8: 0.0}, {0: 0.2, 4: 0.2, 8: 0.0})]}),
    (phases.late_inversion, {"TRUE": [-0.11], "FALSE": [-0.1]}),
    # gains
    (dampens, {True: [0.999, (0.996, 3)], False: [1.0, (0.996, 2)]}),
    (
        lambda last: lab_heritage.signature([model(last)]),
        {"DAMPENER": [0.949], "NEUTRAL": [0.95, 1.05], "EXPANDER": [1.051]},
    ),
    (lambda last: crowding.predictions_met([model(last)])[0], {True: [0.9], False: [1.0]}),
    (
        lambda *gains: crowding.accuracy_verdict(surveyed(*gains)),
        {
            "FALSIFIED": [(0.9, 1.1, 1.1)],
            "PARTIAL": [(0.9, 1.1), (0.9, 0.9, 1.1)],
            "VALIDATED": [(0.9, 0.9, 0.9, 1.1)],
        },
    ),
    (
        lambda *gains: twins.keeps_side(tuning(*gains)),
        {True: [(1.2, 1.1), (0.8, 0.9)], False: [(1.2, 0.9), (0.8, 1.1)]},
    ),
    # Paper 1
    (
        calibration.paper_status,
        {"Pass": [(ACROSS, -0.29), ((0.0, 0.02), 0.1)], "not Pass": [(ACROSS, 0.3), (ABOVE, 0.1)]},
    ),
    (
        calibration.code_status,
        {"NEUTRAL": [(ACROSS, 0.19)], "MARGINAL": [(ACROSS, -0.2)], "ASYMMETRY": [(ABOVE, 0.1)]},
    ),
    (
        calibration.place_of_apertus,
        {
            "lowest": [{"apertus": -0.2, "a": 0.1}],
            "place 2 of 3 from below": [{"a": -0.3, "apertus": -0.2, "b": 0.1}],
        },
    ),
    (
        calibration.compare_with_bound,
        {"d < 0.3": [("d", [0.1, 0.29], 0.3)], ">= -0.14": [("", [-0.2, -0.14], -0.14)]},
    ),
]


@pytest.mark.parametrize(("rule", "found"), WORDS, ids=lambda of: getattr(of, "__name__", ""))
def test_words(rule, found):
    for word, cases in found.items():
        for case in cases:
            assert rule(*(case if isinstance(case, tuple) else (case,))) == word, case


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: share([]), "at least one model"),
        *(
            (lambda norms=norms: last_gain(entry({"norms": norms})), "all positive and finite")
            for norms in ([1.0], [1.0, 0.0], [1.0, math.nan])
        ),
        (lambda: critical_layer.relative_error(3, 0), "other than 0"),
        (lambda: rules.step_sizes(np.ones(1)), "at least 2 layers, found 1"),
        (lambda: rules.gradient_sizes(np.ones(0)), "at least 2 layers, found 0"),
        (lambda: rules.bend_sizes(np.ones(2)), "at least 3 layers, found 2"),
        (
            lambda: rules.least_absolute_deviations(np.ones((4, 3)), np.arange(4.0)),
            r"as many independent rows as coefficients \(3\)",
        ),
        (
            lambda: lab_heritage.chi_square_p(np.array([[0, 3], [0, 9]])),
            r"no empty row or column, found \[\[0, 3\], \[0, 9\]\]",
        ),
        (lambda: phases.thirds_of_list([0, 4]), "at least three sampled layers, found 2"),
        *(
            (lambda r=r, n=n: phases.fisher_interval(r, n), f"found n={n}, r={r}")
            for r, n in ((0.5, 3), (1.0, 10), (-1.0, 10))
        ),
    ],
)
def test_what_has_no_word_is_refused(call, said):
    with pytest.raises(LayerwiseError, match=said):
        call()


# --- curves ---


@given(st.integers(3, 40))
def test_thirds_keep_every_layer(n):
    every = list(range(n))
    for parts in (phases.thirds_of_list(every), phases.thirds_of_depth(every, n - 1)):
        assert list(itertools.chain(*parts.values())) == every


def test_thirds_of_what_was_sampled_and_of_the_depth():
    nine, ten = list(range(0, 33, 4)), list(range(0, 19, 2))
    spans = {"early": [0, 4, 8], "mid": [12, 16, 20], "late": [24, 28, 32]}
    assert phases.thirds_of_list(nine) == phases.thirds_of_depth(nine, 32) == spans
    assert [len(part) for part in phases.thirds_of_list(ten).values()] == [3, 3, 4]
    assert [len(part) for part in phases.thirds_of_depth(ten, 18).values()] == [4, 3, 3]


def test_a_zero_makes_no_sign_change():
    found = curves.sign_changes({0: -0.1, 4: 0.2, 8: 0.0, 12: -0.3}, 16)
    assert found == [{"layer_before": 0, "layer_after": 4, "midpoint_pct": 12.5, "layers": [0, 4]}]


def test_bell_test_splits_at_the_first_maximum():
    found = curves.bell_test([0.1, 0.3, 0.9, 0.9, 0.5, 0.4])
    assert found.l_star == 2
    assert found.is_bell_curve
    assert not curves.bell_test([0.9, 0.5]).is_bell_curve  # nothing before the peak
    assert not curves.bell_test([0.1, 0.2, 0.3]).is_bell_curve  # nothing after it
    for constant in ([], [3.0], [0.1, 0.1, 0.1]):
        assert curves.line_fit(constant) == (0, 0)


def test_layers_of_the_profile():
    assert curves.spectrum_layers(7, 32) == [0, 3, 7, 19, 32]
    phases_of = [anisotropy.profile_statistics(profile(7, n))["three_phases"]() for n in (32, 12)]
    assert phases_of == [{"phase1": "0-7", "phase2": "7-28", "phase3": "28-32"}, None]


# --- the critical layer -------------------------------------------------------------------------

NAN = float("nan")
SIZES = (rules.gradient_sizes, rules.step_sizes, rules.bend_sizes)
series = st.lists(st.sampled_from([*map(float, range(-4, 5)), NAN]), min_size=3, max_size=12)


def looped_turn(t: np.ndarray) -> int:
    """The rule of the sign-change run, one layer at a time; NaN compares false."""
    n = len(t)
    if n < 3:
        return n // 2
    steps = [t[i + 1] - t[i] for i in range(n - 1)]
    for i in range(n - 2):
        if steps[i] > 0 and steps[i + 1] < 0:
            return i + 1
    nan = [i for i in range(n) if np.isnan(t[i])]
    peak = nan[0] if nan else max(range(n), key=lambda i: t[i])  # the first NaN wins the argmax
    if 0 < peak < n - 1:
        return peak
    last = None
    for i, step in enumerate(steps):
        if not nan and abs(step) >= 0.5 * max(abs(s) for s in steps):
            last = i
    return n // 2 if last is None else last + 1


@given(st.one_of(series, st.just([1.0, 2.0])).map(np.array))
@example(np.array([0, 2, 1, 5, 0]))  # the first turn, not the highest
@example(np.array([0, 1, 1, 0, 0]))  # a plateau is no strict change: the peak
@example(np.array([0, 1, 9, 10, 11]))  # the last large step
def test_turning_layer_against_a_loop(t: np.ndarray) -> None:
    assert rules.turning_layer(t.astype(float)) == looped_turn(t)


@given(series.map(np.array))
def test_the_first_nan_wins(t: np.ndarray) -> None:
    for sizes in SIZES:
        sharpness = sizes(t)
        nan = np.flatnonzero(np.isnan(sharpness)).tolist()
        numbers = [layer for layer in range(len(t)) if np.isfinite(sharpness[layer])]
        expected = nan[0] if nan else max(numbers, key=lambda layer: sharpness[layer])
        assert rules.sharpest(sizes, t) == expected


@pytest.mark.parametrize("seed", range(5))
def test_least_absolute_deviations_against_all_lines_through_as_many_rows(seed: int) -> None:
    stream = np.random.default_rng(seed)
    x, y = stream.normal(size=(9, 3)), stream.normal(size=9)
    chosen = [list(rows) for rows in itertools.combinations(range(9), 3)]
    through = [np.linalg.solve(x[rows], y[rows]) for rows in chosen]
    best = min(through, key=lambda c: np.sum(np.abs(x @ c - y)))
    assert rules.least_absolute_deviations(x, y) == pytest.approx(best, rel=1e-9)
