"""The report: every number has a claim behind it, every claim is in it, and it builds."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from claim_records import folders
from layerwise.errors import LayerwiseError
from layerwise.figures.drawing import FIGURES
from layerwise.files import write_json
from layerwise.inputs.published import read_published
from layerwise.ledger.claims import read_ledger
from layerwise.ledger.verdicts import VERDICTS, Statistics, judge
from layerwise.pages.latex import MARKS, escape, plain, render, shown
from layerwise.pages.paper import write_source
from layerwise.pages.records import counts
from layerwise.pages.typed_numbers import refuse_typed_numbers, unbacked_digits
from layerwise.pages.typeset import build_pdf
from layerwise.steps import paper as stage

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = sorted((ROOT / "paper").rglob("*.tex.j2"))
RUNS = ("published", "measured", "random")  # the last: measured on random weights

NO_CHOICE: dict[str, Any] = {"rows": [], "models": []}


def context(run: str) -> dict[str, Any]:
    """The ledger judged without any statistic, and one claim made to differ."""
    source = "published" if run == "published" else "measured"
    ledger = read_ledger(ROOT / "claims", read_published(ROOT / "published"))
    records = [judge(replace(claim, unpublished=True), Statistics(source, {})) for claim in ledger]
    cause = "a made-up cause: 50 % & more"
    records[1] |= {"verdict": "differs", "recomputed": 0.123456789, "cause": cause}
    records[2] |= {"verdict": "not checkable", "cause": "a made-up gap"}
    return {
        "claims": records,
        "counts": counts(records),
        "source": source,
        "random": run == "random",
        "figures": {},
        "left_out": {"anisotropy_spectra": "spectra not_published"},
        "params": yaml.safe_load((ROOT / "params.yaml").read_text()),
    }


@pytest.fixture(scope="module", params=RUNS)
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
        printed = shown(record["published"], record["decimals"], plain)
        line = rf"\texttt{{{name}}} & {printed} & "
        assert line in listing
        row = listing[listing.index(line) :].split("\n", 1)[0]
        assert row.endswith(rf"& {record['verdict']} \\")


def test_verdicts_are_counted(rendered: tuple[dict[str, Any], str]) -> None:
    filled, tex = rendered
    table = tex[tex.index(r"\label{tab:verdicts}") : tex.index(r"\end{tabular}")]
    for paper, verdicts in filled["counts"].items():
        (row,) = re.findall(rf"^Paper {paper} (.*) \\\\$", table, re.MULTILINE)
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


def test_only_random_weights_are_watermarked(rendered: tuple[dict[str, Any], str]) -> None:
    filled, tex = rendered
    assert (r"\usepackage{draftwatermark}" in tex) == filled["random"]
    assert ("the numbers mean nothing" in tex) == filled["random"]


def test_figures_that_are_not_there_are_named(rendered: tuple[dict[str, Any], str]) -> None:
    assert "cannot draw: anisotropy spectra (spectra not published)." in rendered[1]


@pytest.mark.parametrize("name", ["layers", "asymmetry_by_category", "depth_gain"])
def test_figures_stand_in_the_report_where_they_exist(name: str) -> None:
    filled = context("published") | {"figures": {name: f"figures/{name}.pdf"}}
    tex = render(ROOT / "paper", "main.tex.j2", filled)
    assert tex.count(r"\includegraphics") == 1
    assert f"{{figures/{name}.pdf}}" in tex
    assert rf"\label{{fig:{name}}}" in tex
    assert rf"\Cref{{fig:{name}}}" in tex
    assert r"\Cref{fig:bins}" not in tex


def test_every_figure_has_its_place() -> None:
    drawn = {name: f"figures/{name}.pdf" for name in FIGURES}
    more = {"figures": drawn, "sensitivity": NO_CHOICE}
    tex = render(ROOT / "paper", "main.tex.j2", context("published") | more)
    for name in FIGURES:
        assert tex.count(rf"\label{{fig:{name}}}") == 1
        file = f"figures/published/{name}.pdf".replace("/", r"/\allowbreak ")
        assert file.replace("_", r"\_\allowbreak ") in tex


def test_every_table_names_its_files(rendered: tuple[dict[str, Any], str]) -> None:
    filled, tex = rendered
    floats = re.findall(r"\\begin\{table\}.*?\\end\{table\}", tex, re.DOTALL)
    assert len(floats) > 40
    for each in floats:
        assert rf"results/\allowbreak {filled['source']}/\allowbreak claims.json" in each
    main = next(each for each in floats if r"\label{tab:paper1:main}" in each)
    assert r"\origin{statistics/\allowbreak calibration.json\\" in main


def test_every_verdict_has_a_mark() -> None:
    assert set(MARKS) == set(VERDICTS)
    assert len(set(MARKS.values())) == len(MARKS)


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
    tex = render(ROOT / "paper", "main.tex.j2", context("random"))
    (tmp_path / "main.tex").write_text(tex, encoding="utf-8")
    assert build_pdf(tmp_path, "main").read_bytes().startswith(b"%PDF-")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["main.pdf", "main.tex"]


def test_a_typed_number_stops_the_paper(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "main.tex.j2").write_text("\\begin{document}\nfine\n")
    refuse_typed_numbers(tmp_path)
    typed = tmp_path / "templates" / "a.tex.j2"
    typed.write_text("first\nwe find r = 0.87 here\n")
    nowhere = tmp_path / "nowhere"
    with pytest.raises(LayerwiseError, match=r"line 2: we find r = 0\.87 here: a number in"):
        write_source("published", nowhere, nowhere, nowhere, tmp_path, {}, tmp_path / "tex")
    assert not (tmp_path / "tex").exists()


def test_the_stage_writes_a_folder(tmp_path: Path, root: Path) -> None:
    made = folders(tmp_path, root, context("published")["claims"])
    for name in ("layers", "pairs"):
        (made.figures / f"{name}.pdf").write_bytes(b"%PDF")
    write_json(made.statistics / "sensitivity.json", {"documents": {"summary": NO_CHOICE}})
    out = tmp_path / "tex"
    inputs = (made.claims, made.statistics, made.figures, out, ROOT / "paper")
    said = stage.run("published", *inputs, ROOT / "params.yaml")
    assert said == f"report.tex and 2 figures in {out}"
    found = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.*"))
    assert found == ["figures/layers.pdf", "figures/pairs.pdf", "report.tex"]
