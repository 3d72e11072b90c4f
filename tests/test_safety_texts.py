"""What a reader's own files may hold: names, statements, prompts and numbers of every kind."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile import FLOOD, SEEN, UNSEEN, is_unseen
from layerwise import cli
from layerwise.errors import LayerwiseError
from layerwise.extraction.twins import build_twin
from layerwise.files import LONGEST_NAME, read_json, require_name, write_json, write_text
from layerwise.inputs.pairs import read_pairs
from layerwise.inputs.prompts import read_prompts
from tiny_checkpoints import TEXTS, twinned_model

MEGABYTE = 1_000_000
FINE = {name: {"pairs": [[f"{name} a", f"{name} b"]] * 2} for name in ("z", "a", "m")}


def written(folder: Path, document: Any) -> Path:
    path = folder / "own.json"
    path.write_text(json.dumps(document))  # ASCII: a half of a pair is an escape
    return path


# --- names of categories ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", UNSEEN)
def test_a_category_with_a_character_that_is_not_seen_is_refused(tmp_path: Path, kind: str) -> None:
    name = UNSEEN[kind]
    number, first = next((n, sign) for n, sign in enumerate(name) if is_unseen(sign))
    message = rf"own\.json: category 3: a name must be printable, character {number} of .* is "
    with pytest.raises(LayerwiseError, match=rf"{message}U\+{ord(first):04X}; rem") as raised:
        read_pairs(written(tmp_path, {**FINE, name: FINE["a"]}))
    assert not [character for character in str(raised.value) if is_unseen(character)]


@pytest.mark.parametrize("name", ["", " ", "\t\n", "\u3000"])
def test_a_category_without_a_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LayerwiseError, match=r"category 3: a name must not be empty, found .*; g"):
        read_pairs(written(tmp_path, {**FINE, name: FINE["a"]}))


@pytest.mark.parametrize("name", ["x" * MEGABYTE, FLOOD, "x" * (LONGEST_NAME + 1)])
def test_a_long_category_is_refused_in_a_short_message(tmp_path: Path, name: str) -> None:
    message = rf"a name has at most {LONGEST_NAME} characters, found {len(name)} .*; shorten it"
    with pytest.raises(LayerwiseError, match=message) as raised:
        read_pairs(written(tmp_path, {**FINE, name: FINE["a"]}))
    assert len(str(raised.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize("name", [*SEEN, "Wörter", "语言", "العربية", "x" * LONGEST_NAME])
def test_an_odd_category_is_kept_as_it_is(tmp_path: Path, name: str) -> None:
    document = {**FINE, name: FINE["a"]}
    assert read_pairs(written(tmp_path, document)).categories == tuple(document)


@given(st.text(min_size=1, max_size=LONGEST_NAME))
def test_a_name_is_taken_if_and_only_if_it_is_printable(name: str) -> None:
    if name.isprintable() and name.strip():
        require_name("here", name)
    else:
        with pytest.raises(LayerwiseError, match=r"here: a name must (be printable|not be empty)"):
            require_name("here", name)


# --- statements and prompts ---------------------------------------------------------------------


@settings(deadline=None)  # it writes files
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_a_statement_and_a_prompt_may_hold_any_other_text(text: str) -> None:
    text = f"a{text}"  # not only spaces
    with tempfile.TemporaryDirectory() as folder:
        pairs = written(Path(folder), {**FINE, "x": {"pairs": [[text, "b"], ["c", text]]}})
        assert read_pairs(pairs).side_a[-2:] == (text, "c")
        assert read_pairs(pairs).side_b[-2:] == ("b", text)
        assert read_prompts(written(Path(folder), [text])) == (text,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\0b", r"character 1 is U\+0000, which ends a text in many programs; remove it"),
        ("ab\udfff", "character 2 is half of a surrogate pair, which is no text; correct the esc"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, text: str, message: str) -> None:
    document = {**FINE, "x": {"pairs": [["a", "b"], ["c", text]]}}
    with pytest.raises(LayerwiseError, match=f"category 'x', pair 1, side B: {message}"):
        read_pairs(written(tmp_path, document))
    with pytest.raises(LayerwiseError, match=f"prompt 1: {message}"):
        read_prompts(written(tmp_path, ["a", text]))


def test_statements_and_prompts_of_a_megabyte_are_read(tmp_path: Path) -> None:
    long = "long words " * (MEGABYTE // 11)
    document = {**FINE, "x": {"pairs": [[long, "b"], ["c", f"{long}\u202e"]]}}
    assert read_pairs(written(tmp_path, document)).side_a[-2] == long
    assert read_prompts(written(tmp_path, [long, "a"])) == (long, "a")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_twin(twinned_model(), TEXTS, tmp_path_factory.mktemp("model") / "tiny")


def analyze(checkpoint: Path, folder: Path, pairs: Any, prompts: Any) -> int:
    for name, document in (("pairs", pairs), ("prompts", prompts)):
        (folder / f"{name}.json").write_text(json.dumps(document))
    files = [f"--{name}={folder / name}.json" for name in ("pairs", "prompts")]
    return cli.main(
        ["analyze", f"--model={checkpoint}", *files, f"--out={folder / 'made' / 'out'}"]
    )


@pytest.mark.parametrize("long", ["statement", "prompt"])
def test_a_megabyte_is_more_than_the_model_takes_and_the_error_is_short(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], long: str
) -> None:
    text = "\x1b[2J words " * (MEGABYTE // 11)
    last = text if long == "statement" else "d"
    pairs = {**FINE, "x": {"pairs": [["a b", "b c"], ["c d", f"d {last}"]]}}
    prompts = ["a prompt", text if long == "prompt" else "another"]
    assert analyze(checkpoint, tmp_path, pairs, prompts) == 2
    err = capsys.readouterr().err
    place = "category 'x', pair 1, side B" if long == "statement" else "prompts.json: prompt 1"
    assert place in err
    assert re.search(r"tiny takes at most \d+ tokens, this text has \d{5,}; shorten it", err)
    assert len(err) < 500 + 2 * len(str(tmp_path))
    assert {character for character in err if is_unseen(character)} == {"\n"}
    assert not (tmp_path / "made").exists()


# --- JSON ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1e999}', "numbers must be finite, found 1e999; remove it"),
        ('{"a": -1E+400}', r"numbers must be finite, found -1E\+400; remove it"),
        ('{"a": 1' + "0" * 5000 + "}", r"a number is too long to be read \(Exceeds the limit"),
        ("[" * 100_000, "nested too deeply to be read; flatten it"),
        ('{"' + "k" * MEGABYTE + '": 1, "' + "k" * MEGABYTE + '": 2}', "must appear once"),
    ],
    ids=["infinite", "negative", "long", "deep", "twice"],
)
def test_json_that_is_no_document_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(LayerwiseError, match=message) as raised:
        read_json(tmp_path / "a.json")
    assert len(str(raised.value)) < 300 + len(str(tmp_path))


def test_a_key_that_comes_twice_is_found_among_many(tmp_path: Path) -> None:
    """In one look at each: counting every key among all would take hours."""
    keys = [f'"k{number}": 0' for number in range(200_000)]
    (tmp_path / "a.json").write_text(f"{{{', '.join([*keys, keys[-1]])}}}")
    with pytest.raises(LayerwiseError, match="'k199999' appears twice; rename or merge"):
        read_json(tmp_path / "a.json")


def test_json_numbers_are_those_of_python(tmp_path: Path) -> None:
    numbers = [0.1, -1e-300, 5e-324, 1.7976931348623157e308, 2**53 + 1]
    write_json(tmp_path / "a.json", numbers)
    assert read_json(tmp_path / "a.json") == numbers


def test_half_a_character_is_not_written(tmp_path: Path) -> None:
    for write in (write_text, write_json):
        with pytest.raises(LayerwiseError, match=r"a\.json: character \d is half of a surrogate"):
            write(tmp_path / "a.json", "a\ud800")
    assert list(tmp_path.iterdir()) == []
