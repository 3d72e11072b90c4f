"""What would decide an open central claim, in one sentence, from the reason of its openness.

Where an interval lies across the border it is the number of units that would answer with 80% power,
if the value is the truth; where there are too few units, how many it takes at least; where there
are single numbers, or none, the weights.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from layerwise.engine.answer_words import NO, NO_SPREAD, OPPOSITE, TOO_FEW, UNDECIDED, YES
from layerwise.engine.answers import Answer, Answers
from layerwise.engine.marks import Ask, answers, quantified
from layerwise.engine.published import PUBLISHED
from layerwise.engine.question import OF_R, Question
from layerwise.statistics.estimates import EXACT, FISHERS_Z, LEVEL, Estimate
from layerwise.statistics.power import units_to_answer, units_to_tell_shares_apart

FEW_EXIST = ("models", "sizes", "families")  # units of which no more than MOST_EXIST exist
MOST_EXIST = 100
EXACT_UP_TO = 20  # units; more of them are told by two digits


def what_would_decide(
    asks: Sequence[Ask], given: Answers, questions: Mapping[str, Question]
) -> str:
    """Return a sentence with a clause for each open question of a claim; empty without any.

    Arguments:
        asks: its quantifiers.
        given: the answers of a source.
        questions: the papers' questions by name.
    """
    clauses: dict[str, None] = {}
    for ask in asks:
        if answers(ask, given).get(PUBLISHED) in (YES, NO):
            continue
        by_model = given.get(ask["question"], {})
        of_models = [by_model.get(model, {}).get(PUBLISHED) for model in ask.get("of", by_model)]
        clauses |= dict.fromkeys(_clauses(ask, of_models, questions[ask["question"]]))
    text = "; ".join(clauses)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _clauses(ask: Ask, of_models: Sequence[Answer | None], question: Question) -> Iterator[str]:
    """Yield what would answer a quantifier that these answers leave open."""
    expected = [_expect(answer, question) for answer in of_models]
    turned = {} if ask.get("answer", YES) == YES else OPPOSITE

    def is_answered_by(n: float) -> bool:
        words = [turned.get(word, word) if units <= n else UNDECIDED for word, units in expected]
        return quantified(words, ask.get("at_least", len(words))) in (YES, NO)

    said = f"'{question.says.removesuffix('.')}'"
    needed = sorted(units for _, units in expected if units)
    enough = next((n for n in needed if is_answered_by(n)), None)
    if needed:
        yield _tell_units(said, enough or needed[-1], question.unit)
    if enough is None:
        words = [word for word, _ in expected]
        if TOO_FEW in words:
            fewest = max(one.fewest for one in of_models if one and one.word == TOO_FEW)
            yield f"it takes at least {fewest} {question.unit} to decide {said}"
        if NO_SPREAD in words or not words:
            yield f"it takes the weights to decide {said}"


def _expect(answer: Answer | None, question: Question) -> tuple[str, float]:
    """Return the word that more units would give if the value is the truth, and how many it takes.

    Zero units where their number changes nothing: of what is answered, and of what shows no spread.
    """
    if answer is None:
        return NO_SPREAD, 0
    if not answer.undecided:
        return answer.word, 0
    at_least = max(answer.n + 1, answer.fewest)
    if answer.groups:
        (first, m), (second, n) = answer.groups
        units = units_to_tell_shares_apart(first / m, second / n, m, n)
        return (YES if first / m > second / n else NO), max(units, at_least)
    if answer.ends is None:
        return NO_SPREAD, 0
    value, ends = answer.value, answer.ends
    estimate = Estimate(value, ends.low, ends.high, answer.n, question.unit, method=answer.method)
    is_r = question.effect == OF_R or estimate.method in (EXACT, FISHERS_Z)
    within, against = question.within, question.against
    ways = []
    if value in within or against is None:
        ways.append((within, answer.level, YES if value in within else NO))
    if against is not None and value in against:
        ways.append((against, LEVEL, NO))
    needed = {
        word: units_to_answer(estimate, (side.above, side.below), way_level, is_r=is_r)
        for side, way_level, word in ways
    }
    word = min(needed, key=needed.__getitem__, default=NO)
    return word, max(needed.get(word, math.inf), at_least)


def _tell_units(said: str, n: float, unit: str) -> str:
    """Return the clause on a number of units, told by two digits, rounded up."""
    if n > MOST_EXIST and unit in FEW_EXIST:
        return f"no number of existing {unit} would decide {said}"
    if math.isinf(n):
        return f"no number of {unit} would decide {said}"
    digit = 1 if n <= EXACT_UP_TO else 10 ** (len(str(math.ceil(n))) - 2)
    told = f"{math.ceil(n / digit) * digit:,}"
    power = "with 80% power at the value as it stands"
    return f"it takes about {told} {unit} to decide {said} {power}"
