"""Search, the same on the page and in the terminal: what is written otherwise and meant alike.

Every word of a query must begin a word of what a claim says; claims whose place or print has all
of them as whole words come first. The page's script does the same with the same rules and fields.
"""

import re
import unicodedata
from collections.abc import Sequence

from layerwise.engine.judged import JudgedClaim
from layerwise.present.records import View, view

# Regular expressions in the order in which they are replaced, read alike by Python and JavaScript.
# "~" is a space that parts no words: "table 3" is not table 30, "r = 0.5" is no other letter's.
PLAIN = (
    (r"[−–‐‑]", "-"),
    (r"×", "x"),
    (r"’", "'"),
    (r"[*_\"“”(),;:/#]+", " "),
    (r" ?(<=|>=|[<>≤≥≈]) ?", " $1"),
    (r"([a-z]+) ?= ?", "$1~ "),
    (r"(^| )\+(?=[.\d])", "$1"),
    (r"\.(?=[a-z])", "~"),
    (r"\bfigs?\b[.~]* ?(?=[a-z]?\d)", "figure "),
    (r"\btabs?\b[.~]* ?(?=\d)", "table "),
    (r"\b(table|figure|section|appendix|equation) ([a-z]?\d+(?:\.\d+)*)", "$1~$2~"),
)
FIRST = ("place", "published")
REST = ("quantity", "model", "unit", "id", "verdict", "recomputed", "rounded", "cause", "file")


def search_claims(claims: Sequence[JudgedClaim], query: str) -> list[JudgedClaim]:
    """Return the claims that a query finds, those first whose place or print has its words."""
    words = [f" {word.replace('~', ' ')}" for word in fold_text(query).split()]
    hits = [
        (all(f"{word.rstrip()} " in searchable_text(shown, FIRST) for word in words), claim)
        for claim, shown in zip(claims, map(view, claims), strict=True)
        if all(word in searchable_text(shown, FIRST + REST) for word in words)
    ]
    ranked = sorted(hits, key=lambda hit: (not hit[0], place_rank(hit[1])))
    return [claim for _, claim in ranked]


def place_rank(claim: JudgedClaim) -> int:
    """Return the rank of a claim's place: abstract, text and tables, figures, notebooks, others."""
    first = claim.where.partition(";")[0].lower()
    if claim.document != "paper":
        return 3 if claim.document == "notebook" else 4
    return 0 if first.startswith("abstract") else 2 if "figure" in first else 1


def searchable_text(shown: View, fields: Sequence[str]) -> str:
    """Return the words of some fields of a claim, each after one space.

    What is joined by a hyphen, or has a minus, stands there also without it.

    Arguments:
        shown: the claim as the page's script reads it.
    """
    text = fold_text(" | ".join(getattr(shown, name) or "" for name in fields)).replace("~", " ")
    return f" {' '.join([*text.split(), *text.replace('-', ' ').split()])} "


def fold_text(text: str) -> str:
    """Return a text in small letters, with one way of writing signs, places and numbers."""
    text = unicodedata.normalize("NFKC", text).lower()
    for pattern, meant in PLAIN:
        text = re.sub(pattern, meant.replace("$", "\\"), text)
    return text
