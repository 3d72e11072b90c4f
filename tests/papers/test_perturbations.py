"""Changes of published cells, each with the marks and words that it must have.

What print can decide moves its mark. A claim that lacks its units in print stays open whatever is
published, and the word of the papers' own reading moves instead: both stand in the table.
"""

from dataclasses import dataclass, field

import pytest
from synthetic import (
    HUNTED,
    NEUTRAL,
    SWEPT,
    ask_all,
    curve_cells,
    depth,
    entries,
    heads_density,
    is_eleuther,
    matching,
    with_curve,
    with_gain,
    with_ua,
)
from titles import (
    APERTUS,
    BUSINESS,
    FACTS,
    GEMMA,
    LLAMA,
    NUMERIC,
    PAPER_1,
    PYTHIA,
    TEMPLATED,
    TURNING,
    all_of,
    by_lab,
    category,
    critical,
    curves,
    flat,
    gains,
    neutral,
    over_categories,
    peaks,
    profile,
    turns,
)

from judged import changed
from layerwise.engine.answer_words import NEEDS_WEIGHTS, NO, NO_SPREAD, TOO_FEW, UNDECIDED, YES
from layerwise.engine.answers import read_answers
from layerwise.engine.central import read_central
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, OPEN, weigh
from layerwise.engine.published import DECIDES, OVER_MODELS, PUBLISHED
from layerwise.papers.shared import result_files as files

# --- changes of some cells, the others as they were published ---


def at_layers(slug, r_by_layer, half=0.1):
    """r of some layers of a curve, with intervals of this half width on z."""

    def make(p):
        whole = with_curve(p, slug, lambda layer: r_by_layer.get(layer, 0.0), half)
        return {cell: whole[cell] for layer in r_by_layer for cell in curve_cells(slug, layer)}

    return make


def gains_of(gain_by_name):
    """The mean gains of some models of sweep and survey."""

    def make(p):
        cells = {}
        for file, group in (SWEPT, HUNTED):
            for place, name in entries(p, file, group).items():
                if name in gain_by_name:
                    cells |= with_gain(p, file, place, gain_by_name[name])
        return cells

    return make


def last_gains(file, gain, **labels):
    """The last gains of the rows that have these labels, a little apart."""

    def make(p):
        starts = [key.rpartition("/")[0] for key in matching(p, file, r"/\d+/Last_Gain")]
        chosen = [
            start
            for start in starts
            if all(p.cells[file, f"{start}/{name}"] == label for name, label in labels.items())
        ]
        assert chosen
        return {
            (file, f"{start}/Last_Gain"): gain + 0.001 * (n % 3 - 1)
            for n, start in enumerate(chosen)
        }

    return make


def one_asymmetry(model, name, value):
    return lambda p: with_ua(p, model, {name: value})


def behind_the_final_norm(gain):
    """The last published gain of EleutherAI's models, which the final norm is part of."""

    def make(p):
        return {
            (file, f"{place}/all_layer_gains/{depth(p, file, place) - 1}"): gain
            for file, group in (SWEPT, HUNTED)
            for place in entries(p, file, group)
            if is_eleuther(p, file, place)
        }

    return make


def bins_at(values):
    return lambda p: {
        (files.BINS, f"/bootstrap_results/{layer}/{name}"): r + shift
        for layer, r in values.items()
        for name, shift in (("r", 0.0), ("ci_lower", -0.1), ("ci_upper", 0.1))
    }


def middle_layer(r):
    return lambda p: {
        (files.SCALING, "/models/Pythia-6.9B/layer_results/8/correlation"): r,
        (files.BOOTSTRAP, "/layer_results/8/r"): r,
    }


def two_humps(second, at):
    """A profile that peaks at layer 7, and once more."""

    def share(layer):
        if layer <= 7:
            return 0.9 + 0.0134 * layer
        if layer <= at:
            return second - 0.02 * abs(layer - at)
        return second - 0.01 * (layer - at)

    return profile(share)


SIZES = ("70m", "160m", "410m", "1b", "1.4b", "2.8b", "6.9b", "12b")
FLAT_BUT_70M = {f"pythia-{size}": 3.0 if size == "70m" else 1.0 for size in SIZES}
LATE = (24, 28, 32)


