#!/usr/bin/env python3
"""Write docs/claims.md and docs/answers.md: what was claimed, and how it fares.

python docs/claims.py [results/published/claims.json]      (or `make docs`)
"""

import re
import sys
from collections import Counter
from html import escape
from pathlib import Path

from layerwise.engine.central import Central
from layerwise.engine.evidence import Evidence
from layerwise.engine.judged import FALLS, VERDICTS, JudgedClaim, count_verdicts
from layerwise.engine.judging import recomputed_cells
from layerwise.engine.records import JudgedSource, read_judged, tally_sentence
from layerwise.engine.verdicts import FULL, gives
from layerwise.engine.words import display_names
from layerwise.models.registry import read_models
from layerwise.papers.across.analyses import MODULES, TABLES
from layerwise.papers.across.together import PAPERS
from layerwise.papers.shared.published import read_published
from layerwise.present.error_rates import error_rate
from layerwise.present.figures.picture import NARROW, Picture
from layerwise.present.paper import read_citation
from layerwise.present.pictures import read_figures
from layerwise.present.records import (
    answers_told,
    central_in_words,
    claims_in_words,
    shown_values,
    surprises_told,
)
from layerwise.present.records import tally as tally_of_central
from layerwise.present.small_models import FOLDER, read_small_models
from layerwise.present.strip import (
    block,
    count_text,
    deciding_text,
    mark_of,
    row_text,
    symbol,
)
from layerwise.present.strip_picture import PHONE, WIDE, strip_svg
from layerwise.present.values import with_signs
from layerwise.shapes import read_choices
from layerwise.statistics.bootstrap import Draws

ROOT = Path(__file__).resolve().parent.parent
NAMES = display_names(read_models(ROOT / "models.yaml"))
MARKED = (
    "The [glossary](glossary.md#what-this-repository-says) defines the marks. What the papers "
    "themselves say, other readings, and what would decide a claim stand on the report's page, and "
    "in `layerwise headlines -v`."
)
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
STRIP = "The strip: central claims, each with its mark and the estimates that decide it"
HEAD = """# The claims, by analysis

<!-- Written by `make docs` from results/published/claims.json; do not edit. -->

A claim is a number, a label or a statement that a paper, its supplement or a notebook gives.
A row is an analysis: what recomputes those claims, by the tables of rules in
`code/layerwise/papers/*/rules/`. `layerwise claims --analysis ANALYSIS` lists an
analysis's claims with both values, `layerwise trace CLAIM_ID` shows where one comes from.
"""


def title(analysis: str) -> str:
    """The first sentence of the module that derives an analysis."""
    first = MODULES[analysis].__doc__.split("\n\n")[0]
    return " ".join(first.split()).rstrip(".").replace("|", "\\|")


def page(judged: JudgedSource) -> str:
    """The text of docs/claims.md for judged claims of source published."""
    lines = [HEAD]
    for paper in (1, 2, 3):
        claims = [claim for claim in judged.claims if claim.paper == paper]
        counts = count_verdicts(claims, lambda claim: claim.provenance.analysis)
        lines += [f"## Paper {paper}: {len(claims)} claims\n"]
        lines += ["| analysis | what it recomputes | " + " | ".join(SHOWN) + " |"]
        lines += ["|---" * (len(SHOWN) + 2) + "|"]
        for name in filter(counts.get, (*TABLES, None)):
            numbers = " | ".join(str(counts[name][verdict] or "") for verdict in SHOWN)
            what = title(name) if name else "settings, and what has no rule or value"
            lines += [f"| {f'`{name}`' if name else ''} | {what} | {numbers} |"]
        lines += [""]
    lines += ["## What the papers print, and the published numbers do not give\n"]
    lines += [*falling(judged.claims), "", "## Result files\n", result_files(), ""]
    return "\n".join(lines)


def falling(claims: list[JudgedClaim]) -> list[str]:
    """The rows of the papers' claims that differ or are contradicted, in the papers' order."""
    rows = ["| paper | place | quantity | printed | recomputed, or what contradicts it |"]
    rows += ["|---|---|---|---|---|"]
    for claim in claims_in_words(claims, NAMES):
        if claim.document == "paper" and claim.verdict in FALLS:
            published, recomputed = shown_values(claim)
            against = (claim.cause or "").rpartition("; but ")[2]  # the words stand in the trace
            found = against if claim.verdict == "contradicted" else recomputed
            about = f"`{claim.id}` {claim.quantity}"
            cells = (str(claim.paper), claim.where, about, published, found)
            rows += ["| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"]
    return rows


