"""Judged claims as the pages show them: checked, their values as text, grouped by analysis."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from layerwise.engine.answer_words import (
    NEEDS_WEIGHTS,
    NO_CATEGORIES,
    NO_SPREAD,
    TOO_FEW,
    UNDECIDED,
)
from layerwise.engine.central import Central, Point
from layerwise.engine.marks import DEPENDS, FAILS, HOLDS, IN_PART, MARKS, OPEN, OPENNESS
from layerwise.engine.records import tally_sentence
from layerwise.engine.verdicts import VERDICTS
from layerwise.engine.words import Names, in_words, label_model
from layerwise.models.registry import RANDOM
from layerwise.present.values import short_text, value_text

AGAIN = {"published": "recomputed", "measured": "measured"}
# Fields that are prose, of a central claim, a finding, a paragraph or a claim.
PROSE = (
    "where",
    "claim",
    "number",
    "says",
    "reason",
    "answer",
    "notes",
    "details",
    "decide",
    "caveats",
    "title",
    "text",
    "quantity",
    "cause",
    "printed",
    "published",
    "recomputed",
)
_VIEWED = ("id", "paper", "verdict", "quantity", "model", "unit", "kind", "cause")
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


def context(document: Mapping[str, Any], names: Names, *, random: bool) -> dict[str, Any]:
    """Return what page and paper say of judged claims.

    Arguments:
        random: the numbers are those of random weights, so that no finding follows from them.
    """
    used = {record["verdict"] for record in document["claims"]}
    central = central_claims(document, names)
    return {
        **{name: document[name] for name in ("source", "counts")},
        "central": central,
        "findings": [] if random else readable(document["findings"], names),
        "story": [] if random else readable(document["story"], names),
        "random": random,
        "again": AGAIN[document["source"]],
        "answered": answers_told(document, names),
        "central_tally": tally(central),
        "tally": tally_sentence(document["claims"]),
        "marks": MARKS,
        "openness": OPENNESS,
        "verdicts": {word: meaning for word, meaning in VERDICTS.items() if word in used},
    }


def central_claims(document: Mapping[str, Any], names: Names) -> list[Central]:
    """Return the central claims of judged claims, with the names that readers know."""
    return [
        Central(
            **{
                **claim,
                "points": [
                    Point(**{**point, "model": label_model(point["model"], names)})
                    for point in claim["points"]
                ],
            }
        )
        for claim in readable(document["central"], names)
    ]


def readable(records: Iterable[Mapping[str, Any]], names: Names) -> list[dict[str, Any]]:
    """Return central claims, findings, paragraphs or claims with the names that readers know.

    What programs read stays as it is: ids, questions, statistics and where each number stands.
    """

    def put_in_words(value: Any) -> Any:
        if isinstance(value, str):
            return in_words(value, names)
        return [*map(put_in_words, value)] if isinstance(value, list) else value

    def readable_field(name: str, value: Any) -> Any:
        if name == "model" and value is not None:
            return label_model(value, names)
        if name == "readings":
            return [
                {
                    part: put_in_words(text) if part in ("text", "value") else text
                    for part, text in reading.items()
                }
                for reading in value
            ]
        return put_in_words(value) if name in PROSE else value

    return [
        {name: readable_field(name, value) for name, value in record.items()} for record in records
    ]


def has_random_weights(document: Mapping[str, Any]) -> bool:
    """Return whether judged claims were measured on stand-ins."""
    return any(run.get(RANDOM) for run in document.get("runs", {}).values())


def surprises_told(document: Mapping[str, Any], names: Names) -> list[str]:
    """Return what a reader would least expect, at most three lines; of random weights none."""
    if has_random_weights(document):
        return []
    return [in_words(line, names) for line in document["surprises"][:SURPRISES]]


def answers_told(document: Mapping[str, Any], names: Names) -> list[tuple[str, str]]:
    """Return the questions that the papers raise, with their answers; of random weights none."""
    if has_random_weights(document):
        return []
    return [
        (part["title"], in_words(part["answer"], names))
        for part in document["story"]
        if part["answer"]
    ]


def tally(central: Sequence[Central]) -> str:
    """Return how the papers' central claims fare, and for which reasons the open ones are open."""
    of_papers = [claim for claim in central if claim.source == "paper"]
    marks = [claim.mark for claim in of_papers]
    counts = {mark: marks.count(mark) for mark in _VERBS if mark in marks}
    if not counts:
        return ""
    parts = [f"{n} {verb(mark, n)}" for mark, n in counts.items()]
    if OPEN in counts:
        reasons = Counter(claim.why for claim in of_papers if claim.why)
        told = [f"{n} {_OPEN[why]}" for why in OPENNESS if (n := reasons[why])]
        parts[-1] += f" ({', '.join(told)})"
    told_of = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f"Of {len(of_papers)} central claim{'s' * (len(of_papers) > 1)} {told_of}."


