"""A model with known answers: by every reading that its states allow, each question has its own.

Of a pair with the preference y, the A side lies the nearer to its centroid and the B side the
farther from its own, the larger c y is, and c falls from layer to layer: r falls with depth.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from layerwise.engine.answer_words import NO, YES
from layerwise.engine.paper import Paper
from layerwise.engine.published import DECIDES, Published
from layerwise.engine.question import Question, Range
from layerwise.errors import LayerwiseError
from layerwise.measures.pairwise import pair_metrics
from layerwise.measuring.reduction import measure
from layerwise.models.texts import StatementPairs
from layerwise.papers.across.analyses import analyse_reader
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.experiments import reader
from layerwise.papers.shared.names import Choice
from layerwise.reader.arrays import Arrays
from layerwise.statistics.bootstrap import Draws
from random_states import SIZES, some_pairs

DRAWS = Draws(1000, 0.95, 42)
CATEGORIES = (
    "ground_truth_numeric",
    "words",
    "technology",
    "lifestyle",
    "business",
    "scientific_facts",
)
PAIRS = some_pairs(categories=CATEGORIES)
N, N_LAYERS, HIDDEN = len(PAIRS), 8, 48
OF_PRINT = {  # of the papers' own layers, sizes and several models
    *(
        "below_others",
        "mid_bins",
        "category_mid",
        "peak_shift",
        "turns",
        "turn_apart",
        "no_inversion",
    ),
    *("facts_above_models", "business_mean", "business_lowest"),
}
ASKED = [name for name, asked in QUESTIONS.items() if asked.paper < 3 and name not in OF_PRINT]
# What the model must answer under every reading, and of which sign the number is.
ANSWERS = {
    "early": (YES, 1),
    "late": (YES, -1),
    "sign_change": (YES, -1),
    "late_inversion": (YES, -1),
    "everywhere_negative": (NO, 1),
    "category_inversion": (YES, -1),
}
FALLS = (Choice.PUBLISHED, Choice.BEFORE_NORM, Choice.ALL_TOKENS)  # of sign_change


class Falling:
    """The hidden states and the NLL of the model; every reading has noise of its own."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.y = np.repeat(np.linspace(-1, 1, len(SIZES)), SIZES) + 0.3 * rng.normal(size=N)
        self.nll = np.concatenate([3 - self.y / 2, 3 + self.y / 2])
        slopes = np.linspace(0.5, -0.5, N_LAYERS + 1)

        def states(c: float) -> np.ndarray:
            distances = 0.6 * np.exp(np.concatenate([-c * self.y, c * self.y]))
            return 1 + distances[:, None] * rng.normal(size=(2 * N, HIDDEN))

        names = ("hidden_states", "all_tokens")
        self.by_layer = {name: [states(c) for c in slopes] for name in names}
        names = ("before_norm", "last_token", "first_token")
        self.of_last = {name: states(slopes[-1]) for name in names}

    def correlations(self, choice: str, inside: np.ndarray) -> list[float]:
        """r of the pairs' centroid asymmetry and their preference by layer, over some pairs."""
        name = "all_tokens" if choice == Choice.ALL_TOKENS else "hidden_states"
        layers = [*self.by_layer[name]]
        if choice == Choice.BEFORE_NORM:
            layers[-1] = self.of_last["before_norm"]
        asymmetries = [pair_metrics(states[:N], states[N:])[0] for states in layers]
        return [
            float(stats.pearsonr(asymmetry[inside], self.y[inside]).statistic)
            for asymmetry in asymmetries
        ]


@pytest.fixture(scope="module")
def model() -> Falling:
    return Falling()


def analysed(model: Falling, published: Published, pairs: StatementPairs) -> dict[str, Any]:
    """The result files of the model on some pairs."""
    by_layer = {name: np.stack(layers) for name, layers in model.by_layer.items()}
    states = Arrays.read("falling", pairs, by_layer, model.of_last, model.nll)
    values = measure(states, pairs, layer_step=1, k_values=(10,), n_permutations=5, k_stable=20)
    files = reader.result_files(values, DRAWS, published)
    return dict(analyse_reader(reader.tables(files), DRAWS))


