"""The paper, from templates to PDF: every number a claim's, and no text that commands LaTeX."""

import csv
import re
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_records import folders, judged_source, made_central, record
from git_repositories import git, needs_git
from hostile import TEX, UNSEEN, is_unseen
from layerwise.engine.judged import FALLS
from layerwise.engine.marks import MARKS, OPENNESS
from layerwise.engine.records import JudgedSource, read_judged
from layerwise.engine.seen import Finding
from layerwise.engine.words import names_here
from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.present.latex import escape, latex_value, number, prose, render, short
from layerwise.present.paper import REASON, Report, care_csv, reason_text
from layerwise.present.pictures import Figures
from layerwise.present.records import central_in_words
from layerwise.present.strip import count_text, deciding_text
from layerwise.present.typed_numbers import refuse_typed_numbers, unbacked_digits
from layerwise.present.typeset import DOCUMENTS, Commit, NoLatexError, build_pdf, find_commit
from layerwise.run.steps import draw
from layerwise.run.steps import paper as stage
from layerwise.shapes import SECTIONS, read_choices, read_yaml

needs_latex = pytest.mark.skipif(
    shutil.which("latexmk") is None, reason="latexmk is missing: apt-get install latexmk"
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (escape("a_b & 50% #1 {x} $5"), r"a\_b \& 50\% \#1 \{x\} \$5"),
        (escape("λ ≤ 3 – it’s"), r"\ensuremath{\lambda} \ensuremath{\le} 3 -- it's"),
        (
            prose("W_V, 10^(1/L) >= 1; L* and L/2"),
            r"\ensuremath{W_{V}}, \ensuremath{10^{1/L}} "
            r"\ensuremath{\ge } 1; \ensuremath{L^{*}} and \ensuremath{L/2}",
        ),
        (
            prose("r = -0.17, not 'r' of Paper-2"),
            r"\ensuremath{r} = \ensuremath{-0.17}, not `r' of "
            "Paper-2",
        ),
        (
            prose("Llama's layers 24-32, |d| < 2"),
            r"Llama's layers 24--32, \ensuremath{|d|} "
            r"\ensuremath{<} 2",
        ),
        (number(0.12345, 3), r"\ensuremath{0.123}"),
        (number(0.12345, 3, sign=True), r"\ensuremath{+0.123}"),
        (number(-0.0001, 3, sign=True), r"\ensuremath{0.000}"),
        (number(-1234567.5, 1), r"\ensuremath{-1\,234\,567.5}"),
        (number(9999), r"\ensuremath{9999}"),
        (number(3.9e-32), r"\ensuremath{3.9 \times 10^{-32}}"),
        (latex_value(0.25, "full"), r"\ensuremath{0.25}"),
        (latex_value(7, 4), r"\ensuremath{7}"),
        (latex_value([8, 12]), r"\ensuremath{8}, \ensuremath{12}"),
        (short([0.123456789, -2], "full"), r"0.123457, \ensuremath{-2}"),
    ],
)
def test_texts_and_numbers(text: str, wanted: str) -> None:
    assert text == wanted


@pytest.mark.parametrize(
    ("call", "value", "message"),
    [
        (escape, "語", "printable ASCII or a known sign, found '語'"),
        (escape, UNSEEN["terminal"], "printable ASCII or a known sign"),
        (number, float("nan"), "a number in the paper must be finite"),
    ],
)
def test_texts_and_numbers_refused(call: Any, value: Any, message: str) -> None:
    with pytest.raises(LayerwiseError, match=message) as raised:
        call(value)
    assert not [character for character in str(raised.value) if is_unseen(character)]


# --- templates ----------------------------------------------------------------------------------


def filled(folder: Path, template: str, **context: Any) -> str:
    (folder / "t.tex.j2").write_text(template)
    return render(folder, "t.tex.j2", [record("p1.r", recomputed=0.5)], context)


