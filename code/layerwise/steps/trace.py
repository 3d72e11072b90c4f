"""Where one number comes from: its rule, its inputs, and the number computed on the spot."""

import difflib
import dis
import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from layerwise import analyses
from layerwise.analyses import derivation
from layerwise.analyses.derivation import documents_of, evidence_of, plain, rule_at
from layerwise.errors import LayerwiseError
from layerwise.files import revealed
from layerwise.inputs.published import read_published
from layerwise.inputs.shapes import read_choices
from layerwise.ledger.claims import statistic_parts
from layerwise.ledger.records import require_judged
from layerwise.ledger.verdicts import tolerance_used
from layerwise.pages.records import control, noise, place, readings
from layerwise.pages.values import brief
from layerwise.statistics.bootstrap import Draws
from layerwise.steps.claims import judged

MOST = 40  # inputs that the text lists
CODE = Path(__file__).parents[2]
LINE = "<lambda>"  # of a table of rules: it says what it calls and no more


def trace(
    claim_id: str,
    source: str,
    results: Path,
    published: Path = Path("published"),
    params: Path = Path("params.yaml"),
) -> dict[str, Any]:
    """A claim's record with its method, its inputs by value and hash, the number computed now.

    Raises:
        LayerwiseError: if the ledger was not judged yet, the id is unknown, or the statistics
            were written again since they were judged.
    """
    document = judged(source, results)
    records = {record["id"]: record for record in document["claims"]}
    if claim_id not in records:
        start = claim_id.rsplit(".", 1)[0]
        near = difflib.get_close_matches(claim_id, records, n=3, cutoff=0.8)
        near += [other for other in records if other.startswith(start)]
        fix = f"did you mean {', '.join(dict.fromkeys(near[:5]))}?" if near else ""
        fix = fix or "`layerwise claims` lists all ids"
        raise LayerwiseError(f"no claim {claim_id!r:.80} in the ledger; {fix}")
    record = dict(records[claim_id])
    selection = record["provenance"]["statistic"]
    if selection is not None:
        analysis = selection.split(":", 1)[0]
        path = results / source / "statistics" / f"{analysis}.json"
        if path.is_file():
            require_judged(document, path)
        runs = {run: document["runs"][run] for run in record["provenance"].get("runs", ())}
        files = {cell.partition("#")[0] for cell in record["provenance"]["inputs"]}
        if source == "measured":  # a run is SLUG/EXPERIMENT, its file FOLDER/SLUG/measured.json
            slugs = {run.partition("/")[0] for run in runs}
            files = {file for file in document["inputs"] if Path(file).parent.name in slugs}
        used = {file: document["inputs"][file] for file in files}
        record["provenance"] = {
            **record["provenance"],
            "statistics_file": str(path),
            "statistics_sha256": document["statistics"].get(path.name),
            "input_files": dict(sorted(used.items())),
            **({"runs": runs} if runs else {}),
            "command": f"dvc repro analyse@{source}",
        }
        if source == "published":
            record["now"] = recompute(selection, published, params)
    return {**record, "compared": tolerance_used(record, source)}


def recompute(statistic: str, published: Path, params: Path) -> dict[str, Any]:
    """The rule of a statistic, what it reads, and what it gives now, from the published numbers.

    Returns `method`: [{name, says, at}], the functions that make the rule, as far as they are ours;
    `value` and `read`: {cell: value}. A number that no rule derives has no method.
    """
    analysis, name, key = statistic_parts(statistic)
    tables = read_published(published)
    evidence = evidence_of(tables, Draws(**read_choices(params, "analyse")), analyses.TABLES)
    document = documents_of(analyses.TABLES[analysis], evidence)[name]
    found = rule_at(document, evidence, key)
    if found is None:
        return {"method": [], "value": None, "read": {}}
    with evidence.recording() as recording:
        value = found()
    cells = sorted(recording.cells)
    return {
        "method": [described(one) for one in made_of(found)],
        "value": plain(value),
        "read": {f"{file}#{at}": tables.cells[file, at] for file, at in cells},
    }


