"""What would decide an open central claim, in one sentence, from the reason of its openness.

Where an interval lies across the border it is the number of units that would answer with 80% power,
if the value is the truth; where there are too few units, how many it takes at least; where what
varies was not published, the weights, and what they can be expected to show.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from layerwise.engine.answer_words import (
    NEEDS_WEIGHTS,
    NO,
    NO_CATEGORIES,
    NO_SPREAD,
    TOO_FEW,
    UNDECIDED,
    YES,
)
from layerwise.engine.answers import Answer, Answers, ByModel
from layerwise.engine.marks import DEPENDS, Ask, QuestionPart, Weighed, quantified
from layerwise.engine.published import DECIDES
from layerwise.engine.seen import capital

if TYPE_CHECKING:  # at run time it would bring NumPy to who only reads a record
    from layerwise.engine.question import Question

FEW_EXIST = ("models", "sizes", "families")  # units of which no more than MOST_EXIST exist
MOST_EXIST = 100
CHOSEN = ("bins",)  # units whose number is a choice: more of them hold no more data
EXACT_UP_TO = 20  # units; more of them are told by two digits


def what_would_decide(
    asks: Sequence[Ask], weighed: Weighed, answers: Answers, questions: Mapping[str, "Question"]
) -> str:
    """Return a sentence with a clause for each open question of a claim; empty without any."""
    if weighed.why == DEPENDS:
        return "The claim would have to say which reading it means: another answers the opposite."
    clauses: dict[str, None] = {}
    for ask, parts, word in zip(asks, weighed.parts, weighed.words, strict=True):
        if word not in (YES, NO):
            clauses |= dict.fromkeys(_clauses(ask, parts, answers, questions[ask["question"]]))
    text = "; ".join(clauses)
    return f"{capital(text)}." if text else ""


def _clauses(
    ask: Ask, parts: Sequence[QuestionPart], answers: Answers, question: "Question"
) -> Iterator[str]:
    """Yield what would answer the open parts of an ask."""
    words = [part.word for part in parts]
    by_model = answers.get(question.name, {})
    said = f"'{question.says.removesuffix('.')}'"
    if NEEDS_WEIGHTS in words:
        yield f"the weights are needed to decide {said} ({ask['power']})"
    if NO_CATEGORIES in words:
        yield f"{question.unit} of several categories are needed to decide {said}"
    if NO_SPREAD in words:
        yield f"more than single numbers is needed to decide {said}"
    if TOO_FEW in words:
        fewest = max(by_model[part.model][DECIDES].fewest for part in parts if part.word == TOO_FEW)
        yield f"at least {fewest} {question.unit} are needed to decide {said}"
    if UNDECIDED in words and question.unit in CHOSEN:
        yield f"more of what the {question.unit} are made of is needed to decide {said}"
    elif UNDECIDED in words:
        yield _tell_units(said, _units_for_ask(ask, parts, by_model, question), question.unit)


def _units_for_ask(
    ask: Ask, parts: Sequence[QuestionPart], by_model: ByModel, question: "Question"
) -> float:
    """Return the units of each part with which those that are undecided answer the ask.

    They are answered one after the other, by where their numbers lie, until the ask is; where other
    parts stay open whatever they say, until all of them are.
    """
    words = [part.word for part in parts]
    need, turned = ask.get("at_least", len(parts)), ask.get("answer", YES) == NO
    answers = {
        place: by_model[part.model][DECIDES]
        for place, part in enumerate(parts)
        if part.word == UNDECIDED
    }
    units = {place: units_for(answer, question) for place, answer in answers.items()}
    order = sorted(units, key=lambda place: units[place])
    for place in order:
        lies_inside = answers[place].value in question.within
        words[place] = NO if lies_inside == turned else YES
        if quantified(words, need) in (YES, NO):
            return units[place]
    return units[order[-1]]


def units_for(answer: Answer, question: "Question") -> float:
    """Return the units with which the interval leaves out the nearest border with 80% power."""
    from layerwise.statistics.by_category import JACKKNIFE
    from layerwise.statistics.estimates import EXACT, FISHERS_Z, Estimate
    from layerwise.statistics.power import units_to_answer

    if answer.ends is None:
        return math.inf
    estimate = Estimate(answer.value, *answer.ends, answer.n, answer.unit, method=answer.method)
    inside, against = answer.value in question.within, question.against
    asked = question.within if inside or against is None else against
    if against is not None and answer.value not in asked:
        return math.inf  # it lies between the two
    borders = (asked.above, asked.below)
    is_r = answer.method in (EXACT, FISHERS_Z, JACKKNIFE)
    of_yes, of_no = question.levels
    level = of_yes if inside else of_no
    return max(units_to_answer(estimate, borders, level, is_r=is_r), answer.n + 1, answer.fewest)


def _tell_units(said: str, n: float, unit: str) -> str:
    """Return the clause on a number of units, told by two digits, rounded up."""
    if n > MOST_EXIST and unit in FEW_EXIST:
        return f"no number of existing {unit} would decide {said}"
    if math.isinf(n):
        return f"no number of {unit} would decide {said}"
    digit = 1 if n <= EXACT_UP_TO else 10 ** (len(str(math.ceil(n))) - 2)
    told = f"{math.ceil(n / digit) * digit:,}"
    return f"about {told} {unit} would decide {said} with 80% power at the value as it stands"
