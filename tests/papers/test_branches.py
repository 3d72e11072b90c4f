"""Every sentence on a central claim, said and unsaid: also what today's numbers do not say.

The functions that tell are run on what they see today, with many of its values moved: no sentence
fails when its turn comes, none is said of everything, and none stands outside of a branch.
"""

import ast
import inspect
import random
from collections import Counter
from dataclasses import replace
from itertools import chain

import pytest

from judged import statistics_of
from layerwise.engine.answer_words import WORDS
from layerwise.engine.answers import Interval
from layerwise.engine.central import judge_central, read_central
from layerwise.engine.judging import read_trained
from layerwise.engine.marks import MARKS, OPENNESS
from layerwise.engine.published import PUBLISHED
from layerwise.engine.seen import MISSING, NO_VALUE, Claimed, Reading, Seen, SeenAnswer
from layerwise.papers.across import story
from layerwise.papers.across.together import PAPERS
from layerwise.papers.paper1 import central as central1
from layerwise.papers.paper1 import findings as findings1
from layerwise.papers.paper2 import central as central2
from layerwise.papers.paper2 import findings as findings2
from layerwise.papers.paper3 import central as central3
from layerwise.papers.paper3 import findings as findings3

MODULES = (central1, findings1, central2, findings2, central3, findings3, story)
RUNS = 250


@pytest.fixture(scope="module")
def seen(root, records, works):
    """What the sentences see today."""
    entries = read_central(root / "claims")
    _, seen = judge_central(
        entries, PAPERS.sentences, [*records.values()], statistics_of(works), PAPERS.questions
    )
    return seen.beside(read_trained(root / "examples" / "measured"))


def moved(value, rng):
    """A value that may be another: of the other sign, nearer, farther, or missing."""
    if value is MISSING or rng.random() < 0.6:
        return value
    if rng.random() < 0.1:
        return MISSING
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([0, value + 1, max(0, value - 1), 2 * value])
    if isinstance(value, float):
        return rng.choice([0.0, -value, 0.3 * value, 3 * value, value + 1, value - 1])
    if isinstance(value, list):
        return rng.choice([[], value])
    return rng.choice(["", "another", central2.NO_TURN]) if isinstance(value, str) else value


class Moved(Seen):
    """What is seen, with values that were moved: each once in a run, wherever it is asked for."""

    def __init__(self, seen, seed):
        vars(self).update(vars(seen))
        self.seed = seed

    def rng(self, *asked):
        return random.Random(f"{self.seed} {asked}")

    def claim(self, claim_id):
        claim, rng = super().claim(claim_id), self.rng(claim_id)
        return replace(
            claim,
            value=moved(claim.value, rng),
            stands=rng.choice([True, False, claim.stands]) if self.seed % 10 else True,
            readings={
                text: Reading(moved(reading.value, rng), gives=rng.random() < 0.5)
                for text, reading in claim.readings.items()
            },
        )

    def answer(self, question, model="all models", choice=PUBLISHED):
        seen, rng = super().answer(question, model, choice), self.rng(question, model, choice)
        if seen.answer is None or rng.random() < 0.5:
            return seen
        width, middle = rng.choice([0.01, 0.2, 1.0]), moved(seen.value, rng)
        if middle is MISSING:
            return SeenAnswer(None)
        ends = Interval(middle - width, middle + width)
        p = None if seen.answer.p is None else rng.choice([0.001, 0.2])
        fields = {"word": rng.choice(WORDS), "value": middle, "ends": ends, "narrow": ends, "p": p}
        return SeenAnswer(replace(seen.answer, **fields))

    def statistic(self, analysis, document, *names):
        value = super().statistic(analysis, document, *names)
        return moved(value, self.rng(analysis, document, names))

    def trained(self, question):
        rng = self.rng("trained", question)
        return [
            replace(answer, value=rng.choice([answer.value, 3 * answer.value]))
            for answer in super().trained(question)
        ]

    def central(self, claim_id):
        rng, central = self.rng("central", claim_id), super().central(claim_id)
        words = {choice: rng.choice(WORDS) for choice in central.choices}
        alone = dict.fromkeys(central.choices, "undecided")
        alone[rng.choice([choice for choice in alone if "/" not in choice])] = "yes"
        return replace(
            central,
            mark=rng.choice([rng.choice([*MARKS]), central.mark]),
            why=rng.choice([rng.choice([*OPENNESS]), central.why]),
            choices=rng.choice([words, alone]),
        )


