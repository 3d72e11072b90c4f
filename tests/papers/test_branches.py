"""Every sentence on the published numbers: said of print, and unsaid where one of them moves.

The functions that tell are run on what print shows, then once for each value that they ask for with
that value on another side: of the other sign, nearer, farther, another word. No sentence waits for
an outcome that print never has, and none outlives the numbers that it names.
"""

import ast
import inspect
from collections import Counter
from dataclasses import replace
from itertools import chain

import pytest

from judged import statistics_of
from layerwise.engine.answer_words import NO, UNDECIDED, YES
from layerwise.engine.answers import Interval
from layerwise.engine.central import judge_central, read_central
from layerwise.engine.judging import read_trained
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, OPEN
from layerwise.engine.published import DECIDES, OVER_MODELS, PUBLISHED
from layerwise.engine.seen import MISSING, NO_VALUE, Claimed, Seen, SeenAnswer, seen_claim
from layerwise.measures.residual_gain import GainReading
from layerwise.papers.across import story
from layerwise.papers.across.together import PAPERS
from layerwise.papers.paper1 import central as central1
from layerwise.papers.paper1 import findings as findings1
from layerwise.papers.paper2 import central as central2
from layerwise.papers.paper2 import findings as findings2
from layerwise.papers.paper3 import central as central3
from layerwise.papers.paper3 import findings as findings3

MODULES = (central1, findings1, central2, findings2, central3, findings3, story)


@pytest.fixture(scope="module")
def seen(root, records, works, published):
    """What the sentences see of print."""
    entries = read_central(root / "claims")
    trained = read_trained(root / "examples" / "measured")
    judged = judge_central(
        entries, PAPERS, [*records.values()], statistics_of(published, works), trained=trained
    )
    return judged[1]


# --- what a sentence sees, with one value on another side ---


