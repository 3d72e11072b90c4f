"""Texts as a reader or the papers give them, read and checked: statement pairs and prompts.

A pair is two framings (A, B) of one statement, pairs come in categories or in none; a prompt is a
single text whose token states are measured. Each stands in JSON, or a row each in CSV, TSV, JSON
Lines or a data frame.
"""

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from layerwise.csv_rows import parse_csv
from layerwise.errors import LayerwiseError
from layerwise.files import parse_json, read_json, read_text, require_name, require_text
from layerwise.statistics.sizes import FEWEST_PAIRS, MIN_POINTS

SHAPE = 'the shape is {"category": {"pairs": [["A", "B"], ...]}}, or [["A", "B"], ...]'
SIDES = ("a", "b")  # columns of CSV, JSON Lines and data frames
CATEGORY = "category"  # a column of theirs that may be left out
ALL_PAIRS = "all pairs"  # the one category of pairs that come in none
MIN_PAIRS_PER_CATEGORY = 2  # a mean pairwise cosine needs two vectors
NEUTRAL = "neutral"  # a column or a key that marks categories, may be left out
TRUE, FALSE = ("true", "yes", "1"), ("false", "no", "0", "")
COLUMN = "prompt"  # of the same for prompts
SEPARATORS = {".csv": ",", ".tsv": "\t"}
QUOTE_TEXTS = "put texts that hold a separator or a quotation mark into double quotes"
ENDINGS = (".json", *SEPARATORS, ".jsonl")
# Characters that are not seen, of the letters and marks: variation selectors, fillers and joiners
# (Unicode's Default_Ignorable_Code_Point).
UNSEEN = {
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xE0100, 0xE01F0)),
    *("\u115f", "\u1160", "\u3164", "\uffa0"),
    *("\u034f", "\u17b4", "\u17b5", "\u180b", "\u180c", "\u180d", "\u180f"),
}
Row = tuple[str, Mapping[str, object]]  # where it stands, and its cells by column
Found = dict[str, list[tuple[str, str, str]]]  # category -> (place, A, B)


@dataclass(frozen=True)
class StatementPairs:
    """Pairs, category by category; the order of categories is part of every bootstrap stream.

    Attributes:
        places: where each pair was read.
        rows: the number of each pair in the order in which they were given, where a table need not
            keep the rows of a category together; None: it is this order.
        neutral: the categories that are marked as neutral; empty where none is.
    """

    categories: tuple[str, ...]
    category_of_pair: Int[np.ndarray, " pair"]
    side_a: tuple[str, ...]
    side_b: tuple[str, ...]
    places: tuple[str, ...] = ()
    rows: Int[np.ndarray, " pair"] | None = None
    neutral: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.side_a)

    def first(self, n: int) -> "StatementPairs":
        """Return the first n pairs of each category, or all of one that has fewer."""
        seen = np.zeros(len(self.categories), dtype=int)
        kept = []
        for pair, category in enumerate(self.category_of_pair.tolist()):
            if seen[category] < n:
                kept.append(pair)
            seen[category] += 1
        return self._keep(kept, self.categories)

    def of_categories(self, names: Sequence[str]) -> "StatementPairs":
        """Return the pairs of these categories, in the order in which they stand here."""
        categories = tuple(name for name in self.categories if name in names)
        kept = [
            pair
            for pair, category in enumerate(self.category_of_pair.tolist())
            if self.categories[category] in categories
        ]
        return self._keep(kept, categories)

    def _keep(self, kept: Sequence[int], categories: tuple[str, ...]) -> "StatementPairs":
        """Return some pairs, which are of these categories alone."""
        numbers = {name: number for number, name in enumerate(categories)}
        labels = [numbers[self.categories[self.category_of_pair[pair]]] for pair in kept]
        side_a, side_b = (tuple(side[pair] for pair in kept) for side in (self.side_a, self.side_b))
        places = tuple(self.places[pair] for pair in kept) if self.places else ()
        neutral = tuple(name for name in self.neutral if name in categories)
        return StatementPairs(
            categories, np.array(labels, dtype=int), side_a, side_b, places, neutral=neutral
        )

    def different(self) -> list[int]:
        """Count the pairs of each category, once each, without those whose sides are equal."""
        kept: list[set[tuple[str, str]]] = [set() for _ in self.categories]
        rows = zip(self.category_of_pair.tolist(), self.side_a, self.side_b, strict=True)
        for category, *sides in rows:
            a, b = (unicodedata.normalize("NFC", side).strip() for side in sides)
            if a != b:
                kept[category].add((a, b))
        return [len(pairs) for pairs in kept]

    @property
    def statements(self) -> tuple[str, ...]:
        """All statements, the A side of every pair first, then the B side."""
        return self.side_a + self.side_b