def functions():
    """Every function of the modules that yields, with the tree of its text."""
    for module in MODULES:
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.FunctionDef):
                yield module, node


def yields(node):
    """The `yield`s of a function, each with the nodes that it stands in."""

    def below(part, above):
        if isinstance(part, ast.Yield):
            yield part, above
        for child in ast.iter_child_nodes(part):
            yield from below(child, [*above, part])

    return below(node, [])


def is_of_claim(node):
    """Whether a `yield` says what is claimed, which is said always."""
    return isinstance(node.value, ast.Call) and node.value.func.id == Claimed.__name__


def test_every_sentence_stands_in_a_branch():
    outside = [
        f"{module.__name__}, line {node.lineno}"
        for module, function in functions()
        for node, above in yields(function)
        if not is_of_claim(node) and not any(isinstance(part, ast.If) for part in above)
    ]
    assert outside == []


def place_of(generator):
    """Where a generator stands: its file, and the line of its `yield`."""
    while generator.gi_yieldfrom is not None:
        generator = generator.gi_yieldfrom
    return generator.gi_code.co_filename, generator.gi_frame.f_lineno


def spoken(tell, seen):
    """Each sentence with its place."""
    generator = tell(seen)
    for sentence in generator:
        yield place_of(generator), sentence


def tellers():
    by_id = PAPERS.sentences | PAPERS.findings
    return [*by_id.values(), *(matter.tell for matter in PAPERS.story), PAPERS.surprises]


def test_every_sentence_is_said_and_unsaid_by_its_numbers(seen):
    """Its branch is entered in some runs and not in others, and has its values in some."""
    said, entered = Counter(), Counter()
    for seed in range(RUNS):
        moved_values = Moved(seen, seed)
        sentences = [*chain.from_iterable(spoken(tell, moved_values) for tell in tellers())]
        assert not [sentence for _, sentence in sentences if "{" in sentence]
        entered.update({place for place, _ in sentences})
        said.update({place for place, sentence in sentences if NO_VALUE not in sentence})
    wrong = []
    for module, function in functions():
        for node, _ in yields(function):
            places = [(module.__file__, line) for line in range(node.lineno, node.end_lineno + 1)]
            is_always = any(entered[place] == RUNS for place in places)
            if (is_always and not is_of_claim(node)) or not any(said[place] for place in places):
                wrong.append((module.__name__, node.lineno))
    assert not wrong, "\n".join(map(str, wrong))


class Watched(Seen):
    """What is seen, as long as it is there."""

    def __init__(self, seen):
        vars(self).update(vars(seen))
        self.lacking = []

    def statistic(self, *names):
        if (value := super().statistic(*names)) is MISSING:
            self.lacking.append(names)
        return value

    def trained(self, question):
        if not (answers := super().trained(question)):
            self.lacking.append(question)
        return answers

    def answer(self, *asked, **choice):
        if not (answer := super().answer(*asked, **choice)).known:
            self.lacking.append((asked, choice))
        return answer


def test_what_sentences_ask_for_is_there_in_print(seen):
    """A misspelt name would leave its sentence out without a word."""
    watched = Watched(seen)
    for tell in tellers():
        list(tell(watched))
    assert watched.lacking == []


def test_what_is_missing_says_nothing():
    comparisons = (MISSING < 1, MISSING >= 1, MISSING == 1, MISSING != 1, MISSING == MISSING)
    assert not any(comparisons)
    assert f"{MISSING:+.2f}" == NO_VALUE
