"""The questions of Paper 1 on measured states: against naive loops, and both ways for every row.

The states are synthetic, with a chosen asymmetry in each category; the stages' own code makes of
them what is stored, and the questions read that.
"""

import functools
from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.stats

from layerwise.engine.answer_words import NO, NO_SPREAD, YES
from layerwise.engine.answers import read_answers
from layerwise.engine.central import require_as_registered
from layerwise.engine.derivation import derive
from layerwise.engine.evidence import Evidence
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, OPEN, weigh
from layerwise.engine.measured import measured
from layerwise.engine.published import DATASET, DECIDES, OVER_MODELS, PUBLISHED
from layerwise.engine.question import documents_of_questions
from layerwise.measures.values import Values
from layerwise.measuring.reduction import measure
from layerwise.models.store import BEFORE_NORM, digest_of_texts
from layerwise.models.texts import StatementPairs
from layerwise.papers.experiments import choices, documents
from layerwise.papers.paper1 import questions
from layerwise.papers.shared.names import EXTRACTIONS, FACTS, NUMERIC, Choice
from layerwise.papers.shared.result_files import CHOICES_FILE, PAPER1
from layerwise.shapes import read_yaml
from layerwise.statistics.bootstrap import Draws

QUESTIONS = {question.name: question for question in questions.QUESTIONS}
BUSINESS = questions.BUSINESS
MODELS = ("gemma", "llama", "mistral", "apertus")
OTHERS = MODELS[:-1]
SIZES = {NUMERIC: 12, "words": 8, "technology": 14, "lifestyle": 15, BUSINESS: 16, FACTS: 13}
NEUTRAL = [name for name in SIZES if name != NUMERIC]
DRAWS = Draws(200, 0.95, 42)
HIDDEN, N_LAYERS = 48, 3
MEAN = (N_LAYERS, "mean")  # layer and pooling of what decides
STATES = {
    Choice.BEFORE_NORM: (BEFORE_NORM, "mean"),
    Choice.ALL_TOKENS: (N_LAYERS, "mean_all"),
    Choice.LAST_TOKEN: (N_LAYERS, "last"),
    Choice.FIRST_TOKEN: (N_LAYERS, "first"),
}


@dataclass(frozen=True)
class States:
    """States of statement pairs in memory, A sides first."""

    pairs: StatementPairs
    by_place: dict

    place, n_layers, hidden_size, nll = "memory", N_LAYERS, HIDDEN, None

    @property
    def index(self):
        sha256 = digest_of_texts(self.pairs.statements)
        return {"model": "m", "display": "m", "n_prompts": 0, "statements_sha256": sha256}

    def has(self, layer, pooling):
        return (layer, pooling) in self.by_place

    def pooled(self, layer, pooling="mean"):
        return self.by_place[layer, pooling]


