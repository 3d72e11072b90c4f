"""A run replaces what an earlier run wrote, and nothing else."""

import json
import os
import re
import shutil

import pytest

from layerwise import compare, workers
from layerwise.errors import LayerwiseError
from layerwise.reader.files import CONTROL, DOCUMENTS, FILES, FILES_ACROSS, REPLICATES, SCALING
from layerwise.reader.results_folder import (
    OF_ONE_MODEL,
    alone,
    check_comparison_folder,
    check_results_folder,
    check_states_folder,
    places_of_states,
    remove_older,
)
from tiny_checkpoints import contents

# In these places a run leaves a file only where something else is to be said.
NOT_ALWAYS = {f"{REPLICATES}.json", f"{CONTROL}.json", "tables/without-one-category.csv"}


def put(place, text="mine"):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def recorded(record="_run"):
    return json.dumps({record: {"format": 1}})


# --- what is refused before a run -----------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_what_no_run_wrote_is_not_replaced(tmp_path, name):
    """The mark of a run is its record: not a name, and not a document without one."""
    put(tmp_path / name)
    with pytest.raises(LayerwiseError, match=rf"only those of an earlier run.*{re.escape(name)}"):
        check_results_folder(tmp_path)
    put(tmp_path / "hidden_states" / "index.json")
    put(tmp_path / "validation.json", '{"_global_stats": {}}')
    with pytest.raises(LayerwiseError, match="only those of an earlier run"):
        check_results_folder(tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_what_a_run_wrote_is_replaced(tmp_path, name):
    put(tmp_path / name, recorded())
    put(tmp_path / "layers.json", recorded())
    check_results_folder(tmp_path)
    for document in set(DOCUMENTS) - {name, "layers.json"}:  # one of somebody else among them
        put(tmp_path / document, "{}")
        with pytest.raises(LayerwiseError, match=re.escape(document)):
            check_results_folder(tmp_path)
        (tmp_path / document).unlink()


@pytest.mark.parametrize("name", FILES_ACROSS)
def test_a_comparison_replaces_those_of_an_earlier_one(tmp_path, name):
    """By default it goes into the working folder, where anything may be."""
    put(tmp_path / name)
    with pytest.raises(LayerwiseError, match=rf"only those of an earlier run.*{re.escape(name)}"):
        check_comparison_folder(tmp_path)
    put(tmp_path / SCALING, recorded("_runs"))
    check_comparison_folder(tmp_path)


def test_a_new_folder_and_one_with_other_files_are_fine(tmp_path):
    for check in (check_results_folder, check_comparison_folder):
        check(tmp_path / "new" / "out")
        for name in ("notes.txt", "figures/mine.png", "tables/notes.csv", "scaling/tables/mine"):
            put(tmp_path / name)
        check(tmp_path)


def test_hidden_states_of_somebody_else_are_not_removed(tmp_path):
    for place in places_of_states(tmp_path):
        put(place / "statements_00000.safetensors")
        put(place / "index.json")
        check_states_folder(tmp_path)
        put(place / "notes" / "probe.npy")
        with pytest.raises(LayerwiseError, match=rf"{place}: .* found notes/probe\.npy"):
            check_states_folder(tmp_path)
        shutil.rmtree(place)


@pytest.mark.parametrize("earlier", range(3))
@pytest.mark.parametrize("error", [LayerwiseError, KeyboardInterrupt])
def test_a_broken_rule_costs_the_states_that_were_begun_and_no_others(tmp_path, earlier, error):
    """Those of a run that was killed stay, and those of one that is interrupted."""
    place, *others = (places_of_states(tmp_path)[n - earlier] for n in range(3))
    put(place / "index.json")

    def fail():
        with alone(tmp_path):
            for other in others:
                put(other / "index.json")
            raise error("a rule is broken")

    with pytest.raises(error):
        fail()
    assert place.exists()
    assert {other.exists() for other in others} == {error is KeyboardInterrupt}


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith((".json", ".csv"))])
def test_texts_that_were_given_are_not_replaced(tmp_path, monkeypatch, name):
    """By whatever path they and the folder are named, in a folder of results too."""
    put(tmp_path / name, "[]")
    put(tmp_path / "layers.json", recorded())
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    said = rf"a result of the name {re.escape(name.rpartition('/')[2])} would replace what was giv"
    for given in (name, tmp_path / name, f"sub/../{name}"):
        with pytest.raises(LayerwiseError, match=said):
            check_results_folder(tmp_path, ("other", given))
    put(tmp_path / name, recorded())
    check_results_folder(tmp_path, ("papers", "x" * 5000, [["a", "b"]], "sub"))


