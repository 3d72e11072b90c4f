"""An extraction under way, without a model: batches on disk, their merger, and who may write."""

import contextlib
import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from layerwise.errors import LayerwiseError
from layerwise.extraction import partial as module
from layerwise.extraction.batches import plan_batches
from layerwise.extraction.partial import Busy, Partial, locked, partial_of
from layerwise.extraction.store import POOLINGS, Arrays, layer_file


@pytest.mark.parametrize("limit", [1, 7, 12, 1000])
def test_plan_batches(limit: int) -> None:
    lengths = [4, 2, 4, 9, 2, 4, 2, 4]
    batches = plan_batches("statements", lengths, limit)
    assert [i for b in batches for i in b.members] == [1, 4, 6, 0, 2, 5, 7, 3]
    for batch in batches:
        assert {lengths[i] for i in batch.members} == {batch.length}
        assert len(batch.members) == 1 or len(batch.members) * batch.length <= limit
    if limit == 12:
        assert [b.members for b in batches] == [(1, 4, 6), (0, 2, 5), (7,), (3,)]
    assert plan_batches("prompts", [], limit) == ()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_parts_of_a_batch(size: int) -> None:
    (batch,) = plan_batches("statements", [5] * 7, 100)
    parts = batch.parts(size)
    assert [member for part in parts for member in part.members] == list(range(7))
    assert {part.length for part in parts} == {5}
    assert all(len(part.members) == min(size, 7) for part in parts[:-1])
    assert len(parts) == -(-7 // size)


def small(folder, fingerprint="mark") -> Partial:
    """Statements of 2, 3, 2 tokens and prompts of 2 and 1; the last layer is narrower."""
    batches = plan_batches("statements", [2, 3, 2], 4) + plan_batches("prompts", [2, 1], 2)
    return Partial(folder, fingerprint, Arrays(2, 4, 3, "float32", 3, 3), (0, 2), batches)


def rows_of(work: Partial, number: int) -> dict[str, np.ndarray]:
    """Random rows of one batch, a text each."""
    rng, batch = np.random.default_rng(number), work.batches[number]
    found = {}
    for name, array in work.arrays.of(batch.kind).items():
        row = array.shape[1:]
        if name.startswith("tokens"):
            row = (batch.length, *row)
        elif name.startswith("states"):
            row = (len(POOLINGS), array.shape[-1])
        found[name] = rng.normal(size=(len(batch.members), *row)).astype(array.dtype)
    return found


def begin(work: Partial) -> set[int] | None:
    with contextlib.ExitStack() as stack:
        return work.begin(stack)


def finish(work: Partial, index: dict | None = None) -> dict[int, dict[str, np.ndarray]]:
    done = begin(work)
    rows = {number: rows_of(work, number) for number in range(len(work.batches))}
    for number in set(rows) - done:
        work.save(number, len(work.batches[number].members), rows[number])
    work.publish(index or {"fingerprint": work.fingerprint})
    return rows


def test_widths_and_layers(tmp_path) -> None:
    arrays = small(tmp_path).arrays
    assert arrays.layers == (0, 1, 2, "before_norm")
    widths = [arrays.all[f"states/{layer_file(layer)}"].shape[-1] for layer in arrays.layers]
    assert widths == [4, 4, 3, 4]
    assert not replace(arrays, n_tokens=0).of("prompts")


def test_merged_rows_against_numpy(tmp_path) -> None:
    """The files are what numpy reads, and every row is where its text is."""
    work = small(tmp_path / "out")
    assert [batch.members for batch in work.batches] == [(0, 2), (1,), (1,), (0,)]
    rows = finish(work)
    for layer in work.arrays.layers:
        states = np.load(tmp_path / "out" / "states" / layer_file(layer))
        name = f"states/{layer_file(layer)}"
        for place, (number, row) in enumerate([(0, 0), (1, 0), (0, 1)]):
            np.testing.assert_array_equal(states[:, place], rows[number][name][row])
        name = f"tokens/{layer_file(layer)}"
        tokens = np.load(tmp_path / "out" / name)
        np.testing.assert_array_equal(tokens, np.vstack([rows[3][name][0], rows[2][name][0]]))
    for name in ("nll.npy", "norms.npy"):
        expected = np.stack([rows[0][name][0], rows[1][name][0], rows[0][name][1]])
        np.testing.assert_array_equal(np.load(tmp_path / "out" / name), expected)
    files = {str(f.relative_to(tmp_path / "out")) for f in (tmp_path / "out").rglob("*.*")}
    assert files == {*work.arrays.all, "index.json"}
    sizes = [np.load(tmp_path / "out" / name).nbytes for name in work.arrays.all]
    assert work.arrays.total_bytes == sum(sizes)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_order_of_batches_does_not_matter(tmp_path) -> None:
    """Whoever computes a batch, in whatever order and in how many runs, the bytes are the same."""
    finish(small(tmp_path / "one"))
    for number, order in enumerate(itertools.permutations(range(4))):
        work = small(tmp_path / f"other{number}")
        for batch in order:
            assert begin(work) == set(order[: order.index(batch)])
            work.save(batch, len(work.batches[batch].members), rows_of(work, batch))
        work.publish({"fingerprint": "mark"})
        for name in (*work.arrays.all, "index.json"):
            assert (work.folder / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
        if number == 3:
            break


def test_same_work_is_kept_and_other_is_dropped(tmp_path) -> None:
    one, two = small(tmp_path / "out"), small(tmp_path / "out", "other")
    assert begin(one) == set()
    one.save(2, 1, rows_of(one, 2))
    assert begin(one) == {2}
    (one.place / "fingerprint").unlink()  # being discarded when it was killed
    assert begin(one) == set()
    one.save(2, 1, rows_of(one, 2))
    assert begin(two) == set()
    assert [path.name for path in two.place.iterdir()] == ["fingerprint"]
    two.discard()
    two.discard()
    assert list(tmp_path.iterdir()) == []


def test_index_names_smaller_parts(tmp_path) -> None:
    from layerwise.files import read_json

    work = small(tmp_path / "out")
    begin(work)
    for number in range(4):
        work.save(number, 1, rows_of(work, number))
    work.publish({"fingerprint": "mark"})
    assert read_json(tmp_path / "out" / "index.json")["smaller_batches"] == {"0": 1}


def test_leftovers_of_other_inputs_stay_and_own_ones_go(tmp_path) -> None:
    work = small(tmp_path / "out")
    finish(work)
    work.place.mkdir()
    (work.place / "fingerprint").write_text("of other inputs")
    assert begin(work) is None
    assert work.place.exists()
    (work.place / "fingerprint").write_text("mark")
    assert begin(work) is None
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_batch_that_was_cut_off_is_named(tmp_path) -> None:
    work = small(tmp_path / "out")
    begin(work)
    for number in range(4):
        work.save(number, 1, rows_of(work, number))
    file = partial_of(tmp_path / "out") / "batch_00001"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(LayerwiseError, match=r"batch_00001: cut off, .*; remove it and run again"):
        work.publish({})
    assert not (tmp_path / "out").exists()


def test_too_little_room_is_said_first(tmp_path, monkeypatch) -> None:
    """Twice what the arrays take: most of the data is there twice while it is merged."""
    work = small(tmp_path / "out")
    need = 2 * work.arrays.total_bytes
    free = [need, need - 1]
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: SimpleNamespace(free=free.pop(0)))
    assert begin(work) == set()
    with pytest.raises(LayerwiseError, match=r"need 0.00\d MiB more on this disk, 0.00\d MiB are"):
        begin(work)


def test_lock_of_a_running_and_of_an_ended_run(tmp_path) -> None:
    finish(small(tmp_path / "out"))
    other = small(tmp_path / "out", "other")
    with locked(tmp_path / "out"):
        assert begin(small(tmp_path / "out")) is None  # it is read while another run is at it
        with pytest.raises(Busy, match="one run at a time writes an extraction, another process"):
            begin(other)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    (tmp_path / "out.lock").touch()  # killed: nobody holds it
    assert begin(other) == set()
