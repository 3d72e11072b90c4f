"""The smallest effect that each question's units detect with 80 % power, and the units needed.

For a question on r the effect is |r|, for one on a mean the distance from the bound. For one on no
effect it is the narrowest zone in which a true zero could be shown to lie, for the heritage of labs
the power of Fisher's test at the shares that were found. The standard error is everywhere that
of the question's own interval.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from layerwise.engine.derivation import Document, Function, Rule, words_of
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import PUBLISHED
from layerwise.engine.question import NO, OF_R, Asked, Question
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.paper2.questions.curves import mean_over
from layerwise.papers.paper2.rules.pair_curves import PYTHIA_CURVE, read_curve
from layerwise.papers.paper3.rules.gain_files import damps, share
from layerwise.papers.paper3.rules.lab_heritage import ELEUTHER, models_by_lab, other_models
from layerwise.papers.shared.names.choices import Choice
from layerwise.papers.shared.names.result_files import HUNT
from layerwise.statistics import power
from layerwise.statistics.estimates import Estimate


def smallest_effect(question: Question, asked: Asked) -> float | None:
    """Return the smallest effect that the units detect with 80 % power."""
    estimate: Estimate = asked.rule()
    if question.is_equivalence:
        rule = power.narrowest_r if question.effect == OF_R else power.narrowest_zone
        return rule(estimate)
    if question.effect == OF_R:
        return power.smallest_r(estimate)
    return power.smallest_shift(estimate)


def units_needed(asked: Asked) -> int | None:
    """Return the number of units that would distinguish the r that was found from zero."""
    estimate = asked.rule()
    return power.points_for(estimate.value, estimate)


def width_over_fisher(asked: Asked) -> float | None:
    """Return the width of the interval of an r over that of Fisher's."""
    return power.times_fishers(asked.rule())


def units_text(asked: Asked) -> str:
    """Return the number of units in words, as the beginning of a sentence."""
    estimate: Estimate = asked.rule()
    independent = ", taken as independent," if estimate.unit == "pairs" else ""
    return f"{estimate.n} {estimate.unit}{independent}"


def power_document(question: Question, evidence: Evidence) -> Document:
    """Return the document on what the units of one question can detect."""
    rules: dict[str, Function] = {}
    for model, entry in question.models(evidence).items():
        asked = question.rules(entry)[PUBLISHED]
        place = f"models/{model}/{PUBLISHED}"
        rules[f"{place}/smallest"] = _bound_rule(partial(smallest_effect, question, asked))
        rules[f"{place}/units"] = _bound_rule(partial(units_text, asked))
        if question.effect == OF_R:
            rules[f"{place}/needed"] = _bound_rule(partial(units_needed, asked))
            rules[f"{place}/wider"] = _bound_rule(partial(width_over_fisher, asked))
    return Document(None, {"": rules})


def _bound_rule(rule: Callable[[], Any]) -> Rule:
    """Return a rule that is bound to its entry already."""
    return Rule(lambda _: rule(), words_of(rule))


def damping_shares(evidence: Evidence) -> tuple[float, float, int, int]:
    """Return the shares that damp, of EleutherAI's surveyed models and of the others, and n."""
    groups = models_by_lab(evidence[HUNT])[ELEUTHER], other_models(evidence[HUNT])
    first, second = (share([damps(model) for model in group]) for group in groups)
    return first, second, len(groups[0]), len(groups[1])


SHARE_RULES: Mapping[str, Function] = {
    "power": Rule(
        lambda evidence: power.power_of_shares(*damping_shares(evidence)),
        "how often Fisher's test would find these shares different",
    ),
    "models": Rule(
        lambda evidence: " and ".join(str(n) for n in damping_shares(evidence)[2:]),
        "how many models each group has",
    ),
    "needed": Rule(
        lambda evidence: power.units_for_shares(*damping_shares(evidence)[:2]),
        "how many models in each group would be needed",
    ),
}


def models_above_bound(evidence: Evidence) -> str:
    """Name the models whose gain lies above its bound, all tested at once."""
    question = QUESTIONS["bound"]
    words = {
        name: question.rules(model)[Choice.MODELS_AT_ONCE]()["word"]
        for name, model in question.models(evidence).items()
    }
    *names, last = [name for name, word in words.items() if word == NO] or [""]
    return f"{', '.join(names)} and {last}" if names else last


def pairs_for_printed(evidence: Evidence) -> int | None:
    """Return the number of pairs that would distinguish Pythia's printed late mean from zero."""
    curve = read_curve(PYTHIA_CURVE, evidence)
    late = mean_over(curve, curve.phase("late"))
    return power.points_for(curve.printed_mean("late"), late)


PRINTED: Mapping[str, Function] = {"needed": pairs_for_printed}


def documents(evidence: Evidence) -> dict[str, Document]:
    """Return a document per question with an effect, and those on single statements."""
    asked = {name: question for name, question in QUESTIONS.items() if question.effect}
    documents_by_question = {
        name: power_document(question, evidence) for name, question in asked.items()
    }
    return documents_by_question | {
        "heritage": Document(None, {"": SHARE_RULES}),
        "bound": Document(None, {"": {"told_above": models_above_bound}}),
        "printed_late": Document(None, {"": PRINTED}),
    }


DOCUMENTS = documents
