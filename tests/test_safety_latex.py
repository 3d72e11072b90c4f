"""Hostile texts in LaTeX: all are typeset, none is a command, and LaTeX itself is confined."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostile import TEX, UNSEEN, is_unseen
from layerwise.errors import LayerwiseError
from layerwise.pages.latex import escape
from layerwise.pages.typeset import build_pdf
from test_paper import written

needs_latex = pytest.mark.skipif(shutil.which("latexmk") is None, reason="latexmk is missing")

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


@pytest.mark.parametrize("kind", UNSEEN)
def test_escape_refuses_what_is_not_seen_and_does_not_repeat_it(kind: str) -> None:
    with pytest.raises(LayerwiseError, match="must be printable ASCII or a known sign") as raised:
        escape(UNSEEN[kind])
    assert not [character for character in str(raised.value) if is_unseen(character)]


def rendered(folder: Path, texts: tuple[str, ...]) -> str:
    """Report and supplement with these texts in every field that the ledger brings."""
    return "".join(written(folder, text=" ".join(texts)).values())


def test_hostile_texts_bring_no_command_into_the_paper(tmp_path: Path) -> None:
    hostile = rendered(tmp_path / "h", TEX)
    harmless = rendered(tmp_path / "t", tuple(f"text {chr(97 + n)}" for n in range(len(TEX))))
    counts = [Counter(tokens(tex)) for tex in (hostile, harmless)]
    more = counts[0] - counts[1]
    assert not {
        token for token in more if token[0] == "\\" and token not in {*SIGNS, r"\allowbreak"}
    }
    for special in ("$", "&", "#", "~", "^", "_", "%"):
        assert counts[0][special] == counts[1][special], special
    assert depth(hostile) == depth(harmless)
    assert hostile.count("\n") == harmless.count("\n")


HOSTILE_DOCUMENT = r"""\documentclass{article}\begin{document}%s\end{document}"""


@needs_latex
def test_hostile_texts_are_typeset_as_they_stand(tmp_path: Path) -> None:
    body = r"\par ".join(rf"\texttt{{{escape(text)}}}" for text in TEX)
    (tmp_path / "main.tex").write_text(HOSTILE_DOCUMENT % body)
    assert build_pdf(tmp_path, "main").read_bytes().startswith(b"%PDF-")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["main.pdf", "main.tex"]


@needs_latex
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (r"\input{%s}", "LaTeX stopped: ! LaTeX Error: File `/"),
        (r"\newread\r\openin\r=%s \ifeof\r\errmessage{closed to me}\fi", "closed to me"),
        (r"\newwrite\w\immediate\openout\w=%s.out x", "LaTeX stopped: .*can't write on file"),
    ],
)
def test_typesetting_reaches_no_file_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    """Even where the machine allows it, and where a text came in unescaped."""
    for name in ("openin_any", "openout_any"):
        monkeypatch.setenv(name, "a")
    (tmp_path / "paper").mkdir()
    (tmp_path / "secret.tex").write_text("secret")
    document = HOSTILE_DOCUMENT % (body % (tmp_path / "secret.tex"))
    (tmp_path / "paper" / "main.tex").write_text(document)
    with pytest.raises(LayerwiseError, match=message):
        build_pdf(tmp_path / "paper", "main")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["paper", "secret.tex"]


def test_latex_is_told_to_run_no_command_and_to_stay_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By option and by setting, whatever the reader's own settings say."""
    (tmp_path / "latexmk").write_text('#!/bin/sh\necho "$@" >told\nexport -p >>told\nexit 1\n')
    (tmp_path / "latexmk").chmod(0o755)
    (tmp_path / "main.tex").touch()
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for name, value in {"shell_escape": "t", "openin_any": "a", "openout_any": "a"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(LayerwiseError, match="LaTeX stopped"):
        build_pdf(tmp_path, "main")
    options, *settings = (tmp_path / "told").read_text().splitlines()
    assert {"-latexoption=-no-shell-escape", "-norc"} <= set(options.split())
    told = "\n".join(settings)
    for name, value in {"shell_escape": "f", "openin_any": "p", "openout_any": "p"}.items():
        assert re.search(rf"\b{name}=['\"]?{value}['\"]?$", told, re.MULTILINE), name


@needs_latex
def test_typesetting_runs_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("shell_escape", "t")
    (tmp_path / "paper").mkdir()
    hit = tmp_path / "hit"
    body = rf"\immediate\write18{{touch {hit}}}\input{{|touch {hit}}}x"
    (tmp_path / "paper" / "main.tex").write_text(HOSTILE_DOCUMENT % body)
    with pytest.raises(LayerwiseError, match=r"LaTeX Error: File `\|touch /"):
        build_pdf(tmp_path / "paper", "main")
    assert not hit.exists()
