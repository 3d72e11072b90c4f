"""Templates to LaTeX to PDF: layout lives in the templates, every number comes from a claim.

Templates use `\\VAR{...}`, `\\BLOCK{...}` and `\\#{...}`, so that LaTeX's braces and percent
signs stay what they are. A name that is not in the context is an error.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from layerwise.engine.judged import JudgedClaim
from layerwise.errors import LayerwiseError
from layerwise.present import values
from layerwise.present.html import environment_of, filled
from layerwise.present.values import rounded

_SPECIALS = {
    **{sign: rf"\{sign}" for sign in "{}$&#_%"},
    **{sign: rf"\ensuremath{{{sign}}}" for sign in "<>|"},
    **{vowel: rf"\"{letter}" for vowel, letter in zip("äöü", "aou", strict=True)},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "'": "'",
    '"': "''",
    "–": "--",
    "—": "---",
    "−": r"\ensuremath{-}",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
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
}

LONG_NUMBER = 5  # digits before the point, from which on they stand in groups of three


def escape(text: str, *, foreign: bool = False) -> str:
    """Return plain text as LaTeX.

    Arguments:
        foreign: letters of any script stay as they are; LuaLaTeX and XeLaTeX typeset them.
    """
    for character in text:
        typed = character.isprintable() and (foreign or character.isascii())
        if character not in _SPECIALS and not typed:
            raise LayerwiseError(
                f"text for LaTeX must be printable ASCII or a known sign, found {character!r} in "
                f"{text[:60]!r}; add it to the table of signs in latex.py"
            )
    return "".join(_SPECIALS.get(character, character) for character in text)


# Formulas as they stand in plain text, and as mathematics; of their letters and digits alone.
_FORMULAS = (
    (re.compile(r"10\^\(1/(L|\d+)\)"), r"10^{1/\1}"),
    (re.compile(r"10\^-(\d+)"), r"10^{-\1}"),
    (re.compile(r"\bW_([QKVO])\b"), r"W_{\1}"),
    (re.compile(r"\bL\*"), r"L^{*}"),
    (re.compile(r"\bL/2\b"), r"L/2"),
    (re.compile(r"\|([rd])\|"), r"|\1|"),
    (re.compile(r">="), r"\\ge "),
    (re.compile(r"<="), r"\\le "),
    (re.compile(r"(?<![\w.)\]-])-(\d[\d.]*(?<!\.))"), r"-\1"),
    (re.compile(r"(?<![\w'’/.*^-])([rpndL])(?![\w'’/*^-])"), r"\1"),
    (re.compile(r"(?<![\w'’/.*^-])([rpndL])(?=['’]s\b)"), r"\1"),
)


_TYPED = (  # as it is typed, and as it is printed
    (re.compile(r"(?<!\w)'(?=\w)"), "‘"),
    (re.compile(r'(?<!\w)"(?=\w)'), "“"),
    (re.compile(r"(?<![\w.-])(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)(?![\w-])"), "\\1–\\2"),
)
_FORMULA = re.compile("|".join(f"(?:{formula.pattern})" for formula, _ in _FORMULAS))


def prose(text: str) -> str:
    """Return plain text as LaTeX: formulas as mathematics, the quotes and dashes of print."""
    for typed, printed in _TYPED:
        text = typed.sub(printed, text)
    parts, end = [], 0
    for start in (match.start() for match in _FORMULA.finditer(text)):
        for formula, mathematics in _FORMULAS:
            if match := formula.match(text, start):
                math = rf"\ensuremath{{{match.expand(mathematics)}}}"
                parts += [escape(text[end:start]), math]
                end = match.end()
                break
    return "".join([*parts, escape(text[end:])])


def breakable(tex: str) -> str:
    """Return LaTeX of names and paths that may be broken behind every underscore and slash."""
    return tex.replace(r"\_", r"\_\allowbreak{}").replace("/", r"/\allowbreak{}")


def number(value: Any, decimals: int | None = None, *, sign: bool = False) -> str:
    """Return what `rounded` gives, as mathematics."""
    return typeset_digits(rounded(value, decimals, sign=sign))


def typeset_digits(text: str) -> str:
    """Return a number as mathematics: true minus, power of ten, thin spaces from five digits on."""
    mantissa, _, exponent = text.partition("e")
    whole, point, decimals = mantissa.partition(".")
    if len(whole.lstrip("+-")) >= LONG_NUMBER:
        whole = re.sub(r"(?<=\d)(?=(\d{3})+$)", r"\\,", whole)
    power = rf" \times 10^{{{int(exponent)}}}" if exponent else ""
    return rf"\ensuremath{{{whole}{point}{decimals}{power}}}"


def latex_value(value: Any, decimals: int | str | None = None) -> str:
    """Return a claim's value: a number, a label, a truth value, a list of these, or nothing."""
    return values.value_text(value, decimals, number=number, text=escape, nothing="--")


def short(value: Any, decimals: int | str | None = None) -> str:
    """A value for a narrow column: six significant digits, a few of a list."""
    return prose(values.short_text(value, decimals)) if value is not None else "--"


def render(
    template_folder: Path,
    template: str,
    claims: Sequence[JudgedClaim],
    context: Mapping[str, object],
) -> str:
    """Fill a template. Of the claims, by id, it may ask printed(), recomputed() and has()."""
    environment = environment_of(
        [template_folder],
        block_start_string=r"\BLOCK{",
        block_end_string="}",
        variable_start_string=r"\VAR{",
        variable_end_string="}",
        comment_start_string=r"\#{",
        comment_end_string="}",
    )
    environment.filters.update(
        escape=escape,
        prose=prose,
        breakable=breakable,
        number=number,
        typeset_digits=typeset_digits,
        brief=short,
    )
    by_id = {claim.id: claim for claim in claims}

    def find(claim_id: str) -> JudgedClaim:
        if claim_id not in by_id:
            raise LayerwiseError(
                f"every number in the paper needs a claim, there is none with the id {claim_id!r}; "
                "add it to the ledger or correct the template"
            )
        return by_id[claim_id]

    environment.globals.update(
        printed=lambda name: latex_value(find(name).published, find(name).decimals),
        recomputed=lambda name, decimals=None: latex_value(find(name).recomputed, decimals),
        has=lambda name: find(name).recomputed is not None,
    )
    return filled(environment, template, {**context, "claims": claims})