def made_of(rule: Any) -> list[Callable[..., Any]]:
    """The functions of ours behind a rule: through partials and closures, and what a line calls."""
    inside: list[Any] = []
    if isinstance(rule, partial):
        inside = [rule.func, *rule.args, *rule.keywords.values()]
    elif not inspect.isfunction(rule):
        return []
    else:
        rule = inspect.unwrap(rule)
        closed = [cell.cell_contents for cell in rule.__closure__ or ()]
        inside = [one for one in closed if inspect.isfunction(one) or isinstance(one, partial)]
    if inside:
        return list(dict.fromkeys(function for one in inside for function in made_of(one)))
    if not _ours(rule):
        return []
    return [rule, *(filter(_ours, _called(rule)) if rule.__name__ == LINE else ())]


def _called(line: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The functions that a line names, by themselves or as `module.function`."""
    found, of = [], None
    for step in dis.get_instructions(line):
        if step.opname == "LOAD_GLOBAL":
            of = line.__globals__.get(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and inspect.ismodule(of):
            of = getattr(of, step.argval)
        else:
            of = None
        found += [inspect.unwrap(of)] if inspect.isfunction(of) else []
    return list(dict.fromkeys(found))


def _ours(function: Callable[..., Any]) -> bool:
    """Whether it is a function of an analysis, a measure or a statistic, not of the derivation."""
    ours = Path(function.__code__.co_filename).is_relative_to(CODE)
    return ours and function.__module__ != derivation.__name__


def described(function: Callable[..., Any]) -> dict[str, str]:
    """Name, first words or source, and place of a function."""
    lines, first = inspect.getsourcelines(function)
    path = Path(inspect.getsourcefile(function) or "").relative_to(CODE.parent)
    says = (inspect.getdoc(function) or " ".join(lines)).partition("\n\n")[0]
    name = "rule" if function.__name__ == LINE else function.__name__
    return {"name": name, "says": " ".join(says.split()), "at": f"{path}:{first}"}


def as_text(record: dict[str, Any]) -> str:
    """A record for the terminal, one field a line."""
    origin, now = record["provenance"], record.get("now") or {}
    unit = f" {record['unit']}" if record["unit"] else ""
    fields: list[tuple[str, Any]] = [
        ("quantity", record["quantity"]),
        ("where", place(record)),
        ("printed", f"{brief(record['published'], record['decimals'])}{unit}"),
        ("recomputed", f"{_every_digit(record['recomputed'])}{unit}"),
        ("noise", noise(record)),
        ("control", control(record)),
        ("verdict", f"{record['verdict']}; compared: {record['compared']}"),
        ("cause", record["cause"]),
        *(("reading", text) for text in readings(record)),
        ("print from", " ".join(filter(None, (origin["file"], origin["key"])))),
        ("statistic", origin["statistic"]),
        *(
            ("method", f"{one['name']}: {one['says']} ({one['at']})")
            for one in now.get("method", [])
        ),
        ("now", _every_digit(now["value"]) if now.get("method") else None),
    ]
    if origin["statistic"]:
        fields += [
            ("in", origin["statistics_file"]),
            ("sha256", origin["statistics_sha256"] or "missing: run the stage"),
            ("command", origin["command"]),
        ]
    read = now.get("read") or dict.fromkeys(origin["inputs"])
    cells = [cell if value is None else f"{cell} = {value}" for cell, value in read.items()]
    more = [f"... and {len(cells) - MOST} more; --json lists all"] if len(cells) > MOST else []
    fields += [("inputs", cell) for cell in [*cells[:MOST], *more]]
    for run, how in origin.get("runs", {}).items():
        fields.append(("run", f"{run}: {', '.join(f'{k} {v}' for k, v in how.items())}"))
    fields += [("files", f"{of}  {file}") for file, of in origin.get("input_files", {}).items()]
    lines, before = [record["id"]], ""
    for name, text in fields:
        if text:
            lines.append(f"  {name if name != before else '':<10}  {text}")
            before = name
    return "\n".join(map(revealed, lines))  # a line break in a text makes no line


def _every_digit(value: Any) -> str:
    return brief(value, None) if isinstance(value, list) else "-" if value is None else str(value)
