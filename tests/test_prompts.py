import json
from pathlib import Path

import pytest

from layerwise.errors import LayerwiseError
from layerwise.inputs.prompts import read_prompts


def write(folder: Path, document: object) -> Path:
    path = folder / "prompts.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_list(tmp_path: Path) -> None:
    assert read_prompts(write(tmp_path, ["z", "a", "z"])) == ("z", "a", "z")


def test_study(tmp_path: Path) -> None:
    path = write(tmp_path, {"anisotropy": {"prompts": ["a"]}, "twin": {"prompts": ["b", "c"]}})
    assert read_prompts(path) == ("a",)
    assert read_prompts(path, "twin") == ("b", "c")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "expected a list with at least one prompt"),
        ("text", "expected a list with at least one prompt"),
        (["a", 1], "prompt 1: must be a non-empty string, found 1"),
        (["a", "b", "  "], r"prompt 2: must be a non-empty string, found '  '"),
        ({"twin": {"prompts": ["a"]}}, r"'anisotropy': .*found the keys 'twin'"),
        ({}, r"found the keys \(none\)"),
        ({"anisotropy": ["a"]}, "found the keys 'anisotropy'"),
        ({"anisotropy": {"prompts": []}}, "expected a list with at least one prompt"),
        ({"anisotropy": {"prompts": {"group": ["a"]}}}, "expected a list with at least one"),
    ],
)
def test_iv(tmp_path: Path, document: object, message: str) -> None:
    with pytest.raises(LayerwiseError, match=rf"prompts\.json: .*{message}"):
        read_prompts(write(tmp_path, document))


def test_mini(root: Path) -> None:
    prompts = read_prompts(root / "code" / "layerwise" / "inputs" / "rehearsal" / "prompts.json")
    assert len(set(prompts)) == 16


def test_mini_holds_no_published_prompt(root: Path, mirror: Path) -> None:
    published = (mirror / "prompts.json").read_text(encoding="utf-8").lower()
    prompts = read_prompts(root / "code" / "layerwise" / "inputs" / "rehearsal" / "prompts.json")
    assert not [prompt for prompt in prompts if prompt.lower() in published]


def test_against_published(mirror: Path) -> None:
    assert len(read_prompts(mirror / "prompts.json")) == 16