def states_of(asymmetry, seed, sizes=SIZES):
    """States whose sides A and B of a category lie as far apart in cosine as is asked."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), list(sizes.values()))
    ua = np.array([asymmetry.get(name, 0.0) for name in sizes])[labels]
    cosine = np.concatenate([0.5 + ua / 2, 0.5 - ua / 2])[:, None]
    texts = [tuple(f"{side} {i}" for i in range(len(labels))) for side in "ab"]

    def drawn():
        noise = rng.normal(size=(2 * len(labels), HIDDEN)) / np.sqrt(HIDDEN)
        return np.sqrt(cosine) * np.eye(HIDDEN)[0] + np.sqrt(1 - cosine) * noise

    places = [*((layer, "mean") for layer in range(N_LAYERS + 1)), *STATES.values()]
    return States(StatementPairs(tuple(sizes), labels, *texts), {at: drawn() for at in places})


def values_of(states) -> Values:
    few = {"k_values": (3,), "n_permutations": 1, "k_stable": 3}
    return measure(states, states.pairs, layers=[N_LAYERS], **few)


def evidence_of(published, states):
    """What the questions read of models that were measured."""
    values = {model: values_of(of_model) for model, of_model in states.items()}
    sizes = {
        name: {"n_pairs": int(n)}
        for one in values.values()
        for name, n in zip(one.categories, np.bincount(one.category_of_pair), strict=True)
    }
    fragments = {DATASET: {"": sizes}, CHOICES_FILE: {}}
    for model, one in values.items():
        by_category = documents.category_numbers(one, documents.COSINES)
        fragments[PAPER1[model]] = {"": by_category}
        fragments[CHOICES_FILE][f"/{EXTRACTIONS[model]}"] = choices.choices_document(one, DRAWS)
    tables = measured(published, fragments)
    roles = {**tables.roles, "asymmetries": {model: (PAPER1[model], "") for model in states}}
    return Evidence(replace(tables, roles=roles), DRAWS)


def answers_of(evidence):
    derivation = derive(lambda read: documents_of_questions(QUESTIONS, read), evidence)
    assert not derivation.undefined
    return read_answers({"questions": derivation.documents})


def asked(published, by_model, sizes=SIZES):
    """The answers on models with these asymmetries, {model: {category: asymmetry}}."""
    states = {
        model: states_of(asymmetry, seed, sizes)
        for seed, (model, asymmetry) in enumerate(by_model.items())
    }
    return answers_of(evidence_of(published, states))


# --- values, units and intervals, against loops ---------------------------------------------------

REAL = {  # of the size of the printed ones
    "gemma": {NUMERIC: -0.25, "words": 0.04, BUSINESS: 0.03, FACTS: 0.02},
    "llama": {NUMERIC: -0.14, "words": 0.01, BUSINESS: 0.03, FACTS: -0.01},
    "mistral": {NUMERIC: -0.2, "technology": -0.03, BUSINESS: 0.04, FACTS: 0.01},
    "apertus": {NUMERIC: 0.1, "words": 0.11, "technology": 0.04, BUSINESS: 0.02, FACTS: 0.11},
}


class Loops:
    """The numbers of the questions by loops over states, each as (value, ends by level, n)."""

    def __init__(self, states):
        self.states = states
        self.ua = functools.cache(self._ua)

    def _ua(self, model, name, place=MEAN, without=None):
        """Mean cosine of two different A statements less that of B, one pair left out perhaps."""
        pairs = self.states[model].pairs
        inside = np.flatnonzero(pairs.category_of_pair == pairs.categories.index(name))
        kept = [i for number, i in enumerate(inside) if number != without]
        means = []
        for start in (0, len(pairs)):
            rows = [self.states[model].pooled(*place)[start + i] for i in kept]
            units = [row / np.linalg.norm(row) for row in rows]
            means.append(np.mean([x @ y for k, x in enumerate(units) for y in units[:k]]))
        return means[0] - means[1]

    def neutral(self, model, place=MEAN, left_out=None):
        return np.array([self.ua(model, name, place) for name in NEUTRAL if name != left_out])

    def pseudo(self, number, n):
        """Pseudo-values of a number that is called without each pair."""
        return np.array([n * number(None) - (n - 1) * number(i) for i in range(n)])


def of_mean(values):
    """Student's t over values."""
    return (
        values.mean(),
        lambda level: tuple(scipy.stats.ttest_1samp(values, 0).confidence_interval(level)),
        len(values),
    )


def of_bootstrap(values):
    stream = np.random.RandomState(DRAWS.seed)
    means = [np.mean(stream.choice(values, len(values))) for _ in range(DRAWS.n_resamples)]

    def ends(level):
        return tuple(np.percentile(means, [50 * (1 - level), 50 * (1 + level)]))

    return values.mean(), ends, len(values)


def of_parts(value, parts):
    """A sum of independent numbers: their pseudo-values, each with its weight; Welch's interval."""
    variances = [weight**2 * sample.var(ddof=1) / len(sample) for weight, sample in parts]
    freedom = sum(variances) ** 2 / sum(
        variance**2 / (len(sample) - 1)
        for variance, (_, sample) in zip(variances, parts, strict=True)
    )

    def ends(level):
        half = scipy.stats.t.ppf((1 + level) / 2, freedom) * np.sqrt(sum(variances))
        return value - half, value + half

    return value, ends, sum(len(sample) for _, sample in parts)


