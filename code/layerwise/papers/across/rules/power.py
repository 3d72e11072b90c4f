"""The smallest effect that each question's units detect with 80% power, and the units needed.

For a question on r the effect is |r|, for one on a mean the distance from the bound. For one on no
effect it is the narrowest zone in which a true zero could be shown to lie, for the heritage of labs
the power of Fisher's test at the shares that were found. The standard error is everywhere that
of the question's own interval.
"""

from collections.abc import Callable
from functools import partial

from layerwise.engine.answer_words import NO
from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import PUBLISHED
from layerwise.engine.question import OF_R, Question
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.paper2.questions.curves import mean_over
from layerwise.papers.paper2.rules.pairs import PYTHIA_CURVE, read_curve
from layerwise.papers.paper3.rules.gain_files import damps, share
from layerwise.papers.paper3.rules.lab_heritage import ELEUTHER, models_by_lab, other_models
from layerwise.papers.shared.names import Choice
from layerwise.papers.shared.result_files import HUNT
from layerwise.statistics import power
from layerwise.statistics.estimates import Estimate


def smallest_effect(question: Question, estimate: Estimate) -> float | None:
    """Return the smallest effect that the units detect with 80% power."""
    if question.is_equivalence:
        rule = power.narrowest_r if question.effect == OF_R else power.narrowest_zone
        return rule(estimate)
    if question.effect == OF_R:
        return power.smallest_r(estimate)
    return power.smallest_shift(estimate)


def detectable(question: Question, evidence: Evidence) -> Rules:
    """What the units of a question detect, by model."""

    def of_model(estimate: Callable[[], Estimate]) -> Rules:
        """Return the rules about the estimate of the question as the papers asked it."""

        def units() -> str:
            found = estimate()
            independent = ", taken as independent," if found.unit == "pairs" else ""
            return f"{found.n} {found.unit}{independent}"

        of_any: Rules = {
            "smallest": Rule(
                lambda: smallest_effect(question, estimate()),
                "the smallest effect that the units detect with 80% power",
            ),
            "units": Rule(units, "the number of units in words, as the beginning of a sentence"),
        }
        of_r: Rules = {
            "needed": Rule(
                lambda: power.points_for(estimate().value, estimate()),
                "the number of units that would distinguish the r that was found from zero",
            ),
            "wider": Rule(
                lambda: power.times_fishers(estimate()),
                "the width of the interval of an r over that of Fisher's",
            ),
        }
        return {**of_any, **(of_r if question.effect == OF_R else {})}

    return {
        f"models/{model}/{PUBLISHED}/{name}": rule
        for model, entry in question.models(evidence).items()
        for name, rule in of_model(question.rules(entry)[PUBLISHED].rule).items()
    }


def heritage_shares(evidence: Evidence) -> Rules:
    """The shares that damp, of EleutherAI's surveyed models and of the others."""

    def shares_and_sizes() -> tuple[float, float, int, int]:
        groups = models_by_lab(evidence[HUNT])[ELEUTHER], other_models(evidence[HUNT])
        first, second = (share([damps(model) for model in group]) for group in groups)
        return first, second, len(groups[0]), len(groups[1])

    return {
        "power": Rule(
            lambda: power.power_of_shares(*shares_and_sizes()),
            "how often Fisher's test would find these shares different",
        ),
        "models": Rule(
            lambda: " and ".join(map(str, shares_and_sizes()[2:])), "how many models each group has"
        ),
        "needed": Rule(
            lambda: power.units_for_shares(*shares_and_sizes()[:2]),
            "how many models in each group would be needed",
        ),
    }


def bound_broken(evidence: Evidence) -> Rules:
    """The models whose gain lies above its bound."""

    def told_above() -> str:
        question = QUESTIONS["bound"]
        words = {
            name: question.word(question.rules(model)[Choice.MODELS_AT_ONCE].rule())
            for name, model in question.models(evidence).items()
        }
        *names, last = [name for name, word in words.items() if word == NO] or [""]
        return f"{', '.join(names)} and {last}" if names else last

    says = "the models whose gain lies above its bound, all tested at once"
    return {"told_above": Rule(told_above, says)}


def printed_late_mean(evidence: Evidence) -> Rules:
    """The late mean of Pythia, as it is printed."""

    def pairs_needed() -> int | None:
        curve = read_curve(PYTHIA_CURVE, evidence)
        late = mean_over(curve, curve.phase("late"))
        return power.points_for(curve.printed_mean("late"), late)

    says = "the number of pairs that would distinguish Pythia's printed late mean from zero"
    return {"needed": Rule(pairs_needed, says)}


DOCUMENTS = {
    name: Document(None, {"": partial(detectable, question)})
    for name, question in QUESTIONS.items()
    if question.effect
} | {
    "heritage": Document(None, {"": heritage_shares}),
    "bound": Document(None, {"": bound_broken}),
    "printed_late": Document(None, {"": printed_late_mean}),
}