def place_of(pairs: StatementPairs, statement: int) -> str:
    """Return where a statement of `pairs.statements` stands: its file, its pair and side."""
    side, pair = divmod(statement, len(pairs))
    return f"{pairs.places[pair]}, side {'AB'[side]}"


def numbered_place(pairs: StatementPairs, statement: int) -> str:
    """Return the same by category and number, which no name of a file is part of."""
    side, pair = divmod(statement, len(pairs))
    label = pairs.category_of_pair[pair]
    number = pair - int(np.argmax(pairs.category_of_pair == label))
    return f"{pairs.categories[label]}, pair {number}, side {'AB'[side]}"


def read_pairs(given: Any) -> StatementPairs:
    """Read and check statement pairs.

    Args:
        given: a file, or what it holds. JSON (or a dictionary) is `{category: {"pairs": [[A, B],
            ...]}}`, the shape of the papers' dataset.json, or a list of pairs without categories;
            CSV, TSV, JSON Lines and data frames have a row per pair with the columns a and b, and
            category where pairs come in categories. Pairs without are one category, `ALL_PAIRS`.

    Raises:
        LayerwiseError: naming the file, the place and the fix, for any other shape, fewer than 4
            pairs or 2 in a category, a category's name that cannot stand in a table, or that reads
            like another one, a column that is there twice, or a statement that is no text.
    """
    given = Path(given) if isinstance(given, str) else given
    name = f"{given}: " if isinstance(given, Path) else "pairs: "
    rows = None
    if _has_rows(given):
        by_category, rows, neutral = _pairs_of_rows(given)
    else:
        by_category, neutral = _pairs_of_document(name, given)
    _require_enough(name, by_category)
    _require_different_names(name, by_category)
    if len(by_category) >= MIN_POINTS:
        _require_variation(name, by_category)
    sizes = [len(pairs) for pairs in by_category.values()]
    places, side_a, side_b = zip(
        *(pair for pairs in by_category.values() for pair in pairs), strict=True
    )
    numbers = np.repeat(np.arange(len(by_category)), sizes)
    return StatementPairs(tuple(by_category), numbers, side_a, side_b, places, rows, neutral)


def _require_enough(name: str, by_category: Found) -> None:
    """Refuse fewer pairs than numbers take, and a category whose name marks other entries."""
    n_pairs = sum(map(len, by_category.values()))
    if n_pairs < FEWEST_PAIRS:
        raise LayerwiseError(
            f"{name}a correlation over pairs needs at least {FEWEST_PAIRS} of them, found "
            f"{n_pairs}; add pairs"
        )
    for category, pairs in by_category.items():
        if category.startswith("_"):
            raise LayerwiseError(
                f"{name}a category's name must not begin with an underscore, which marks other "
                f"entries of the results, found {category!r}; rename it"
            )
        if len(pairs) < MIN_PAIRS_PER_CATEGORY:
            raise LayerwiseError(
                f"{name}category {category!r} needs at least {MIN_PAIRS_PER_CATEGORY} pairs, "
                f"found {len(pairs)}; add pairs or drop the category"
            )