def of_search(found, *, highest):
    """The highest, or lowest, of several numbers, with the search paid for at one end."""
    value, _, n = (max if highest else min)(found, key=lambda one: one[0])

    def ends(level):
        alone = np.array([one[1](level) for one in found])
        at_once = np.array([one[1](1 - (1 - level) / len(found)) for one in found])
        if highest:
            return at_once[:, 0].max(), alone[:, 1].max()
        return alone[:, 0].min(), at_once[:, 1].min()

    return value, ends, n


def of_value(value):
    return value, None, 1


def neutral_readings(loops, model):
    ua = loops.neutral(model)
    return {
        DECIDES: of_mean(ua),
        PUBLISHED: of_bootstrap(ua),
        **{states: of_mean(loops.neutral(model, place)) for states, place in STATES.items()},
        **{
            f"{Choice.CATEGORY_OUT}/{name}": of_mean(loops.neutral(model, left_out=name))
            for name in NEUTRAL
        },
    }


def numeric_readings(loops, model):
    value = loops.ua(model, NUMERIC) - np.mean([loops.ua(model, name) for name in NEUTRAL])
    parts = [
        (weight, loops.pseudo(lambda i, name=name: loops.ua(model, name, without=i), SIZES[name]))
        for name, weight in {NUMERIC: 1.0, **dict.fromkeys(NEUTRAL, -1 / len(NEUTRAL))}.items()
    ]
    return {DECIDES: of_parts(value, parts), PUBLISHED: of_value(value)}


def beside_models(loops, model, others, name):
    """A model's asymmetry less the mean of others, a pair left out of all of them at once."""

    def number(i):
        rest = np.mean([loops.ua(other, name, without=i) for other in others])
        return loops.ua(model, name, without=i) - rest

    return of_parts(number(None), [(1.0, loops.pseudo(number, SIZES[name]))])


def facts_readings(loops, model):
    found = beside_models(loops, model, [other for other in MODELS if other != model], FACTS)
    return {DECIDES: found, PUBLISHED: of_value(found[0])}


def lowest_readings(loops, model):
    others = [other for other in MODELS if other != model]
    found = of_search(
        [beside_models(loops, model, [other], BUSINESS) for other in others], highest=True
    )
    return {DECIDES: found, PUBLISHED: of_value(found[0])}


def largest_readings(loops, model):
    def pseudo(name):
        return loops.pseudo(lambda i: loops.ua(model, name, without=i), SIZES[name])

    found = [
        of_parts(
            abs(loops.ua(model, FACTS)) - abs(loops.ua(model, name)),
            [(1.0, pseudo(FACTS)), (1.0, pseudo(name))],
        )
        for name in SIZES
        if name != FACTS
    ]
    found = of_search(found, highest=False)
    return {DECIDES: found, PUBLISHED: of_value(found[0])}


def business_readings(loops, model):
    value = loops.ua(model, BUSINESS)
    pseudo = loops.pseudo(lambda i: loops.ua(model, BUSINESS, without=i), SIZES[BUSINESS])
    return {DECIDES: of_parts(value, [(1.0, pseudo)]), PUBLISHED: of_value(value)}


def mean_readings(loops, _):
    return {DECIDES: of_mean(np.array([loops.ua(model, BUSINESS) for model in MODELS]))}


READINGS = {
    "calibration": neutral_readings,
    "positive_on_neutral": neutral_readings,
    "numeric": numeric_readings,
    "facts_above_models": facts_readings,
    "facts_largest": largest_readings,
    "business": business_readings,
    "business_mean": mean_readings,
    "business_lowest": lowest_readings,
}


@pytest.fixture(scope="module")
def real_states():
    return {model: states_of(ua, seed) for seed, (model, ua) in enumerate(REAL.items())}


