"""Statement pairs: two framings (A, B) of one statement, grouped in categories."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int

from layerwise.errors import LayerwiseError
from layerwise.files import read_json, require_name, require_text

SHAPE = 'the shape is {"category": {"pairs": [["A", "B"], ...]}}'
MIN_CATEGORIES = 3  # two points always correlate perfectly
MIN_PAIRS_PER_CATEGORY = 2  # a mean pairwise cosine needs two vectors


@dataclass(frozen=True)
class StatementPairs:
    """Pairs in file order; the order of categories is part of every bootstrap stream."""

    categories: tuple[str, ...]
    category_of_pair: Int[np.ndarray, " pair"]
    side_a: tuple[str, ...]
    side_b: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.side_a)

    @property
    def statements(self) -> tuple[str, ...]:
        """All statements, the A side of every pair first, then the B side."""
        return self.side_a + self.side_b


def place_of(pairs: StatementPairs, statement: int) -> str:
    """Where a statement of `pairs.statements` stands: category, pair (from 0) and side."""
    side, pair = divmod(statement, len(pairs))
    category = pairs.category_of_pair[pair]
    first = int(np.argmax(pairs.category_of_pair == category))
    return f"category {pairs.categories[category]!r}, pair {pair - first}, side {'AB'[side]}"


def read_pairs(path: Path) -> StatementPairs:
    """Read `{category: {"pairs": [[A, B], ...]}}`, the shape of the papers' dataset.json.

    Raises:
        LayerwiseError: naming the file, the place and the fix, for any other shape, fewer than 3
            categories or 2 pairs in a category, a category's name that cannot stand in a table,
            or a statement that is no text.
    """
    document = read_json(path)
    if not isinstance(document, dict):
        raise LayerwiseError(
            f"{path}: expected an object of categories, found {type(document).__name__}; {SHAPE}"
        )
    if len(document) < MIN_CATEGORIES:
        raise LayerwiseError(
            f"{path}: a correlation over categories needs at least {MIN_CATEGORIES} of them, "
            f"found {len(document)}; add categories"
        )
    found = []
    for number, (name, category) in enumerate(document.items()):
        require_name(f"{path}: category {number}", name)
        place = f"{path}: category {name!r}"
        pairs = category.get("pairs") if isinstance(category, dict) else None
        if not isinstance(pairs, list):
            raise LayerwiseError(f'{place} must be an object with a list "pairs"; {SHAPE}')
        if len(pairs) < MIN_PAIRS_PER_CATEGORY:
            raise LayerwiseError(
                f"{place} needs at least {MIN_PAIRS_PER_CATEGORY} pairs, found {len(pairs)}; "
                "add pairs or drop the category"
            )
        found += [(number, *_sides(f"{place}, pair {n}", pair)) for n, pair in enumerate(pairs)]
    category_of_pair, side_a, side_b = zip(*found, strict=True)
    return StatementPairs(tuple(document), np.array(category_of_pair), side_a, side_b)


def _sides(place: str, pair: object) -> tuple[str, str]:
    if not isinstance(pair, list) or len(pair) != 2:
        raise LayerwiseError(f"{place}: a pair is two strings [A, B], found {pair!r:.80}")
    a, b = (require_text(f"{place}, side {s}", text) for s, text in zip("AB", pair, strict=True))
    return a, b
