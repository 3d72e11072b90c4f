"""Texts that are probably not what their author meant, though a model takes them."""

import re
import unicodedata

from layerwise.models.texts import UNSEEN

# What `pandas.read_csv` takes for a missing value by default.
MISSING = {
    *("#N/A", "#N/A N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    *("-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
}
# An error of a spreadsheet in any of its languages: `#REF!`, `#NOMBRE?`, `#N/D`, `#NV`, the rest.
_ERROR = re.compile(r"#[^\s#]+[!?]|#\w/\w|#NV")
_OTHER_ERROR = re.compile(r"#{3,}|Err:\d{3}")
_FORMULA = re.compile(r"\{?=[^\s=>].*", re.DOTALL)
_PROSE = re.compile(r"[^\W\d_]{2,}\s+[^\W\d_]{2,}")  # no formula has two words beside each other
_INVISIBLE = ("Cc", "Cf", "Zl", "Zp", "Zs")  # Unicode's control, format and blank characters
BRAILLE_BLANK = "\u2800"
LOST = "\ufffd"  # stands where a character could not be decoded


def is_leftover(text: str) -> bool:
    """Return whether a text is what a program writes for a missing value, an error or a formula."""
    text = text.strip()
    return text in MISSING or _is_error(text) or _is_formula(text)


def _is_error(text: str) -> bool:
    is_in_capitals = text == text.upper() != text.lower()
    return bool(is_in_capitals and _ERROR.fullmatch(text)) or bool(_OTHER_ERROR.fullmatch(text))


def _is_formula(text: str) -> bool:
    unquoted = re.sub('"[^"]*"', '""', text)
    is_made_of_terms = re.search(r'[\w"]', unquoted) and not _PROSE.search(unquoted)
    return bool(_FORMULA.fullmatch(unquoted) and is_made_of_terms)


def is_invisible(text: str) -> bool:
    """Return whether the eye sees none of a text's characters."""
    return all(
        unicodedata.category(character) in _INVISIBLE
        or character in UNSEEN
        or character == BRAILLE_BLANK
        for character in text
    )
