r"""The gate before the paper: every digit of a result must come from a claim.

Digits may stand in the preamble, in comments, in what Jinja fills, in labels and references,
and in `\fixed{...}`: parts of names (Paper 2, GPT-3) and of formulas, never results.
"""

from __future__ import annotations

import re
from pathlib import Path

from layerwise.errors import LayerwiseError

PREAMBLE = "preamble.tex.j2"  # lengths and versions, no prose
# Commands whose argument is a name, or comes from the context: its digits are not results.
_NAMING = ("VAR", "BLOCK", "#", "fixed", "label", "ref", "cref", "Cref", "eqref", "citep", "citet")


def unbacked_digits(template_text: str) -> list[str]:
    """The lines of a template's prose that hold a typed digit, as "line 3: ..."."""

    def blank(text: str) -> str:
        return "\n" * text.count("\n")

    text = template_text
    preamble, begin, body = text.partition(r"\begin{document}")
    if begin:
        text = blank(preamble) + body
    for name in _NAMING:
        start = 0
        while (start := text.find(f"\\{name}{{", start)) >= 0:
            end, depth = text.index("{", start), 0
            while end < len(text):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
                if depth == 0:
                    break
            text = text[:start] + blank(text[start:end]) + text[end:]
    text = re.sub(r"(?<!\\)%.*", "", text)
    return [
        f"line {row}: {line.strip()}"
        for row, line in enumerate(text.split("\n"), start=1)
        if re.search(r"\d", line)
    ]


def refuse_typed_numbers(templates: Path) -> None:
    """Every digit of a result must come from the ledger: the gate before the report.

    Raises:
        LayerwiseError: naming template and line of the first digit that stands in the prose.
    """
    documents = [path for path in templates.glob("*.tex.j2") if path.name != PREAMBLE]
    for path in sorted([*documents, *templates.glob("templates/*.tex.j2")]):
        typed = unbacked_digits(path.read_text(encoding="utf-8"))
        if typed:
            raise LayerwiseError(
                f"{path}, {typed[0]}: a number in the prose must come from a claim or a parameter; "
                r"use printed('id'), or \fixed{...} for a digit that belongs to a name"
            )
