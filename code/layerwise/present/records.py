"""Judged claims as the pages show them: checked, their values as text, grouped by analysis."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from layerwise.engine.answer_words import (
    NEEDS_WEIGHTS,
    NO_CATEGORIES,
    NO_SPREAD,
    TOO_FEW,
    UNDECIDED,
)
from layerwise.engine.central import Central, ReadingOfClaim
from layerwise.engine.claims import DocumentKind, Printed
from layerwise.engine.judged import VERDICTS, JudgedClaim, NoisyWord
from layerwise.engine.marks import DEPENDS, FAILS, HOLDS, IN_PART, MARKS, OPEN, OPENNESS
from layerwise.engine.records import JudgedSource, tally_sentence
from layerwise.engine.seen import Finding, Paragraph
from layerwise.engine.words import Names, in_words, label_model
from layerwise.home import Source
from layerwise.models.registry import RANDOM
from layerwise.present.values import short_text, value_text
from layerwise.shapes import PaperNumber

AGAIN = {"published": "recomputed", "measured": "measured"}
# How a sentence says that one claim, or several, have a mark.
_VERBS = {
    HOLDS: ("holds", "hold"),
    IN_PART: ("holds in part", "hold in part"),
    FAILS: ("fails", "fail"),
    OPEN: ("is open", "are open"),
}
# How it says why so many are open.
_OPEN = {
    NEEDS_WEIGHTS: "because no numbers per statement or prompt are published",
    NO_CATEGORIES: "because what was measured comes in no categories",
    NO_SPREAD: "because single numbers are published without a spread",
    TOO_FEW: "because there are too few models",
    UNDECIDED: "because the confidence interval includes both answers",
    DEPENDS: "because another way to compute it says the opposite",
}
SURPRISES = 3  # lines of the head


class Context(TypedDict):
    """What page and paper say of judged claims, as templates read it.

    again: how the recomputed number is called.
    answered: the questions that the papers raise, with their answers.
    """

    source: Source
    counts: dict[str, dict[str, int]]
    central: list[Central]
    findings: list[Finding]
    story: list[Paragraph]
    random: bool
    again: str
    answered: list[tuple[str, str]]
    central_tally: str
    tally: str
    marks: Mapping[str, str]
    openness: Mapping[str, str]
    verdicts: Mapping[str, str]


def context(judged: JudgedSource, names: Names, *, random: bool) -> Context:
    """Return what page and paper say of judged claims.

    Arguments:
        random: the numbers are those of random weights, so that no finding follows from them.
    """
    used = {claim.verdict for claim in judged.claims}
    central = central_in_words(judged.central, names)
    return {
        "source": judged.source,
        "counts": judged.counts,
        "central": central,
        "findings": [
            replace(finding, text=in_words(finding.text, names))
            for finding in judged.findings
            if not random
        ],
        "story": [] if random else story_in_words(judged.story, names),
        "random": random,
        "again": AGAIN[judged.source],
        "answered": answers_told(judged, names),
        "central_tally": tally(central),
        "tally": tally_sentence(judged.claims),
        "marks": MARKS,
        "openness": OPENNESS,
        "verdicts": {word: meaning for word, meaning in VERDICTS.items() if word in used},
    }


# --- with the names that readers know -------------------------------------------------------------
# What programs read stays as it is: ids, questions, statistics and where each number stands.


def central_in_words(central: Iterable[Central], names: Names) -> list[Central]:
    """Return central claims in the words of readers."""
    return [
        replace(
            claim,
            where=in_words(claim.where, names),
            claim=in_words(claim.claim, names),
            number=in_words(claim.number, names),
            points=[
                replace(point, model=label_model(point.model, names)) for point in claim.points
            ],
            readings=[
                ReadingOfClaim(**{**reading, "text": in_words(reading["text"], names)})
                for reading in claim.readings
            ],
            caveats=_all_in_words(claim.caveats, names),
            says=in_words(claim.says, names),
            reason=_all_in_words(claim.reason, names),
            notes=_all_in_words(claim.notes, names),
            details=_all_in_words(claim.details, names),
            decide=in_words(claim.decide, names),
        )
        for claim in central
    ]


def claims_in_words(claims: Iterable[JudgedClaim], names: Names) -> list[JudgedClaim]:
    """Return judged claims in the words of readers."""
    return [
        replace(
            claim,
            where=in_words(claim.where, names),
            quantity=in_words(claim.quantity, names),
            model=None if claim.model is None else label_model(claim.model, names),
            cause=None if claim.cause is None else in_words(claim.cause, names),
            published=_value_in_words(claim.published, names),
            recomputed=_value_in_words(claim.recomputed, names),
            readings=[
                replace(
                    reading,
                    text=in_words(reading.text, names),
                    value=_value_in_words(reading.value, names),
                )
                for reading in claim.readings
            ],
        )
        for claim in claims
    ]


def story_in_words(story: Iterable[Paragraph], names: Names) -> list[Paragraph]:
    """Return paragraphs in the words of readers."""
    return [
        replace(
            paragraph,
            title=in_words(paragraph.title, names),
            answer=in_words(paragraph.answer, names),
            text=in_words(paragraph.text, names),
        )
        for paragraph in story
    ]


def _all_in_words(sentences: Iterable[str], names: Names) -> list[str]:
    return [in_words(sentence, names) for sentence in sentences]


def _value_in_words(value: Printed, names: Names) -> Printed:
    if isinstance(value, list):
        return [in_words(entry, names) if isinstance(entry, str) else entry for entry in value]
    return in_words(value, names) if isinstance(value, str) else value


# --- the whole ------------------------------------------------------------------------------------


def has_random_weights(judged: JudgedSource) -> bool:
    """Return whether judged claims were measured on stand-ins."""
    return any(run.get(RANDOM) for run in judged.runs.values())


def surprises_told(judged: JudgedSource, names: Names) -> list[str]:
    """Return what a reader would least expect, at most three lines; of random weights none."""
    if has_random_weights(judged):
        return []
    return _all_in_words(judged.surprises[:SURPRISES], names)


def answers_told(judged: JudgedSource, names: Names) -> list[tuple[str, str]]:
    """Return the questions that the papers raise, with their answers; of random weights none."""
    if has_random_weights(judged):
        return []
    return [(part.title, in_words(part.answer, names)) for part in judged.story if part.answer]


def tally(central: Sequence[Central]) -> str:
    """Return how the papers' central claims fare, and for which reasons the open ones are open."""
    of_papers = [claim for claim in central if claim.source == "paper"]
    marks = [claim.mark for claim in of_papers]
    counts = {mark: marks.count(mark) for mark in _VERBS if mark in marks}
    if not counts:
        return ""
    parts = [f"{n} {verb_of_mark(mark, n)}" for mark, n in counts.items()]
    if OPEN in counts:
        reasons = Counter(claim.why for claim in of_papers if claim.why)
        told = [f"{n} {_OPEN[why]}" for why in OPENNESS if (n := reasons[why])]
        parts[-1] += f" ({', '.join(told)})"
    told_of = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f"Of {len(of_papers)} central claim{'s' * (len(of_papers) > 1)} {told_of}."


