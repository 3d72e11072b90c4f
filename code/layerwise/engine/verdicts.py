"""Compare a printed number with the statistic that answers it, and say how it fares.

Of source `published` a claim agrees, differs, follows, ...; of source `measured` it is reproduced,
differs, or was not measured: VERDICTS says what each word means. What was measured in 16 bits has a
band of its own, from replicates (`noise`); what random weights give as well is no evidence.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from layerwise.engine.answers import Answers, read_answers
from layerwise.engine.claims import FULL, Claim, Quote, statistic_parts
from layerwise.engine.judged import (
    AS_RANDOM,
    NO_CONTROL,
    NO_NOISE,
    TOLERANCES,
    TOO_NOISY,
    UNCOMPARED,
    UNSHOWN,
    Band,
    JudgedClaim,
    NoisyNumber,
    NoisyWord,
    OtherReading,
    Provenance,
    RandomDraws,
)
from layerwise.engine.origins import Absence, Origins, prefixes
from layerwise.engine.published import COUNTED, Published, split_pointer
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject
from layerwise.home import Source
from layerwise.statistics.noise import Noise, is_number, noise_of

NOTHING_GIVEN = "the stated method gives no value"
STORED = Band(1e-12, 0.0)  # recomputing from stored full-precision numbers


@dataclass(frozen=True)
class Statistics:
    """The statistics of one source.

    documents: {analysis: {document: result}}; results have the published files' keys.
    derived: {"analysis:document:/pointer": [published file and key, ...]}, what was recomputed
        from published numbers; every other number of a `published` document is given, not derived.
    given: {"analysis:document:/pointer": "file#/pointer"}: what stands below the one was published
        below the other.
    """

    source: Source
    documents: Mapping[str, JsonObject]
    derived: Mapping[str, list[str]] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)  # what has no value: why
    missing: Mapping[str, str] = field(default_factory=dict)  # the cell that was not measured
    origins: Origins | None = None  # of measured numbers
    published: Published | None = None  # the cells that published statistics rest on

    @cached_property
    def answers(self) -> Answers:
        """The answers to the papers' questions."""
        return read_answers(self.documents)

    def derived_from(self, statistic: str | None) -> list[str] | None:
        """Return the cells behind a recomputed statistic or its parent; None if it is given."""
        cells = (
            self.derived[place] for place in prefixes(statistic or "") if place in self.derived
        )
        return next(cells, None)

    def inputs(self, statistic: str) -> list[str]:
        """Return the published cells behind a statistic; the cell itself for a given one."""
        if (cells := self.derived_from(statistic)) is not None:
            return cells
        starts = (place for place in prefixes(statistic) if place in self.given)
        return [self.given[start] + statistic[len(start) :] for start in starts][:1]

    def place_of(self, cell: str) -> str:
        """Return the statistic that shows a stored number, FILE#/pointer, as it stands.

        Raises:
            LayerwiseError: if no document shows it.
        """
        for place, start in self.given.items():
            statistic = place + cell[len(start) :]
            if f"{cell}/".startswith(f"{start}/") and self.derived_from(statistic) is None:
                return statistic
        raise LayerwiseError(
            f"no document shows {cell} as it stands; name a statistic that gives it, or add a "
            "document of its file to the rules"
        )

    def copies(self, claim: Claim, value: Any) -> bool:
        """Return whether a claim's statistic is one stored number, or rests on the printed one.

        What is counted in the statements or prompts is no copy.
        """
        inputs = self.inputs(claim.statistic or "")
        if f"{claim.source_file}#{claim.source_key}" in inputs:
            return True
        if self.published is None or len(inputs) != 1:
            return False
        file, _, key = inputs[0].partition("#")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and file not in COUNTED and self.published.cells.get((file, key)) == value

    def why_none(self, statistic: str) -> str | None:
        """Say why a statistic of measured inputs is undefined: a curve may not cross 0.

        None where something was not measured.
        """
        for place in prefixes(statistic):
            if place in self.missing:
                return None
            if place in self.undefined:
                return self.undefined[place]
            if place in self.derived:
                value = statistic_value(self.documents, place)
                if value is None and place != statistic:
                    return f"{place} is empty"
                return f"{place} has {len(value)} entries" if isinstance(value, list) else ""
        return None

    def why_not(self, claim: Claim) -> Absence:
        """Say why a measured source does not have a claim's statistic."""
        assert self.origins is not None  # every measured source records the runs
        statistic = claim.statistic or ""
        needs = [self.missing[place] for place in prefixes(statistic) if place in self.missing]
        return self.origins.why_not(next(iter(needs or self.inputs(statistic)), None), claim.model)


