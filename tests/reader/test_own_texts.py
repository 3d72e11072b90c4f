"""A reader's own pairs and prompts: every form gives the same, every mistake has place and fix."""

import csv
import io
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layerwise.errors import LayerwiseError
from layerwise.files import LONGEST_NAME, require_name
from layerwise.models.texts import place_of
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.reader.page.cautions import (
    Predicted,
    _category_cautions,
    around_cautions,
    prediction_cautions,
)

GOOD = {name: {"pairs": [[f"{name} a", f"{name} b"]] * 2} for name in ("z", "a", "m")}


def written(folder: Path, name: str, document: Any) -> Path:
    """A file; what is no text as JSON, in ASCII: half of a surrogate pair is an escape."""
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return path


# --- every form ---------------------------------------------------------------------------------

ROWS = [
    {"category": category, "a": a, "b": b, "source": "other columns are allowed"}
    for category, a, b in (
        ("z", "one, two", 'three "four"'),
        ("a", "5\n6", "7\u20288"),
        ("z", "語", "padded "),
        ("m", "9", "10"),
        ("a", "11", "12"),
        ("m", "13", "14"),
        ("a", "15", "16"),
    )
]


class Frame(SimpleNamespace):
    """As much of a data frame as is asked of one."""

    @property
    def columns(self) -> list[str]:
        return list(self.rows[0])

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        assert orient == "records"
        return self.rows