def verb_of_mark(mark: str, count: int) -> str:
    """Return how a sentence says that so many claims have a mark: "hold", "is open"."""
    return _VERBS[mark][count > 1]


# --- a claim --------------------------------------------------------------------------------------


def full_place(claim: JudgedClaim) -> str:
    """Return paper and place of a claim; some places begin with the paper."""
    where = claim.where
    return where if where.startswith("Paper ") else f"Paper {claim.paper}, {where}"


def readings(claim: JudgedClaim) -> list[str]:
    """Say what other readings of a claim's rule give, but for what its cause already says."""
    is_in_cause = claim.verdict == "differs"
    return [
        f"{reading.text.rstrip(',')}: {short_text(reading.value, None)}"
        + (", as printed" if reading.gives else "")
        for reading in claim.readings
        if reading.value is not None and not (is_in_cause and reading.gives)
    ]


def noise(claim: JudgedClaim) -> str | None:
    """Say what replicates with rounding noise did to a claim; None where none were run."""
    if (measured := claim.noise) is None:
        return None
    n = measured.replicates
    shift = "; 16 bits can shift it further, to one side" if measured.shift else ""
    if isinstance(measured, NoisyWord):
        return f"{measured.same} of {n} replicates give the same{shift}"
    return f"{short_text(measured.band, None)} either way, by {n} replicates{shift}"


