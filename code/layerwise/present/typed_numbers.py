r"""The gate before the paper: every digit of a result must come from a claim.

Digits may stand in the preamble, in comments, in what Jinja fills, in labels and references,
and in `\fixed{...}`: parts of names (Paper 2, GPT-3) and of formulas, never results.
"""

import re
from pathlib import Path

from layerwise.errors import LayerwiseError

PREAMBLE = "preamble.tex.j2"  # lengths and versions, no prose
# Commands whose argument is a name, or comes from the context: its digits are not results.
_NAMED = re.compile(
    r"\\(VAR|BLOCK|#|fixed|label|ref|cref|Cref|eqref|citep|citet)"
    r"\{([^{}]|\{([^{}]|\{[^{}]*\})*\})*\}"  # braces in braces in braces
)


def unbacked_digits(template_text: str) -> list[str]:
    """Return the lines of a template's prose that hold a typed digit, as "line 3: ..."."""

    def blank(text: str) -> str:
        return "\n" * text.count("\n")

    preamble, _, body = template_text.rpartition(r"\begin{document}")
    text = blank(preamble) + body
    text = _NAMED.sub(lambda named: blank(named[0]), text)
    text = re.sub(r"(?<!\\)%.*", "", text)
    return [
        f"line {row}: {line.strip()}"
        for row, line in enumerate(text.split("\n"), start=1)
        if re.search(r"\d", line)
    ]


def refuse_typed_numbers(templates: Path) -> None:
    """Raise, naming template and line, where a digit stands in the prose of the report."""
    documents = [path for path in templates.glob("*.tex.j2") if path.name != PREAMBLE]
    for path in sorted([*documents, *templates.glob("templates/*.tex.j2")]):
        typed = unbacked_digits(path.read_text(encoding="utf-8"))
        if typed:
            raise LayerwiseError(
                f"{path}, {typed[0]}: a number in the prose must come from a claim or a parameter; "
                r"use printed('id'), or \fixed{...} for a digit that belongs to a name"
            )