def statistic_value(documents: Mapping[str, JsonObject], statistic: str) -> Any:
    """Return the value at analysis:document:/pointer of {analysis: {document: result}}, or None."""
    analysis, document, key = statistic_parts(statistic)
    node = documents.get(analysis, {}).get(document)
    for name in split_pointer(key):
        if isinstance(node, list) and name in map(str, range(len(node))):
            node = node[int(name)]
        elif isinstance(node, dict) and name in node:
            node = node[name]
        else:
            return None
    return node


def select(claim: Claim, statistics: Statistics, statistic: str | None = None) -> Any:
    """Return the statistic of a claim, or another; None where this source has none.

    Raises:
        LayerwiseError: for a selection of several statistics.
    """
    statistic = statistic or claim.statistic
    if statistic is None:
        return None
    node = statistic_value(statistics.documents, statistic)
    if isinstance(node, dict):
        raise LayerwiseError(
            f"{claim.name}: the selection {statistic} matches {len(node)} statistics; "
            "name one of them"
        )
    if isinstance(node, list) and node and all(entry is None for entry in node):
        return None  # a place for numbers of which none was measured
    return node


class Verdict(NamedTuple):
    """A word of `VERDICTS`, its cause, and what stands beside the value; see `JudgedClaim`."""

    word: str
    cause: str | None = None
    noise: NoisyNumber | NoisyWord | None = None
    control: RandomDraws | None = None
    waits_for: str | None = ""


def judge(
    claim: Claim,
    statistics: Statistics,
    replicates: Sequence[Statistics] = (),
    draws: Sequence[Statistics] = (),
) -> JudgedClaim:
    """Return one claim with what is recomputed, its verdict, the cause and the provenance.

    Arguments:
        replicates: the statistics of the same models with noise of the size of rounding.
        draws: those of random weights of the same architectures, by the same rules.
    """
    if claim.tolerance not in TOLERANCES:
        raise LayerwiseError(
            f"{claim.name}: tolerance must be one of {', '.join(TOLERANCES)}, "
            f"found {claim.tolerance!r:.40}; take one"
        )
    if claim.cell is not None:
        claim = replace(claim, statistic=statistics.place_of(claim.cell))
    value, inputs, derived = _answer(claim, statistics)
    if statistics.source == "published":
        verdict = _judge_published(claim, value, statistics)
        if verdict.word in UNSHOWN and not derived:  # print is not its own recomputation
            value, inputs = None, []
    else:
        verdict = _judge_measured(Case(claim, value, statistics, replicates, draws))
    readings = [
        _reading(claim, statistics, text, statistic) for text, statistic in claim.readings.items()
    ]
    if verdict.word == "differs":  # the values say how; the cause says why, where that is known
        giving = " and ".join(reading.text for reading in readings if reading.gives)
        printed = f"{giving} would give the printed value" if giving else None
        cause = "; ".join(filter(None, (verdict.cause, printed, claim.why))) or None
        verdict = verdict._replace(cause=cause)
    runs = statistics.origins.runs(inputs) if statistics.origins else []
    return _judged(claim, value, verdict, readings, inputs, runs)


def _judged(
    claim: Claim,
    value: Any,
    verdict: Verdict,
    readings: list[OtherReading],
    inputs: list[str],
    runs: list[str],
) -> JudgedClaim:
    """Return the record of a claim with what is shown beside it."""
    return JudgedClaim(
        id=claim.id,
        paper=claim.paper,
        document=claim.document,
        where=claim.where,
        quantity=claim.quantity,
        model=claim.model,
        unit=claim.unit,
        kind=claim.kind,
        decimals=claim.decimals,
        published=claim.printed,
        recomputed=value,
        noise=verdict.noise,
        control=verdict.control,
        waits_for=verdict.waits_for,
        verdict=verdict.word,
        tolerance=claim.tolerance,
        cause=verdict.cause,
        readings=readings,
        provenance=Provenance(claim.source_file, claim.source_key, claim.statistic, inputs, runs),
    )


