"""A model with known answers: under every choice that its states allow, each question has its own.

Of a pair with the preference y, the A side lies the nearer to its centroid and the B side the
farther from its own, the larger c y is, and c falls from layer to layer: r falls with depth.
"""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from layerwise.engine.answer_words import NO, YES
from layerwise.engine.answers import Answer, read_rows
from layerwise.engine.paper import Paper
from layerwise.engine.published import PUBLISHED, Published
from layerwise.engine.question import Question, Range
from layerwise.errors import LayerwiseError
from layerwise.measures.pairwise import pair_metrics
from layerwise.measuring.reduction import measure
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
OF_PRINT = {  # of the papers' own layers and sizes
    *("positive_before", "negative_after", "below_other", "mid_bins", "category_mid", "peak_shift"),
    *("facts_above_models", "business_mean", "business_below_models", "turn_apart"),
}
ASKED = [name for name, asked in QUESTIONS.items() if asked.paper < 3 and name not in OF_PRINT]
# What the model must answer under every choice, and of which sign the number is.
ANSWERS = {
    "early": (YES, 1),
    "late": (YES, -1),
    "sign_change": (YES, -1),
    "late_inversion": (YES, -1),
    "no_inversion": (NO, -1),
    "everywhere_negative": (NO, 1),
    "category_inversion": (YES, -1),
}
FALLS = ("published", "paired", "before_norm", "all_tokens", "clusters")  # of sign_change


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

    def fall(self, choice: str) -> float:
        """Late minus early mean r of the pairs' centroid asymmetry."""
        layers = [*self.by_layer["all_tokens" if choice == "all_tokens" else "hidden_states"]]
        if choice == "before_norm":
            layers[-1] = self.of_last["before_norm"]
        asymmetries = [pair_metrics(states[:N], states[N:])[0] for states in layers]
        r = [stats.pearsonr(asymmetry, self.y).statistic for asymmetry in asymmetries]
        return float(np.mean(r[-3:]) - np.mean(r[:3]))


@pytest.fixture(scope="module")
def model() -> Falling:
    return Falling()


@pytest.fixture(scope="module")
def sensitivity(model: Falling, published: Published) -> dict[str, Any]:
    """The result file of the model under the choices that the papers did not make."""
    by_layer = {name: np.stack(layers) for name, layers in model.by_layer.items()}
    states = Arrays.read("falling", PAIRS, by_layer, model.of_last, model.nll)
    values = measure(states, PAIRS, layer_step=1, k_values=(10,), n_permutations=5, k_stable=20)
    files = reader.result_files(values, DRAWS, published)
    return dict(analyse_reader(reader.tables(files), DRAWS)["sensitivity"])


def answers_to(sensitivity: dict[str, Any], question: str) -> dict[str, Answer]:
    """The answers to a question, by choice."""
    return read_rows(sensitivity["rows"], "")[question]


@pytest.mark.parametrize("question", ASKED)
def test_every_choice_that_the_states_allow_answers(
    sensitivity: dict[str, Any], question: str
) -> None:
    answered = {choice.partition("/")[0] for choice in answers_to(sensitivity, question)}
    assert answered == set(QUESTIONS[question].choices) - {Choice.MODELS_AT_ONCE}  # one alone


def test_every_section_of_the_result_file_has_numbers(sensitivity: dict[str, Any]) -> None:
    lacking = {name for name, section in sensitivity.items() if not section}
    assert lacking == {"anisotropy_before_norm"}  # it needs prompts


@pytest.mark.parametrize("question", ANSWERS)
def test_every_choice_gives_the_known_answer(sensitivity: dict[str, Any], question: str) -> None:
    word, sign = ANSWERS[question]
    for choice, answer in answers_to(sensitivity, question).items():
        assert answer.word == word, choice
        assert np.sign(answer.value) == sign, choice
        assert answer.ends is None or answer.ends.includes(answer.value), choice


@pytest.mark.parametrize("choice", FALLS)
def test_the_fall_of_r_is_that_of_its_own_states(
    model: Falling, sensitivity: dict[str, Any], choice: str
) -> None:
    """Late minus early, and inside of its own interval."""
    answer = answers_to(sensitivity, "sign_change")[choice]
    fall = model.fall(choice)
    assert answer.value == pytest.approx(fall)
    assert answer.ends is not None
    assert answer.ends.low < fall < answer.ends.high < 0


def test_a_choice_without_words_is_refused() -> None:
    """So a misspelt one is an error where the paper is put together."""
    asked = Question(
        name="late",
        paper=1,
        says="",
        number="",
        unit="",
        models=lambda evidence: {},
        choices={PUBLISHED: float, "befor_norm": float},
        within=Range(),
    )
    words = {PUBLISHED: "as published", "before_norm": "before the norm"}
    with pytest.raises(LayerwiseError, match="befor_norm"):
        Paper("toy", "", "", rules={}, questions={"late": asked}, choices=words, sentences={})