def _require_different_names(name: str, categories: Iterable[str]) -> None:
    """Refuse two categories that a reader cannot tell apart: r would be over both."""
    seen: dict[str, str] = {}
    for category in categories:
        other = seen.setdefault(fold_name(category), category)
        if other != category:
            raise LayerwiseError(
                f"{name}names of categories must differ in more than case, blanks, width, how a "
                f"letter is composed and what is not seen, found {other!a} and {category!a}; give "
                "both the same name, or another one"
            )


def fold_name(name: str) -> str:
    """Return a name as a reader tells it apart: NFKC, case folded, without what is not seen."""
    composed = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join("".join(letter for letter in composed if letter not in UNSEEN).split())


def _require_variation(name: str, by_category: Found) -> None:
    """Refuse categories whose asymmetries are equal whatever the model is: r would not exist."""
    kinds = set()
    for pairs in by_category.values():
        sides = tuple(
            sorted(statements) for statements in zip(*((a, b) for _, a, b in pairs), strict=True)
        )
        kinds.add("equal sides" if sides[0] == sides[1] else str(sides))
    if len(kinds) == 1:
        what = "both sides of every category" if "equal sides" in kinds else "all categories"
        raise LayerwiseError(
            f"{name}a correlation over categories needs asymmetries that vary, {what} hold the "
            "same statements; use statements that differ"
        )


def read_prompts(given: Any, study: str = "anisotropy") -> tuple[str, ...]:
    """Read and check prompts.

    Args:
        given: a file, or what it holds. JSON is a list of texts, or one study of `{study:
            {"prompts": [...]}}`; CSV, JSON Lines and data frames have a row per prompt with the
            column prompt.

    Raises:
        LayerwiseError: if it has another shape, lacks the study, or a prompt is no text.
    """
    given = Path(given) if isinstance(given, str) else given
    if _has_rows(given):
        prompts = [
            require_text(f"{place}, column {COLUMN}", row[COLUMN])
            for place, row in _rows(given, [COLUMN])
        ]
    else:
        name = given if isinstance(given, Path) else "prompts"
        texts = _prompts_of_document(
            name, read_json(given) if isinstance(given, Path) else given, study
        )
        prompts = [require_text(f"{name}: prompt {n}", text) for n, text in enumerate(texts)]
    if not prompts:
        raise LayerwiseError(
            f"{given}: expected a list with at least one prompt, found none; add one"
        )
    return tuple(prompts)


def _pairs_of_rows(given: Any) -> tuple[Found, Int[np.ndarray, " pair"], tuple[str, ...]]:
    """Return the pairs of a table by category, their rows, and the categories marked neutral."""
    by_category: Found = {}
    marks: dict[str, bool] = {}
    rows: dict[str, list[int]] = {}
    has_category = True
    for number, (place, row) in enumerate(_rows(given, SIDES, (CATEGORY, NEUTRAL))):
        if number and has_category != (CATEGORY in row):
            raise LayerwiseError(
                f"{place}: all pairs come in categories or none does, found a row with "
                f"{CATEGORY!r} and one without; name it in all, or in none"
            )
        has_category = CATEGORY in row
        category = require_text(f"{place}, column {CATEGORY}", row.get(CATEGORY, ALL_PAIRS))
        if category not in by_category:
            require_name(f"{place}, column {CATEGORY}", category)
        sides = (require_text(f"{place}, column {name}", row[name]) for name in SIDES)
        by_category.setdefault(category, []).append((place, *sides))  # type: ignore[arg-type]
        rows.setdefault(category, []).append(number)
        if NEUTRAL in row:
            is_neutral = _is_marked(f"{place}, column {NEUTRAL}", row[NEUTRAL])
            if marks.setdefault(category, is_neutral) != is_neutral:
                raise LayerwiseError(
                    f"{place}: a category is neutral as a whole or not at all, found both in "
                    f"{category!r}; mark all its rows alike"
                )
    numbers = [number for numbers in rows.values() for number in numbers]
    return by_category, np.array(numbers, dtype=int), _marked(marks)