def others(value):
    """Values on other sides of the borders that a sentence may have."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [-value, 0.3 * value, 3 * value, value + 1, value - 1]
    return [[]] if isinstance(value, list) else ["another"]


def other_claims(claim):
    yield from (replace(claim, value=value) for value in (*others(claim.value), claim.published))
    yield from (replace(claim, stands=stands) for stands in (True, False, None))
    for text, reading in claim.readings.items():
        variants = [replace(reading, value=value) for value in others(reading.value)]
        variants.append(replace(reading, gives=not reading.gives))
        for variant in variants:
            yield replace(claim, readings={**claim.readings, text: variant})


def moved(answer, value):
    """An answer whose ends move with its value."""
    by = value - answer.value
    ends, deciding = (
        None if interval is None else Interval(interval.low + by, interval.high + by)
        for interval in (answer.ends, answer.deciding)
    )
    return replace(answer, value=value, ends=ends, deciding=deciding)


def other_answers(answer):
    yield from (moved(answer, value) for value in others(answer.value))
    yield from (replace(answer, word=word) for word in (YES, NO, UNDECIDED))
    if answer.ends is not None:
        for by in (0.1, 10.0):
            width = by * (answer.ends.high - answer.ends.low)
            ends = Interval(answer.value - width, answer.value + width)
            yield replace(answer, ends=ends, deciding=ends)


class OneMoved(Seen):
    """What is seen, with another value in one place; notes what else may stand in each.

    A place is what was asked for, as a tuple; of answers and of claims by a pattern, the first two
    names are all of them at once.
    """

    def __init__(self, seen, place=None, number=None):
        vars(self).update(vars(seen))
        self.place, self.number, self.variants = place, number, {}

    def give(self, place, value, variants):
        """Return a value, or the other one in its place."""
        self.variants[place] = variants
        if self.place is None or self.place != place[: len(self.place)]:
            return value
        given = variants()
        return given[self.number] if self.number < len(given) else value

    def claim(self, claim_id):
        claim = super().claim(claim_id)
        return self.give(("claim", claim_id), claim, lambda: [*other_claims(claim)])

    def claims_like(self, pattern):
        claims = super().claims_like(pattern)
        as_printed = [replace(claim, stands=True) for claim in claims]
        return self.give(("claims", pattern), claims, lambda: [as_printed])

    def answer(self, question, model=OVER_MODELS, reading=DECIDES):
        answer = super().answer(question, model, reading)

        def variants():
            if answer.known:
                return [*map(SeenAnswer, other_answers(answer.answer))]
            # what decides, where print lacks it
            return [super(OneMoved, self).answer(question, model, PUBLISHED)]

        return self.give(("answer", question, model, reading), answer, variants)

    def statistic(self, *names):
        value = super().statistic(*names)

        def variants():
            if isinstance(value, str):  # the order by another measure, say
                claims = [seen_claim(record).value for record in self._claims.values()]
                return [text for text in claims if isinstance(text, str)]
            return others(value)

        return self.give(("statistic", *names), value, variants)

    def trained(self, question, reading=DECIDES):
        return self.give(
            ("trained", question, reading), super().trained(question, reading), lambda: [{}]
        )

    def central(self, claim_id):
        central = super().central(claim_id)

        def variants():
            marks = [replace(central, mark=mark) for mark in (HOLDS, IN_PART, FAILS, OPEN)]
            return [*marks, replace(central, why="another")]

        return self.give(("central", claim_id), central, variants)

    def moves(self):
        """Every place with the numbers of what else may stand there."""
        for place, variants in self.variants.items():
            n = len(variants())
            for part in {place, place[:2]} if place[0] == "answer" else {place}:
                yield from ((part, number) for number in range(n))


def with_answer(seen, place, word):
    """What is seen, with another word of one answer."""
    others = OneMoved(seen, ("answer", *place), 0)
    given = SeenAnswer(replace(seen.answer(*place).answer, word=word))
    others.give = lambda asked, value, _: given if asked == others.place else value
    return others


# --- the places of the sentences ---


def is_of_claim(node):
    """Whether a `yield` says what is claimed, which is said always."""
    return isinstance(node.value, ast.Call) and node.value.func.id == Claimed.__name__


def is_bound(node, branch):
    """Whether a `yield` is a note that states an order or a word."""
    return not (is_of_claim(node) or (branch is not None and asks_whether_known(branch)))


def asks_whether_known(branch):
    """Whether a branch asks only that there is a number: what it says is true of any."""
    nodes = [*ast.walk(branch.test)]
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    names = {n.attr for n in nodes if isinstance(n, ast.Attribute) and n not in called}
    return names == {"known"} and not any(isinstance(node, ast.Compare) for node in nodes)


def yields():
    """Every `yield` of the modules and the branch that it stands in, by the place of its line."""

    def below(node, branch, file):
        if isinstance(node, ast.Yield):
            yield (file, node.lineno), (node, branch)
        for child in ast.iter_child_nodes(node):
            yield from below(child, node if isinstance(node, ast.If) else branch, file)

    for module in MODULES:
        yield from below(ast.parse(inspect.getsource(module)), None, module.__file__)


YIELDS = dict(yields())
PLACE_OF_LINE = {
    (file, line): (file, first)
    for (file, first), (node, _) in YIELDS.items()
    for line in range(first, node.end_lineno + 1)
}


def place_of(generator):
    """The place of the `yield` at which a generator stands."""
    while generator.gi_yieldfrom is not None:
        generator = generator.gi_yieldfrom
    return PLACE_OF_LINE[generator.gi_code.co_filename, generator.gi_frame.f_lineno]


def said(tell, seen):
    """How often something is said at each place: a sentence that lacks a value is none."""
    generator, places = tell(seen), Counter()
    for sentence in generator:
        assert "{" not in sentence
        places[place_of(generator)] += NO_VALUE not in sentence
    return +places


def tellers():
    by_id = PAPERS.sentences | PAPERS.findings
    return [*by_id.values(), *(matter.tell for matter in PAPERS.story), PAPERS.surprises]


def in_words(places):
    return sorted(f"{file.rpartition('/papers/')[2]}, line {line}" for file, line in places)


def test_every_sentence_is_said_of_print(seen):
    """A branch that print never takes would be one that nobody has read."""
    of_print = set(chain.from_iterable(said(tell, seen) for tell in tellers()))
    unsaid = in_words(YIELDS.keys() - of_print)
    assert not unsaid, "\n".join(unsaid)


def test_every_note_is_unsaid_where_a_number_crosses_its_border(seen):
    lasting = []
    for tell in tellers():
        asked = OneMoved(seen)
        of_print = said(tell, asked)
        left = {place for place in of_print if is_bound(*YIELDS[place])}
        for place, number in asked.moves():
            after = said(tell, OneMoved(seen, place, number))
            left = {place for place in left if after[place] >= of_print[place]}
        lasting += left
    assert not lasting, "\n".join(in_words(lasting))


class Watched(Seen):
    """What is seen, as long as it is there."""

    def __init__(self, seen):
        vars(self).update(vars(seen))
        self.lacking = []

    def statistic(self, *names):
        if (value := super().statistic(*names)) is MISSING:
            self.lacking.append(names)
        return value

    def trained(self, question, reading=DECIDES):
        if not (answers := super().trained(question, reading)):
            self.lacking.append((question, reading))
        return answers

    def answer(self, question, model=OVER_MODELS, reading=DECIDES):
        answer = super().answer(question, model, reading)
        by_published = super().answer(question, model, PUBLISHED)
        if not (answer.known or by_published.known):
            self.lacking.append((question, model, reading))
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


@pytest.mark.parametrize(("word", "verb"), [(NO, "is not"), (UNDECIDED, "is not shown to be")])
def test_what_is_not_shown_of_every_layer_is_not_said_of_every_layer(seen, word, verb):
    place = ("everywhere_negative", story.TEMPLATED, PUBLISHED)
    said_of_print = story.answer_on_depth(seen)
    told = story.answer_on_depth(with_answer(seen, place, word))
    assert seen.answer(*place).yes
    assert told == said_of_print.replace("is negative in", f"{verb} negative in") != said_of_print


def test_the_model_that_refutes_the_bound_is_the_one_that_is_named(seen):
    bound = seen.central("p3.bound")
    largest = story.model_of_largest(seen, bound.id)
    assert [part.model for part in bound.parts if part.word == NO] == [largest]
    smallest = min(
        (part.model for part in bound.parts), key=lambda model: seen.answer("bound", model).value
    )
    words = {smallest: NO, largest: UNDECIDED}
    parts = [replace(part, word=words.get(part.model, part.word)) for part in bound.parts]
    other = OneMoved(seen)
    other.central = lambda _: replace(bound, parts=parts)
    assert story.model_of_largest(other, bound.id) == smallest


def test_what_is_undecided_of_the_whole_sequence_damps_nothing(seen):
    place = ("expansion", "LLaMA-3.1-8B", GainReading.SEQUENCE)
    assert seen.answer(*place).no
    sentences = [
        [*story.tuning_and_order(other)] for other in (seen, with_answer(seen, place, UNDECIDED))
    ]
    assert len(sentences[0]) == len(sentences[1]) + 1