@pytest.fixture(scope="module")
def sensitivity(model: Falling, published: Published) -> dict[str, Any]:
    """The result file of the model by every reading."""
    return dict(analysed(model, published, PAIRS)["sensitivity"])


def answers_to(sensitivity: dict[str, Any], question: str) -> dict[str, Any]:
    """The answers to a question, by reading."""
    rows = [row for row in sensitivity["rows"] if row["question"] == question]
    return {row["reading"]: row for row in rows}


@pytest.mark.parametrize("question", ASKED)
def test_every_reading_that_the_states_allow_answers(
    sensitivity: dict[str, Any], question: str
) -> None:
    answered = {reading.partition("/")[0] for reading in answers_to(sensitivity, question)}
    assert answered == set(QUESTIONS[question].readings)


@pytest.mark.parametrize("question", sorted(OF_PRINT))
def test_what_is_asked_of_the_papers_models_is_not_asked_of_a_readers(
    sensitivity: dict[str, Any], question: str
) -> None:
    assert answers_to(sensitivity, question) == {}


def test_every_section_of_the_result_file_has_numbers(sensitivity: dict[str, Any]) -> None:
    lacking = {name for name, section in sensitivity.items() if not section}
    assert lacking == {"anisotropy_before_norm"}  # it needs prompts


@pytest.mark.parametrize("question", ANSWERS)
def test_every_reading_gives_the_known_answer(sensitivity: dict[str, Any], question: str) -> None:
    word, sign = ANSWERS[question]
    for reading, answer in answers_to(sensitivity, question).items():
        assert answer["word"] == word, reading
        assert np.sign(answer["value"]) == sign, reading
        if answer["ends"] is not None:
            low, high = answer["ends"]
            assert low < answer["value"] < high, reading


@pytest.mark.parametrize("reading", FALLS)
def test_the_fall_of_r_is_that_of_its_own_states(
    model: Falling, sensitivity: dict[str, Any], reading: str
) -> None:
    """Late minus early: within the categories by Fisher's z, as published of r over all pairs."""
    answers = answers_to(sensitivity, "sign_change")
    everything = model.correlations(reading, np.arange(N) >= 0)
    if reading == Choice.PUBLISHED:
        early, late = np.mean(everything[:3]), np.mean(everything[-3:])
        fall = np.arctanh(late) - np.arctanh(early)
        assert answers[reading]["value"] == pytest.approx(fall)
        return
    z = np.arctanh([model.correlations(reading, PAIRS.category_of_pair == k) for k in range(6)])
    falls = z[:, -3:].mean(axis=1) - z[:, :3].mean(axis=1)
    assert answers[reading]["value"] == pytest.approx(falls.mean())
    assert answers[reading]["value"] != pytest.approx(answers[DECIDES]["value"])
    low, high = answers[reading]["ends"]
    assert low < falls.mean() < high < 0


@pytest.mark.parametrize("question", ["calibration", "positive_on_neutral"])
def test_categories_that_are_marked_neutral_alone_are_asked(
    model: Falling, published: Published, question: str
) -> None:
    """By every reading of the last layer, and with another number than that of all."""
    marked = ("words", "business")
    results = analysed(model, published, replace(PAIRS, neutral=marked))
    whole = analysed(model, published, PAIRS)
    answered, of_all = (answers_to(of["sensitivity"], question) for of in (results, whole))
    asymmetries = [whole["validation"][name]["asymmetry"] for name in marked]
    assert answered[DECIDES]["value"] == pytest.approx(np.mean(asymmetries))
    for reading in (DECIDES, Choice.BEFORE_NORM, Choice.ALL_TOKENS):
        assert (answered[reading]["n"], of_all[reading]["n"]) == (2, 5)
        assert answered[reading]["value"] != of_all[reading]["value"]


def test_a_reading_without_words_is_refused() -> None:
    """So a misspelt one is an error where the paper is put together."""
    asked = Question(
        name="late",
        paper=1,
        says="",
        number="",
        unit="",
        models=lambda evidence: {},
        readings={DECIDES: float, "befor_norm": float},
        within=Range(),
    )
    words = {DECIDES: "what decides", "before_norm": "before the norm"}
    with pytest.raises(LayerwiseError, match="befor_norm"):
        Paper("toy", "", "", rules={}, questions={"late": asked}, readings=words, sentences={})