def _reading(claim: Claim, statistics: Statistics, text: str, statistic: str) -> OtherReading:
    """Return the value that another reading of a claim's words gives, and its cells.

    Raises:
        LayerwiseError: if no document of the analysis has such a statistic, so that it is none.
    """
    value = select(claim, statistics, statistic)
    if value is None and statistics.source == "published" and not claim.unpublished:
        _require_statistic(claim, statistics, statistic)
    is_known = value is not None or statistics.derived_from(statistic) is not None
    inputs = statistics.inputs(statistic) if is_known else []
    return OtherReading(text, value, gives(claim.printed, value, digits(claim)), inputs)


def _require_statistic(claim: Claim, statistics: Statistics, statistic: str) -> None:
    """Refuse a reading that no model has: what one model lacks another may have."""
    analysis, document, key = statistic_parts(statistic)
    documents = statistics.documents.get(analysis, {})
    places = [f"{analysis}:{name}:{key}" for name in documents if document in documents]
    known = statistics.why_none(statistic) is not None
    if not known and all(statistic_value(statistics.documents, place) is None for place in places):
        raise LayerwiseError(
            f"{claim.name}: the reading {statistic} matches no statistic of any model; correct it"
        )


def _answer(claim: Claim, statistics: Statistics) -> tuple[Any, list[str], bool]:
    """Return the answer to a claim, the cells behind it, and whether it was derived from them."""
    value, published = select(claim, statistics), statistics.source == "published"
    if published and value is None and claim.statistic and not claim.unpublished:
        if statistics.why_none(claim.statistic):
            return None, [], False
        raise LayerwiseError(
            f"{claim.name}: the selection {claim.statistic} matches no statistic; correct "
            "it, or mark the claim `unpublished` if published numbers cannot give it"
        )
    derived = value is not None and statistics.derived_from(claim.statistic) is not None
    return value, [] if value is None else statistics.inputs(claim.statistic or ""), derived


def _judge_published(claim: Claim, value: Any, statistics: Statistics) -> Verdict:
    if (stated := _judge_statement(claim)) is not None:
        return stated
    asked = value is None and not claim.unpublished
    if asked and (none := statistics.why_none(claim.statistic or "")):
        return Verdict("differs", f"{NOTHING_GIVEN}: {none}")
    derived = value is not None and statistics.derived_from(claim.statistic) is not None
    copied = statistics.copies(claim, value)
    same = gives(claim.printed, value, digits(claim))
    whole = claim.decimals == FULL or is_count(claim.decimals, claim.tolerance)
    if claim.identity or (derived and copied and whole):
        word = "same number"
    elif derived and not copied:
        word = "agrees"
    elif value is not None and not whole and isinstance(claim.decimals, int):
        word = "follows"
    elif claim.cell is not None:
        word = "same number"
    else:
        return Verdict("needs weights", claim.why)
    return Verdict(word, claim.why) if same else Verdict("differs")


def _judge_statement(claim: Claim) -> Verdict | None:
    """Return the verdict of a claim that no statistic answers; None where one does."""
    if claim.kind == "declared":
        return Verdict("declared", claim.why)
    if claim.quote is not None:
        passages = [_passage(denial) for denial in claim.against]
        denied = "; ".join([*passages, *([claim.why] if claim.why else [])])
        return Verdict("contradicted", f"{_passage(claim.quote)}; but {denied}")
    return Verdict("not checkable", claim.why) if claim.statistic is None else None


def _passage(quote: Quote | str) -> str:
    """Return the words of a quotation with their place; a place in words as it is."""
    if isinstance(quote, str):
        return quote
    at_commit = f" at {quote['commit'][:7]}" if "commit" in quote else ""
    return f"“{quote['text']}” ({quote['file']}{at_commit}, line {quote['line']})"


# --- a measured claim: gates, of which the first that answers wins --------------------------------


