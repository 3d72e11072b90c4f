#!/usr/bin/env python3
"""Write docs/claims.md: what was claimed, and how it fares.

python docs/claims.py [results/published/claims.json]      (or `make docs`)
"""

import importlib
import json
import shutil
import sys
from pathlib import Path

from layerwise.analyses import TABLES
from layerwise.ledger.tally import tally, tally_sentence
from layerwise.ledger.verdicts import VERDICTS, counted
from layerwise.pages.records import analysis_of, answer, grades

ROOT = Path(__file__).resolve().parent.parent
SHOWN = (
    "agrees", "differs", "same number", "follows", "needs weights", "contradicted", "not checkable",
    "declared",
)  # fmt: skip
BEGIN = "<!-- headlines: written by `make docs` from the judged claims; do not edit -->"
END = "<!-- headlines end -->"
COUNTS = "<!-- counts: written by `make docs` from the judged claims; do not edit -->"
COUNTED = "<!-- counts end -->"
HEAD = """# The claims, by analysis

<!-- Written by `make docs` from results/published/claims.json; do not edit. -->

A claim is a number, a label or a statement that a paper, one of its notebooks, one of its pages
or one of its result files gives.
A row is an analysis: what recomputes those claims, by the tables of rules in
`code/layerwise/analyses/`. `dvc repro analyse@published` runs all of them and writes
`results/published/statistics/ANALYSIS.json`; `layerwise claims --analysis ANALYSIS` lists an
analysis's claims with both values, `layerwise trace CLAIM_ID` shows where one comes from.
"""


def title(analysis: str) -> str:
    """The first sentence of the module that derives an analysis."""
    first = importlib.import_module(f"layerwise.analyses.{analysis}").__doc__.split("\n\n")[0]
    return " ".join(first.split()).rstrip(".").replace("|", "\\|")


def page(document: dict) -> str:
    """The text of docs/claims.md for judged claims of source published."""
    lines = [HEAD]
    for paper in (1, 2, 3):
        records = [record for record in document["claims"] if record["paper"] == paper]
        counts = counted(records, analysis_of)
        lines += [f"## Paper {paper}: {len(records)} claims\n"]
        lines += ["| analysis | what it recomputes | " + " | ".join(SHOWN) + " |"]
        lines += ["|---" * (len(SHOWN) + 2) + "|"]
        for name in filter(counts.get, (*TABLES, None)):
            numbers = " | ".join(str(counts[name][verdict] or "") for verdict in SHOWN)
            what = title(name) if name else "settings, and what has no rule or value"
            lines += [f"| {name or ''} | {what} | {numbers} |"]
        lines += [""]
    return "\n".join(lines)


def headlines(document: dict) -> str:
    """The README's answer: how many central claims hold, and a row for each."""
    meanings = (f"*{word}*: {meaning}" for word, meaning in grades(document["headlines"]).items())
    rows = [f"**{answer(document['headlines'])}**", f"{'; '.join(meanings)}.", ""]
    rows += ["| paper | says | what its numbers say |", "|---|---|---|"]
    for headline in document["headlines"]:
        graded = f"**{headline['grade'].capitalize()}**, {headline['numbers']}."
        caveats = [f"*The paper: {' '.join(headline['caveats'])}*"]
        cells = (
            " ".join([headline["says"], *(caveats if headline["caveats"] else [])]),
            f"{graded} {headline['reason']}",
        )
        rows += [
            f"| {headline['paper']} | {' | '.join(c.replace('|', chr(92) + '|') for c in cells)} |"
        ]
    return "\n".join(rows)


def counts(document: dict) -> str:
    """How many claims there are, by what they were compared with."""
    return tally_sentence(tally(document["claims"]))


def with_headlines(readme: str, document: dict) -> str:
    """The README with today's counts and table, each between its two marks."""
    for (begin, end), made in (((COUNTS, COUNTED), counts), ((BEGIN, END), headlines)):
        before, _, rest = readme.partition(begin)
        after = rest.partition(end)[2]
        readme = f"{before}{begin}\n{made(document)}\n{end}{after}" if rest else readme
    return readme


def main(path: Path) -> None:
    """Read judged claims, write the page, the README's table and its figure."""
    assert set(SHOWN) <= set(VERDICTS)
    document = json.loads(path.read_text(encoding="utf-8"))
    (ROOT / "docs" / "claims.md").write_text(page(document), encoding="utf-8")
    readme = ROOT / "README.md"
    readme.write_text(with_headlines(readme.read_text("utf-8"), document), encoding="utf-8")
    shutil.copyfile(ROOT / "figures/published/overview.svg", ROOT / "docs" / "overview.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results/published/claims.json")