def result_files() -> str:
    """How many cells of the result files are recomputed from others, and which differ."""
    published = read_published(ROOT / "published")
    draws = Draws(**read_choices(ROOT / "params.yaml", "analyse"))
    recomputed, differing = Counter(), []
    for _, (file, key), value, is_copy in recomputed_cells(TABLES, Evidence(published, draws)):
        differs = not gives(published.value(file, key), value, FULL)
        recomputed[file] += differs or not is_copy
        differing += [f"`{key}` of `{file}`"] * differs
    n_files = sum(map(bool, recomputed.values()))
    return (
        f"Statistics recompute {recomputed.total():,} cells of {n_files} result files from other "
        "cells; the rest can only be measured, or is a setting. "
        f"{len(differing)} differ: {', '.join(differing)}."
    )


def answers(judged: JudgedSource) -> str:
    """The text of docs/answers.md: the strip, then every central claim with its reasons."""
    central = central_in_words(judged.central, NAMES)
    told = f"**{tally_of_central(central)}** {MARKED}\n"
    lines = [ANSWERS, told, responsive(*ALL_STRIPS, STRIP)]
    drawn = {picture.name: picture for picture in read_figures(ROOT / FIGURES).pictures}
    for claim in central:
        if f"\n## {block(claim)}\n" not in lines:
            lines += [f"\n## {block(claim)}\n"]
        lines += [
            f"### {claim.claim}\n",
            f"**{mark_of(claim).capitalize()}.** {' '.join(claim.reason)}\n",
            f"{counted_and_rated(claim)}\n",
            *figure(drawn.pop(claim.figure, None)),
        ]
    lines += small_models()
    return with_signs("\n".join(lines)).rstrip() + "\n"


def counted_and_rated(claim: Central) -> str:
    """How many printed numbers come out, where it is claimed, and the error rates of its marks."""
    questions = dict.fromkeys(part.question for part in claim.parts)
    links = [f"[{name}](calibration.md#{name})" for name in questions if error_rate(name)]
    counted = f", {count_text(claim)} numbers as printed" if claim.compared else ""
    rates = f" How often such an answer is wrong: {', '.join(links)}." if links else ""
    return f"Paper {claim.paper}, {claim.where}{counted}.{rates}"


def small_models() -> list[str]:
    """What the small trained models show, as a section; the page has their answers."""
    small = read_small_models(ROOT / FOLDER, PAPERS.questions)
    files = "[examples/measured](../examples/measured/README.md)"
    where = f"The result files, and how to make them again: {files}."
    return ["\n## Two small trained models\n", f"{small.text} {where}"]


def anchor(heading: str) -> str:
    """Where GitHub and mkdocs put a heading: lower case, words joined by hyphens."""
    return re.sub(r"[^\w\s-]", "", heading.lower()).strip().replace(" ", "-")


def table(central: list[Central], page: str) -> str:
    """Central claims as a table, each with a link to its reasons on a page."""
    rows = ["| Paper | claim | mark | numbers as printed | what decides |", "|---|---|---|---|---|"]
    for claim in central:
        link = f"[{claim.claim}]({page}#{anchor(claim.claim)})"
        mark = f"{symbol(claim)} {mark_of(claim)}"
        decides = "; ".join(filter(None, (deciding_text(claim), row_text(claim))))
        cells = (link, mark, count_text(claim), decides)
        rows.append(f"| {claim.paper} | {' | '.join(cells)} |")
    return "\n".join(rows)


def figure(picture: Picture | None) -> list[str]:
    """The evidence of a claim, where no claim above showed it."""
    if picture is None:
        return []
    file = f"{FIGURES}/{picture.name}"
    return [f"{responsive(f'../{file}.svg', f'../{file}{NARROW}.svg', picture.caption)}\n"]


def responsive(wide: str, narrow: str, about: str) -> str:
    """A picture that a phone shows narrow."""
    return f"""\
<picture>
<source media="(max-width: 600px)" srcset="{narrow}">
<img src="{wide}" width="100%" alt="{escape(about)}">
</picture>"""