def test_render_keeps_latex_and_fills_the_rest(tmp_path: Path) -> None:
    text = filled(
        tmp_path,
        "{\\bf %d} \\#{gone}\\BLOCK{for n in ns}\\VAR{n|escape};\\BLOCK{endfor}"
        " \\VAR{recomputed('p1.r', 2)} \\VAR{printed('p1.r')} \\VAR{has('p1.r')}\n",
        ns=["a_b", "c"],
    )
    assert text == "{\\bf %d} a\\_b;c; \\ensuremath{0.50} \\ensuremath{0.345} True\n"


def test_a_number_without_a_claim_refused(tmp_path: Path) -> None:
    with pytest.raises(LayerwiseError, match="there is none with the id 'b'"):
        filled(tmp_path, r"\VAR{printed('b')}")


def test_unbacked_digits_are_those_of_the_prose_alone() -> None:
    spared = [
        r"\VAR{printed('p2.x.L4', 3)}",
        r"\BLOCK{set x = {'a': {'b': 1}}}",
        "\\#{ 12\n }",
        r"\cref{tab:12} \label{eq:1} \citep{who2023}",
        "half of none % 12",
        r"x^\fixed{2}",
    ]
    prose = "\n".join([*spared, "we find r = 0.87 here % 3"])
    for head, line in (("", 8), ("\\pt{11}\n\\begin{document}\n", 10)):
        assert unbacked_digits(head + prose) == [f"line {line}: we find r = 0.87 here"]


# --- the paper ---------------------------------------------------------------------------------

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "paper"
PARAMS = {name: read_choices(ROOT / "params.yaml", name) for name in SECTIONS}
UPSTREAM = {"address": "https://example.org/papers_x", "commit": "c" * 40}
ASKED = ("p1.setup.n_pairs", "p2.abstract.late_range_weak")  # claims that the prose quotes


def reported(*, source: str = "published", text: str = "50 % & more") -> JudgedSource:
    """Judged claims with one that differs, and a central claim of each mark."""
    records = [record(name, published=-0.17, decimals=2) for name in ASKED]
    moved = {"verdict": "differs", "recomputed": 0.0041, "cause": text, "quantity": text}
    records[1] = replace(records[1], **moved)
    words = enumerate([*(mark for mark in MARKS if mark != "open"), *OPENNESS])
    graded = [
        made_central(
            f"p2.{n}",
            word,
            says=f"{text} {word}!",
            reason=[f"because {text}"],
            details=[f"besides {text}"],
        )
        for n, word in words
    ]
    found = [Finding("p2.found", 2, f"also {text}", [])]
    return judged_source(records, source=source, central=graded, findings=found)


def report_of(
    judged: JudgedSource, figures: Path, drawn: Figures, templates: Path = TEMPLATES
) -> Report:
    return Report(
        judged=judged,
        figures=figures,
        drawn=drawn,
        templates=templates,
        params=PARAMS,
        citation=ROOT / "CITATION.cff",
        names={},
        upstream=UPSTREAM,
    )


def written(out: Path, random_weights: bool = False, **changes: Any) -> dict[str, str]:
    """Report and supplement as LaTeX."""
    source = "measured" if random_weights else "published"
    drawn = Figures([], {"bins": "none_published"}, random_weights)
    report_of(reported(source=source, **changes), out, drawn).write(out / "tex")
    return {name: (out / "tex" / f"{name}.tex").read_text() for name in DOCUMENTS.values()}


def test_every_claim_stands_with_its_mark_number_and_reason(tmp_path: Path) -> None:
    made = written(tmp_path)
    report, supplement = made["report"], made["supplement"]
    assert "cannot draw: bins (none published)." in report
    central = reported().central
    assert {claim.mark for claim in central} == set(MARKS)
    for claim in central:
        said = prose(claim.claim)
        why = f" ({claim.why})" if claim.why else ""
        row = rf"{said} & {count_text(claim)} & {prose(deciding_text(claim))}"
        assert rf"{{{claim.mark}}}{why} & {row}" in supplement
        assert rf"\paragraph{{{said}: \grade" in report
        assert rf"{{{claim.mark}}}{why}.}} because 50 \% \& more" in report