@dataclass(frozen=True)
class Case:
    """A claim over measured numbers, as the gates ask about it.

    Attributes:
        value: what was measured; None where nothing was.
        replicates: the statistics of the same models with noise of the size of rounding.
        draws: those of random weights.
    """

    claim: Claim
    value: Any
    statistics: Statistics
    replicates: Sequence[Statistics]
    draws: Sequence[Statistics]

    @property
    def origins(self) -> Origins:
        """Return the runs that measured a number, which every measured source records."""
        assert self.statistics.origins is not None
        return self.statistics.origins

    @cached_property
    def runs(self) -> list[str]:
        """The runs of models that the value rests on; none where it is counted in texts."""
        return self.origins.model_runs(self.statistics.inputs(self.claim.statistic or ""))

    @cached_property
    def is_rounded(self) -> bool:
        """True where the value rests on a run in 16 bits."""
        return self.origins.in_16_bits(self.runs)

    @cached_property
    def noise(self) -> Noise | None:
        """Return the noise that rounding gives the value; None for a value in 32 bits."""
        if not self.is_rounded:
            return None
        claim = self.claim
        cells = self.statistics.inputs(claim.statistic or "")
        return noise_of(
            self.value,
            [select(claim, replicate) for replicate in self.replicates],
            of_log=TOLERANCES[claim.tolerance].of_log,
            is_exact=claim.tolerance == "exact",
            roundings=1 if self.origins.share_kernels(cells) else 2,
        )

    def verdict(
        self, word: str, cause: str | None = None, control: RandomDraws | None = None
    ) -> Verdict:
        """Return a verdict on the value, with its noise beside it."""
        return Verdict(word, cause, None if self.noise is None else _noted(self.noise), control)


Gate = Callable[[Case], Verdict | None]


def stated_gate(case: Case) -> Verdict | None:
    """Answer for a claim that no statistic answers, or that is a setting."""
    stated = _judge_statement(case.claim)
    if stated is None or (case.claim.statistic is not None and case.claim.kind != "declared"):
        return None
    return stated


def missing_gate(case: Case) -> Verdict | None:
    """Answer where nothing was measured, or where what was measured gives no value."""
    if case.value is not None:
        return None
    claim, statistics = case.claim, case.statistics
    if claim.unmeasured:
        return Verdict("not measured", claim.unmeasured)
    reason = statistics.why_none(claim.statistic or "")
    if reason is not None:
        return Verdict("differs", f"{NOTHING_GIVEN}: {reason}" if reason else None)
    why, waits_for = statistics.why_not(claim)
    return Verdict("not measured", why, waits_for=waits_for)


def weight_free_gate(case: Case) -> Verdict | None:
    """Answer where no weight enters: counted in the texts, or a constant."""
    if case.runs:
        return None
    claim = case.claim
    same = gives(claim.printed, case.value, digits(claim))
    return Verdict("agrees", claim.why) if same else Verdict("differs")


def noise_gate(case: Case) -> Verdict | None:
    """Answer where the effect of rounding is unknown."""
    why = case.origins.why_no_noise(case.runs) if case.is_rounded else None
    return Verdict(NO_NOISE, why) if why else None


def equal_gate(case: Case) -> Verdict | None:
    """Answer where the value is not what is printed, or where rounding alone moves it as far."""
    noise = case.noise
    if not reproduces(case.claim, case.value, noise):
        unsettled = noise is not None and noise.same is not None and noise.same < noise.replicates
        return case.verdict(TOO_NOISY if unsettled else "differs")
    if noise is not None and drowns(case.claim, noise):
        return case.verdict(TOO_NOISY, case.claim.why)
    return None


def control_gate(case: Case) -> Verdict:
    """Answer by what random weights give: a value that they give too is no evidence."""
    if why := case.origins.why_no_control(case.runs):
        return case.verdict(NO_CONTROL, why)
    values = [select(case.claim, draw) for draw in case.draws]
    if all(map(case.origins.is_large, case.runs)):  # of which nothing is drawn
        return case.verdict("reproduced", case.claim.why)
    n_giving = sum(
        value is not None and reproduces(case.claim, value, case.noise) for value in values
    )
    control = RandomDraws(len(values), n_giving, values)
    return case.verdict(AS_RANDOM if n_giving else "reproduced", case.claim.why, control)


GATES: Sequence[Gate] = (
    stated_gate,
    missing_gate,
    weight_free_gate,
    noise_gate,
    equal_gate,
    control_gate,
)


def _judge_measured(case: Case) -> Verdict:
    """Return what the first gate says that answers; the last one always does."""
    answers = (gate(case) for gate in GATES)
    return next(verdict for verdict in answers if verdict is not None)


def reproduces(claim: Claim, value: Any, noise: Noise | None) -> bool:
    """Return whether a value agrees with print, within the band of its class or its noise."""
    decimals = None if claim.decimals == FULL else digits(claim)
    bands = _bands(claim.tolerance, None if noise is None else noise.band)
    return equal(claim.printed, value, decimals, bands)


