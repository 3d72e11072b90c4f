"""What would settle an open central claim: the record of it, and the sentence.

`engine.prospects` makes the record when the ledger is judged; whoever reads claims reads it here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from layerwise.engine.measured import group_by_reason
from layerwise.engine.seen import listed
from layerwise.shapes import Flag, Strict

NAMED = 4  # models that the sentence names; of more it says how many
ABOUT = 20  # units from which on their number is an approximate one
ENOUGH = 0.8  # chance from which on nothing more is asked for


@dataclass(frozen=True)
class MeasuredBy:
    """What has to be measured for the answers to a question.

    Attributes:
        experiments: of `models.yaml`.
        models: by slug, if not all models of these experiments.
        of_each: an answer about one model rests on that model alone.
        units: how many units a measurement gives where single numbers are printed; 0: none more.
    """

    experiments: tuple[str, ...]
    models: tuple[str, ...] = ()
    of_each: bool = False
    units: int = 0


class ToMeasure(Strict):
    """A model to measure: the dtypes of the claim's experiments, and what its whole stage takes.

    model: by slug; name: as people read it.
    """

    model: str
    name: str
    dtypes: list[str]
    minutes: float
    gigabytes: float


class OpenQuestion(Strict):
    """A question that holds the claim open, and what would answer it.

    models: about which it is open.
    n, units: how many units are there, and how many a measurement gives; again: the same ones.
    half_width: of the interval to be expected then, the widest of the models'.
    spread_of: the small models whose spread it is; empty where it is the printed one.
    chance: that this interval answers, if the printed values are the truth; None without a law.
    law: by which the chance is computed; empty without one.
    needed: the fewest units that answer with 80% power, or at all where there is no law; None
        where there is no such number.
    needed_half_width: of the interval then; deciding: the model whose interval it is, where
        there are several.
    narrows: whether the interval narrows to nothing with more units.
    own: whether `layerwise analyze` asks it of a reader's model and statements.
    """

    question: str
    models: list[str]
    unit: str
    n: int
    units: int
    again: Flag
    half_width: float | None
    spread_of: list[str]
    chance: float | None
    law: str
    needed: int | None
    needed_half_width: float | None
    deciding: str
    narrows: Flag
    own: Flag


class Settling(Strict):
    """What would settle an open claim.

    measure: the models that give its answers; left_out: the names of those that are not measured,
        without which there is no answer, with the reason.
    minutes, gigabytes: of all of them one after the other, and of the largest.
    questions: those that are open.
    further: the choices of method that this source cannot answer and weights can.
    chance: that measuring settles it, if the printed values are the truth; None without a law.
    answer: what its questions would say together, as the papers asked them, with the units that it
        takes; empty if these are not known.
    """

    measure: list[ToMeasure]
    left_out: dict[str, str]
    minutes: float
    gigabytes: float
    questions: list[OpenQuestion]
    further: list[str]
    chance: float | None
    answer: Literal["", "yes", "no"]


def settling_first(settlings: Iterable[Settling]) -> list[str]:
    """Return the models that settle open claims, by slug, in the order that settles most soonest.

    Next come always the models of the claim with the largest chance for each further minute;
    claims without a chance come last, the cheapest first.
    """
    waiting = [settling for settling in settlings if settling["measure"]]
    ordered: dict[str, float] = {}

    def gain(settling: Settling) -> tuple[float, float]:
        lacking = [model for model in settling["measure"] if model["model"] not in ordered]
        minutes = sum(model["minutes"] for model in lacking)
        chance = 0.0 if settling["left_out"] else settling["chance"] or 0.0
        return chance / max(minutes, 1e-9), -minutes

    while waiting:
        best = max(waiting, key=gain)
        waiting.remove(best)
        for model in best["measure"]:
            ordered.setdefault(model["model"], model["minutes"])
    return [*ordered]


def targets(settling: Settling) -> list[str]:
    """Return the stages of the pipeline that measure what is asked."""
    return [f"measure@{model['model']}" for model in settling["measure"]]


def tell_settling(settling: Settling) -> str:
    """Return what would settle a claim, a sentence each."""
    sentences = [_tell_measuring(settling)] if settling["measure"] else []
    for question in settling["questions"]:
        if question["chance"] is None or question["chance"] < ENOUGH:
            sentences += _tell_needed(question, settling["answer"])
    return " ".join(sentences)


def units_text(n: int) -> str:
    """Return a number of units as text: many of them are told by two digits, rounded up."""
    if n <= ABOUT:
        return f"{n}"
    unit = 10 ** (len(str(n)) - 2)
    return f"about {-(-n // unit) * unit}"


def _tell_measuring(settling: Settling) -> str:
    """Return what a measurement of these models gives."""
    names = [model["name"] for model in settling["measure"]]
    named = listed(names) if len(names) <= NAMED else f"{len(names)} models"
    cost = f"{max(settling['minutes'], 1):.0f} min on a GPU with {settling['gigabytes']:.0f} GB"
    begin = f"Measuring {named} (about {cost})"
    questions = settling["questions"]
    there = listed([f"{question['n']} {question['unit']}" for question in questions])
    if left_out := settling["left_out"]:
        whys = [f"{listed(names)}, as {why}" for why, names in group_by_reason(left_out).items()]
        return f"{begin} gives no answer: of the {there}, what is left out is {listed(whys)}."
    if all(question["again"] for question in questions):
        further = settling["further"]
        in_part = (
            f" as the papers asked it, though it may hold in part under {len(further)} further "
            "choices of method, which only weights can answer"
        )
        return (
            f"{begin} gives the same {there} again: if the printed values are right, the claim "
            f"stays open{in_part if further else ''}."
        )
    gives = listed([_tell_units(question) for question in questions if not question["again"]])
    chance = settling["chance"]
    if chance is None:
        return f"{begin} gives {gives}."
    return (
        f"{begin} gives {gives}: if the printed values are right, this settles the claim with a "
        f"chance of {chance:.0%}."
    )


def _tell_units(question: OpenQuestion) -> str:
    """Return the units that a measurement gives, with the width of the interval."""
    units = f"{question['units']} {question['unit']}"
    if question["half_width"] is None:
        return units
    spread_of = question["spread_of"]
    of = f" by the spread of {listed(spread_of)}, as none is printed" if spread_of else ""
    return f"{units} and an interval of about ±{question['half_width']:.2g}{of}"


def _tell_needed(question: OpenQuestion, answer: str) -> list[str]:
    """Return how many units it takes, and what the answer would then be."""
    unit, needed = question["unit"], question["needed"]
    if not question["law"]:
        return [
            f"Not by these {question['n']}: any answer takes {needed} {unit}. Its chance cannot be "
            "told, as these show no interval."
        ] * (needed is not None)
    if needed is None and question["narrows"]:
        return [
            f"The printed value lies so near the border that 10,000 {unit} would not be enough."
        ]
    if needed is None:
        return [
            f"No number of {unit} would answer it: single ones scatter more widely than the "
            "difference that is claimed."
        ]
    width, of = question["needed_half_width"], question["deciding"]
    wide = "" if width is None else f" (an interval of ±{width:.2g}{of and f' for {of}'})"
    would = f"; if the printed values are right, it would be {answer}" if answer else ""
    sentence = f"An 80% chance of an answer takes {units_text(needed)} {unit}{wide}{would}."
    own = "layerwise analyze asks the question of statements of your own."
    return [sentence, own] if question["own"] else [sentence]