def verb(mark: str, count: int) -> str:
    """Return how a sentence says that so many claims have a mark: "hold", "is open"."""
    return _VERBS[mark][count > 1]


def place(record: Mapping[str, Any]) -> str:
    """Return paper and place of a claim; some places begin with the paper."""
    where: str = record["where"]
    return where if where.startswith("Paper ") else f"Paper {record['paper']}, {where}"


def readings(record: Mapping[str, Any]) -> list[str]:
    """Say what other readings of a claim's rule give, but for what its cause already says."""
    is_in_cause = record["verdict"] == "differs"
    return [
        f"{reading['text'].rstrip(',')}: {short_text(reading['value'], None)}"
        + (", as printed" if reading["gives"] else "")
        for reading in record["readings"]
        if reading["value"] is not None and not (is_in_cause and reading["gives"])
    ]


def noise(record: Mapping[str, Any]) -> str | None:
    """Say what replicates with rounding noise did to a claim; None where none were run."""
    if (measured := record.get("noise")) is None:
        return None
    n = measured["replicates"]
    shift = "; 16 bits can shift it further, to one side" if measured.get("shift") else ""
    if "same" in measured:
        return f"{measured['same']} of {n} replicates give the same{shift}"
    return f"{short_text(measured['band'], None)} either way, by {n} replicates{shift}"


def control(record: Mapping[str, Any]) -> str | None:
    """Say how many draws of random weights give a claim, and what; None where none ran."""
    if (drawn := record.get("control")) is None:
        return None
    values = ["-" if value is None else short_text(value, None) for value in drawn["values"]]
    return f"{drawn['give']} of {drawn['draws']} draws give it: {', '.join(values)}"


def analysis_of(record: Mapping[str, Any]) -> str | None:
    """Return the analysis that a claim's statistic belongs to; None where it has none."""
    statistic = record["provenance"]["statistic"]
    return None if statistic is None else statistic.split(":", 1)[0]


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


def view(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as the page shows it: values as text, what is empty left out."""
    decimals = closer = record["decimals"]
    if record["verdict"] == "differs" and isinstance(decimals, int):
        closer = max(decimals, 0) + 2  # two more tell a rounding from another value
    gap = relative_difference(record["published"], record["recomputed"])
    provenance = record["provenance"]
    shown = {
        "place": place(record),
        **{name: record[name] for name in _VIEWED},
        "published": short_text(record["published"], decimals),
        "recomputed": short_text(record["recomputed"], closer),
        "readings": readings(record) or None,
        "noise": noise(record),
        "control": control(record),
        # JSON has no infinity; three digits are more than the page shows
        "difference": None if gap is None else float(f"{min(gap, 1e305):.3g}"),
        "origin": record["document"],
        "analysis": analysis_of(record),
        **{name: provenance[name] for name in ("file", "key", "statistic")},
    }
    for name, places in (("published", decimals), ("recomputed", None)):
        if (text := value_text(record[name], places)) != shown[name]:
            shown[f"{name}_full"] = text
    numbers = [record[name] for name in ("published", "recomputed")]
    rounded = [f"{x:.{n}f}" for x in numbers if isinstance(x, float) for n in (2, 3)]
    shown["rounded"] = " ".join(dict.fromkeys(rounded)) or None  # as somebody may search it
    return {name: value for name, value in shown.items() if value is not None}