# --- the cases ---


@dataclass(frozen=True)
class Case:
    """A change, and what must come of it.

    Attributes:
        marks: of claims, each with the reason if it is open.
        words: by question and model, of the reading of the papers where print lacks what decides.
        signs: of the papers' number where it is a single one.
    """

    make: object
    marks: dict
    words: dict = field(default_factory=dict)
    signs: dict = field(default_factory=dict)


HELD, FAILED = (HOLDS, ""), (FAILS, "")
WAITS, FEW, OPENED = (OPEN, NEEDS_WEIGHTS), (OPEN, TOO_FEW), (OPEN, UNDECIDED)
CASES = {
    "Llama and Apertus negative from layer 0 on": Case(
        flat({LLAMA: -0.4, APERTUS: -0.4}),
        {"p2.early": WAITS, "p2.three_of_four": WAITS, "p2.transition": WAITS},
        {
            ("early", LLAMA): NO,
            ("early", APERTUS): NO,
            ("early", PYTHIA): YES,
            ("late_inversion", LLAMA): YES,
            ("turns", LLAMA): NO,
            ("turns", APERTUS): NO,
            ("turn_apart", f"{LLAMA} and {APERTUS}"): NO,
        },
    ),
    "peaks at 0, 100, 0 and 100 percent of the depth": Case(
        peaks((0, -1, 0, -1)), {"p2.scaling": FEW}
    ),
    "Apertus has 0.40 on facts": Case(
        one_asymmetry("apertus", FACTS, 0.4),
        {"p1.apertus_facts": WAITS},
        {("facts_above_models", "apertus"): NO_SPREAD},
        {("facts_above_models", "apertus"): 1, ("facts_largest", "apertus"): 1},
    ),
    "Mistral tuned to 3.0": Case(
        last_gains(files.TWIN_ROWS, 3.0, Family="Mistral-7B", Variant="instruct"),
        {"p3.tuning": FEW},
        {("sides_kept", OVER_MODELS): UNDECIDED},
    ),
    "Pythia-6.9B's last gain at 1.02": Case(
        last_gains(files.BENCHMARK_ROWS, 1.02, Model="Pythia-6.9B"),
        {"p3.gains": FAILED},
        {("last_damping", "Pythia-6.9B"): NO},
    ),
    "Pythia-410M expands": Case(
        gains_of({"pythia-410m": 1.1}), {"p3.trace": FEW}, {("damping", "pythia-410m"): NO}
    ),
    "Gemma's neutral mean at -0.030, tight": Case(
        neutral({"gemma": -0.03}),
        {"p1.positive": FAILED, "p1.neutral": OPENED},
        {("positive_on_neutral", "gemma"): NO},
    ),
    "Llama turns back to +0.30 in late layers": Case(
        at_layers(LLAMA, dict.fromkeys(LATE, 0.3)),
        {"p2.late": WAITS, "p2.transition": WAITS, "p2.three_of_four": WAITS},
        {("late", LLAMA): NO, ("turns", LLAMA): NO, ("late_inversion", LLAMA): NO},
    ),
    "EleutherAI's gains after the final norm at 1.2": Case(
        behind_the_final_norm(1.2), {"p3.heritage": OPENED, "p3.depth_gain": HELD}
    ),
    "the critical layer is half the depth": Case(
        critical(lambda _, half: half), {"p3.lstar": FAILED}
    ),
    "bins at layers 8 and 12 at -0.5": Case(
        bins_at({8: -0.8, 12: -0.8}), {"p2.bins": FAILED}, {("mid_bins", PYTHIA): NO}
    ),
    "Pythia-1B and GPT-J under the bound": Case(
        gains_of({"pythia-1b": 1.1, "gpt-j-6B": 1.05}),
        {"p3.bound": (OPEN, "no categories")},
        {("bound", "pythia-1b"): YES, ("bound", "bloom-560m"): "no categories"},
    ),
    "a second hump of the profile at layer 22": Case(
        two_humps(0.95, 22), {"p3.anisotropy": WAITS}, {("bell", PYTHIA): NO_SPREAD}
    ),
    "Apertus has -0.20 on facts": Case(
        one_asymmetry("apertus", FACTS, -0.2),
        {"p1.apertus_facts": WAITS},
        {("facts_above_models", "apertus"): NO_SPREAD},
        {("facts_above_models", "apertus"): -1},
    ),
    "business negative in all models": Case(
        category(BUSINESS, (-0.031, -0.032, -0.033, -0.034)),
        {"p1.business": FAILED},
        {("business_mean", OVER_MODELS): NO},
    ),
    "three identical curves": Case(
        turns(dict.fromkeys(TURNING, 20)),
        {"p2.transition": WAITS, "p2.early": WAITS, "p2.late": WAITS, "p2.extremum": WAITS},
        {
            **{("early", slug): YES for slug in TURNING},
            **{("late", slug): YES for slug in TURNING},
            **{("turns", slug): YES for slug in TURNING},
            ("turn_apart", f"{PYTHIA} and {LLAMA}"): NO,
            ("turn_apart", f"{PYTHIA} and {APERTUS}"): NO,
            ("turn_apart", f"{LLAMA} and {APERTUS}"): NO,
            ("below_others", APERTUS): UNDECIDED,
        },
    ),
    "the survey's gains follow the density of heads": Case(
        gains(
            lambda p, file, place: (
                p.cells[file, f"{place}/all_layer_gains/{depth(p, file, place) - 2}"]
                if file == files.SWEEP
                else (0.5 if heads_density(p, file, place) >= 0.2 else 2.0)
            )
        ),
        {"p3.heritage": OPENED, "p3.crowding": HELD},
        signs={("heritage", OVER_MODELS): -1},
    ),
    "Mistral's base and tuned model damp": Case(
        last_gains(files.TWIN_ROWS, 0.8, Family="Mistral-7B"),
        {"p3.tuning": FEW},
        {("sides_kept", OVER_MODELS): YES},
    ),
    "three models within 0.002 of zero on neutral statements": Case(
        neutral(dict.fromkeys(("gemma", "llama", "mistral"), 0.001)),
        {"p1.neutral": HELD},
        {("calibration", "apertus"): UNDECIDED},
    ),
    "Apertus has +0.60 on numeric facts": Case(
        one_asymmetry("apertus", NUMERIC, 0.6),
        {"p1.numeric": WAITS},
        signs={("numeric", "apertus"): 1},
    ),
    "Pythia's late layers at +0.40": Case(
        at_layers(PYTHIA, dict.fromkeys(LATE, 0.4), half=0.09),
        {"p2.late": WAITS, "p2.transition": WAITS, "p2.three_of_four": WAITS},
        {("late", PYTHIA): NO, ("turns", PYTHIA): NO, ("late_inversion", PYTHIA): NO},
    ),
    "labs that differ perfectly": Case(by_lab(0.5, 2.0), {"p3.heritage": HELD}),
    "r of 0.95 over the categories at layer 8": Case(
        middle_layer(0.95), {"p2.layers": WAITS}, {("category_mid", PYTHIA): YES}
    ),
    "Apertus has -0.30 on numeric facts": Case(
        one_asymmetry("apertus", NUMERIC, -0.3),
        {"p1.numeric": WAITS},
        {("numeric", "apertus"): NO_SPREAD},
        {("numeric", "apertus"): -1},
    ),
    "the template's layer 0 at -0.13": Case(
        at_layers(TEMPLATED, {0: -0.13}, half=0.115),
        {"p2.template": WAITS},
        {("everywhere_negative", TEMPLATED): YES},
    ),
    "the template's layer 0 at -0.08": Case(
        at_layers(TEMPLATED, {0: -0.08}, half=0.115),
        {"p2.template": WAITS},
        {("everywhere_negative", TEMPLATED): UNDECIDED},
    ),
    "Llama tuned to 0.93": Case(
        last_gains(files.TWIN_ROWS, 0.93, Family="LLaMA-3.1-8B", Variant="instruct"),
        {"p3.tuning": FAILED},
        {("sides_kept", OVER_MODELS): NO},
    ),
    "a second hump nearly as high, at layer 19": Case(
        two_humps(0.984, 19), {"p3.anisotropy": WAITS}, {("bell", PYTHIA): NO_SPREAD}
    ),
    "seven Pythia sizes flat, 70M at 3.0": Case(
        gains_of(FLAT_BUT_70M), {"p3.depth_gain": OPENED}, {("depth_gain", OVER_MODELS): UNDECIDED}
    ),
    "Mistral above Llama": Case(
        last_gains(files.BENCHMARK_ROWS, 1.8, Model="Mistral-7B"),
        {"p3.gains": FAILED},
        {("gain_order", OVER_MODELS): NO, ("expansion", "Mistral-7B"): YES},
    ),
    "all peaks at layer 0": Case(peaks((0, 0, 0, 0)), {"p2.scaling": FEW}),
    "Gemma inverts": Case(
        at_layers(GEMMA, {18: -0.6}),
        {"p2.gemma": WAITS, "p2.three_of_four": WAITS},
        {("no_inversion", GEMMA): NO, ("late_inversion", GEMMA): YES},
    ),
    "r over the categories nearly one in the other direction": Case(
        over_categories(0.97, 0.97), {"p2.category_inversion": FAILED, "p2.layers": FAILED}
    ),
    "one shift of every category moves Gemma's mean to zero": Case(
        lambda p: with_ua(p, "gemma", shifted(p, "gemma", -0.0217)),
        {"p1.positive": OPENED},
        {("positive_on_neutral", "gemma"): UNDECIDED},
    ),
    "one shift of every category moves every mean up": Case(
        all_of(
            *(lambda p, model=model: with_ua(p, model, shifted(p, model, 0.2)) for model in PAPER_1)
        ),
        {"p1.positive": HELD, "p1.neutral": FAILED},
    ),
    "Gemma's mean far enough above zero, Apertus' nearer": Case(
        all_of(neutral({"gemma": 0.05}), neutral({"apertus": 0.0001})),
        {"p1.positive": (IN_PART, "")},
        {("positive_on_neutral", "apertus"): UNDECIDED},
    ),
    "r of Apertus alike at every layer": Case(
        curves({APERTUS: lambda _: -0.3}),
        {"p2.extremum": WAITS},
        {("below_others", APERTUS): UNDECIDED},
    ),
}