def test_what_differs_is_in_the_table_with_both_values(tmp_path: Path) -> None:
    written(tmp_path)
    rows = list(csv.DictReader((tmp_path / "tex" / "claims.csv").read_text().splitlines()))
    assert [row["id"] for row in rows] == [ASKED[1]]
    assert (rows[0]["printed"], rows[0]["recomputed"]) == ("-0.17", "0.0041")


@pytest.mark.parametrize("verdict", [*FALLS, "not checkable"])
def test_every_number_that_falls_or_cannot_be_checked_is_in_the_table(verdict: str) -> None:
    claims = [replace(claim, verdict=verdict) for claim in reported().claims]
    rows = list(csv.DictReader(care_csv(claims).splitlines()))
    assert [(row["id"], row["verdict"]) for row in rows] == [(one.id, verdict) for one in claims]


def test_the_title_page_has_authors_version_and_address(tmp_path: Path) -> None:
    text = written(tmp_path)["report"]
    about = read_yaml(ROOT / "CITATION.cff")
    assert about["authors"][0]["name"] in text
    assert UPSTREAM["commit"] in text
    assert f"Version {about['version']}" in text


def test_only_random_weights_are_watermarked(tmp_path: Path) -> None:
    for random_weights in (False, True):
        tex = written(tmp_path, random_weights=random_weights)
        for text in tex.values():
            assert (r"\usepackage{draftwatermark}" in text) == random_weights
        assert ("the numbers mean nothing" in tex["report"]) == random_weights


@needs_latex
def test_a_report_of_random_weights_builds(tmp_path: Path) -> None:
    """With its watermark; those of published numbers `make reproduce` builds."""
    written(tmp_path, random_weights=True)
    assert build_pdf(tmp_path / "tex", "report").read_bytes().startswith(b"%PDF-")


@needs_latex
def test_a_document_builds_wherever_its_pages_break(tmp_path: Path) -> None:
    """Also within paragraphs that go on behind a formula, with a link."""
    written(tmp_path)
    path = tmp_path / "tex" / "report.tex"
    preamble, _, _ = path.read_text().partition(r"\begin{document}")
    paragraphs = (
        rf"\par text\\[{n}pt] \begin{{equation}} a \label{{e:{n}}} \end{{equation}} \cref{{e:{n}}}"
        for n in range(200)
    )
    path.write_text("\n".join([preamble, r"\begin{document}", *paragraphs, r"\end{document}"]))
    assert build_pdf(path.parent, "report").read_bytes().startswith(b"%PDF-")