@pytest.mark.parametrize("name", OF_ONE_MODEL)
def test_a_comparison_does_not_replace_a_model(tmp_path, name):
    check_comparison_folder(tmp_path)
    put(tmp_path / "scaling" / name)
    with pytest.raises(LayerwiseError, match="a comparison goes there, found the results of a mo"):
        check_comparison_folder(tmp_path)


# --- what a run leaves ----------------------------------------------------------------------------


@pytest.fixture
def saved(analyzed, tmp_path):
    """Results in a folder, with files of its owner beside them and among them."""
    out = tmp_path / "out"
    analyzed.save(out)
    mine = ["notes.txt", "figures/mine.png", "figures/old/layers.pdf", "tables/notes.csv"]
    for name in mine:
        put(out / name)
    return out, mine


def test_every_file_of_a_run_is_declared_and_those_of_others_stay(analyzed, saved):
    """What is declared is what an older run may have left."""
    out, mine = saved
    assert set(contents(out)) == set(FILES) - NOT_ALWAYS | set(mine)
    before = contents(out)
    analyzed.save(out)
    assert contents(out) == before


def test_a_process_that_ends_costs_its_picture_alone(analyzed, tmp_path, monkeypatch, capsys):
    """A drawing process killed for its memory would else take the whole folder with it."""
    submit = workers.submit

    def ending(function, arguments):
        lost = arguments()[0] == "layers"
        return submit(os.abort, tuple) if lost else submit(function, arguments)

    monkeypatch.setattr(workers, "submit", ending)
    analyzed.save(tmp_path / "out")
    lost = set(FILES) - NOT_ALWAYS - set(contents(tmp_path / "out"))
    assert lost == {"figures/layers.pdf", "figures/layers.svg"}
    assert "no figure layers" in capsys.readouterr().err


def test_numbers_are_there_when_nothing_can_be_drawn(analyzed, saved, monkeypatch):
    """And no page of other numbers is beside them."""
    out, mine = saved

    def broken(*given):
        raise MemoryError

    monkeypatch.setattr("layerwise.reader.result.write", broken)
    with pytest.raises(MemoryError):
        analyzed.save(out)
    documents = {f"{name}.json" for name in analyzed.documents}
    assert set(contents(out)) == documents | set(mine)


def test_every_file_of_a_comparison_is_declared_and_those_of_others_stay(saved, tmp_path):
    out, _ = saved
    shutil.copytree(out, tmp_path / "again")
    mine = [
        "scaling/mine.txt",
        "scaling/figures/mine.png",
        "scaling/tables/notes.csv",
        "scaling.md",
    ]
    for name in mine:
        put(tmp_path / "across" / name)
    for _ in range(2):
        compare([out, tmp_path / "again"], tmp_path / "across")
        written = set(contents(tmp_path / "across"))
        assert written == set(FILES_ACROSS) - {"scaling/tables/claims.csv"} | set(mine)


def test_no_file_of_a_run_depends_on_a_clock(analyzed, tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    first, later = (contents(analyzed.save(tmp_path / name).folder) for name in "ab")
    assert later == first


def test_what_an_earlier_run_alone_had_is_removed(tmp_path):
    for name in (*FILES, "mine.json", "figures/mine.svg"):
        put(tmp_path / "out" / name)
    put(tmp_path / "elsewhere" / "gain.csv")
    shutil.rmtree(tmp_path / "out" / "tables")
    (tmp_path / "out" / "tables").symlink_to(tmp_path / "elsewhere")
    remove_older(tmp_path / "out", FILES, FILES[:3])
    left = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*")}
    assert left == {*FILES[:3], "mine.json", "figures/mine.svg"}
    assert (tmp_path / "elsewhere" / "gain.csv").is_file()  # nothing is removed through a link
