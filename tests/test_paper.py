"""The report: no typed number, every headline with its grade and reason, and it builds."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from claim_records import folders, headline, judged, note_statistics, record
from layerwise.errors import LayerwiseError
from layerwise.files import read_json, write_json
from layerwise.ledger.headlines import GRADES
from layerwise.pages.paper import DOCUMENTS, write_source
from layerwise.pages.pictures import Figures
from layerwise.pages.typed_numbers import refuse_typed_numbers
from layerwise.pages.typeset import build_pdf
from layerwise.steps import paper as stage

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "paper"
PARAMS = {
    "measure": {"layer_step": 4, "bins": {"k_stable": 20}},
    "analyse": {"level": 0.95, "n_resamples": 10000, "seed": 42},
}
ROW = {"claim_text": "c", "choice_text": "d", "conclusion": "e", "n_models": 1}
CHOICES = {"rows": [ROW | {word: [] for word in ("survives", "lost", "appears", "absent")}]}
needs_latex = pytest.mark.skipif(
    shutil.which("latexmk") is None, reason="latexmk is missing: apt-get install latexmk"
)
ASKED = ("p1.setup.n_pairs", "p2.abstract.late_range_weak")  # claims that the prose quotes


def document(*, source: str = "published", text: str = "50 % & more") -> dict[str, Any]:
    """Judged claims with one that differs, and a headline of each grade."""
    records = [record(name, published=-0.17, decimals=2) for name in ASKED]
    records[1] |= {"verdict": "differs", "recomputed": 0.0041, "cause": text, "quantity": text}
    words = enumerate(GRADES)
    graded = [
        headline(f"p2.{n}", word, says=f"{text} {word}!", reason=f"because {text}")
        for n, word in words
    ]
    return judged(records, source, headlines=graded)


def written(out: Path, random_weights: bool = False, **changes: Any) -> dict[str, str]:
    """Report and supplement as LaTeX."""
    source = "measured" if random_weights else "published"
    drawn = Figures([], {"bins": "none_published"}, random_weights)
    filled = document(source=source, **changes)
    write_source(filled, CHOICES, out, drawn, TEMPLATES, PARAMS, out / "tex")
    return {name: (out / "tex" / f"{name}.tex").read_text() for name in DOCUMENTS.values()}


def test_every_headline_stands_with_its_grade_and_reason(tmp_path: Path) -> None:
    report = written(tmp_path)["report"]
    assert "cannot draw: bins (none published)." in report
    assert r"Of 5 central claims 1 holds, 1 holds in part," in report
    for word in GRADES:
        assert report.count(rf"50 \% \& more {word}!") == 2  # in the table, and with its reason
        assert f"}}{{{word}}}. because 50" in report


def test_what_differs_is_in_the_supplement_with_both_values(tmp_path: Path) -> None:
    supplement = written(tmp_path)["supplement"]
    (row,) = [line for line in supplement.split("\n") if "differs}" in line]
    assert "& -0.17 & 0.0041 & " in row.replace(r"\ensuremath{-}", "-")
    assert r"50 \% \& more" in row
    assert "p1.setup" not in supplement


def test_only_random_weights_are_watermarked(tmp_path: Path) -> None:
    for random_weights in (False, True):
        tex = written(tmp_path, random_weights=random_weights)
        for text in tex.values():
            assert (r"\usepackage{draftwatermark}" in text) == random_weights
        assert ("the numbers mean nothing" in tex["report"]) == random_weights


@needs_latex
def test_both_build_without_undefined_references_the_same_each_time(tmp_path: Path) -> None:
    built = []
    for name in ("one", "two"):
        written(tmp_path / name, random_weights=True)
        built.append(
            [build_pdf(tmp_path / name / "tex", pdf).read_bytes() for pdf in DOCUMENTS.values()]
        )
    assert built[0] == built[1]
    assert all(pdf.startswith(b"%PDF-") for pdf in built[0])


def test_a_typed_number_stops_the_paper(tmp_path: Path) -> None:
    shutil.copytree(
        TEMPLATES, tmp_path / "paper", ignore=shutil.ignore_patterns("*.pdf", "generated")
    )
    refuse_typed_numbers(tmp_path / "paper")
    (tmp_path / "paper/templates/limits.tex.j2").write_text("first\nwe find r = 0.87 here\n")
    drawn = Figures([], {}, random_weights=False)
    with pytest.raises(LayerwiseError, match=r"line 2: we find r = 0\.87 here: a number in"):
        write_source(
            document(), CHOICES, tmp_path, drawn, tmp_path / "paper", PARAMS, tmp_path / "t"
        )
    assert not (tmp_path / "t").exists()


def test_the_stage_writes_a_folder_of_latex(tmp_path: Path, root: Path) -> None:
    made = folders(tmp_path, root, document()["claims"], headlines=document()["headlines"])
    for name in ("layers", "pairs"):
        (made.figures / f"{name}.pdf").write_bytes(b"%PDF")
    write_json(made.statistics / "sensitivity.json", {"documents": {"summary": CHOICES}})
    note_statistics(made.claims, made.statistics)
    out = tmp_path / "tex"
    said = stage.run("published", made.claims, made.statistics, made.figures, out, TEMPLATES)
    assert said == f"report, supplement and 2 figures in {out}"
    found = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.*"))
    assert found == ["figures/layers.pdf", "figures/pairs.pdf", "report.tex", "supplement.tex"]
    assert read_json(made.claims)["headlines"]
