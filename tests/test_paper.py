"""The report: every number has a claim behind it, every claim is in it, and it builds."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from layerwise.errors import LayerwiseError
from layerwise.figures.papers import FIGURES
from layerwise.inputs.published import read_published
from layerwise.ledger.claims import read_ledger
from layerwise.ledger.verdicts import Statistics, judge
from layerwise.pages.latex import build_pdf, escape, render, shown, unbacked_digits
from layerwise.steps.render import refuse_typed_numbers

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = sorted((ROOT / "paper").rglob("*.tex.j2"))
SOURCES = ("published", "mini", "full")


def context(source: str) -> dict[str, Any]:
    """The ledger judged without any statistic, and one claim made to differ."""
    ledger = read_ledger(ROOT / "claims", read_published(ROOT / "published"))
    records = [judge(replace(claim, unpublished=True), Statistics(source, {})) for claim in ledger]
    cause = "a made-up cause: 50 % & more"
    records[1] |= {"verdict": "differs", "recomputed": 0.123456789, "cause": cause}
    records[2] |= {"verdict": "not checkable", "cause": "a made-up gap"}
    counts: dict[str, Counter[str]] = {}
    for record in records:
        counts.setdefault(f"paper{record['paper']}", Counter())[record["verdict"]] += 1
    return {
        "claims": records,
        "counts": counts,
        "source": source,
        "figures": {},
        "environment": {"numpy": "2.4.6"},
        "params": yaml.safe_load((ROOT / "params.yaml").read_text()),
    }


@pytest.fixture(scope="module", params=SOURCES)
def rendered(request: pytest.FixtureRequest) -> tuple[dict[str, Any], str]:
    filled = context(request.param)
    return filled, render(ROOT / "paper", "main.tex.j2", filled)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_result_is_typed(template: Path) -> None:
    assert unbacked_digits(template.read_text(encoding="utf-8")) == []


def test_the_check_would_find_a_typed_result() -> None:
    text = (ROOT / "paper/templates/layers.tex.j2").read_text()
    typed = text.replace(r"\VAR{printed('p2.nb001.layer_0.r', 3)}", "-0.601")
    assert typed != text
    assert len(unbacked_digits(typed)) == 1


def test_every_claim_is_listed_with_its_verdict(rendered: tuple[dict[str, Any], str]) -> None:
    filled, tex = rendered
    listing = tex[tex.index(r"\label{tab:claims}") :]
    for record in filled["claims"]:
        name = escape(record["id"]).replace(".", r".\allowbreak ")
        printed = shown(record["published"], record["decimals"])
        line = rf"\texttt{{{name}}} & {printed} & "
        assert line in listing
        row = listing[listing.index(line) :].split("\n", 1)[0]
        assert row.endswith(rf"& {record['verdict']} \\")


def test_verdicts_are_counted(rendered: tuple[dict[str, Any], str]) -> None:
    filled, tex = rendered
    table = tex[tex.index(r"\label{tab:verdicts}") : tex.index(r"\end{tabular}")]
    for paper, verdicts in filled["counts"].items():
        (row,) = re.findall(rf"^Paper {paper[-1]} (.*) \\\\$", table, re.MULTILINE)
        numbers = [int(cell) for cell in re.findall(r"\\num\{(\d+)\}", row)]
        assert sum(numbers) == sum(verdicts.values())


def test_differences_are_shown_with_both_values_and_the_cause(
    rendered: tuple[dict[str, Any], str],
) -> None:
    filled, tex = rendered
    record = filled["claims"][1]
    label = rf"\label{{tab:differs:{record['paper']}}}"
    findings = tex[tex.index(label) : tex.index(r"\label{sec:limits}")]
    assert shown(record["published"], record["decimals"]) in findings
    again = shown(record["recomputed"], record["decimals"] + 2)
    assert rf"{again} & a made-up cause: 50 \% \& more \\" in findings
    assert re.search(r"a made-up gap & \\num\{\d+\} & ", findings)
    assert tex.count(r"\num{0}\differs{}") + tex.count(r"}\differs{}") >= 1


def test_only_mini_is_watermarked(rendered: tuple[dict[str, Any], str]) -> None:
    filled, tex = rendered
    mini = filled["source"] == "mini"
    assert (r"\usepackage{draftwatermark}" in tex) == mini
    assert ("the numbers mean nothing" in tex) == mini


def test_the_environment_is_named_where_it_is_known(rendered: tuple[dict[str, Any], str]) -> None:
    filled, tex = rendered
    assert "Software of this run: numpy 2.4.6." in tex
    del filled["environment"]
    assert "Software" not in render(ROOT / "paper", "main.tex.j2", filled)


@pytest.mark.parametrize("name", ["layers", "asymmetry_by_category", "depth_gain"])
def test_figures_stand_in_the_report_where_they_exist(name: str) -> None:
    filled = context("published") | {"figures": {name: f"figures/{name}.pdf"}}
    tex = render(ROOT / "paper", "main.tex.j2", filled)
    assert tex.count(r"\includegraphics") == 1
    assert f"{{figures/{name}.pdf}}" in tex
    assert rf"\label{{fig:{name}}}" in tex
    assert rf"\Cref{{fig:{name}}}" in tex
    assert r"\Cref{fig:bins}" not in tex


def test_every_figure_of_the_papers_has_its_place() -> None:
    drawn = {name: f"figures/{name}.pdf" for name in FIGURES}
    tex = render(ROOT / "paper", "main.tex.j2", context("published") | {"figures": drawn})
    for name in FIGURES:
        assert tex.count(rf"\label{{fig:{name}}}") == 1
        assert f"redraw@\\allowbreak {name}".replace("_", r"\_\allowbreak ") in tex


def test_every_table_and_figure_names_its_stage_and_file(
    rendered: tuple[dict[str, Any], str],
) -> None:
    filled, tex = rendered
    floats = re.findall(r"\\begin\{(?:table|figure)\}.*?\\end\{(?:table|figure)\}", tex, re.DOTALL)
    assert len(floats) > 40
    for each in floats:
        assert rf"results/\allowbreak {filled['source']}/\allowbreak claims.json" in each
    stage = {"published": r"replay@\allowbreak calibration"}.get(
        filled["source"], rf"judge@\allowbreak {filled['source']}"
    )
    main = next(each for each in floats if r"\label{tab:paper1:main}" in each)
    assert rf"\origin{{{stage}\\" in main


def test_findings_stand_in_the_section_of_their_paper() -> None:
    filled = context("published")
    for record in filled["claims"]:
        if record["id"] in ("p2.table_phase.pythia.late", "p3.kleiber.r"):
            record |= {"verdict": "differs", "recomputed": 0.5, "cause": "made up"}
    tex = render(ROOT / "paper", "main.tex.j2", filled)
    second, third = (tex.index(rf"\label{{tab:differs:{paper}}}") for paper in (2, 3))
    for name, start, end in (("p2.table", second, third), ("p3.kleiber", third, len(tex))):
        assert name.replace(".", r".\allowbreak ") in tex[start:end]


@pytest.mark.skipif(shutil.which("latexmk") is None, reason="latexmk is missing")
def test_the_report_builds_without_undefined_references(tmp_path: Path) -> None:
    tex = render(ROOT / "paper", "main.tex.j2", context("mini"))
    (tmp_path / "main.tex").write_text(tex, encoding="utf-8")
    assert build_pdf(tmp_path, "main").read_bytes().startswith(b"%PDF-")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["main.pdf", "main.tex"]


def test_the_render_stage_refuses_a_typed_number(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "main.tex.j2").write_text("\\begin{document}\nfine\n")
    refuse_typed_numbers(tmp_path)
    typed = tmp_path / "templates" / "a.tex.j2"
    typed.write_text("first\nwe find r = 0.87 here\n")
    with pytest.raises(LayerwiseError, match=r"line 2: we find r = 0\.87 here: a number in"):
        refuse_typed_numbers(tmp_path)
