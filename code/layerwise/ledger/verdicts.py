"""Compare a printed number with the statistic that answers it, and say how it fares.

Of source `published` a claim agrees, differs, follows, ...; of source `measured` it is reproduced,
differs, or was not measured: VERDICTS says what each word means.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from layerwise.errors import LayerwiseError
from layerwise.inputs.published import Published, split_pointer
from layerwise.inputs.result_files import DATASET, PROMPTS
from layerwise.ledger.claims import FULL, Claim, statistic_parts
from layerwise.ledger.origins import Origins, above

AS_RANDOM = "reproduced, as by random weights"
VERDICTS = {  # and what each means, in the order of lists
    "agrees": "derived from published values by the stated method, equal at the printed decimals",
    "reproduced": "measured from the weights, within the band of its tolerance class",
    AS_RANDOM: "random weights of the same architecture give it too: no evidence",
    "differs": "the stated method gives another value; both are shown",
    "same number": "two places print one stored number: equal, and nothing was derived",
    "follows": "the rounding of a published number that itself needs weights",
    "needs weights": "nothing is published to derive it from",
    "not measured": "no measurement stands behind it in this source",
    "contradicted": "a statement of fact that the published material denies",
    "not checkable": "no rule, or nothing was saved to compare with",
    "declared": "a setting, not a result",
}
UNSHOWN = ("needs weights", "not checkable", "contradicted", "declared")
UNCOMPARED = ("not measured", *UNSHOWN)
RECORDED = ("id", "paper", "where", "quantity", "model", "unit", "kind", "decimals")
COUNTED = (DATASET, PROMPTS)  # whose numbers are counts of ours
STANDING = ("agrees", "reproduced", "follows")  # those that confirm a claim


class Band(NamedTuple):
    """How far a value may lie from print: relative or absolute, whichever is wider."""

    relative: float
    absolute: float
    of_log: bool = False  # of the natural logarithm

    def __str__(self) -> str:
        parts = [f"{self.relative:g} relative"] if self.relative else []
        parts += [f"{self.absolute:g} absolute"] if self.absolute else []
        return (" or ".join(parts) or "equal") + (" of ln p" if self.of_log else "")


# Of a measurement against print. The half-precision band is an assumption until a repeated run has
# measured its noise. UA near zero: states that are off by 3e-3 (float16 on a CPU) move a cosine by
# the square of that, and a mean over pairs by less. p: what the half band of r does to ln p.
TOLERANCES: Mapping[str, Band] = {
    "exact": Band(0.0, 0.0),
    "float64": Band(1e-12, 0.0),
    "float32": Band(1e-5, 1e-7),
    "half": Band(1e-2, 2e-3),
    "ua": Band(1e-2, 2e-4),
    "p": Band(5e-2, 0.2, of_log=True),
}
OF_HALF = ("half", "ua")  # what was measured in float32 is judged as that
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

    source: str
    documents: Mapping[str, Mapping[str, Any]]
    derived: Mapping[str, list[str]] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)  # measured, but without a value: why
    missing: Mapping[str, str] = field(default_factory=dict)  # the cell that was not measured
    origins: Origins | None = None  # of measured numbers
    published: Published | None = None  # the cells that published statistics rest on

    def derived_from(self, statistic: str | None) -> list[str] | None:
        """The cells that a statistic, or what it is a part of, was recomputed from; None: given."""
        found = (self.derived[one] for one in above(statistic or "") if one in self.derived)
        return next(found, None)

    def inputs(self, statistic: str) -> list[str]:
        """The published cells a statistic rests on; of a given one, where it was published."""
        if (cells := self.derived_from(statistic)) is not None:
            return cells
        starts = (one for one in above(statistic) if one in self.given)
        return [self.given[start] + statistic[len(start) :] for start in starts][:1]

    def copies(self, claim: Claim, value: Any) -> bool:
        """Whether a claim's statistic is one stored number, or rests on the printed one itself.

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
        """Why there is none though all that it rests on was measured: a curve may not cross 0.

        None where something was not measured.
        """
        for place in above(statistic):
            if place in self.missing:
                return None
            if place in self.undefined:
                return self.undefined[place]
            if place in self.derived:
                found = at(self.documents, place)
                return f"{place} has {len(found)} entries" if isinstance(found, list) else ""
        return None

    def why_not(self, claim: Claim) -> str | None:
        """Why a measured source does not have a claim's statistic."""
        statistic = claim.statistic or ""
        if self.origins is None:
            return None
        needs = [self.missing[one] for one in above(statistic) if one in self.missing]
        return self.origins.why_not(next(iter(needs or self.inputs(statistic)), None), claim.model)