@pytest.fixture(scope="module")
def loops(real_states):
    return Loops(real_states)


@pytest.fixture(scope="module")
def real_answers(published, real_states):
    return answers_of(evidence_of(published, real_states))


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_reading_is_what_a_loop_over_states_gives(loops, real_answers, name):
    question = QUESTIONS[name]
    models = [OVER_MODELS] if name == "business_mean" else MODELS
    assert set(real_answers[name]) == set(models)
    for model in models:
        expected, given = READINGS[name](loops, model), real_answers[name][model]
        assert set(given) == set(expected)
        for reading, (value, ends, n) in expected.items():
            answer = given[reading]
            assert (answer.value, answer.n) == (pytest.approx(value, abs=1e-9), n), reading
            if ends is None:
                assert (answer.word, answer.ends) == (NO_SPREAD, None)
                continue
            assert answer.unit == question.unit
            for interval, level in ((answer.ends, 0.95), (answer.deciding, answer.level)):
                assert (interval.low, interval.high) == pytest.approx(ends(level), abs=1e-9)


def test_what_leaves_each_pair_out_has_the_asymmetry_as_its_mean(published, real_states):
    """UA is a mean over pairs of statements, so that the jackknife finds no bias."""
    for model in questions.paper_1_models(evidence_of(published, real_states)).values():
        for name in SIZES:
            assert model.without_each_pair(name).mean() == pytest.approx(model.asymmetry(name))


# --- both ways for every row ----------------------------------------------------------------------

MANY = dict.fromkeys(SIZES, 40)  # pairs


def everywhere(*values):
    """One asymmetry in every neutral category of each model, a little apart between them."""
    return {
        model: {name: value + 0.001 * n for n, name in enumerate(NEUTRAL, start=-2)}
        for model, value in zip(MODELS, values, strict=True)
    }


def in_category(name, *values):
    """The asymmetries of the four models in one category."""
    return {model: {name: value} for model, value in zip(MODELS, values, strict=True)}


IN_PRINT = {  # over the neutral categories, which print has: row, mark, asymmetries
    ("p1.neutral", HOLDS): everywhere(0.0, 0.002, -0.002, 0.1),
    ("p1.neutral", FAILS): everywhere(0.0, 0.002, -0.1, 0.1),
    ("p1.neutral", IN_PART): everywhere(0.0, 0.015, 0.015, 0.1),
    ("p1.neutral", OPEN): everywhere(0.015, 0.015, 0.015, 0.1),
    ("p1.positive", HOLDS): everywhere(0.02, -0.1, -0.1, 0.02),
    ("p1.positive", FAILS): everywhere(0.02, 0.1, 0.1, -0.02),
    ("p1.positive", IN_PART): everywhere(0.02, 0.0, 0.0, 0.001),
    ("p1.positive", OPEN): everywhere(0.001, 0.0, 0.0, 0.001),
}
MEASURED = {  # of single categories
    ("p1.numeric", HOLDS): in_category(NUMERIC, -0.4, -0.4, -0.4, 0.4),
    ("p1.numeric", FAILS): in_category(NUMERIC, -0.4, -0.4, -0.4, -0.4),
    ("p1.numeric", IN_PART): in_category(NUMERIC, -0.4, 0.0, 0.0, 0.4),
    ("p1.numeric", OPEN): in_category(NUMERIC, 0.0, 0.0, 0.0, 0.4),
    ("p1.apertus_facts", HOLDS): in_category(FACTS, 0.0, 0.0, 0.0, 0.4),
    ("p1.apertus_facts", FAILS): in_category(FACTS, 0.0, 0.0, 0.0, -0.4),
    ("p1.apertus_facts", OPEN): in_category(FACTS, 0.4, 0.4, 0.4, 0.4),
    ("p1.business", HOLDS): in_category(BUSINESS, 0.5, 0.5, 0.5, 0.2),
    ("p1.business", FAILS): in_category(BUSINESS, 0.4, 0.4, 0.1, 0.4),
    ("p1.business", OPEN): in_category(BUSINESS, 0.4, 0.4, 0.4, 0.4),
}


