"""What would settle an open central claim, computed: models, cost, interval and chance.

A measurement of the papers' models on the papers' texts gives the same units again, and with the
printed values the same interval; only where single numbers are printed does it give an interval
that was not there. What more units would give follows from the law of the interval
(`statistics.outlook`), as if the printed value were the truth and the printed spread that of all
such units. Where no spread is printed, it is that of the small trained models.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from layerwise.engine.answer_words import NO, YES
from layerwise.engine.central import Central
from layerwise.engine.marks import OPEN
from layerwise.engine.measured import CONTROL
from layerwise.engine.published import PUBLISHED, answers_by_model
from layerwise.engine.question import Question
from layerwise.engine.settling import MeasuredBy, OpenQuestion, Settling, ToMeasure, tell_settling
from layerwise.engine.words import BETWEEN, display_names, slugs
from layerwise.files import read_json
from layerwise.models import needs
from layerwise.models.registry import Model, lookup_key
from layerwise.statistics.estimates import LEVEL, ONE_SIDED, Estimate
from layerwise.statistics.outlook import Law, fewest_units, law_of
from layerwise.statistics.power import POWER

CARD = "cuda"  # the device of the estimate: what it takes elsewhere differs by machine
DIGITS = 4  # of chances; the last digits of a law differ by processor
Cell = Mapping[str, Any]
Chances = tuple[float, float]  # of yes, and of no


@dataclass(frozen=True)
class Means:
    """What there is to measure with.

    Attributes:
        registry: the models by slug.
        chosen: `measure` of params.yaml.
        trained: {small model: {question: answer}}, as the papers asked.
    """

    registry: Mapping[str, Model]
    chosen: Mapping[str, Any]
    trained: Mapping[str, Mapping[str, Cell]]


NO_MEANS = Means({}, {}, {})


def read_trained(folder: Path) -> dict[str, dict[str, Cell]]:
    """Read the answers of the small trained models that have an interval, a folder for each.

    `drawn` is the same number in each draw of random weights.
    """
    models: dict[str, dict[str, Cell]] = {}
    for path in sorted(folder.glob("*/sensitivity.json")):
        control = read_json(path.with_name(f"{CONTROL}.json"))["answers"]
        models[path.parent.name] = {
            row["question"]: {**row, "drawn": control[row["question"]]["drawn"]}
            for row in read_json(path)["rows"]
            if row["choice"] == PUBLISHED and row["low"] is not None
        }
    return models


def with_settling(
    central: Sequence[Central],
    entries: Sequence[Mapping[str, Any]],
    documents: Mapping[str, Any],
    questions: Mapping[str, Question],
    measured_by: Mapping[str, MeasuredBy],
    means: Means,
) -> list[Central]:
    """Return central claims, the open ones with what would settle them."""
    settled = []
    for claim, entry in zip(central, entries, strict=True):
        if claim.mark == OPEN and not claim.as_random:
            settling = settle(entry["asks"], documents, questions, measured_by, means)
            claim = replace(claim, settling=settling, settle=tell_settling(settling))
        settled.append(claim)
    return settled


def settle(
    asks: Sequence[Mapping[str, Any]],
    documents: Mapping[str, Any],
    questions: Mapping[str, Question],
    measured_by: Mapping[str, MeasuredBy],
    means: Means,
) -> Settling:
    """Return what would settle a claim that its questions leave open.

    Arguments:
        asks: its quantifiers, `engine.marks.Ask`.
        documents: the statistics of a source, {analysis: {document: result}}.
    """
    asked = [
        _Asked.read(ask, documents, questions[ask["question"]], measured_by, means.trained)
        for ask in asks
    ]
    open_ones = [one for one in asked if one.is_open]
    records = [one.record(means) for one in open_ones]
    needed = [record["needed"] or 0 for record in records]
    sizes = iter(needed)
    yes, no = conjunction(one.chances(next(sizes) if one.is_open else 0) for one in asked)
    chances = [one.chances_of_measuring() for one in asked]
    known = [given for given in chances if given is not None]
    measure, left_out = to_measure(open_ones, measured_by, means.registry, means.chosen)
    return Settling(
        measure=measure,
        left_out=left_out,
        minutes=round(sum(model["minutes"] for model in measure), 1),
        gigabytes=max((model["gigabytes"] for model in measure), default=0.0),
        questions=records,
        further=further_choices(open_ones),
        chance=round(sum(conjunction(known)), DIGITS) if len(known) == len(chances) else None,
        answer="" if yes + no < POWER else "yes" if yes > no else "no",
    )


def further_choices(asked: Sequence["_Asked"]) -> list[str]:
    """Return the choices of method under which the weights alone answer all these questions."""
    lacking = [
        [choice for choice in one.question.choices if choice not in one.choices] for one in asked
    ]
    first, *others = lacking or [[]]
    return [str(choice) for choice in first if all(choice in other for other in others)]


def conjunction(chances: Iterable[Chances]) -> Chances:
    """Return the chances that independent quantifiers together answer yes, and no."""
    yes, no_no = 1.0, 1.0
    for of_yes, of_no in chances:
        yes, no_no = yes * of_yes, no_no * (1 - of_no)
    return yes, 1 - no_no


def quantified(chances: Sequence[Chances], need: int) -> Chances:
    """Return the chances that as many independent models answer yes as needed, and that they can't.

    Arguments:
        need: how many must answer yes.
    """
    law = {(0, 0): 1.0}  # probability by how many answer yes, and no
    for yes, no in chances:
        following: dict[tuple[int, int], float] = {}
        for (n_yes, n_no), share in law.items():
            for place, chance in (
                ((n_yes + 1, n_no), yes),
                ((n_yes, n_no + 1), no),
                ((n_yes, n_no), 1 - yes - no),
            ):
                following[place] = following.get(place, 0.0) + share * chance
        law = following
    of_yes = math.fsum(share for (n_yes, _), share in law.items() if n_yes >= need)
    of_no = math.fsum(share for (_, n_no), share in law.items() if len(chances) - n_no < need)
    return of_yes, of_no


def chances_of_answer(law: Law, n: int, question: Question, *, narrow: bool) -> Chances:
    """Return the chances that the interval of n units says yes, and that it says no.

    Arguments:
        narrow: the claim is that there is no effect: by two one-sided tests.
    """
    level = ONE_SIDED if narrow else LEVEL
    yes = law.chance_inside(n, question.above, question.below, level)
    if against := question.against:
        return yes, law.chance_inside(n, against.above, against.below, LEVEL)
    sides = (-math.inf, question.above), (question.below, math.inf)
    no = sum(law.chance_inside(n, *side, level) for side in sides if side[0] < side[1])
    return yes, no


@dataclass(frozen=True)
class _Asked:
    """A quantifier over the answers to a question, and the laws of those that are open.

    Attributes:
        cells: the answers that it is about, by model; `laws`: of those that are open, where known.
        choices: the choices of method under which there are answers.
        need: how many must answer yes; `turned`: the claim says no where the question says yes.
        units: how many units a measurement gives, of an answer that has a single number.
        spread_of: the small models whose spread stands for one that is not printed.
    """

    question: Question
    cells: Mapping[str, Cell]
    choices: frozenset[str]
    laws: Mapping[str, Law | None]
    need: int
    turned: bool
    units: int
    spread_of: tuple[str, ...]

    @classmethod
    def read(
        cls,
        ask: Mapping[str, Any],
        documents: Mapping[str, Any],
        question: Question,
        measured_by: Mapping[str, MeasuredBy],
        trained: Mapping[str, Mapping[str, Cell]],
    ) -> "_Asked":
        """Read the answers of a quantifier, and the laws of those that are open."""
        by_model = answers_by_model(documents, question.name)
        cells = {
            model: by_model.get(model, {}).get(PUBLISHED, NO_CELL)
            for model in ask.get("of", by_model)
        }
        laws: dict[str, Law | None] = {}
        spread_of: set[str] = set()
        for model, cell in cells.items():
            if cell["word"] in (YES, NO):
                continue
            if cell["value"] is None:  # the source has no such number
                laws[model] = None
                continue
            like, of = _widest(question.name, trained) if is_single(cell) else (None, "")
            laws[model] = law_of(estimate_of(cell) if like is None else with_spread(cell, like))
            spread_of |= {of} - {""}
        named = measured_by.get(question.name, MeasuredBy(()))
        return cls(
            question,
            cells,
            frozenset(choice for choices in by_model.values() for choice in choices),
            laws,
            need=ask.get("at_least", len(cells)),
            turned=ask.get("answer", YES) != YES,
            units=named.units,
            spread_of=tuple(spread_of),
        )

    @property
    def is_open(self) -> bool:
        """True where the answers say neither yes nor no."""
        return sum(self.chances(0)) < 1

    @property
    def n(self) -> int:
        """The units of the open answers."""
        return max((self.cells[model]["n"] for model in self.laws), default=0)

    @property
    def n_measured(self) -> int:
        """The units that a measurement gives."""
        return self.n if self.n > 1 or not self.units else self.units

    @property
    def level(self) -> float:
        """The level of the interval that must lie in the range."""
        return ONE_SIDED if self.is_narrow else LEVEL

    @property
    def is_narrow(self) -> bool:
        """True where two one-sided tests answer."""
        return any(cell["narrow"] is not None for cell in self.cells.values())

    def chances(self, n: int) -> Chances:
        """Return the chances that n units of each open answer give yes, and no."""
        given = [self._of_model(model, n) for model in self.cells]
        return quantified(given, self.need)

    def _of_model(self, model: str, n: int) -> Chances:
        """Return the chances of one model; of what is answered, or has no law, its word stands."""
        word, law = self.cells[model]["word"], self.laws.get(model)
        yes, no = float(word == YES), float(word == NO)
        if law is not None and n >= max(law.fewest, self.fewest):
            yes, no = chances_of_answer(law, n, self.question, narrow=self.is_narrow)
        return (no, yes) if self.turned else (yes, no)

    @property
    def fewest(self) -> int:
        """The units with which there is an answer at all."""
        return max(cell["fewest"] for cell in self.cells.values()) if self.cells else 0

    def chances_of_measuring(self) -> Chances | None:
        """Return the chances that a measurement answers, if the printed values are the truth."""
        if not self.is_open or self.n_measured == self.n:  # the same units: the same interval
            return self.chances(0)
        return self.chances(self.n_measured) if all(self.laws.values()) else None

    def needed(self) -> int | None:
        """Return the units that answer with 80% power, or without a law at all."""
        if not any(self.laws.values()):
            return self.fewest or None
        start = max(2, self.fewest, *(law.fewest for law in self.laws.values() if law))
        return fewest_units(lambda n: sum(self.chances(n)), start)

    def half_widths(self, n: int) -> dict[str, float]:
        """Return half the width of the interval of n units, by model, where it has one."""
        by_model = {
            model: law.half_width(n, self.level)
            for model, law in self.laws.items()
            if law is not None and n >= law.fewest
        }
        return {
            model: float(f"{half:.6g}") for model, half in by_model.items() if math.isfinite(half)
        }

    def deciding(self, n: int) -> str:
        """Return the open model that decides with n units; empty without any.

        Of an answer that claims no for one of several it is the likeliest, else the widest.
        """
        halves = self.half_widths(n)
        yes, no = self.chances(n)
        by_chance = {model: self._of_model(model, n)[1] for model in halves}
        return max(halves, key=(by_chance if no > yes else halves).__getitem__, default="")

    def record(self, means: Means) -> OpenQuestion:
        """Return what would answer it."""
        chances, needed = self.chances_of_measuring(), self.needed()
        laws = [law for law in self.laws.values() if law is not None]
        now, then = self.half_widths(self.n_measured), self.half_widths(needed or 0)
        deciding = self.deciding(needed or 0)
        return OpenQuestion(
            question=self.question.name,
            models=list(self.laws),
            unit=self.question.unit,
            n=self.n,
            units=self.n_measured,
            again=self.n_measured == self.n,
            half_width=max(now.values(), default=None),
            spread_of=list(self.spread_of),
            chance=None if chances is None else round(sum(chances), DIGITS),
            law=laws[0].name if laws else "",
            needed=needed,
            needed_half_width=then.get(deciding),
            deciding=display_names(means.registry).get(lookup_key(deciding), "")
            if len(self.laws) > 1
            else "",
            narrows=all(law.narrows for law in laws),
            own=any(self.question.name in answers for answers in means.trained.values()),
        )


NO_CELL: Cell = {
    "value": None,
    "low": None,
    "high": None,
    "n": 0,
    "unit": "",
    "word": "",
    "fewest": 0,
    "method": "",
    "p": None,
    "narrow": None,
}


def estimate_of(cell: Cell) -> Estimate:
    """Return the estimate behind an answer of a document."""
    low, high = (cell["low"], cell["high"]) if cell["low"] is not None else (-math.inf, math.inf)
    groups = [(counted, n) for counted, n in cell.get("groups", ())]
    return Estimate(
        cell["value"],
        low,
        high,
        cell["n"],
        cell["unit"],
        method=cell["method"],
        groups=(groups[0], groups[1]) if groups else None,
    )


def is_single(cell: Cell) -> bool:
    """Return whether an answer is a number without a spread."""
    return cell["n"] < 2 and cell["value"] is not None


def with_spread(cell: Cell, like: Cell) -> Estimate:
    """Return a single number with the interval, around it, that another answer has."""
    half = (like["high"] - like["low"]) / 2
    value = cell["value"]
    return replace(estimate_of(like), value=value, low=value - half, high=value + half)


def _widest(question: str, trained: Mapping[str, Mapping[str, Cell]]) -> tuple[Cell | None, str]:
    """Return the widest interval of a question among the small models, and whose it is."""
    answers = {model: given[question] for model, given in trained.items() if question in given}
    if not answers:
        return None, ""
    model = max(answers, key=lambda name: answers[name]["high"] - answers[name]["low"])
    return answers[model], model


# --- models and their cost ------------------------------------------------------------------------


def to_measure(
    asked: Iterable[_Asked],
    measured_by: Mapping[str, MeasuredBy],
    registry: Mapping[str, Model],
    chosen: Mapping[str, Any],
) -> tuple[list[ToMeasure], dict[str, str]]:
    """Return the models that give the answers, in the registry's order, and why others do not."""
    wanted: dict[str, list[str]] = {}
    for one in asked:
        named = measured_by.get(one.question.name, MeasuredBy(()))
        for slug in models_of(named, one.laws, registry):
            dtypes = wanted.setdefault(slug, [])
            dtypes += [
                dtype
                for dtype, experiments in registry[slug].dtypes.items()
                if dtype not in dtypes and not set(named.experiments).isdisjoint(experiments)
            ]
    in_order = [model for slug, model in registry.items() if slug in wanted]
    seconds = partial(needs.seconds_as_chosen, device=CARD, chosen=chosen)
    return [
        ToMeasure(
            model=model.slug,
            name=model.display,
            dtypes=wanted[model.slug],
            minutes=round(seconds(model) / 60, 1),
            gigabytes=round(max(needs.memory(model, dtype) for dtype in model.dtypes) / 1e9, 1),
        )
        for model in in_order
        if not model.skipped
    ], {model.display: model.skipped for model in in_order if model.skipped}


def models_of(
    named: MeasuredBy, answers: Iterable[str], registry: Mapping[str, Model]
) -> list[str]:
    """Return the slugs of the models that give these answers.

    Arguments:
        answers: the models that they are about, as documents call them.
    """
    if named.models:
        return [*named.models] if registry else []
    if named.of_each:
        known = slugs(registry)
        parts = [part for model in answers for part in _parts_of(model)]
        return [known[lookup_key(part)] for part in parts if lookup_key(part) in known]
    return [
        slug
        for slug, model in registry.items()
        if any(not set(named.experiments).isdisjoint(some) for some in model.dtypes.values())
    ]


def _parts_of(model: str) -> list[str]:
    """Return the two models that an answer compares, or the one that it is about."""
    return next((model.split(between) for between in BETWEEN if between in model), [model])
