"""Texts that try to be more than text: markup, LaTeX, terminal commands, paths; a poor user."""

import contextlib
import os
import unicodedata
from collections.abc import Iterator

MARKUP = (
    "<script>alert(1)</script>",
    "</script>",
    "</title></style></textarea>",
    "<!--",
    "-->",
    "]]>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "&lt;script&gt;",
    "{{ 7 * 7 }}{% for x in 9 %}",
    "__proto__",
    "constructor",
)
TEX = (
    r"\input{/etc/passwd}",
    r"\immediate\write18{touch hit}",
    r"\catcode`\%=12 \csname end\endcsname{document}",
    r"\end{document}",
    "^^5cinput{/etc/passwd} ^^M",
    "$ % & # _ { } ~ ^ \\",
    r"\\ \\[2in] \VAR{7*7} \BLOCK{endfor} \#{",
    "}}}{{{",
    "$x^2$ & $\\frac{$",
    "?` !` `` '' -- --- << >>",
)
PATHS = ("../../x", "/etc/x", "..", ".", "~/x", "a\\b", "C:x", "a/../../b", "$HOME", "-rf")
# Characters that are not seen: what they are, and the texts that hold them.
UNSEEN = {
    "direction": "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    "no width": "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg",
    "tags": "\U000e0001\U000e0041",
    "NUL": "a\0b",
    "terminal": "\x1b[2J\x1b]0;owned\x07\x1b[31m",
    "terminal in one byte": "\x9b31m\x7f",
    "line": "a\nb\rc\x0bd\x0ce\x85f",
    "half a pair": "a\ud800b",
}
FLOOD = "Z" + "\u0335\u0489" * 500
SEEN = (*MARKUP, *TEX, *PATHS)
TEXTS = (*SEEN, *UNSEEN.values(), FLOOD, "a\u2028b\u2029c")
WRITTEN = tuple(text for text in TEXTS if text != UNSEEN["half a pair"])  # what a file can hold


def is_unseen(character: str) -> bool:
    """True for control, format and surrogate characters, by their category in Unicode."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs")


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Inside the block this process is an ordinary user's: root may write everywhere."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
