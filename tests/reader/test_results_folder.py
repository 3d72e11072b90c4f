"""A run replaces what an earlier run wrote, and nothing else."""

import re

import pytest

from layerwise.errors import LayerwiseError
from layerwise.folders import CONTROL, FILES, FOLDERS, REPLICATES, RESULTS
from layerwise.reader.results_folder import (
    MARKS,
    OF_ONE_MODEL,
    check_comparison_folder,
    check_results_folder,
    remove_older,
)

UNMARKED = [name for name in (*FOLDERS, *FILES) if name not in MARKS]


def put(out, name):
    place = out / name
    if name in FOLDERS:
        (place / "mine").mkdir(parents=True)
    else:
        out.mkdir(exist_ok=True)
        place.write_text("mine")


@pytest.mark.parametrize("name", UNMARKED)
def test_what_no_run_wrote_is_not_replaced(tmp_path, name):
    out = tmp_path / "out"
    put(out, name)
    with pytest.raises(LayerwiseError, match=rf"only those of an earlier run, found {name} and "):
        check_results_folder(out)
    for mark in MARKS:
        earlier = tmp_path / mark / "out"
        earlier.parent.mkdir()
        put(earlier, mark)
        put(earlier, name)
        check_results_folder(earlier)


def test_a_new_folder_and_one_with_other_files_are_fine(tmp_path):
    check_results_folder(tmp_path / "new" / "out")
    (tmp_path / "notes.txt").write_text("mine")
    check_results_folder(tmp_path)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".json")])
def test_texts_that_were_given_are_not_replaced(tmp_path, monkeypatch, name):
    """By whatever path they and the folder are named, in a folder of results too."""
    (tmp_path / name).write_text("[]")
    (tmp_path / "hidden_states").mkdir()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    said = rf"a result of the name {re.escape(name)} would replace what was given"
    for given in (name, tmp_path / name, f"sub/../{name}"):
        with pytest.raises(LayerwiseError, match=said):
            check_results_folder(tmp_path, ("other", given))
    check_results_folder(tmp_path, ("papers", "x" * 5000, [["a", "b"]], "sub"))


@pytest.mark.parametrize("name", OF_ONE_MODEL)
def test_a_comparison_does_not_replace_a_model(tmp_path, name):
    check_comparison_folder(tmp_path)
    put(tmp_path / "scaling", name)
    with pytest.raises(LayerwiseError, match="a comparison goes there, found the results of a mo"):
        check_comparison_folder(tmp_path)


def test_what_an_earlier_run_alone_had_is_removed(tmp_path):
    for name in (*RESULTS, REPLICATES, CONTROL, "mine"):
        (tmp_path / f"{name}.json").write_text("{}")
    remove_older(tmp_path, RESULTS[:3])
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted([*RESULTS[:3], "mine"])
