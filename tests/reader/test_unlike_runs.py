"""Runs beside each other: each folder is one run, on the same pairs, and what differs is said."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import layerwise
from layerwise import LayerwiseError
from layerwise.files import read_json, write_json
from layerwise.reader.compare import UNLIKE
from layerwise.reader.files import RECORD
from layerwise.reader.run_record import unlike_settings, unlike_texts
from tiny_checkpoints import EXAMPLE, twin_folder

PAIRS = read_json(EXAMPLE["pairs"])
PROMPTS = ["A quiet street", "Prices fell in the spring"]


def turned(pairs: dict[str, Any]) -> dict[str, Any]:
    """The same with sides A and B exchanged."""
    return {
        name: {"pairs": [[b, a] for a, b in category["pairs"]]} for name, category in pairs.items()
    }


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Runs of one model, or of another as `other`, on unlike things."""
    settings = {"layers": [0, 2, 3], "seed": 7, "dtype": "bfloat16", "replicates": 0}
    given: dict[str, dict[str, Any]] = {
        "plain": {},
        "other": {"model": twin_folder("gpt2")},
        "sides": {"pairs": turned(PAIRS)},
        "limit": {"limit": 2},
        "all": {"prompts": PROMPTS, **settings},
    }
    usual = {"model": twin_folder("llama"), **EXAMPLE, "without": ["spectral"]}
    root = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("layerwise.reader.of_checkpoint.N_RESAMPLES", 200)
        patch.setattr("layerwise.reader.page.figures.OF_ONE", ("layers",))
        for name, choices in given.items():
            layerwise.analyze(**{**usual, **choices}, out=root / name)
    return {name: root / name for name in given}


def records(folders: dict[str, Path], *names: str) -> dict[str, Any]:
    return {name: read_json(folders[name] / "layers.json")[RECORD] for name in names}


def test_every_document_of_a_run_holds_the_same_record(folders: dict[str, Path]) -> None:
    files = [*folders["plain"].glob("*.json")]
    written = {json.dumps(read_json(file)[RECORD]) for file in files}
    assert len(files) > 6
    assert len(written) == 1


def test_like_runs_of_two_models_are_compared_without_a_word(folders: dict[str, Path]) -> None:
    compared = layerwise.compare([folders["plain"], folders["other"]])
    assert UNLIKE not in compared.documents["scaling"]


@pytest.mark.parametrize(
    ("unlike", "said"),
    [
        ("sides", "sides A and B exchanged"),
        ("limit", r"only some of the pairs \(limit\)"),
    ],
)
def test_other_texts_are_compared_only_where_that_is_asked_for(
    folders: dict[str, Path], unlike: str, said: str
) -> None:
    both = [folders["other"], folders[unlike]]
    with pytest.raises(LayerwiseError, match=said):
        layerwise.compare(both)
    compared = layerwise.compare(both, other_pairs=True)
    (sentence,) = compared.documents["scaling"][UNLIKE]
    assert sentence in compared.cautions


def test_what_else_differs_is_said(folders: dict[str, Path]) -> None:
    assert unlike_texts(records(folders, "other", "all")) == []
    (said,) = unlike_settings(records(folders, "other", "all"))
    for part in (
        "prompts",
        "layers (other: every 4th; all: 0, 2, 3)",
        "seed (other: 42; all: 7)",
        "dtype (other: float32; all: bfloat16)",
    ):
        assert part in said
    compared = layerwise.compare([folders["other"], folders["all"]])
    (sentence,) = compared.documents["scaling"][UNLIKE]
    assert sentence in compared.cautions


@pytest.mark.parametrize("name", ["validation", "gains"])
def test_a_document_of_another_run_is_refused(
    folders: dict[str, Path], tmp_path: Path, name: str
) -> None:
    mixed = tmp_path / "mixed"
    shutil.copytree(folders["plain"], mixed)
    shutil.copy(folders["other"] / f"{name}.json", mixed)
    with pytest.raises(LayerwiseError, match=rf"{name}\.json and layers\.json differ in model"):
        layerwise.compare([mixed, folders["other"]])


def without_record(document: dict[str, Any]) -> None:
    del document[RECORD]


def of_another_format(document: dict[str, Any]) -> None:
    document[RECORD]["format"] = 0


def with_half_a_record(document: dict[str, Any]) -> None:
    del document[RECORD]["passes"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_record, "must hold a record of its run in format 3"),
        (of_another_format, "must hold a record of its run in format 3"),
        (with_half_a_record, r"layers\.json: _run: passes: missing; run"),
    ],
)
def test_a_document_without_a_known_record_is_refused(
    folders: dict[str, Path],
    tmp_path: Path,
    change: Callable[[dict[str, Any]], None],
    message: str,
) -> None:
    old = tmp_path / "old"
    shutil.copytree(folders["plain"], old)
    document = read_json(old / "layers.json")
    change(document)
    write_json(old / "layers.json", document)
    with pytest.raises(LayerwiseError, match=message):
        layerwise.compare([old, folders["other"]])
