#!/usr/bin/env python3
"""Write docs/claims.md and docs/answers.md: what was claimed, and how it fares.

python docs/claims.py [results/published/claims.json]      (or `make docs`)
"""

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from layerwise.engine.analysing import recomputed_cells
from layerwise.engine.central import Central
from layerwise.engine.evidence import Evidence
from layerwise.engine.tally import tally_sentence
from layerwise.engine.verdicts import FALLS, FULL, VERDICTS, count_verdicts, gives
from layerwise.engine.words import display_names
from layerwise.models.registry import read_models
from layerwise.papers.across.analyses import MODULES, TABLES
from layerwise.papers.across.together import PAPERS
from layerwise.papers.shared.published import read_published
from layerwise.present.choices import say_choices
from layerwise.present.records import analysis_of, answer, central_claims, readable, view
from layerwise.present.small_models import FOLDER, read_small_models
from layerwise.present.strip import block, count_text, deciding_text, mark_of, methods_text, symbol
from layerwise.present.strip_picture import strip_svg
from layerwise.present.values import with_signs
from layerwise.shapes import read_choices
from layerwise.statistics.bootstrap import Draws

ROOT = Path(__file__).resolve().parent.parent
NAMES = display_names(read_models(ROOT / "models.yaml"))
MARKED = "The [glossary](glossary.md#what-this-repository-says) defines the marks."
SHOWN = (
    "agrees",
    "differs",
    "same number",
    "follows",
    "needs weights",
    "contradicted",
    "not checkable",
    "declared",
)
ANSWERS = """# The central claims, and what their numbers say

<!-- Written by `make docs` from results/published/claims.json; do not edit. -->
"""
HEAD = """# The claims, by analysis

<!-- Written by `make docs` from results/published/claims.json; do not edit. -->

A claim is a number, a label or a statement that a paper, its supplement or a notebook gives.
A row is an analysis: what recomputes those claims, by the tables of rules in
`code/layerwise/papers/*/rules/`. `dvc repro analyse@published` runs all of them and writes
`results/published/statistics/ANALYSIS.json`; `layerwise claims --analysis ANALYSIS` lists an
analysis's claims with both values, `layerwise trace CLAIM_ID` shows where one comes from.
"""

STORED = """## Result files

Cells of the papers' result files that a statistic recomputes from other cells; the rest can only be
measured, or is a setting.
"""


def title(analysis: str) -> str:
    """The first sentence of the module that derives an analysis."""
    first = MODULES[analysis].__doc__.split("\n\n")[0]
    return " ".join(first.split()).rstrip(".").replace("|", "\\|")


def page(document: dict) -> str:
    """The text of docs/claims.md for judged claims of source published."""
    lines = [HEAD]
    for paper in (1, 2, 3):
        records = [record for record in document["claims"] if record["paper"] == paper]
        counts = count_verdicts(records, analysis_of)
        lines += [f"## Paper {paper}: {len(records)} claims\n"]
        lines += ["| analysis | what it recomputes | " + " | ".join(SHOWN) + " |"]
        lines += ["|---" * (len(SHOWN) + 2) + "|"]
        for name in filter(counts.get, (*TABLES, None)):
            numbers = " | ".join(str(counts[name][verdict] or "") for verdict in SHOWN)
            what = title(name) if name else "settings, and what has no rule or value"
            lines += [f"| {f'`{name}`' if name else ''} | {what} | {numbers} |"]
        lines += [""]
    lines += ["## What the papers print, and the published numbers do not give\n"]
    lines += [*falling(document["claims"]), "", STORED, *result_files(), ""]
    return "\n".join(lines)


def falling(records: list[dict]) -> list[str]:
    """The rows of the papers' claims that differ or are contradicted, in the papers' order."""
    rows = ["| paper | place | quantity | printed | recomputed, or what contradicts it |"]
    rows += ["|---|---|---|---|---|"]
    for record in readable(records, NAMES):
        if record["document"] == "paper" and record["verdict"] in FALLS:
            shown = view(record)
            found = shown["cause" if record["verdict"] == "contradicted" else "recomputed"]
            about = f"`{record['id']}` {record['quantity']}"
            cells = (str(record["paper"]), record["where"], about, shown["published"], found)
            rows += ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"]
    return rows


def result_files() -> list[str]:
    """The rows of the result files: how many cells are recomputed, and which differ."""
    published = read_published(ROOT / "published")
    draws = Draws(**read_choices(ROOT / "params.yaml", "analyse"))
    recomputed, differing = Counter(), defaultdict(list)
    for _, (file, key), value, is_copy in recomputed_cells(TABLES, Evidence(published, draws)):
        differs = not gives(published.value(file, key), value, FULL)
        recomputed[file] += differs or not is_copy
        if differs:
            differing[file].append(f"`{key}`")
    rows = ["| file | cells | recomputed | of these differ |", "|---|---|---|---|"]
    for file in dict.fromkeys(file for file, _ in published.cells if recomputed[file]):
        differ = ", ".join(differing[file]) or "none"
        n_cells = len(published.keys(file))
        rows += [f"| `{file}` | {n_cells} | {recomputed[file]} | {differ} |"]
    return rows