def _marked(marks: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(name for name, is_neutral in marks.items() if is_neutral)


def _is_marked(place: str, given: object) -> bool:
    """Return what a mark says.

    Raises:
        LayerwiseError: for another word than those of `TRUE` and `FALSE`.
    """
    word = str(given).strip().casefold()
    if word not in (*TRUE, *FALSE):
        raise LayerwiseError(
            f"{place}: must be {', '.join(TRUE)} or {', '.join(filter(None, FALSE))}, found "
            f"{given!r:.80}; correct it"
        )
    return word in TRUE


def _pairs_of_document(name: str, given: Any) -> tuple[Found, tuple[str, ...]]:
    """Return the pairs of a JSON document by category, and the categories marked neutral."""
    document = read_json(given) if isinstance(given, Path) else given
    if isinstance(document, list | tuple):
        return {ALL_PAIRS: list(_read_list(name, document))}, ()
    if not isinstance(document, Mapping):
        raise LayerwiseError(
            f"{name}expected an object of categories or a list of pairs, found "
            f"{type(document).__name__}; {SHAPE}"
        )
    by_category: Found = {}
    marks: dict[str, bool] = {}
    for number, (category, entry) in enumerate(document.items()):
        require_name(f"{name}category {number}", str(category))  # JSON's names are texts
        if str(category) in by_category:
            raise LayerwiseError(
                f"{name}a category must be named once, two are called {str(category)!r} in a "
                "table; rename one of them"
            )
        place = f"{name}category {category!r}"
        pairs = entry.get("pairs") if isinstance(entry, Mapping) else None
        if not isinstance(pairs, list | tuple):
            keys = f"the keys {', '.join(map(repr, entry))}" if isinstance(entry, Mapping) else None
            raise LayerwiseError(
                f'{place} must be an object with a list "pairs", found '
                f"{keys or type(entry).__name__:.200}; {SHAPE}"
            )
        by_category[str(category)] = list(_read_list(f"{place}, ", pairs))
        marks[str(category)] = _is_marked(f"{place}, {NEUTRAL!r}", entry.get(NEUTRAL, False))
    return by_category, _marked(marks)


def _read_list(place: str, pairs: Any) -> Iterator[tuple[str, str, str]]:
    for number, pair in enumerate(pairs):
        place_of_pair = f"{place}pair {number}"
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise LayerwiseError(
                f"{place_of_pair}: a pair is two strings [A, B], found {pair!r:.80}; correct it"
            )
        a, b = (
            require_text(f"{place_of_pair}, side {letter}", text)
            for letter, text in zip("AB", pair, strict=True)
        )
        yield place_of_pair, a, b


def _prompts_of_document(name: object, document: Any, study: str) -> Any:
    if isinstance(document, Mapping):
        entry = document.get(study)
        if not isinstance(entry, Mapping) or "prompts" not in entry:
            raise LayerwiseError(
                f'{name}: expected a list of strings or an object with {study!r}: {{"prompts": '
                f"[...]}}, found the keys {', '.join(map(repr, document)) or '(none)':.200}; "
                "write the prompts as one list"
            )
        document = entry["prompts"]
    if not isinstance(document, list | tuple) or not document:
        is_list = isinstance(document, list | tuple)
        what = "an empty one" if is_list else type(document).__name__
        raise LayerwiseError(
            f"{name}: expected a list with at least one prompt, found {what}; write the prompts "
            'as a list of strings, ["...", "..."]'
        )
    return document


def _has_rows(given: object) -> bool:
    """Return whether it is a file of rows, by its name, or a data frame (pandas or one like it).

    Raises:
        LayerwiseError: for a file with an ending that is none of `ENDINGS`.
    """
    if not isinstance(given, Path):
        return hasattr(given, "columns")
    if (ending := given.suffix.lower()) not in ENDINGS and given.is_file():
        raise LayerwiseError(
            f"{given}: texts are read from files whose names end in {', '.join(ENDINGS)}, found "
            f"{ending or 'no ending'!r}; save them as one of these"
        )
    return ending in (*SEPARATORS, ".jsonl")


def _rows(given: Any, columns: Sequence[str], optional: Sequence[str] = ()) -> Iterator[Row]:
    """Yield the rows of a file or a data frame, in order; other columns are allowed.

    Arguments:
        columns: those that must be there; `optional`: others that are read.
    """
    if not isinstance(given, Path):
        name = f"data frame of {type(given).__module__}"
        try:
            names, rows = list(given.columns), given.to_dict("records")
        except (AttributeError, TypeError, ValueError) as error:
            raise LayerwiseError(
                f'{name}: its rows are asked for by to_dict("records"), which fails '
                f"({error!s:.200}); give a pandas data frame, or a dictionary"
            ) from None
        named = _require(name, names, columns, optional)
        for number, row in enumerate(rows):
            yield f"row {number}", _renamed(row, named)
    elif (ending := given.suffix.lower()) in SEPARATORS:
        yield from _read_csv(given, columns, optional, SEPARATORS[ending])
    else:
        for number, line in enumerate(read_text(given).split("\n"), start=1):
            if line.strip():
                place = f"{given}, line {number}"
                row = parse_json(place, line)
                named = _require(place, row if isinstance(row, dict) else (), columns, optional)
                yield place, _renamed(row, named)


def _read_csv(
    path: Path, columns: Sequence[str], optional: Sequence[str], separator: str
) -> Iterator[Row]:
    """Yield the rows of a table, without blanks between a separator and the text behind it."""
    lines = parse_csv(path, read_text(path), QUOTE_TEXTS, separator, skips_blanks=True)
    line, header = next(lines, (0, []))
    if not line:
        raise LayerwiseError(
            f"{path}: must hold {', '.join(columns)}, found an empty file; add rows"
        )
    if len(header) == 1 < len(columns) and separator == "," and ";" in header[0]:
        raise LayerwiseError(
            f"{path}: columns of a .csv file are separated by commas, found semicolons; save it "
            "with commas, and texts that hold one in double quotes"
        )
    named = _require(f"{path}, line {line}", header, columns, optional)
    for line, cells in lines:
        yield f"{path}, line {line}", _renamed(dict(zip(header, cells, strict=True)), named)


def _renamed(row: Mapping[str, object], named: Mapping[object, str]) -> dict[str, object]:
    """Return the cells of a row by the names that are asked for."""
    return {named.get(name, name): cell for name, cell in row.items()}


def _require(
    place: str,
    present: Collection[object],
    columns: Sequence[str],
    optional: Sequence[str],
) -> dict[object, str]:
    """Return by its name here what each column is called; case and blanks around it are free.

    Raises:
        LayerwiseError: for a column that is missing, or there twice.
    """
    wanted = (*columns, *optional)
    folded = [(name, str(name).strip().casefold()) for name in present]
    if missing := [column for column in columns if column not in {name for _, name in folded}]:
        raise LayerwiseError(
            f"{place}: must name {', '.join(columns)}, {missing[0]!r} is missing, found "
            f"{', '.join(map(repr, present)) or 'nothing'!s:.200}; name it so"
        )
    names = [name for _, name in folded]
    if twice := [column for column in wanted if names.count(column) > 1]:
        raise LayerwiseError(
            f"{place}: a column must be there once, {names.count(twice[0])} are called "
            f"{twice[0]!r}; rename or remove the others"
        )
    return {column: name for column, name in folded if name in wanted}
