"""Where one number comes from: its rule, its inputs, and the number computed on the spot."""

import contextlib
import difflib
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from layerwise.engine.central import Central, Point
from layerwise.engine.claims import statistic_parts
from layerwise.engine.derivation import (
    Analysis,
    Origin,
    documents_of,
    module_of,
    plain,
    rule_at,
    words_of,
)
from layerwise.engine.evidence import Evidence, Missing
from layerwise.engine.judged import JudgedClaim, OtherReading, files_behind
from layerwise.engine.marks import QuestionPart
from layerwise.engine.published import (
    DECIDES,
    OVER_MODELS,
    PUBLISHED,
    NotMeasured,
    Value,
    pointer,
    split_pointer,
)
from layerwise.engine.records import JudgedSource, as_json, require_unchanged
from layerwise.engine.verdicts import tolerance_used
from layerwise.engine.words import Names, in_words, label_model, names_here
from layerwise.errors import LayerwiseError
from layerwise.files import revealed
from layerwise.present.records import (
    central_in_words,
    claims_in_words,
    control,
    full_place,
    noise,
    readings,
)
from layerwise.present.search import search_claims
from layerwise.present.strip import count_text, mark_of, parts_text
from layerwise.present.values import short_text, with_unit

Rules = Mapping[str, Analysis]  # by analysis
Method = dict[str, str]  # the key of a rule, its words and its module
NEAR, ALIKE = 5, 0.8  # ids that are offered for one that there is not, and how alike they are
STORED = "a published number, as it is stored"
MOST, FEW = 40, 5  # cells that the text lists: of a claim, of another reading of it


@dataclass(frozen=True)
class Recomputation:
    """The rule of a statistic, what it gives now, and the cells that it reads, with their values.

    A number that no rule derives has no method; one whose rule needs what is not published has no
    value.
    """

    method: list[Method]
    value: Any
    read: dict[str, Value]


@dataclass(frozen=True)
class FilesBehind:
    """The files that a claim rests on, the runs that measured it, and what computes it again."""

    statistics_file: str
    statistics_sha256: str | None
    input_files: dict[str, str]
    runs: dict[str, dict[str, JsonValue]]
    command: str


