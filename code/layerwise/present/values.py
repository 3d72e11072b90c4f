"""A claim's value as text: the same rule for the page, for LaTeX and for a reader's tables."""

import json
import math
import re
from collections.abc import Callable
from typing import Any

from layerwise.errors import LayerwiseError

LONGEST_LIST = 6
NOTHING = "–"
# What keyboards lack. A hyphen that begins a number is a minus; one in a name or between numbers is
# none. Read alike by Python and JavaScript.
SIGNS = ((r"(?<![\w.)\]*-])-(?=\.?\d)", "\u2212"), (">=", "≥"), ("<=", "≤"))


def rounded(value: Any, decimals: int | None = None, *, sign: bool = False) -> str:
    """Return a number as text, rounded to `decimals`, or with all its digits where None.

    Arguments:
        sign: prints a plus before positive numbers; a rounded zero has no sign.

    Raises:
        LayerwiseError: for what is no finite number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise LayerwiseError(
            f"a number in the paper must be finite, got {value!r}; "
            "report a missing value as missing instead"
        )
    text = number_text(value, decimals)
    if float(text) == 0:
        return text.removeprefix("-")
    return f"+{text}" if sign and value > 0 else text


def number_text(value: float | int, decimals: int | None = None) -> str:
    """Return a number as text; -1 decimals are tens, -2 hundreds. NaN, as notebooks have, stays."""
    if decimals is None:
        return json.dumps(value)
    return f"{round(value, decimals):.0f}" if decimals < 0 else f"{value:.{decimals}f}"


def value_text(
    value: Any,
    decimals: int | str | None = None,
    *,
    number: Callable[[Any, int | None], str] = number_text,
    text: Callable[[str], str] = str,
    nothing: str = NOTHING,
) -> str:
    """Return a number, a label, a truth value, a list of these, or nothing as text.

    Arguments:
        decimals: of numbers that are not whole, negative where print rounds to tens or hundreds;
            anything but an int: every digit.
        number, text: how a number and a label are written.
    """
    if value is None:
        return nothing
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return ", ".join(
            value_text(entry, decimals, number=number, text=text, nothing=nothing)
            for entry in value
        )
    whole = isinstance(value, int) or not isinstance(decimals, int)
    return number(value, None if whole else decimals)  # type: ignore[arg-type]


def short_text(value: Any, decimals: int | str | None) -> str:
    """Return a value for a narrow column: six significant digits where all are published."""

    def number(value: float | int, places: int | None) -> str:
        short = places is None and isinstance(value, float)
        return f"{value:.6g}" if short else number_text(value, places)

    if isinstance(value, list) and len(value) > LONGEST_LIST:
        return f"{short_text(value[:LONGEST_LIST], decimals)}, … ({len(value)} values)"
    return value_text(value, decimals, number=number)


def with_unit(text: str, unit: str | None) -> str:
    """Return a number with its unit, as English writes it: "95%", "10.1 x"."""
    return f"{text}{'' if unit == '%' else ' '}{unit}" if unit else text


def with_signs(text: str) -> str:
    """Return a text with true signs: a minus where a hyphen begins a number, and ≤ and ≥."""
    for typed, sign in SIGNS:
        text = re.sub(typed, sign, text)
    return text