def at(documents: Mapping[str, Any], statistic: str) -> Any:
    """What stands at analysis:document:/pointer of {analysis: {document: result}}, or None."""
    analysis, document, key = statistic_parts(statistic)
    node = documents.get(analysis, {}).get(document)
    for name in split_pointer(key):
        if isinstance(node, list) and name.isdigit() and int(name) < len(node):
            node = node[int(name)]
        elif isinstance(node, dict) and name in node:
            node = node[name]
        else:
            return None
    return node


def select(claim: Claim, statistics: Statistics, statistic: str | None = None) -> Any:
    """The statistic a claim selects, or another reading of it; None where this source has none."""
    statistic = statistic or claim.statistic
    if statistic is None:
        return None
    node = at(statistics.documents, statistic)
    if isinstance(node, dict) and claim.printed is not None:
        raise LayerwiseError(
            f"claim {claim.id}: the selection {statistic} matches {len(node)} statistics; "
            "name one of them"
        )
    if isinstance(node, list) and node and all(entry is None for entry in node):
        return None  # a place for numbers of which none was measured
    return node


def judge(
    claim: Claim, statistics: Statistics, control: Statistics | None = None
) -> dict[str, Any]:
    """The record of one claim: printed, recomputed, verdict, cause, provenance.

    `control` are the statistics of random weights, by the same rules.
    """
    published, origins = statistics.source == "published", statistics.origins
    value, inputs, derived = _answer(claim, statistics)
    claim = replace(claim, tolerance=_band(claim, inputs, origins))
    rule = _judge_published if published else _judge_measured
    verdict, cause = rule(claim, value, statistics)
    random = None if control is None else select(claim, control)
    if verdict == "reproduced" and rule(claim, random, statistics)[0] == verdict:
        verdict = AS_RANDOM
    values = {text: select(claim, statistics, of) for text, of in claim.readings.items()}
    readings = [
        {"text": text, "value": one, "gives": gives(claim.printed, one, digits(claim))}
        for text, one in values.items()
    ]
    if verdict == "differs":  # the values say how; the cause says why, where that is known
        giving = " and ".join(reading["text"] for reading in readings if reading["gives"])
        known = (cause, f"{giving} would give what is printed" if giving else None, claim.why)
        cause = "; ".join(filter(None, known)) or None
    hidden = published and verdict in UNSHOWN and not derived  # print is not its own recomputation
    shown = None if hidden or isinstance(value, dict) else value
    inputs = [] if shown is None else inputs
    return {
        **{name: getattr(claim, name) for name in RECORDED},
        "published": claim.printed,
        "recomputed": shown,
        **({"control": random} if origins else {}),
        "verdict": verdict,
        "tolerance": claim.tolerance,
        "cause": cause,
        "readings": readings,
        "provenance": {
            "file": claim.source_file,
            "key": claim.source_key,
            "statistic": claim.statistic,
            "inputs": inputs,
            **({"runs": origins.runs(inputs)} if origins else {}),
        },
    }


def _answer(claim: Claim, statistics: Statistics) -> tuple[Any, list[str], bool]:
    """What answers a claim, the cells behind it, and whether it was derived from them."""
    value, published = select(claim, statistics), statistics.source == "published"
    if published and value is None and claim.statistic and not claim.unpublished:
        raise LayerwiseError(
            f"claim {claim.id}: the selection {claim.statistic} matches no statistic; correct "
            "it, or mark the claim `unpublished` if published numbers cannot give it"
        )
    derived = value is not None and statistics.derived_from(claim.statistic) is not None
    if published and claim.same and statistics.published and not derived:
        file, key = claim.same["file"], claim.same["key"]
        return statistics.published[file, key], [f"{file}#{key}"], False
    return value, [] if value is None else statistics.inputs(claim.statistic or ""), derived


def _band(claim: Claim, inputs: Sequence[str], origins: Origins | None) -> str:
    """The tolerance class of a claim: a narrower one if all of it was measured in float32."""
    if claim.tolerance not in TOLERANCES:
        raise LayerwiseError(
            f"claim {claim.id}: tolerance must be one of {', '.join(TOLERANCES)}, "
            f"found {claim.tolerance!r:.40}; take one"
        )
    if origins is None or claim.tolerance not in OF_HALF:
        return claim.tolerance
    dtypes = {origins.settings(run).get("dtype") for run in origins.runs(inputs)}
    return "float32" if dtypes == {"float32"} else claim.tolerance


def _judge_published(claim: Claim, value: Any, statistics: Statistics) -> tuple[str, str | None]:
    if (stated := _judge_statement(claim)) is not None:
        return stated
    derived = value is not None and statistics.derived_from(claim.statistic) is not None
    copied = statistics.copies(claim, value)
    if claim.printed is None:
        return ("not checkable" if derived else "needs weights"), claim.why
    same = gives(claim.printed, value, digits(claim))
    whole = claim.decimals == FULL or counts(claim.decimals, claim.tolerance)
    if claim.identity or (derived and copied and whole):
        verdict = "same number"
    elif derived and not copied:
        verdict = "agrees"
    elif value is not None and not whole and isinstance(claim.decimals, int):
        verdict = "follows"
    elif claim.same is not None:
        verdict = "same number"
    else:
        return "needs weights", claim.why
    return (verdict, claim.why) if same else ("differs", None)


