"""Statement pairs: two framings (A, B) of one statement, grouped in categories."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int

from layerwise.errors import LayerwiseError
from layerwise.files import read_json, require_name, require_text

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
        LayerwiseError: naming the file, the place and the fix, for any other shape, an empty
            statement, fewer than 3 categories or fewer than 2 pairs in a category, a category's
            name that is not printable or too long, or a statement that is no text.
    """
    document = read_json(path)
    if not isinstance(document, dict):
        raise LayerwiseError(
            f"{path}: expected an object of categories, found {type(document).__name__}; "
            'the shape is {"category": {"pairs": [["A", "B"], ...]}}'
        )
    if len(document) < MIN_CATEGORIES:
        raise LayerwiseError(
            f"{path}: a correlation over categories needs at least {MIN_CATEGORIES} of them, "
            f"found {len(document)}; add categories"
        )
    side_a: list[str] = []
    side_b: list[str] = []
    category_of_pair: list[int] = []
    for number, (name, category) in enumerate(document.items()):
        require_name(f"{path}: category {number}", name)
        for pair_a, pair_b in _pairs_of(path, name, category):
            side_a.append(pair_a)
            side_b.append(pair_b)
            category_of_pair.append(number)
    return StatementPairs(tuple(document), np.array(category_of_pair), tuple(side_a), tuple(side_b))


def _pairs_of(path: Path, name: str, category: object) -> list[tuple[str, str]]:
    if not isinstance(category, dict) or not isinstance(category.get("pairs"), list):
        raise LayerwiseError(
            f'{path}: category {name!r} must be an object with a list "pairs", '
            f"found {type(category).__name__}; "
            'the shape is {"category": {"pairs": [["A", "B"], ...]}}'
        )
    pairs = category["pairs"]
    if len(pairs) < MIN_PAIRS_PER_CATEGORY:
        raise LayerwiseError(
            f"{path}: category {name!r} needs at least {MIN_PAIRS_PER_CATEGORY} pairs, "
            f"found {len(pairs)}; add pairs or drop the category"
        )
    for number, pair in enumerate(pairs):
        place = f"{path}: category {name!r}, pair {number}"
        if (
            not isinstance(pair, list)
            or len(pair) != 2
            or not all(isinstance(side, str) for side in pair)
        ):
            raise LayerwiseError(f"{place}: a pair is two strings [A, B], found {pair!r:.80}")
        for side, text in zip("AB", pair, strict=True):
            if not text.strip():
                raise LayerwiseError(f"{place}: side {side} is empty; give both statements")
            require_text(f"{place}, side {side}", text)
    return [(pair[0], pair[1]) for pair in pairs]