def control(claim: JudgedClaim) -> str | None:
    """Say how many draws of random weights give a claim, and what; None where none ran."""
    if (drawn := claim.control) is None:
        return None
    values = ["-" if value is None else short_text(value, None) for value in drawn.values]
    return f"{drawn.give} of {drawn.draws} draws give it: {', '.join(values)}"


def relative_difference(published: Any, recomputed: Any) -> float | None:
    """|recomputed - published| / |published|; of lists the largest entry's.

    Infinite where only the published number is 0 or the lists differ in length; None where there
    is nothing to subtract: a label, or a value that is missing.
    """
    if isinstance(published, list) and isinstance(recomputed, list):
        if len(published) != len(recomputed):
            return math.inf
        gaps = map(relative_difference, published, recomputed)
        return max((gap for gap in gaps if gap is not None), default=None)
    if not {type(published), type(recomputed)} <= {int, float}:
        return None
    if published == recomputed:
        return 0.0
    return abs(recomputed - published) / abs(published) if published else math.inf


def shown_values(claim: JudgedClaim) -> tuple[str, str]:
    """Return printed and recomputed value as text, as many digits as tell them apart."""
    decimals = closer = claim.decimals
    if claim.verdict == "differs" and isinstance(decimals, int):
        closer = max(decimals, 0) + 2  # two more tell a rounding from another value
    return short_text(claim.published, decimals), short_text(claim.recomputed, closer)


@dataclass
class View:
    """A claim as the page's script reads it; None where there is nothing to show.

    rounded: its numbers as somebody may search them.
    compared, rank: how it was compared with print, and the rank of its place in a search.
    central: the central claims that it is part of.
    method, inputs: the places of its rules and cells in the page's lists.
    """

    place: str
    id: str
    paper: PaperNumber
    verdict: str
    quantity: str
    model: str | None
    unit: str | None
    kind: str
    cause: str | None
    published: str
    recomputed: str
    readings: list[str] | None
    noise: str | None
    control: str | None
    difference: float | None
    origin: DocumentKind
    analysis: str | None
    file: str | None
    key: str | None
    statistic: str | None
    published_full: str | None
    recomputed_full: str | None
    rounded: str | None
    compared: str | None = None
    rank: int | None = None
    central: str | None = None
    method: list[int] | None = None
    inputs: list[list[int]] | None = None
    runs: list[str] | None = None

    def as_json(self) -> dict[str, object]:
        """Return it without what is empty."""
        return {name: value for name, value in vars(self).items() if value is not None}


def view(claim: JudgedClaim) -> View:
    """Return what the page shows of a claim by itself."""
    published, recomputed = shown_values(claim)
    in_full = value_text(claim.published, claim.decimals), value_text(claim.recomputed)
    numbers = [value for value in (claim.published, claim.recomputed) if isinstance(value, float)]
    gap = relative_difference(claim.published, claim.recomputed)
    provenance = claim.provenance
    return View(
        place=full_place(claim),
        id=claim.id,
        paper=claim.paper,
        verdict=claim.verdict,
        quantity=claim.quantity,
        model=claim.model,
        unit=claim.unit,
        kind=claim.kind,
        cause=claim.cause,
        published=published,
        recomputed=recomputed,
        readings=readings(claim) or None,
        noise=noise(claim),
        control=control(claim),
        # JSON has no infinity; three digits are more than the page shows
        difference=None if gap is None else float(f"{min(gap, 1e305):.3g}"),
        origin=claim.document,
        analysis=provenance.analysis,
        file=provenance.file,
        key=provenance.key,
        statistic=provenance.statistic,
        published_full=None if in_full[0] == published else in_full[0],
        recomputed_full=None if in_full[1] == recomputed else in_full[1],
        rounded=" ".join(dict.fromkeys(f"{x:.{n}f}" for x in numbers for n in (2, 3))) or None,
    )