@dataclass(frozen=True)
class TracedClaim:
    """A claim, how it was compared, and where its number comes from.

    behind: None without a statistic; `now`: None where nothing is recomputed.
    """

    claim: JudgedClaim
    source: str
    compared: str
    behind: FilesBehind | None
    now: Recomputation | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as `layerwise trace --json` prints it."""
        document = as_json(self.claim, self.source)
        if self.behind is not None:
            behind = asdict(self.behind)
            document["provenance"] |= {name: part for name, part in behind.items() if part != {}}
        now = {} if self.now is None else {"now": asdict(self.now)}
        return {**document, "compared": self.compared, **now}


@dataclass(frozen=True)
class TracedCentral:
    """A central claim, and by reading what each of its estimates rests on and gives now."""

    claim: Central
    now: list[dict[str, Recomputation]]

    def as_json(self) -> dict[str, Any]:
        """Return it as `layerwise trace --json` prints it."""
        document = asdict(self.claim)
        for point, now in zip(document["points"], self.now, strict=True):
            point["now"] = {reading: asdict(given) for reading, given in now.items()}
        return document


# --- a claim's record -----------------------------------------------------------------------------


def find_claim(judged: JudgedSource, claim_id: str) -> JudgedClaim:
    """Return one claim.

    Raises:
        LayerwiseError: if there is no such id; with those that are like it.
    """
    claims = {claim.id: claim for claim in judged.claims}
    if claim_id in claims:
        return claims[claim_id]
    central = [claim.id for claim in judged.central]
    if near := difflib.get_close_matches(claim_id, central, n=NEAR, cutoff=ALIKE):
        raise LayerwiseError(
            f"no claim {claim_id!r:.80} in the ledger; did you mean {', '.join(near)}?"
        )
    raise LayerwiseError(
        f"no claim {claim_id!r:.80} in the ledger; {suggest_ids(claim_id, claims)}"
    )


def suggest_ids(claim_id: str, claims: Mapping[str, JudgedClaim]) -> str:
    """Say what to try for an unknown id: ids spelled like it, else claims that have its words."""
    near = difflib.get_close_matches(claim_id, claims, n=NEAR, cutoff=ALIKE)
    section, paper = claim_id.rpartition(".")[0], claim_id.partition(".")[0]
    if section != paper:  # of one section, not of a whole paper
        near += [known_id for known_id in claims if known_id.startswith(f"{section}.")]
    if near:
        return f"did you mean {', '.join(list(dict.fromkeys(near))[:NEAR])}?"
    hits = search_claims(claims_in_words(claims.values(), names_here()), claim_id)
    ids = sorted((hit.id for hit in hits), key=lambda hit_id: claim_id.lower() not in hit_id)
    if ids:
        search = f"layerwise claims --search {shlex.quote(claim_id)}"
        return f"did you mean {', '.join(ids[:NEAR])}? `{search}` lists all {len(ids)}"
    return "`layerwise claims` lists all ids, `layerwise claims --search` finds words"


def trace_claim(claim: JudgedClaim, judged: JudgedSource, statistics: Path) -> TracedClaim:
    """Return a claim with the files behind it: statistics, the numbers they rest on, runs.

    Arguments:
        judged: the judged claims that it is one of.
        statistics: the folder of the statistics.

    Raises:
        LayerwiseError: if the statistics were written again since they were judged.
    """
    compared = tolerance_used(claim, judged.source)
    analysis = claim.provenance.analysis
    if analysis is None:
        return TracedClaim(claim, judged.source, compared, None)
    path = statistics / f"{analysis}.json"
    if path.is_file():
        require_unchanged(judged, statistics=statistics, analysis=analysis)
    behind = FilesBehind(
        str(path),
        judged.statistics.get(path.name),
        hashes_of_inputs(claim, judged),
        {run: judged.runs[run] for run in claim.provenance.runs},
        f"dvc repro analyse@{judged.source}",
    )
    return TracedClaim(claim, judged.source, compared, behind)


def hashes_of_inputs(claim: JudgedClaim, judged: JudgedSource) -> dict[str, str]:
    """Return the SHA-256 of the files that a claim and its other readings rest on."""
    if judged.source == "measured":  # a run is SLUG/EXPERIMENT, its file .../SLUG/NAME
        slugs = {run.partition("/")[0] for run in claim.provenance.runs}
        files = {file for file in judged.inputs if Path(file).parent.name in slugs}
    else:
        files = files_behind([claim])
    return {file: judged.inputs[file] for file in sorted(files)}


# --- its rule -------------------------------------------------------------------------------------


def recompute(statistic: str, evidence: Evidence, rules: Rules) -> Recomputation:
    """Return the rule of a statistic, what it reads, and what it gives now."""
    origin = origin_of(statistic, evidence, rules)
    if origin is None:
        return Recomputation([], None, {})
    value = None
    with evidence.recording() as recording, contextlib.suppress(NotMeasured):
        value = origin.compute()
    read = {f"{file}#{at}": evidence.cells.cells[file, at] for file, at in sorted(recording.cells)}
    return Recomputation([describe_rule(statistic, origin)], plain(value), read)


def origin_of(statistic: str, evidence: Evidence, rules: Rules) -> Origin | None:
    """Return what gives a statistic; None where no rule derives it.

    Raises:
        LayerwiseError: if no analysis has such a document.
    """
    analysis, name, key = statistic_parts(statistic)
    documents = documents_of(rules[analysis], evidence) if analysis in rules else {}
    if name not in documents:
        raise LayerwiseError(
            f"no analysis gives {statistic!r:.80}; judge the ledger again, or correct the claim"
        )
    return rule_at(documents[name], evidence, key)


def methods_of(
    statistics: Iterable[str], evidence: Evidence, rules: Rules
) -> dict[str, list[Method]]:
    """Return the method of every statistic that a rule derives from these numbers."""
    methods = {}
    for statistic in dict.fromkeys(statistics):
        if statistic.partition(":")[0] not in rules:
            continue
        analysis, name, key = statistic_parts(statistic)
        if (document := documents_of(rules[analysis], evidence).get(name)) is None:
            continue
        with contextlib.suppress(NotMeasured, Missing):  # nothing is published where it begins
            if origin := rule_at(document, evidence, key):
                methods[statistic] = [describe_rule(statistic, origin)]
    return methods


def describe_rule(statistic: str, origin: Origin) -> Method:
    """Return the name, the words and the module of the rule of a statistic."""
    name = split_pointer(statistic_parts(statistic)[2])[-1]
    module = module_of(origin.rule).replace(".", "/")
    return {"name": name, "says": words_of(origin.rule), "at": f"code/{module}.py"}


def recompute_readings(
    statistic: str, evidence: Evidence, rules: Rules
) -> dict[str, Recomputation]:
    """Return what `recompute` gives of an answer that decides, and of that which its paper takes.

    Arguments:
        statistic: where the answers to a question about a model stand.
    """
    return {
        reading: recompute(f"{statistic}{pointer(reading)}", evidence, rules)
        for reading in (DECIDES, PUBLISHED)
        if origin_of(f"{statistic}{pointer(reading)}", evidence, rules) is not None
    }


# --- as text --------------------------------------------------------------------------------------

Field = tuple[str, str | None]


def as_text(traced: TracedClaim | TracedCentral) -> str:
    """Return what was traced for the terminal, one field a line."""
    if isinstance(traced, TracedCentral):
        return central_as_text(traced)
    claim, behind, now = traced.claim, traced.behind, traced.now
    origin, names = claim.provenance, names_here()
    (in_names,) = claims_in_words([claim], names)
    fields = [
        *judged_fields(in_names, traced.compared),
        ("statistic", origin.statistic),
        *([] if now is None else method_fields(now, now.value, claim.recomputed, names)),
    ]
    if behind is not None:
        fields += [
            ("in", behind.statistics_file),
            ("sha256", behind.statistics_sha256 or "missing: run the stage"),
        ]
    read = (now and now.read) or dict.fromkeys(origin.inputs)
    cells = [cell if value is None else f"{cell} = {value}" for cell, value in read.items()]
    fields += [("inputs", line) for line in below_files(first_cells(cells, MOST))]
    for reading in in_names.readings:
        further = below_files(further_cells(reading, origin.inputs))
        fields += [("also read", line) for line in further]
    if behind is not None:
        for run, settings in behind.runs.items():
            setting = ", ".join(f"{name} {value}" for name, value in settings.items())
            fields.append(("run", f"{run}: {setting}"))
        for file, sha256 in behind.input_files.items():
            fields.append(("files", f"{sha256}  {file}"))
    return _field_lines(claim.id, fields)


def _field_lines(claim_id: str, fields: Iterable[Field]) -> str:
    lines, before = [claim_id], ""
    for name, text in fields:
        if text:
            lines.append(f"  {name if name != before else '':<10}  {text}")
            before = name
    return "\n".join(map(revealed, lines))  # a line break in a text makes no line


def central_as_text(traced: TracedCentral) -> str:
    """Return a traced central claim for the terminal, one field a line."""
    names = names_here()
    (claim,) = central_in_words([traced.claim], names)
    fields: list[Field] = [
        ("claim", claim.claim),
        ("where", f"Paper {claim.paper}, {claim.where}"),
        ("mark", mark_of(claim)),
        *(("reason", sentence) for sentence in claim.reason),
        *(("note", sentence) for sentence in claim.notes),
        ("to decide", claim.decide),
        ("as printed", count_text(claim) if claim.compared else ""),
        *(("part", _part_text(part, names)) for part in claim.parts),
        ("parts", parts_text(claim)),
        *(("reading", f"{reading['text']}: {reading['word']}") for reading in claim.readings),
        ("decides", claim.number),
    ]
    for point, given in zip(claim.points, traced.now, strict=True):
        fields += [("estimate", text) for text in _estimate_lines(point)]
        fields.append(("statistic", point.statistic))
        values = {DECIDES: point.value, PUBLISHED: point.published["value"]}
        for reading, now in given.items():
            value = (now.value or {}).get("value")
            fields += method_fields(now, value, values[reading], names)
            cells = [f"{cell} = {value}" for cell, value in now.read.items()]
            fields += [("inputs", line) for line in below_files(first_cells(cells, FEW))]
    fields += [("printed", f"{part['claim']}: {part['verdict']}") for part in claim.printed]
    return _field_lines(claim.id, fields)


def _part_text(part: QuestionPart, names: Names) -> str:
    """Return a question asked of a model, and its word."""
    model = part.model
    of_model = "" if model == OVER_MODELS else f" of {label_model(model, names)}"
    return f"{part.question}{of_model}: {part.word}"


def _estimate_lines(point: Point) -> list[str]:
    """Return where an estimate lies if the claim holds, what decides it, and what its paper took.

    Each with its interval, what gives it, and over which units.
    """
    limits = [
        *([f"above {_brief(point.above)}"] if point.above is not None else []),
        *([f"below {_brief(point.below)}"] if point.below is not None else []),
    ]
    lines = [f"{point.model}: {point.word}; the claim holds {' and '.join(limits)}"]
    taken = point.published
    if point.value is not None:
        level = "" if point.level is None else f" at {point.level:.4g}"
        tests = " and ".join(map(str, point.family or ()))
        p = "" if point.p is None else f", p = {_brief(point.p)}"
        number = _with_ends(point.value, point.low, point.high)
        by = _by(point.method, point.n, point.unit)
        lines.append(f"decides: {number}{level}{p}{by}, tests of a yes, of a no: {tests}")
    if not point.is_published:
        number = _with_ends(taken["value"], taken["low"], taken["high"])
        by = _by(taken["method"], taken["n"], taken["unit"])
        lines.append(f"as published: {number}{by}: {taken['word']}")
    return lines


def _with_ends(value: float, low: float | None, high: float | None) -> str:
    return _brief(value) + ("" if low is None else f" ({_brief(low)} to {_brief(high)})")


def _by(method: str, n: int, unit: str) -> str:
    return f", by {method} over {n} {unit}" if method else f", {n} {unit}"


def judged_fields(claim: JudgedClaim, compared: str) -> list[Field]:
    """Return what is printed, what is recomputed, and how they compare."""
    origin, unit = claim.provenance, claim.unit
    printed, recomputed = distinct_texts(claim)
    return [
        ("quantity", claim.quantity),
        ("model", claim.model),
        ("where", full_place(claim)),
        ("printed", with_unit(printed, unit)),
        ("recomputed", with_unit(recomputed, unit)),
        ("noise", noise(claim)),
        ("control", control(claim)),
        ("verdict", f"{claim.verdict}; compared: {compared}"),
        ("cause", claim.cause),
        *(("reading", text) for text in readings(claim)),
        ("printed in", " ".join(filter(None, (origin.file, origin.key)))),
    ]


def method_fields(now: Recomputation, value: Any, recomputed: Any, names: Names) -> list[Field]:
    """Return the rule, and whether it gives now what is recorded; a stored number has none."""
    if not now.method:
        return [("method", STORED)]
    rules: list[Field] = [
        ("method", f"{rule['name']}: {rule['says']} ({rule['at']})") for rule in now.method
    ]
    compared = "the same" if value == recomputed else f"not {_every_digit(recomputed)} as recorded"
    return [*rules, ("now", f"{in_words(_brief(value), names)}, {compared}")]


def further_cells(reading: OtherReading, inputs: Iterable[str]) -> list[str]:
    """Return the cells that another reading of a claim reads and the claim does not."""
    if not reading.inputs:
        return []
    more = sorted(set(reading.inputs) - set(inputs))
    text = reading.text.rstrip(",")
    return [f"{text}:", *first_cells(more, FEW)] if more else [f"{text}: nothing else"]


def below_files(cells: Iterable[str]) -> Iterator[str]:
    """Yield each file once, and its cells below it; what names no file stands as it is."""
    before = ""
    for cell in cells:
        file, mark, place = cell.partition("#")
        if mark and file != before:
            yield file
        yield f"  {place}" if mark else cell
        before = file if mark else ""


def first_cells(cells: list[str], most: int) -> list[str]:
    """Return the first cells, and say how many more there are."""
    n_more = len(cells) - most
    return [*cells[:most], *([f"... and {n_more} more; --json lists all"] if n_more > 0 else [])]


def distinct_texts(claim: JudgedClaim) -> tuple[str, str]:
    """Return printed and recomputed value, told apart by all digits where they differ."""
    printed, recomputed = short_text(claim.published, claim.decimals), _brief(claim.recomputed)
    if claim.verdict == "differs" and printed == recomputed:
        return _every_digit(claim.published), _every_digit(claim.recomputed)
    return printed, recomputed


def _brief(value: Any) -> str:
    """Return a value as it is compared by eye; --json has every digit."""
    return "-" if value is None else short_text(value, None)


def _every_digit(value: Any) -> str:
    return _brief(value) if value is None or isinstance(value, list) else str(value)