def shifted(published, model, by):
    """The neutral asymmetries of a model, each moved by the same amount."""
    file = files.PAPER1[model]
    return {
        name: published.cells[file, f"/{name}/uniformity_a"]
        - published.cells[file, f"/{name}/uniformity_b"]
        + by
        for name in NEUTRAL
    }


@pytest.fixture(scope="module")
def entries_by_id(root):
    return {entry["id"]: entry for entry in read_central(root / "claims")}


def by_published(by_reading):
    """The answer as the papers took it, or the one that decides where that is no other."""
    return by_reading[PUBLISHED] if DECIDES not in by_reading else by_reading[DECIDES]


@pytest.mark.parametrize("case", CASES)
def test_a_change_of_print_has_its_mark_and_words(case, published, entries_by_id):
    change = CASES[case]
    asks = {claim: entries_by_id[claim]["asks"] for claim in change.marks}
    names = {ask["question"] for of_claim in asks.values() for ask in of_claim}
    names |= {name for name, _ in [*change.words, *change.signs]}
    answers = ask_all(changed(published, change.make(published)), names)
    marks = {}
    for claim, of_claim in asks.items():
        weighed = weigh(of_claim, answers)
        marks[claim] = weighed.mark, weighed.why
    assert marks == change.marks
    words = {at: by_published(answers[at[0]][at[1]]).word for at in change.words}
    assert words == change.words
    for (name, model), sign in change.signs.items():
        assert by_published(answers[name][model]).value * sign > 0


def test_every_change_moves_some_answer(published, works):
    """So that none of them is of cells that nothing reads."""
    before = read_answers({"questions": works["questions"].documents})
    for case, change in CASES.items():
        names = {name for name, _ in [*change.words, *change.signs]}
        if not names:
            continue
        answers = ask_all(changed(published, change.make(published)), names)
        assert any(answers[name] != before[name] for name in names), case