@pytest.fixture(scope="module")
def asks(root):
    return {
        entry["id"]: entry["asks"]
        for entry in read_yaml(root / "claims" / "central.yaml")["central"]
    }


def in_print(published, by_model):
    """The answers over print in which every category of a model has the asymmetry that is asked."""
    named = [key.split("/")[1] for file, key in published.cells if file == DATASET]
    neutral = [name for name in named if name != NUMERIC]
    cells = {
        (PAPER1[model], f"/{name}/uniformity_a"): value
        + published.cells[PAPER1[model], f"/{name}/uniformity_b"]
        for model, ua in by_model.items()
        for name, value in zip(neutral, ua.values(), strict=True)
    }
    return answers_of(Evidence(replace(published, cells={**published.cells, **cells}), DRAWS))


@pytest.mark.parametrize("row", sorted({row for row, _ in {**IN_PRINT, **MEASURED}}))
def test_every_row_is_asked_as_it_is_registered(asks, row):
    for ask in asks[row]:
        require_as_registered(row, ask, QUESTIONS[ask["question"]])


@pytest.mark.parametrize(("row", "mark"), IN_PRINT)
def test_print_marks_what_is_said_of_the_neutral_categories_both_ways(published, asks, row, mark):
    answers = in_print(published, IN_PRINT[row, mark])
    assert weigh(asks[row], answers).mark == mark


@pytest.mark.parametrize(("row", "mark"), MEASURED)
def test_measured_states_mark_every_row_both_ways(published, asks, row, mark):
    answers = asked(published, MEASURED[row, mark], MANY)
    weighed = weigh(asks[row], answers)
    assert weighed.mark == mark, weighed


@pytest.mark.parametrize("row", sorted({row for row, _ in MEASURED}))
def test_print_cannot_decide_what_is_said_of_a_single_category(published, asks, row):
    """Whatever its values are."""
    for shift in (-0.5, 0.0, 0.5):
        ua = everywhere(shift, 0.0, 0.0, -shift)
        weighed = weigh(asks[row], in_print(published, ua))
        assert weighed.mark in (OPEN, FAILS)
        assert "needs weights" in [part.word for parts in weighed.parts for part in parts]


def test_either_answer_to_one_model(published):
    """Facts that are the model's largest or not, and business, which no row asks."""
    answers = asked(
        published,
        {
            "gemma": {FACTS: -0.4, NUMERIC: 0.1, BUSINESS: 0.3},
            "llama": {FACTS: 0.1, NUMERIC: -0.4, BUSINESS: -0.3},
        },
        MANY,
    )
    for name in ("facts_largest", "business"):
        assert [answers[name][model][DECIDES].word for model in ("gemma", "llama")] == [YES, NO]


# --- a model of one's own -------------------------------------------------------------------------


def test_one_model_is_asked_nothing_about_several(published):
    answers = asked(published, {"gemma": {}})
    assert not answers["business_mean"]
    for name in ("facts_above_models", "business_lowest"):
        assert not answers[name].get("gemma")
    assert answers["numeric"]["gemma"][DECIDES].n == sum(SIZES.values())


def test_a_single_neutral_category_shows_no_spread_and_two_do(published):
    for names, word in (((NUMERIC, "words"), NO_SPREAD), ((NUMERIC, "words", BUSINESS), YES)):
        answers = asked(published, {"gemma": dict.fromkeys(names, 0.5)}, dict.fromkeys(names, 40))
        assert answers["positive_on_neutral"]["gemma"][DECIDES].word == word


def test_two_pairs_give_a_category_no_error(published):
    """Without one of them there is no cosine between two statements."""
    answers = asked(published, {"gemma": {}}, {**SIZES, BUSINESS: 2})
    given = answers["business"]["gemma"]
    assert set(given) == {PUBLISHED}
