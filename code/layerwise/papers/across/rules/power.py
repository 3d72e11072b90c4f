"""The smallest effect that each question's units detect with 80 % power, and the units needed.

Of a question on r the effect is |r|; of one on a mean how far it must lie from the bound. Of a
question on no effect it is the narrowest zone in which a true zero could be shown to lie. For the
heritage of labs it is how often Fisher's test would find the shares that were found. The standard
error is everywhere the one that the question's own interval has.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from layerwise.engine.derivation import Document, Function, Rule, words_of
from layerwise.engine.evidence import Evidence
from layerwise.engine.questions.question import NO, OF_R, PUBLISHED, Asked, Question
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.paper2.questions import Curve, mean_over
from layerwise.papers.paper2.rules.pair_curves import PYTHIA_CURVE
from layerwise.papers.paper3.rules.gain_files import damps, share
from layerwise.papers.paper3.rules.lab_heritage import ELEUTHER, labs, others
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import HUNT
from layerwise.statistics import power
from layerwise.statistics.estimates import Estimate

AT_ONCE = "models_at_once"
CHOICES = (PUBLISHED, "without_last")  # the ways to ask of which power is told


def smallest(question: Question, asked: Asked) -> float | None:
    """The smallest effect that the units can tell."""
    estimate: Estimate = asked.rule()
    if question.is_equivalence:
        rule = power.narrowest_r if question.effect == OF_R else power.narrowest_zone
        return rule(estimate)
    if question.effect == OF_R:
        return power.smallest_r(estimate)
    return power.smallest_shift(estimate)


def needed(asked: Asked) -> int | None:
    """How many units would distinguish the r that was found from zero."""
    estimate = asked.rule()
    return power.points_for(estimate.value, estimate)


def wider(asked: Asked) -> float | None:
    """How many times as wide as Fisher's the interval of an r is."""
    return power.times_fishers(asked.rule())


def unit(asked: Asked) -> str:
    """The units, in words."""
    estimate: Estimate = asked.rule()
    independent = ", taken as independent," if estimate.unit == "pairs" else ""
    return f"{estimate.n} {estimate.unit}{independent}"


def told(question: Question, asked: Asked) -> str:
    """What the units detect, in words that a size ends: 230 pairs can detect an |r| of."""
    if question.is_equivalence:
        return f"{unit(asked)} can confine a true zero ({question.number}) to a zone of ±"
    effect = (
        "an |r|" if question.effect == OF_R else f"a distance from the bound ({question.number})"
    )
    return f"{unit(asked)} can detect {effect} of "


def of_question(question: Question, evidence: Evidence) -> Document:
    rules: dict[str, Function] = {}
    for model, entry in question.models(evidence).items():
        for choice, asked in question.rules(entry).items():
            if choice in CHOICES:
                place = f"models/{model}/{choice}"
                rules[f"{place}/smallest"] = _of(partial(smallest, question, asked))
                rules[f"{place}/units"] = _of(partial(unit, asked))
                rules[f"{place}/told"] = _of(partial(told, question, asked))
                if question.effect == OF_R:
                    rules[f"{place}/needed"] = _of(partial(needed, asked))
                    rules[f"{place}/wider"] = _of(partial(wider, asked))
    return Document(None, {"": rules})


def _of(rule: Callable[[], Any]) -> Rule:
    """Return a rule that is bound to its entry already."""
    return Rule(lambda _: rule(), words_of(rule))


def shares(e: Evidence) -> tuple[float, float, int, int]:
    """Shares that damp, of EleutherAI's models in the hunt and of the others, and how many."""
    groups = labs(e[HUNT])[ELEUTHER], others(e[HUNT])
    first, second = (share([damps(m) for m in group]) for group in groups)
    return first, second, len(groups[0]), len(groups[1])


OF_SHARES: Mapping[str, Function] = {
    "power": Rule(
        lambda e: power.power_of_shares(*shares(e)),
        "how often Fisher's test would find these shares different",
    ),
    "models": Rule(
        lambda e: " and ".join(str(n) for n in shares(e)[2:]), "how many models each group has"
    ),
    "needed": Rule(
        lambda e: power.units_for_shares(*shares(e)[:2]),
        "how many models in each group would be needed",
    ),
}


def told_above(e: Evidence) -> str:
    """The models whose gain lies above its bound by more than the prompts' noise, all at once."""
    asked = QUESTIONS["bound"]
    words = {name: asked.rules(m)[AT_ONCE]()["word"] for name, m in asked.models(e).items()}
    *names, last = [name for name, word in words.items() if word == NO] or [""]
    return f"{', '.join(names)} and {last}" if names else last


def pairs_for_printed(e: Evidence) -> int | None:
    """Pairs that would distinguish the weak end of the printed late range, Pythia's, from zero."""
    curve = Curve(SLUG, PYTHIA_CURVE.of(e))
    late = mean_over(curve, curve.pairs.phase("late"))
    return power.points_for(curve.pairs.printed_mean("late"), late)


PRINTED: Mapping[str, Function] = {"needed": pairs_for_printed}


def documents(evidence: Evidence) -> dict[str, Document]:
    asked = {name: question for name, question in QUESTIONS.items() if question.effect}
    found = {name: of_question(question, evidence) for name, question in asked.items()}
    return found | {
        "heritage": Document(None, {"": OF_SHARES}),
        "bound": Document(None, {"": {"told_above": told_above}}),
        "printed_late": Document(None, {"": PRINTED}),
    }


DOCUMENTS = documents