def _judge_statement(claim: Claim) -> tuple[str, str | None] | None:
    """The verdict of a claim that no statistic answers."""
    if claim.kind == "declared":
        return "declared", claim.why
    if claim.against:
        return "contradicted", "; ".join([*claim.against, *([claim.why] if claim.why else [])])
    return ("not checkable", claim.why) if claim.statistic is None else None


def _judge_measured(claim: Claim, value: Any, statistics: Statistics) -> tuple[str, str | None]:
    stated = _judge_statement(claim)
    if stated is not None and (claim.statistic is None or claim.kind == "declared"):
        return stated
    if value is None:
        none = None if claim.unmeasured else statistics.why_none(claim.statistic or "")
        if none is not None and claim.printed is not None:
            return "differs", f"the stated method gives nothing: {none}" if none else None
        return "not measured", claim.unmeasured or statistics.why_not(claim)
    if claim.printed is None:
        return "not checkable", claim.why
    decimals = None if claim.decimals == FULL else digits(claim)
    if equal(claim.printed, value, decimals, TOLERANCES[claim.tolerance]):
        return "reproduced", claim.why
    return "differs", None


def counts(decimals: int | str | None, tolerance: str) -> bool:
    """Whether a printed number is a count, which is no rounding of anything."""
    return decimals in (0, None) and tolerance == "exact"


def counted(records: Iterable[Mapping[str, Any]], group: Callable[[Any], Any]) -> dict[Any, Any]:
    """How often each verdict was given, by what `group` says of a record."""
    found: dict[Any, Counter[str]] = {}
    for record in records:
        found.setdefault(group(record), Counter())[record["verdict"]] += 1
    return found


def digits(claim: Claim) -> int | str | None:
    """The printed decimals of a claim; None of a count."""
    return None if counts(claim.decimals, claim.tolerance) else claim.decimals


def equal(printed: Any, value: Any, decimals: int | str | None, band: Band) -> bool:
    """Whether a recomputed value is what is printed.

    Labels, booleans and counts must be equal; lists entry by entry; numbers at the printed
    decimals, or within the band, whichever is wider.
    """
    if isinstance(printed, list):
        return (
            isinstance(value, list)
            and len(printed) == len(value)
            and all(equal(p, v, decimals, band) for p, v in zip(printed, value, strict=True))
        )
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (printed, value))
    if not numbers:
        return type(printed) is type(value) and printed == value
    if not (math.isfinite(printed) and math.isfinite(value)):
        return False
    # half a unit of the last printed decimal; the factor absorbs binary rounding of the print
    half_unit = 0.5 * 10.0**-decimals * (1 + 1e-9) if isinstance(decimals, int) else 0.0
    if band.of_log and printed > 0 and value > 0:
        of_log = max(band.relative * abs(math.log(printed)), band.absolute)
        within = abs(math.log(printed) - math.log(value)) <= of_log
        return within or abs(printed - value) <= half_unit
    slack = max(band.relative * abs(printed), band.absolute)
    if band.of_log or printed * value < 0:  # no band spans a sign
        slack = 0.0
    return abs(printed - value) <= max(slack, half_unit)


def as_by_random(record: Mapping[str, Any]) -> bool:
    """Whether random weights give what confirms a claim: it is no evidence for the models.

    Of source `published` that is known of words and flags, and no part of the verdict.
    """
    same = record["verdict"] in STANDING and record.get("control") == record["published"]
    return same or record["verdict"] == AS_RANDOM


def tolerance_used(record: Mapping[str, Any], source: str) -> str:
    """How a judged claim was compared with print, in words."""
    decimals, printed = record["decimals"], record["published"]
    if printed is None or record["verdict"] in UNCOMPARED:
        return "with nothing"
    whole = counts(decimals, record["tolerance"]) or isinstance(printed, str | bool)
    if whole and source == "published":
        return "equal, as words and counts are"
    band = STORED if source == "published" else TOLERANCES[record["tolerance"]]
    if whole or not isinstance(decimals, int):
        return str(band)
    half = f"half a unit of the last printed digit, {0.5 * 10.0**-decimals:g}"
    return half if source == "published" else f"{band} or {half}"


def gives(printed: Any, value: Any, decimals: int | str | None) -> bool:
    """Whether a value would give what is printed."""
    return value is not None and equal(printed, value, decimals, STORED)
