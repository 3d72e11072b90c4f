"""Templates to LaTeX to PDF: escaping, numbers, claims behind every number, and the build."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_records import record
from layerwise.errors import LayerwiseError
from layerwise.pages.latex import escape, number, render, short, shown
from layerwise.pages.typed_numbers import unbacked_digits
from layerwise.pages.typeset import NoLatexError, build_pdf

needs_latex = pytest.mark.skipif(
    shutil.which("latexmk") is None, reason="latexmk is missing: apt-get install latexmk"
)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (escape("a_b & 50% #1 {x} $5"), r"a\_b \& 50\% \#1 \{x\} \$5"),
        (escape("a\\b~c^d"), r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d"),
        (escape("λ ≤ 3 – it’s"), r"\ensuremath{\lambda} \ensuremath{\le} 3 -- it's"),
        (number(0.12345, 3), r"\num{0.123}"),
        (number(0.12345, 3, sign=True), r"\num{+0.123}"),
        (number(-0.0001, 3, sign=True), r"\num{0.000}"),
        (number(3.9e-32), r"\num{3.9e-32}"),
        (shown(None), "--"),
        (shown(False), "no"),
        (shown("NOW_SIGNIFICANT"), r"NOW\_SIGNIFICANT"),
        (shown(0.25, 1), r"\num{0.2}"),
        (shown(0.25, "full"), r"\num{0.25}"),
        (shown(7, 4), r"\num{7}"),
        (shown([8, 12]), r"\num{8}, \num{12}"),
        (short([0.123456789, -2], "full"), "0.123457, -2"),
        (short(None, 2), "--"),
    ],
)
def test_texts_and_numbers(found: str, wanted: str) -> None:
    assert found == wanted


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_number_in_full_loses_no_digit(value: float) -> None:
    assert float(number(value).removeprefix(r"\num{").removesuffix("}")) == value


@pytest.mark.parametrize(
    ("call", "value", "message"),
    [
        (escape, "語", "printable ASCII or a known sign, found '語'"),
        (escape, "two\nlines", r"found '\\n'"),
        *((number, value, "a number in the paper must be finite")
          for value in (float("nan"), float("inf"), True, "1", None)),
    ],
)  # fmt: skip
def test_texts_and_numbers_iv(call: Any, value: Any, message: str) -> None:
    with pytest.raises(LayerwiseError, match=message):
        call(value)


def filled(folder: Path, template: str, **context: Any) -> str:
    (folder / "t.tex.j2").write_text(template)
    return render(folder, "t.tex.j2", {"claims": [record("p1.r", recomputed=0.5)]} | context)


def test_render_keeps_latex_and_fills_the_rest(tmp_path: Path) -> None:
    text = filled(
        tmp_path,
        "{\\bf %d} \\#{gone}\\BLOCK{for n in ns}\\VAR{n|escape};\\BLOCK{endfor}"
        " \\VAR{recomputed('p1.r', 2)} \\VAR{printed('p1.r')} \\VAR{has('p1.r')}\n",
        ns=["a_b", "c"],
    )
    assert text == "{\\bf %d} a\\_b;c; \\num{0.50} \\num{0.345} True\n"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (r"\VAR{nowhere}", "may only use what the context holds: 'nowhere' is undefined"),
        (r"\VAR{printed('b')}", "there is none with the id 'b'"),
        ("x\n\\BLOCK{if}", "t.tex.j2, line 2: "),
        (r"\BLOCK{include 'u.tex.j2'}", "there is no template u.tex.j2"),
    ],
)
def test_render_iv(tmp_path: Path, template: str, message: str) -> None:
    with pytest.raises(LayerwiseError, match=message):
        filled(tmp_path, template)


def test_unbacked_digits_finds_a_typed_result() -> None:
    template = "first line\nwe find r = 0.87 here % 3\nlayer \\fixed{8}\n"
    assert unbacked_digits(template) == ["line 2: we find r = 0.87 here"]


@pytest.mark.parametrize(
    "harmless",
    [
        r"\VAR{printed('p2.x.L4', 3)}",
        r"\BLOCK{set x = {'a': {'b': 1}}}",
        r"\#{ 12 }",
        r"\cref{tab:12} \label{eq:1} \citep{who2023}",
        "50\\% of none % 12",
        r"x^\fixed{2}",
    ],
)
def test_unbacked_digits_spares_what_is_not_a_result(harmless: str) -> None:
    found = unbacked_digits(f"\\pt{{11}}\n\\begin{{document}}\n{harmless}\n5 typed")
    percent = [harmless.split(" % ")[0]] if harmless.startswith("50") else []
    assert found == [*(f"line 3: {line}" for line in percent), "line 4: 5 typed"]


def document(folder: Path, body: str) -> Path:
    text = f"\\pdftrailerid{{}}\\documentclass{{article}}\\begin{{document}}{body}\\end{{document}}"
    (folder / "main.tex").write_text(text)
    return folder


@needs_latex
def test_build_pdf_publishes_only_the_pdf_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    body = r"\today \ifnum\month=1 \ifnum\day=1 \else\notthefixedday\fi\else\notthefixedday\fi"
    built = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        built.append(build_pdf(document(folder, body), "main").read_bytes())
        assert sorted(path.name for path in folder.iterdir()) == ["main.pdf", "main.tex"]
    assert built[0][:5] == b"%PDF-"
    assert built[0] == built[1]


@needs_latex
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (r"a \nosuchcommand b", r"LaTeX stopped: .*main\.tex:1: Undefined control sequence"),
        (r"see \ref{nowhere}", r"Reference `nowhere' on page 1 undefined.*; correct the label"),
    ],
)
def test_build_pdf_iv_names_the_first_error(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(LayerwiseError, match=message):
        build_pdf(document(tmp_path, body), "main")
    assert [path.name for path in tmp_path.iterdir()] == ["main.tex"]


def test_build_pdf_iv_without_latexmk_names_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoLatexError, match=r"no latexmk and no pdflatex .*apt-get install texlive"):
        build_pdf(document(tmp_path, "x"), "main")


@needs_latex
def test_build_pdf_tells_a_missing_package_from_a_missing_picture(tmp_path: Path) -> None:
    document(tmp_path, "x")
    source = tmp_path / "main.tex"
    for line, kind in (("\\usepackage{nosuch}", NoLatexError), ("\\input{nosuch}", LayerwiseError)):
        source.write_text(f"\\documentclass{{article}}{line}\\begin{{document}}x\\end{{document}}")
        with pytest.raises(LayerwiseError) as error:
            build_pdf(tmp_path, "main")
        assert type(error.value) is kind


@needs_latex
def test_build_pdf_iv_without_the_tex_file(tmp_path: Path) -> None:
    with pytest.raises(LayerwiseError, match=r"there is no main\.tex here; render the report"):
        build_pdf(tmp_path, "main")