def _bands(tolerance: str, width: Any) -> "Band | list[Band]":
    """The band of a class, widened by noise; of a list one for each entry."""
    least = TOLERANCES[tolerance]
    if isinstance(width, list):
        return [least._replace(absolute=max(least.absolute, entry)) for entry in width]
    return least if width is None else least._replace(absolute=max(least.absolute, width))


def drowns(claim: Claim, noise: Noise) -> bool:
    """Return whether rounding moves a value as far as the claim asserts, to zero or another word.

    A p-value asserts its logarithm: a band as wide as that reaches p = 1.
    """
    if noise.band is None:
        return noise.same is not None and noise.same < noise.replicates
    of_log = TOLERANCES[claim.tolerance].of_log
    printed = claim.printed if isinstance(claim.printed, list) else [claim.printed]
    return any(
        width > 0 and width >= abs(math.log(number) if of_log and number > 0 else number)
        for number, width in zip(printed, noise.widths, strict=True)
        if is_number(number)
    )


def _noted(noise: Noise) -> NoisyNumber | NoisyWord:
    """Return noise as a claim has it: an infinite band is None."""
    if noise.same is not None:
        return NoisyWord(noise.same, noise.replicates)
    finite = [value if math.isfinite(value) else None for value in noise.widths]
    return NoisyNumber(finite if isinstance(noise.band, list) else finite[0], noise.replicates)


def is_count(decimals: int | str | None, tolerance: str) -> bool:
    """Return whether a printed number is a count, which is no rounding of anything."""
    return decimals in (0, None) and tolerance == "exact"


def digits(claim: Claim) -> int | str | None:
    """Return the printed decimals of a claim; None of a count."""
    return None if is_count(claim.decimals, claim.tolerance) else claim.decimals


def equal(
    printed: Any, value: Any, decimals: int | str | None, band: "Band | Sequence[Band]"
) -> bool:
    """Return whether a recomputed value is what is printed.

    Labels, booleans and counts must be equal; lists entry by entry; numbers within the band and
    half a unit of the last printed decimal together.
    """
    if isinstance(printed, list):
        if not isinstance(value, list) or len(printed) != len(value):
            return False
        bands = [band] * len(printed) if isinstance(band, Band) else band
        return all(
            equal(p, v, decimals, entry_band)
            for p, v, entry_band in zip(printed, value, bands, strict=True)
        )
    assert isinstance(band, Band)
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in (printed, value)):
        return type(printed) is type(value) and printed == value
    if not (math.isfinite(printed) and math.isfinite(value)):
        return False
    # half a unit of the last printed decimal; the factor absorbs binary rounding of the print
    half_unit = 0.5 * 10.0**-decimals * (1 + 1e-9) if isinstance(decimals, int) else 0.0
    if band.of_log and printed > 0 and value > 0:
        of_log = max(band.relative * abs(math.log(printed)), band.absolute)
        within_band = abs(math.log(printed) - math.log(value)) <= of_log
        return within_band or abs(printed - value) <= half_unit
    slack = max(band.relative * abs(printed), band.absolute)
    if band.of_log or printed * value < 0:  # no band spans a sign
        slack = 0.0
    return abs(printed - value) <= slack + half_unit


def tolerance_used(claim: JudgedClaim, source: str) -> str:
    """Say in words how a judged claim was compared with print."""
    decimals, printed, noise = claim.decimals, claim.published, claim.noise
    if printed is None or claim.verdict in UNCOMPARED:
        return "with nothing"
    if isinstance(noise, NoisyWord):
        return f"equal; {noise.same} of {noise.replicates} replicates give the same"
    if is_count(decimals, claim.tolerance) or isinstance(printed, str | bool):
        return "exactly, as words and counts are"
    half = ""
    if isinstance(decimals, int):
        half = f"half a unit of the last printed digit, {0.5 * 10.0**-decimals:g}"
    if source == "published":
        return half or str(STORED)
    tolerance = TOLERANCES[claim.tolerance]
    band = str(tolerance)
    if noise is not None:
        finite = [width for width in noise.widths if width is not None]
        widest = f"{max(finite):.3g}" if len(finite) == len(noise.widths) else "no limit"
        of_log = " of ln p" if tolerance.of_log else ""
        band = f"{widest}{of_log} by the noise of {noise.replicates} replicates"
    return f"{band} and {half}" if half else band


def gives(printed: Any, value: Any, decimals: int | str | None) -> bool:
    """Return whether a value would give what is printed."""
    return value is not None and equal(printed, value, decimals, STORED)
