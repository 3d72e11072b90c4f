"""Pairs and prompts that nobody should give: JSON, CSV and JSON Lines, spoilt or very large."""

import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fuzz import Attempt, Case, Kind, bytes_case, changed, key_twice
from hostile import TEXTS

WORDS = ("The river rises", "An owl", "Water boils at 100 degrees", "語", *TEXTS)
LARGE = 10**7  # characters


def use_pairs(path: Path) -> None:
    """Read them; what is taken has all that the analyses need."""
    from layerwise.models.texts import MIN_PAIRS_PER_CATEGORY
    from layerwise.papers.fetching.texts import read_pairs

    found = read_pairs(path)
    sizes = [list(found.category_of_pair).count(n) for n in range(len(found.categories))]
    assert len(found.categories) >= 3
    assert min(sizes) >= MIN_PAIRS_PER_CATEGORY
    assert len(found.places) == len(found.side_a) == len(found.side_b) == sum(sizes)
    assert all(text.strip() and "\0" not in text for text in found.statements)


def use_prompts(path: Path) -> None:
    """The same of prompts."""
    from layerwise.papers.fetching.texts import read_prompts

    found = read_prompts(path)
    assert found
    assert all(text.strip() and "\0" not in text for text in found)


def rows_of_pairs(rng: random.Random) -> list[dict[str, Any]]:
    """Three categories or more; sometimes texts that try to be more than text."""
    words = WORDS if rng.random() < 0.2 else WORDS[:4]
    return [
        {
            "category": f"category {n}",
            "a": f"{rng.choice(words)} {k}",
            "b": f"{rng.choice(words)} so",
        }
        for n in range(rng.choice([3, 4, 6]))
        for k in range(rng.choice([2, 3]))
    ]


def as_document(rows: list[dict[str, Any]]) -> Any:
    """The JSON of pairs."""
    names = dict.fromkeys(row["category"] for row in rows)
    return {
        name: {"pairs": [[r["a"], r["b"]] for r in rows if r["category"] == name]} for name in names
    }


def as_csv(rows: list[dict[str, Any]], rng: random.Random) -> str:
    """In one of the dialects that spreadsheets write."""
    out = io.StringIO()
    columns = list(rows[0])
    rng.shuffle(columns)
    ends = rng.choice(["\n", "\r\n", "\r"])
    table = csv.DictWriter(out, columns, lineterminator=ends, quoting=rng.choice([0, 1]))
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


def as_lines(rows: list[dict[str, Any]]) -> str:
    """JSON Lines."""
    return "\n".join(json.dumps(row) for row in rows) + "\n"


def cell_changed(rng: random.Random, text: str) -> tuple[str, str]:
    """A table with a line doubled, left out, longer, quoted oddly, very long or very wide."""
    lines = text.split("\n")
    number = rng.randrange(len(lines))
    kind = rng.choice(
        ["gone", "doubled", "longer", "quote", "very long", "very wide", "nul", "surrogate", "wide"]
    )
    line = lines[number]
    others = {
        "gone": [],
        "doubled": [line, line],
        "longer": [line + ",x"],
        "quote": [line[: len(line) // 2] + '"' + line[len(line) // 2 :]],
        "very long": [line.replace("owl", long := "a" * LARGE).replace("so", long)],
        "very wide": [line.replace("owl", wide := "a" * LARGE + "\U0001f989").replace("so", wide)],
        "nul": [line + "\0"],
        "surrogate": [line.replace("so", "\\ud800")],
        "wide": [line + "," * 100_000],
    }
    lines[number : number + 1] = others[kind]
    return f"{kind} line {number}", "\n".join(lines)


def column_twice(rng: random.Random, rows: list[dict[str, Any]]) -> tuple[str, str]:
    """A table that has a column twice, with two values."""
    columns = list(rows[0])
    again = rng.choice(columns)
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow([*columns, again])
    table.writerows([*row.values(), rng.choice([row[again], "other"])] for row in rows)
    return f"column {again!r} twice", out.getvalue()


def spoilt(rng: random.Random, name: str, rows: list[dict[str, Any]], document: Any) -> Case:
    """One of the forms of a file, with something wrong with it."""
    form = rng.choice(["json", "json", "csv", "jsonl"])
    file = f"{name}.{form}"
    text = {
        "json": lambda: json.dumps(document),
        "csv": lambda: as_csv(rows, rng),
        "jsonl": lambda: as_lines(rows),
    }[form]()
    way = rng.choice(["bytes", "changed", "changed", "encoding", "twice"])
    if way == "bytes":
        return bytes_case(rng, file, text.encode("utf-8", "surrogatepass"))
    if way == "encoding":
        code = rng.choice(["utf-16", "utf-8-sig", "latin-1", "utf-32"])
        return Case(file, code, text.encode(code, "replace"))
    if way == "twice" and form == "csv":
        what, text = column_twice(rng, rows)
        return Case(file, what, text.encode("utf-8", "surrogatepass"), refused=True)
    if way == "twice":
        return key_twice(rng, file, document if form == "json" else rows[0])
    if form == "json":
        what, made = changed(rng, document)
        return Case(file, what, json.dumps(made, default=str).encode())
    what, text = cell_changed(rng, text)
    return Case(file, what, text.encode("utf-8", "surrogatepass"))


def cases(
    use: Callable[[Path], None], name: str, rows: Callable[[random.Random], list[dict[str, Any]]],
    document: Callable[[list[dict[str, Any]]], Any],
) -> Callable[[random.Random, Path], Iterator[Attempt]]:  # fmt: skip
    """Cases of one of the two kinds of texts."""

    def made(rng: random.Random, folder: Path) -> Iterator[Attempt]:
        """A file that is spoilt, in another encoding or very large: read whole, or refused."""
        while True:
            of = rows(rng)
            case = spoilt(rng, name, of, document(of))

            def do(work: Path, case: Case = case) -> None:
                (work / case.file).write_bytes(case.made)
                use(work / case.file)
                assert not case.refused, "it was taken as if nothing were amiss"

            yield Attempt(f"{case.file}: {case.what}", do)

    return made


def prepare(folder: Path) -> Path:
    """What is imported."""
    import layerwise.models.texts  # noqa: F401

    return folder


def rows_of_prompts(rng: random.Random) -> list[dict[str, Any]]:
    """Some prompts."""
    return [{"prompt": rng.choice(WORDS) + " so"} for _ in range(rng.choice([1, 3, 9]))]


def prompts_document(rows: list[dict[str, Any]]) -> Any:
    """A list, or the study of the published file."""
    texts = [row["prompt"] for row in rows]
    return texts if len(texts) > 1 else {"anisotropy": {"prompts": texts}}


KINDS = {
    "pairs": Kind(cases(use_pairs, "pairs", rows_of_pairs, as_document), prepare, r"pairs\."),
    "prompts": Kind(
        cases(use_prompts, "prompts", rows_of_prompts, prompts_document), prepare, r"prompts\."
    ),
}
