"""Templates to LaTeX to PDF: layout lives in the templates, every number comes from a claim.

Templates use `\\VAR{...}`, `\\BLOCK{...}` and `\\#{...}`, so that LaTeX's braces and percent
signs stay what they are. A name that is not in the context is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jinja2

from layerwise.errors import LayerwiseError
from layerwise.pages import values
from layerwise.pages.values import LONGEST_LIST, rounded

# The mark that stands beside a recomputed value.
MARKS = {
    "agrees": "a",
    "reproduced": "r",
    "differs": "d",
    "same number": "e",
    "contradicted": "c",
    "follows": "f",
    "needs weights": "w",
    "not measured": "m",
    "not checkable": "n",
    "declared": "s",
}

_SPECIALS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    "'": "'",
    '"': "''",
    "–": "--",
    "—": "---",
    "−": r"\ensuremath{-}",
    "’": "'",
    "…": r"\dots{}",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}",
    "≈": r"\ensuremath{\approx}",
    "→": r"\ensuremath{\to}",
    "λ": r"\ensuremath{\lambda}",
    "ρ": r"\ensuremath{\rho}",
    "Δ": r"\ensuremath{\Delta}",
    "é": r"\'e",
    "ö": r"\"o",
    "ü": r"\"u",
    "ä": r"\"a",
}


def escape(text: str, *, foreign: bool = False) -> str:
    """Plain text as LaTeX.

    Arguments:
        foreign: letters of any script stay as they are; LuaLaTeX and XeLaTeX typeset them.

    Raises:
        LayerwiseError: for a character outside ASCII that has no LaTeX form here.
    """
    for character in text:
        typed = character.isprintable() and (foreign or character.isascii())
        if character not in _SPECIALS and not typed:
            raise LayerwiseError(
                f"text for LaTeX must be printable ASCII or a known sign, found {character!r} in "
                f"{text[:60]!r}; add it to the table of signs in latex.py"
            )
    return "".join(_SPECIALS.get(character, character) for character in text)


def number(value: Any, decimals: int | None = None, *, sign: bool = False) -> str:
    r"""What `rounded` gives as `\num{...}`.

    Raises:
        LayerwiseError: if the value is not a finite number.
    """
    return rf"\num{{{rounded(value, decimals, sign=sign)}}}"


def plain(value: Any, decimals: int | None = None) -> str:
    r"""A number without `\num{...}`, which takes LaTeX as long as a whole line of text."""
    return rounded(value, decimals).replace("-", r"\ensuremath{-}")


def shown(
    value: Any,
    decimals: int | str | None = None,
    number: Callable[[Any, int | None], str] = number,
) -> str:
    """A claim's value: a number, a label, a truth value, a list of these, or nothing."""
    if isinstance(value, list) and len(value) > LONGEST_LIST:
        return f"({len(value)} values)"
    return values.shown(value, decimals, number=number, text=escape, nothing="--")


class Claims:
    """What a template may ask about the judged claims."""

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        self._records = {record["id"]: record for record in records}

    def claim(self, claim_id: str) -> Mapping[str, Any]:
        """The record of a claim.

        Raises:
            LayerwiseError: naming the id, if no claim backs it.
        """
        if claim_id not in self._records:
            raise LayerwiseError(
                f"every number in the paper needs a claim, there is none with the id {claim_id!r}; "
                "add it to the ledger or correct the template"
            )
        return self._records[claim_id]

    def printed(self, claim_id: str, decimals: int | None = None) -> str:
        record = self.claim(claim_id)
        return shown(record["published"], record["decimals"] if decimals is None else decimals)

    def grid(
        self, pattern: str, columns: Sequence[str], names: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """The claims that `pattern` names, as rows of one cell per column (None where missing).

        `pattern` holds `{row}` (one part of an id, found among the claims, or one of `names`,
        which may hold dots) and `{column}`, in which `{row}` may stand too. Rows come in the
        order of `names` or of the claims, layers (L0, L4, ...) ascending.

        Raises:
            LayerwiseError: if no claim fits.
        """
        rows: dict[str, dict[str, Any]] = {}
        row_pattern = "([^.]+)" if names is None else f"({'|'.join(map(re.escape, names))})"
        for claim_id, record in self._records.items():
            for column in columns:
                parts = re.escape(pattern.replace("{column}", column)).split(r"\{row\}")
                found = re.fullmatch(row_pattern.join(parts), claim_id)
                if found:
                    rows.setdefault(found.group(1), {})[column] = record
        if not rows:
            raise LayerwiseError(
                f"a table needs claims, none has an id like {pattern!r} with the columns "
                f"{', '.join(columns)}; correct the template or the ledger"
            )
        if names is not None:
            rows = {name: rows[name] for name in names if name in rows}
        if all(re.fullmatch(r"L\d+", name) for name in rows):
            rows = {name: rows[name] for name in sorted(rows, key=lambda name: int(name[1:]))}
        return [
            {"name": name, "cells": [cells.get(column) for column in columns]}
            for name, cells in rows.items()
        ]

    def reason(self, record: Mapping[str, Any]) -> str:
        """Why a claim differs: its cause without the two values, which a table shows beside it."""
        cause = record["cause"] or "no cause is known"
        values = f"printed {record['published']!r}, the stated method gives "
        before, mark, after = cause.partition(f"{values}{record['recomputed']!r}; ")
        return after if mark and not before else cause

    def with_verdict(self, verdict: str) -> list[Mapping[str, Any]]:
        return [record for record in self._records.values() if record["verdict"] == verdict]


def render(template_folder: Path, template: str, context: Mapping[str, Any]) -> str:
    """Fill a template. `context["claims"]` also answers claim(), printed(), grid(), reason().

    Raises:
        LayerwiseError: naming template and line, for a name that is not in the context, a
            missing claim, a missing template or an error of syntax.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_folder),
        undefined=jinja2.StrictUndefined,
        block_start_string=r"\BLOCK{",
        block_end_string="}",
        variable_start_string=r"\VAR{",
        variable_end_string="}",
        comment_start_string=r"\#{",
        comment_end_string="}",
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        keep_trailing_newline=True,
    )
    environment.filters.update(escape=escape, number=number, shown=shown)
    environment.filters["listed"] = partial(shown, number=plain)
    claims = Claims(context["claims"])
    asked: dict[str, Callable[..., Any]] = {
        name: getattr(claims, name)
        for name in ("claim", "printed", "grid", "reason", "with_verdict")
    }
    environment.globals.update(asked, MARKS=MARKS)
    try:
        return environment.get_template(template).render(**context)
    except jinja2.TemplateSyntaxError as error:
        raise LayerwiseError(f"{error.name}, line {error.lineno}: {error.message}") from None
    except jinja2.UndefinedError as error:
        raise LayerwiseError(
            f"{template}: a template may only use what the context holds: {error.message}; "
            f"the context has {', '.join(sorted(context))}"
        ) from None
    except jinja2.TemplateNotFound as error:
        raise LayerwiseError(f"{template_folder}: there is no template {error.name}") from None