def strip_of(claims: list[Central], files: tuple[str, str], folder: str, answers_page: str) -> str:
    """Rows of the strip as a picture, and as text, folded.

    Arguments:
        folder: where the files lie, seen from the page; ends with a slash.
        answers_page: that has the reasons.
    """
    wide, narrow = (folder + file for file in files)
    return f"""\
{responsive(wide, narrow, STRIP)}

<details><summary>The same rows as text</summary>

{table(claims, answers_page)}

</details>
"""


def strip(judged: JudgedSource) -> str:
    """The README's strip."""
    page = "docs/answers.md"
    return f"""\
{strip_of(front(judged), FRONT_STRIPS, "docs/", page)}
[All of them, with reasons and figures]({page})."""


def strips(judged: JudgedSource) -> dict[str, str]:
    """The pictures of README and of docs/answers.md, by their files in docs/."""
    shown = {FRONT_STRIPS: front(judged), ALL_STRIPS: central_in_words(judged.central, NAMES)}
    return {
        name: strip_svg(claims, layout)
        for names, claims in shown.items()
        for name, layout in zip(names, (WIDE, PHONE), strict=True)
    }


def front(judged: JudgedSource) -> list[Central]:
    """The central claims that README shows."""
    return [claim for claim in central_in_words(judged.central, NAMES) if claim.front]


def ending(judged: JudgedSource) -> str:
    """How the central claims fare, and what a reader would least expect."""
    lines = surprises_told(judged, NAMES)
    told = "\n".join(f"- {with_signs(line)}" for line in lines)
    answers = [
        f"**{question}** {with_signs(text)}\n" for question, text in answers_told(judged, NAMES)
    ]
    fares = f"{tally_of_central(central_in_words(judged.central, NAMES))} Most surprising:\n"
    return "\n".join([*answers, fares, told])


def doors(_: dict) -> str:
    """The first links, to what CITATION.cff's address publishes, or to what git holds."""
    return links_of(read_citation(ROOT / "CITATION.cff")["address"])


def links_of(address: str) -> str:
    """The first links of a repository.

    Arguments:
        address: of the repository; empty where it is not published.
    """
    notebook = "examples/own_model.ipynb"
    links = {
        "Answers and figures": "docs/answers.md",
        "Your own model": "docs/own-model.md",
        "Notebook": notebook,
    }
    if owner := re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?", address):
        pages = f"https://{owner[1].lower()}.github.io/{owner[2]}"
        links = {
            "Report": f"{pages}/report.html",
            "Paper": f"{pages}/paper.pdf",
            "Your own model": f"{pages}/own-model.html",
            "Notebook": "https://colab.research.google.com/github/"
            f"{owner[1]}/{owner[2]}/blob/main/{notebook}",
        }
    return " · ".join(f"**[{name}]({place})**" for name, place in links.items())


def tally(judged: JudgedSource) -> str:
    """How many printed numbers were compared, and how they fare."""
    return tally_sentence(judged.claims)


FRONT_STRIPS = "strip.svg", "strip-phone.svg"
ALL_STRIPS = "strip-all.svg", "strip-all-phone.svg"
FIGURES = "figures/published"
MADE = {"doors": doors, "answer": ending, "strip": strip, "tally": tally}


def with_strip(readme: str, judged: JudgedSource) -> str:
    """The README with today's answer and strip, each between its two marks."""
    for name, make in MADE.items():
        begin = f"<!-- {name}: written by `make docs`; do not edit -->"
        end = f"<!-- {name} end -->"
        before, found, rest = readme.partition(begin)
        assert found, f"README.md: the mark {begin} is missing; restore it"
        readme = f"{before}{begin}\n{make(judged)}\n{end}{rest.partition(end)[2]}"
    return readme


def main(path: Path) -> None:
    """Read judged claims, write both pages, the README's table and its picture."""
    assert set(SHOWN) <= set(VERDICTS)
    judged = read_judged(path, "published")
    (ROOT / "docs" / "claims.md").write_text(page(judged), encoding="utf-8")
    (ROOT / "docs" / "answers.md").write_text(answers(judged), encoding="utf-8")
    readme = ROOT / "README.md"
    readme.write_text(with_strip(readme.read_text("utf-8"), judged), encoding="utf-8")
    for name, picture in strips(judged).items():
        (ROOT / "docs" / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results/published/claims.json")
