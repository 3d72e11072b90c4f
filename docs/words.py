#!/usr/bin/env python3
"""Print where pages and claims use a word that docs/style.md advises against: a hint, no error.

python docs/words.py      (or `make lint`)
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ADVICE = {
    r"hunt": "survey",
    r"twins?": "random-weight stand-in, tuned model",
    r"foret(?:ells?|old)": "predicts",
    r"go(?:es)? with": "correlates with",
    r"in print": "as printed",
    r"computed again": "recomputed",
    r"ways? of asking": "analysis choice",
    "[\N{LEFT SINGLE QUOTATION MARK}-\N{DOUBLE LOW-9 QUOTATION MARK}]": "straight quotes",
}
PAGES = ("README.md", ".github/*.md", "docs/*.md", "*/README.md", "claims/*.yaml")
# Quotations, code, and what the papers' authors call their own notebooks and tests.
QUOTED = re.compile(r"(hunt|twin) notebook|twin test|`[^`]*`|\"[^\"]*\"")


def hints(text: str) -> list[tuple[int, str, str]]:
    """The lines, words and better words of a text."""
    return [
        (number, match[0], better)
        for number, line in enumerate(text.splitlines(), start=1)
        for word, better in ADVICE.items()
        for match in re.finditer(rf"(?<!\w){word}(?!\w)", QUOTED.sub("", line), re.IGNORECASE)
    ]


def main() -> None:
    """Print the hints of all pages but the one that lists the words."""
    for pattern in PAGES:
        for page in sorted(ROOT.glob(pattern)):
            if page.name not in ("style.md", "changelog.md"):
                for number, word, better in hints(page.read_text(encoding="utf-8")):
                    print(f"{page.relative_to(ROOT)}:{number}: {word!r}; better: {better}")


if __name__ == "__main__":
    main()
