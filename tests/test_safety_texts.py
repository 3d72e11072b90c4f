"""Texts that are too long for a model, and JSON that is no document."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hostile import is_unseen
from layerwise import cli
from layerwise.errors import LayerwiseError
from layerwise.extraction.twins import build_twin
from layerwise.files import read_json, write_json, write_text
from tiny_checkpoints import TEXTS, twinned_model

MEGABYTE = 1_000_000
FINE = {name: {"pairs": [[f"{name} a", f"{name} b"]] * 2} for name in ("z", "a", "m")}


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