def test_a_typed_number_stops_the_paper(tmp_path: Path) -> None:
    shutil.copytree(
        TEMPLATES, tmp_path / "paper", ignore=shutil.ignore_patterns("*.pdf", "generated")
    )
    refuse_typed_numbers(tmp_path / "paper")
    (tmp_path / "paper/templates/limits.tex.j2").write_text("first\nwe find r = 0.87 here\n")
    drawn = Figures([], {}, random_weights=False)
    with pytest.raises(LayerwiseError, match=r"line 2: we find r = 0\.87 here: a number in"):
        report_of(reported(), tmp_path, drawn, tmp_path / "paper").write(tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_the_stage_writes_a_folder_of_latex(tmp_path: Path, root: Path) -> None:
    made = folders(tmp_path, reported().claims, central=[*map(asdict, reported().central)])
    for name in ("layers", "pairs"):
        (made.figures / f"{name}.pdf").write_bytes(b"%PDF")
    out = tmp_path / "tex"
    said = stage.run(
        "published", made.claims, made.statistics, made.figures, made.figures, out, TEMPLATES
    )
    assert said == f"report, supplement, table and 2 figures in {out}"
    names = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.*"))
    assert names == [
        "claims.csv",
        *(f"figures/{name}.pdf" for name in ("layers", "pairs", "strip")),
        "report.tex",
        "supplement.tex",
    ]
    assert read_json(made.claims)["central"]


# --- hostile texts ------------------------------------------------------------------------------

# What plain text may turn into: signs by name, and signs behind a backslash.
SIGNS = {
    *(r"\textbackslash", r"\textasciitilde", r"\textasciicircum", r"\ensuremath", r"\dots"),
    *(r"\pm", r"\times", r"\le", r"\ge", r"\approx", r"\to", r"\lambda", r"\rho", r"\Delta"),
    *(r"\{", r"\}", r"\$", r"\&", r"\#", r"\_", r"\%", r"\'", r"\""),
}


def tokens(tex: str) -> list[str]:
    """Control sequences and single characters, read as TeX does with its usual categories."""
    return re.findall(r"\\(?:[A-Za-z]+|.)|.", tex, re.DOTALL)


def depth(tex: str) -> int:
    """Groups still open at the end.

    Raises:
        AssertionError: if more are closed than were opened.
    """
    level = 0
    for token in tokens(tex):
        level += (token == "{") - (token == "}")
        assert level >= 0
    return level


@given(st.text(st.sampled_from([*"\\{}$&#_%~^<>|'\"`-?!ab1 –—−’…±×≤≥≈→λρΔéöüä"])))
def test_escaped_text_is_made_of_signs_only(text: str) -> None:
    escaped = escape(text)
    assert {token for token in tokens(escaped) if token[0] == "\\"} <= SIGNS
    assert not {"$", "&", "#", "_", "%", "~", "^"} & set(tokens(escaped))
    assert depth(escaped) == 0


def test_a_word_of_a_text_joins_no_command(tmp_path: Path) -> None:
    """Of what is written, each command is one of the templates, or a sign."""
    texts = (path.read_text() for path in sorted(TEMPLATES.rglob("*.tex.j2")))
    known = SIGNS.union(*map(tokens, texts))
    for name, text in written(tmp_path).items():
        assert {token for token in tokens(text) if token[0] == "\\"} <= known, name


def test_hostile_texts_bring_no_command_into_the_paper(tmp_path: Path) -> None:
    plain = " ".join(f"text {chr(97 + n)}" for n in range(len(TEX)))
    hostile, harmless = (
        "".join(written(tmp_path / name, text=text).values())
        for name, text in (("hostile", " ".join(TEX)), ("harmless", plain))
    )
    counts = [Counter(tokens(tex)) for tex in (hostile, harmless)]
    more = {token for token in counts[0] - counts[1] if token[0] == "\\"}
    assert more <= {*SIGNS, r"\allowbreak"}
    for special in ("$", "&", "#", "~", "^", "_", "%"):
        assert counts[0][special] == counts[1][special], special
    assert depth(hostile) == depth(harmless)
    assert hostile.count("\n") == harmless.count("\n")


# --- LaTeX itself -------------------------------------------------------------------------------


def document(folder: Path, body: str, packages: str = "") -> Path:
    head = rf"\pdftrailerid{{}}\documentclass{{article}}{packages}\begin{{document}}"
    folder.mkdir(exist_ok=True)
    (folder / "main.tex").write_text(rf"{head}{body}\end{{document}}")
    return folder


@needs_latex
def test_build_pdf_publishes_only_the_pdf_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    body = r"\today \ifnum\month=1 \ifnum\day=7 \else\notthefixedday\fi\else\notthefixedday\fi"
    body += "".join(rf"\par \texttt{{{escape(text)}}}" for text in TEX)  # as they stand
    built = []
    for name in ("one", "two"):
        folder = document(tmp_path / name, body)
        built.append(build_pdf(folder, "main").read_bytes())
        assert sorted(path.name for path in folder.iterdir()) == ["main.pdf", "main.tex"]
    assert built[0][:5] == b"%PDF-"
    assert built[0] == built[1]


@needs_latex
def test_report_and_supplement_are_built_with_the_same_bytes(
    results: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice within a second, on a busy machine: latexmk knows a file by its size and its second.

    It takes a minute of CPU time; nothing else compares two builds of the documents themselves.
    """
    monkeypatch.chdir(root)
    statistics, claims = (results / "published" / name for name in ("statistics", "claims.json"))
    figures, pdfs = tmp_path / "figures", tmp_path / "pdf"
    draw.run("published", statistics, claims, figures, pdfs)
    sources = [tmp_path / "one", tmp_path / "two"]
    for source in sources:
        stage.run("published", claims, statistics, figures, pdfs, source)
    places = [(source, name) for name in DOCUMENTS.values() for source in sources]
    with ThreadPoolExecutor(len(places)) as pool:
        built = pool.map(lambda place: build_pdf(*place, Commit("0123abcdef", 1580601600)), places)
        one, two, *others = (path.read_bytes() for path in built)
    assert one[:5] == b"%PDF-"
    assert one == two
    assert others[0] == others[1]


@needs_latex
def test_build_pdf_tells_the_commit_and_its_day(tmp_path: Path) -> None:
    """In every pass; a document that no commit is known of can ask for that."""
    told = r"\def\told{0123abcdef}\ifx\commit\told\else\notthecommit\fi"
    day = r"\ifnum\year=2020 \ifnum\month=2 \else\nottheday\fi\else\nottheday\fi"
    folder = document(tmp_path / "tex", f"{told}{day} text")
    commit = Commit("0123abcdef", 1580601600)
    first = build_pdf(folder, "main", commit).read_bytes()
    assert build_pdf(folder, "main", commit).read_bytes() == first
    build_pdf(document(tmp_path / "none", r"\ifdefined\commit\nosuch\fi text"), "main")
    with pytest.raises(LayerwiseError, match="LaTeX stopped"):
        build_pdf(folder, "main", commit._replace(name="1"))


@needs_git
def test_the_commit_is_that_of_the_folder(tmp_path: Path) -> None:
    assert find_commit(tmp_path) is None
    git("init", "-q", root=tmp_path)
    assert find_commit(tmp_path) is None
    git("commit", "-q", "--allow-empty", "-m", "first", root=tmp_path)
    name, time = find_commit(tmp_path) or ("", 0)
    assert git("rev-parse", "HEAD", root=tmp_path).startswith(name)
    assert str(time) == git("log", "-1", "--format=%ct", root=tmp_path)


@needs_latex
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (r"a \nosuchcommand b", r"LaTeX stopped: .*main\.tex:1: Undefined control sequence"),
        (r"see \ref{nowhere}", r"Reference `nowhere' on page 1 undefined.*; correct the label"),
        # it runs no command and writes no file elsewhere, where a text came in unescaped
        (r"\newwrite\w\immediate\openout\w=%s.out x", "LaTeX stopped: .*can't write on file"),
        (
            r"\immediate\write18{touch %s.out}\input{|touch %s.out}x",
            r"(?i)LaTeX stopped: .*file `\"?\|touch",
        ),
    ],
)
def test_build_pdf_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    """Even where the machine allows what a document may not do."""
    for name, value in {"shell_escape": "t", "openin_any": "a", "openout_any": "a"}.items():
        monkeypatch.setenv(name, value)
    secret = tmp_path / "secret.tex"
    secret.write_text("secret")
    folder = document(tmp_path / "paper", body.replace("%s", str(secret)))
    with pytest.raises(LayerwiseError, match=message) as error:
        build_pdf(folder, "main")
    assert type(error.value) is LayerwiseError
    names = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*"))
    assert names == ["paper/main.tex", "secret.tex"]


@needs_latex
def test_what_is_not_there_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = document(tmp_path, "x", r"\usepackage{nosuch}")
    with pytest.raises(NoLatexError, match="install it: apt-get"):
        build_pdf(folder, "main")
    with pytest.raises(LayerwiseError, match=r"there is no other\.tex here; render the report"):
        build_pdf(folder, "other")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoLatexError, match=r"no latexmk and no pdflatex .*apt-get install texlive"):
        build_pdf(folder, "main")


def test_no_sentence_that_explains_a_mark_is_cut(results: Path) -> None:
    """Of all central claims, however long; notes are shown as far as they fit."""
    judged = read_judged(results / "published" / "claims.json", "published")
    central = central_in_words(judged.central, names_here())
    for claim in central:
        assert reason_text(claim).startswith(" ".join(claim.reason)), claim.id
    assert any(len(reason_text(claim).split()) > REASON for claim in central)