def as_csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    table = csv.DictWriter(out, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


def as_lines(rows: list[Any]) -> str:
    return "\n\n".join(json.dumps(row) for row in rows) + "\n"


def as_document(rows: list[dict[str, Any]]) -> dict[str, Any]:
    names = dict.fromkeys(row["category"] for row in rows)
    of = {name: [(r["a"], r["b"]) for r in rows if r["category"] == name] for name in names}
    return {name: {"pairs": pairs, "more": "keys are allowed"} for name, pairs in of.items()}


def forms(folder: Path, rows: list[dict[str, Any]], document: Any) -> dict[str, Any]:
    return {
        "json": written(folder, "own.json", document),
        "text": str(written(folder, "own.json", document)),
        "csv": written(folder, "own.csv", as_csv(rows)),
        "jsonl": written(folder, "own.jsonl", as_lines(rows)),
        "document": document,
        "frame": Frame(rows=rows),
    }


def test_every_form_of_the_same_pairs_is_the_same(tmp_path: Path) -> None:
    found = {name: read_pairs(of) for name, of in forms(tmp_path, ROWS, as_document(ROWS)).items()}
    for pairs in found.values():
        assert pairs.categories == ("z", "a", "m")  # in the order in which they come
        assert pairs.category_of_pair.tolist() == [0, 0, 1, 1, 1, 2, 2]
        assert pairs.side_a == ("one, two", "語", "5\n6", "11", "15", "9", "13")
        assert pairs.statements == (
            *pairs.side_a,
            'three "four"',
            "padded ",
            "7\u20288",
            "12",
            "16",
            "10",
            "14",
        )
        assert len(pairs) == 7
    places = {name: place_of(pairs, 7 + 2).partition("own")[2] for name, pairs in found.items()}
    assert places["json"] == places["text"] == ".json: category 'a', pair 0, side B"
    assert places["csv"] == ".csv, line 4, side B"  # where its second line ends
    assert places["jsonl"] == ".jsonl, line 3, side B"
    assert place_of(found["document"], 9) == "pairs: category 'a', pair 0, side B"
    assert place_of(found["frame"], 9) == "row 1, side B"


def test_pairs_without_categories_are_one_category_in_every_form(tmp_path: Path) -> None:
    rows = [{key: cell for key, cell in row.items() if key != "category"} for row in ROWS]
    for name, form in forms(tmp_path, rows, [(row["a"], row["b"]) for row in rows]).items():
        pairs = read_pairs(form)
        assert len(pairs.categories) == 1, name
        assert pairs.category_of_pair.tolist() == [0] * len(rows)
        assert pairs.side_a == tuple(row["a"] for row in rows)
        assert pairs.side_b == tuple(row["b"] for row in rows)


def test_names_of_columns_are_free_in_case_and_blanks(tmp_path: Path) -> None:
    for header in ("Category,A,B", " CATEGORY , a,b "):
        found = read_pairs(
            written(tmp_path, "own.csv", f"{header}\n" + "x,1,2\ny,3,4\nz,5,6\n" * 2)
        )
        assert (found.categories, found.side_a) == (("x", "y", "z"), ("1", "1", "3", "3", "5", "5"))
    twice = written(tmp_path, "own.csv", "category,a,A,b\nx,1,2,3\n")
    with pytest.raises(LayerwiseError, match="a column must be there once, 2 are called 'a'"):
        read_pairs(twice)
    with pytest.raises(LayerwiseError, match="found an empty file"):
        read_pairs(written(tmp_path, "own.csv", ""))


def test_every_form_marks_the_same_categories_as_neutral(tmp_path: Path) -> None:
    rows = [{**row, "Neutral": "Yes" if row["category"] in "zm" else "no"} for row in ROWS]
    document = as_document(ROWS)
    for name in "zm":
        document[name]["neutral"] = True
    for name, of in forms(tmp_path, rows, document).items():
        assert read_pairs(of).neutral == ("z", "m"), name
    assert read_pairs(as_document(ROWS)).neutral == ()
    assert read_pairs(document).of_categories(["a", "m"]).neutral == ("m",)
    rows[2]["Neutral"] = "no"
    with pytest.raises(LayerwiseError, match="neutral as a whole or not at all, found both in 'z'"):
        read_pairs(Frame(rows=rows))
    rows[2]["Neutral"] = "perhaps"
    with pytest.raises(LayerwiseError, match=r"must be true, yes, 1 or .* found 'perhaps"):
        read_pairs(Frame(rows=rows))


def test_every_form_of_the_same_prompts_is_the_same(tmp_path: Path) -> None:
    texts = ["z, a", "a\nb", "z, a"]
    for of in forms(tmp_path, [{"prompt": text} for text in texts], texts).values():
        assert read_prompts(of) == tuple(texts)
    studies = {"anisotropy": {"prompts": ["a"]}, "twin": {"prompts": ["b", "c"]}}
    assert read_prompts(studies) == ("a",)
    assert read_prompts(written(tmp_path, "prompts.json", studies), "twin") == ("b", "c")


def test_papers_are_fetched_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetch(folder: Path) -> None:
        asked.append(folder)
        folder.mkdir(exist_ok=True)
        written(folder, "dataset.json", GOOD)
        written(folder, "prompts.json", {"anisotropy": {"prompts": ["theirs"]}})

    place = tmp_path / "data"
    monkeypatch.setattr("layerwise.papers.fetching.upstream.papers_folder", lambda: place)
    monkeypatch.setattr("layerwise.papers.fetching.upstream.fetch", fetch)
    assert read_pairs("papers").categories == ("z", "a", "m")
    assert read_prompts("papers") == ("theirs",)
    assert asked == [place] * 2
    with pytest.raises(LayerwiseError, match="papers: no such file"):
        read_pairs(Path("papers"))


def test_a_table_of_tabs_and_blanks_behind_separators(tmp_path: Path) -> None:
    """As spreadsheets and people write them: quotes behind a blank are quotes."""
    rows = [["category", "a", "b"]]
    rows += [[name, f"{name}, {n}", f'"{name} \t {n}"'] for name in "xyz" for n in "12"]
    tabs = written(tmp_path, "own.tsv", "\n".join("\t".join(row) for row in rows))
    quoted = [[cell if '"' in cell else f'"{cell}"' for cell in row] for row in rows]
    commas = written(tmp_path, "own.csv", "\n".join(",  ".join(row) for row in quoted))
    assert read_pairs(tabs).side_a == ("x, 1", "x, 2", "y, 1", "y, 2", "z, 1", "z, 2")
    for read in (read_pairs(tabs), read_pairs(commas)):
        assert read.side_b[0] == "x \t 1"
        assert read.statements == read_pairs(tabs).statements


# --- texts that are not what they seem ----------------------------------------------------------


LOOK_ALIKES = [("x", "x "), ("Weather", "weather"), ("\u00e9", "e\u0301")]


@pytest.mark.parametrize(("first", "second"), LOOK_ALIKES)
def test_categories_that_read_alike_are_refused(first: str, second: str) -> None:
    with pytest.raises(LayerwiseError, match="categor"):
        read_pairs({**GOOD, first: GOOD["a"], second: GOOD["z"]})


def test_different_pairs_are_counted_once_and_equal_sides_not_at_all() -> None:
    pairs = read_pairs(
        {
            "x": {"pairs": [["a", "b"]] * 3},
            "y": {"pairs": [["a", "b"], ["b", "a"], ["caf\u00e9", "cafe\u0301"], ["c", "c "]]},
            "z": {"pairs": [["a", "b"], ["a", "c"]]},
        }
    )
    assert pairs.different() == [1, 2, 2]
    said = " ".join(_category_cautions(pairs, has_preferences=True))
    assert "x (1 of 3), y (2 of 4)." in said
    assert "x (1), y (2), z (2)." in said


def test_tokens_that_are_put_around_texts_are_said() -> None:
    """One before a text is dropped from every mean; all others are measured."""
    assert around_cautions(["<s>"], []) == []
    for around in ([], ["</s>"]), (["<s>", "<s>"], []):
        (said,) = around_cautions(*around)
        assert all(token in said for tokens in around for token in tokens)


def test_a_model_that_predicts_worse_than_a_guess_is_said_to() -> None:
    """As with the tokenizer of another model; a guess among 1024 tokens has 6.93 nats."""
    assert prediction_cautions(Predicted(6.93, None, 1024)) == []
    (said,) = prediction_cautions(Predicted(6.94, 2.0, 1024))
    assert "1,024" in said


# --- every mistake ------------------------------------------------------------------------------

HEAD = "category,a,b\n"
PAIR_MISTAKES: list[tuple[str, Any, str]] = [
    ("json", [["a", "b"]], "over pairs needs at least 4 of them, found 1; add pairs"),
    ("json", [["a", "b"], "c"], r"pair 1: a pair is two strings \[A, B\], found 'c'"),
    ("json", 4, "expected an object of categories or a list of pairs, found int; the shape is {"),
    ("json", "text", r"not valid JSON at line 1, column 1 .*; the file may be cut off"),
    ("json", {**GOOD, "_x": GOOD["a"]}, "must not begin with an underscore, .*found '_x'; rename"),
    ("json", {**GOOD, "x": [["a", "b"]]}, "'x' must be an object with a list .*, found list; the"),
    ("json", {**GOOD, "x": {"pairs": [["a", "b"]]}}, "'x' needs at least 2 pairs, found 1; add p"),
    ("json", {**GOOD, "x": {"pairs": [["a", "b"], ["c"]]}}, "'x', pair 1: a pair is two strings"),
    ("json", {**GOOD, "x": {"pairs": [["a", "b"], [" \n", "c"]]}}, "pair 1, side A: must be a no"),
    ("json", dict.fromkeys("abc", GOOD["a"]), "all categories hold the same statements; use stat"),
    ("csv", "", "must hold a, b, found an empty file; add rows"),
    ("csv", "category,one,b\n", "line 1: must name a, b, 'a' is missing, found 'category', 'one'"),
    ("csv", "category;a;b\n", "are separated by commas, found semicolons; save it with commas"),
    ("csv", HEAD + "x,one\n", r"line 2: a row must .* 3 columns, found 2; put texts"),
    ("csv", HEAD + '\nx,"one\n', r"line 3: not valid CSV \(unexpected end of data\); put texts"),
    ("csv", "a,category,a,b,b\n", "line 1: a column must be there once, 2 are called 'a'; rename"),
    ("txt", "x", "names end in .json, .csv, .tsv, .jsonl, found '.txt'; save"),
    ("jsonl", '{"category": "x"}', "line 1: must name .* 'a' is missing, found 'category'; name"),
    (
        "jsonl",
        '{"category": "x", "a": "1", "b": "2"}\n{"a": "3", "b": "4"}',
        "line 2: all pairs come in categories or none does, found a row with 'category' and one",
    ),
]
PROMPT_MISTAKES: list[tuple[str, Any, str]] = [
    ("json", [], "expected a list with at least one prompt, found an empty one; write the prom"),
    ("json", {"anisotropy": ["a"]}, "found the keys 'anisotropy'; write the prompts as one list"),
    ("json", ["a", "b", "  "], r"prompt 2: must be a non-empty string, found '  '"),
    ("csv", "text\na\n", "line 1: must name prompt, 'prompt' is missing, found 'text'"),
]


@pytest.mark.parametrize(
    ("read", "suffix", "document", "message"),
    [
        *((read_pairs, *of) for of in PAIR_MISTAKES),
        *((read_prompts, *of) for of in PROMPT_MISTAKES),
    ],
)
def test_refused(tmp_path: Path, read: Any, suffix: str, document: Any, message: str) -> None:
    with pytest.raises(LayerwiseError, match=rf"own\.{suffix}[:,] .*{message}"):
        read(written(tmp_path, f"own.{suffix}", document))


def test_a_frame_refused() -> None:
    frame = Frame(rows=[{"category": "x", "a": "y", "b": float("nan")}])
    with pytest.raises(LayerwiseError, match="row 0, column b: must be a non-empty string, found"):
        read_pairs(frame)


@given(st.text(min_size=1, max_size=LONGEST_NAME))
def test_a_name_is_taken_if_and_only_if_it_is_printable(name: str) -> None:
    if name.isprintable() and name.strip():
        require_name("here", name)
    else:
        with pytest.raises(LayerwiseError, match=r"here: a name must (be printable|not be empty)"):
            require_name("here", name)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_a_statement_and_a_prompt_may_hold_any_other_text(text: str) -> None:
    text = f"a{text}"  # not only spaces
    document = {**GOOD, "x": {"pairs": [[text, "b"], ["c", text]]}}
    with tempfile.TemporaryDirectory() as folder:
        pairs = read_pairs(written(Path(folder), "own.json", document))
        assert (pairs.side_a[-2:], pairs.side_b[-2:]) == ((text, "c"), ("b", text))
        assert read_prompts(written(Path(folder), "own.jsonl", as_lines([{"prompt": text}]))) == (
            text,
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\0b", r"character 1 is U\+0000, which ends a text in many programs; remove it"),
        ("ab\udfff", "character 2 is half of a surrogate pair, which is no text; correct the esc"),
    ],
)
def test_what_is_no_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(LayerwiseError, match=f"category 'x', pair 1, side B: {message}"):
        read_pairs({**GOOD, "x": {"pairs": [["a", "b"], ["c", text]]}})
    with pytest.raises(LayerwiseError, match=f"prompt 1: {message}"):
        read_prompts(["a", text])


# --- ours and the papers' -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "sizes", "n_prompts"),
    [("code/layerwise/models/rehearsal", [12] * 6, 16), ("examples", [6] * 3, 8)],
)
def test_ours_are_complete_and_hold_nothing_published(
    root: Path, mirror: Path, folder: str, sizes: list[int], n_prompts: int
) -> None:
    pairs, prompts = (
        read_pairs(root / folder / "pairs.json"),
        read_prompts(root / folder / "prompts.json"),
    )
    assert np.bincount(pairs.category_of_pair).tolist() == sizes
    assert len({*pairs.statements, *prompts}) == 2 * sum(sizes) + n_prompts
    of_the_papers = read_pairs(mirror / "dataset.json")
    assert np.bincount(of_the_papers.category_of_pair).tolist() == [30, 20, 50, 50, 50, 30]
    assert len(read_prompts(mirror / "prompts.json")) == 16
    published = {text.lower() for text in of_the_papers.statements}
    assert not published & {text.lower() for text in (*pairs.statements, *prompts)}
    theirs = (mirror / "prompts.json").read_text("utf-8").lower()
    assert not [one for one in prompts if one.lower() in theirs]
