import json
from pathlib import Path

import pytest

from layerwise.errors import LayerwiseError
from layerwise.inputs.pairs import read_pairs

GOOD = {name: {"pairs": [[f"{name} a", f"{name} b"]] * 2} for name in ("z", "a", "m")}
MINI = "code/layerwise/inputs/rehearsal/pairs.json"


def write(folder: Path, document: object) -> Path:
    path = folder / "pairs.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_order_is_that_of_the_file(tmp_path: Path) -> None:
    document = {
        "z": {"pairs": [["1", "2"], ["3", "4"]], "description": "more keys are allowed"},
        "a": {"pairs": [["5", "6"], ["7", "8"], ["9", "10"]]},
        "m": {"pairs": [["11", "12"], ["13", "14"]]},
    }
    pairs = read_pairs(write(tmp_path, document))
    assert pairs.categories == ("z", "a", "m")
    assert pairs.category_of_pair.tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert pairs.side_a == ("1", "3", "5", "7", "9", "11", "13")
    assert pairs.statements == (*pairs.side_a, "2", "4", "6", "8", "10", "12", "14")
    assert len(pairs) == 7


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([["a", "b"]], "expected an object of categories, found list"),
        ("text", "expected an object of categories, found str"),
        ({"a": GOOD["a"], "z": GOOD["z"]}, "needs at least 3 of them, found 2"),
        ({}, "needs at least 3 of them, found 0"),
        ({**GOOD, "x": [["a", "b"]]}, "category 'x' must be an object with a list \"pairs\""),
        ({**GOOD, "x": {}}, "category 'x' must be an object with a list \"pairs\""),
        ({**GOOD, "x": {"pairs": {"a": "b"}}}, "category 'x' must be an object with a list"),
        ({**GOOD, "x": {"pairs": [["a", "b"]]}}, "'x' needs at least 2 pairs, found 1"),
        ({**GOOD, "x": {"pairs": [["a", "b"], ["c"]]}}, r"'x', pair 1: a pair is two strings"),
        ({**GOOD, "x": {"pairs": [["a", 1], ["c", "d"]]}}, "pair 0, side B: must be a non-em.* 1"),
        ({**GOOD, "x": {"pairs": ["ab", "cd"]}}, r"'x', pair 0: a pair is two strings"),
        (
            {**GOOD, "x": {"pairs": [["a", "b"], ["a", " \n"]]}},
            "pair 1, side B: must be a non-emp",
        ),
        (
            {**GOOD, "x": {"pairs": [["", "b"], ["a", "b"]]}},
            "pair 0, side A: must be a non-emp",
        ),
    ],
)
def test_iv(tmp_path: Path, document: object, message: str) -> None:
    with pytest.raises(LayerwiseError, match=rf"pairs\.json: .*{message}"):
        read_pairs(write(tmp_path, document))


def test_mini(root: Path) -> None:
    pairs = read_pairs(root / MINI)
    assert pairs.categories == (
        "ground_truth_numeric",
        "ground_truth_nonnumeric",
        "tech_philosophy",
        "lifestyle",
        "business",
        "scientific_facts",
    )
    assert [pairs.category_of_pair.tolist().count(number) for number in range(6)] == [12] * 6
    assert len(set(pairs.statements)) == 144


def test_mini_holds_no_published_statement(root: Path, mirror: Path) -> None:
    published = {text.lower() for text in read_pairs(mirror / "dataset.json").statements}
    assert not published & {text.lower() for text in read_pairs(root / MINI).statements}


def test_against_published(mirror: Path) -> None:
    pairs = read_pairs(mirror / "dataset.json")
    counts = [pairs.category_of_pair.tolist().count(number) for number in range(6)]
    assert counts == [30, 20, 50, 50, 50, 30]
    assert len(pairs) == 230