def answers(document: dict) -> str:
    """The text of docs/answers.md: the strip, then every central claim with its reasons."""
    central = central_claims(document, NAMES)
    lines = [ANSWERS, f"**{answer(central)}** {MARKED}\n", table(central, "")]
    for claim in central:
        if f"\n## {block(claim)}\n" not in lines:
            lines += [f"\n## {block(claim)}\n"]
        caveats, details = " ".join(claim.caveats), " ".join(claim.details)
        counted = count_text(claim)
        lines += [
            f"### {claim.claim}\n",
            f"Claimed ({claim.where}): {claim.says}\n",
            f"**{mark_of(claim).capitalize()}.** {' '.join(claim.reason)}\n",
            *([f"{methods}\n"] if (methods := methods_text(claim)) else []),
            *([f"What would settle it: {claim.settle}\n"] if claim.settle else []),
            *([f"The paper itself: {caveats}\n"] if caveats else []),
            *([f"{under}\n"] if (under := say_choices(claim.choices, PAPERS)) else []),
            *([f"What else differs from print: {details}\n"] if details else []),
            *([f"Printed numbers behind it: {counted} as printed.\n"] if claim.compared else []),
        ]
    lines += small_models()
    return with_signs("\n".join(lines)).rstrip() + "\n"


def small_models() -> list[str]:
    """The answers of the small trained models, as a section."""
    small = read_small_models(ROOT / FOLDER, PAPERS.questions)
    rows = [["question", *small.headings], ["---"] * (1 + len(small.headings))]
    rows += [
        [f"{row.question.says} (Paper {row.question.paper})", *row.cells] for row in small.rows
    ]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    files = "[examples/measured](../examples/measured/README.md)"
    where = f"The result files, and how to make them again: {files}."
    return ["\n## Two small trained models\n", f"{small.text} {where}\n", table]


def anchor(heading: str) -> str:
    """Where GitHub and mkdocs put a heading: lower case, words joined by hyphens."""
    return re.sub(r"[^\w\s-]", "", heading.lower()).strip().replace(" ", "-")


def table(central: list[Central], page: str) -> str:
    """Central claims as a table, each with a link to its reasons on a page."""
    rows = ["| Paper | claim | mark | as printed | what decides |", "|---|---|---|---|---|"]
    for claim in central:
        link = f"[{claim.claim}]({page}#{anchor(claim.claim)})"
        mark = f"{symbol(claim)} {mark_of(claim)}"
        cells = (link, mark, count_text(claim), deciding_text(claim))
        rows.append(f"| {claim.paper} | {' | '.join(cells)} |")
    return "\n".join(rows)


def strip(document: dict) -> str:
    """The README's rows of the strip as text, beside the picture."""
    return table(front(document), "docs/answers.md")


def front(document: dict) -> list[Central]:
    """The central claims that README shows."""
    return [claim for claim in central_claims(document, NAMES) if claim.front]


def bold_answer(document: dict) -> str:
    """How the central claims fare, and how many printed numbers were compared."""
    return f"**{answer(central_claims(document, NAMES))}**\n\n{tally_sentence(document['claims'])}"


MADE = {"answer": bold_answer, "strip": strip}


def with_strip(readme: str, document: dict) -> str:
    """The README with today's answer and strip, each between its two marks."""
    for name, make in MADE.items():
        begin = f"<!-- {name}: written by `make docs` from the judged claims; do not edit -->"
        end = f"<!-- {name} end -->"
        before, found, rest = readme.partition(begin)
        assert found, f"README.md: the mark {begin} is missing; restore it"
        readme = f"{before}{begin}\n{make(document)}\n{end}{rest.partition(end)[2]}"
    return readme


def main(path: Path) -> None:
    """Read judged claims, write both pages, the README's table and its picture."""
    assert set(SHOWN) <= set(VERDICTS)
    document = json.loads(path.read_text(encoding="utf-8"))
    (ROOT / "docs" / "claims.md").write_text(page(document), encoding="utf-8")
    (ROOT / "docs" / "answers.md").write_text(answers(document), encoding="utf-8")
    readme = ROOT / "README.md"
    readme.write_text(with_strip(readme.read_text("utf-8"), document), encoding="utf-8")
    (ROOT / "docs" / "strip.svg").write_text(strip_svg(front(document)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results/published/claims.json")
