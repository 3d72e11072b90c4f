"""An extraction under way, without a model: batches on disk, and who may write."""

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest
from filelock import FileLock

from layerwise.errors import LayerwiseError
from layerwise.files import Busy
from layerwise.models import partial as module
from layerwise.models.batches import plan_batches
from layerwise.models.partial import Partial
from layerwise.models.store import open_states

LENGTHS = {"statements": [2, 3, 2], "prompts": [2, 1]}


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
    assert plan_batches("prompts", [], limit) == []


INDEX = {
    "model": "m",
    "display": "M",
    "n_layers": 1,
    "hidden_size": 1,
    "n_prompts": 2,
    "statements_sha256": "",
}


def small(folder, fingerprint="mark") -> Partial:
    """Statements of 2, 3, 2 tokens and prompts of 2 and 1."""
    batches = [b for kind, of in LENGTHS.items() for b in plan_batches(kind, of, 4)]
    return Partial(folder, fingerprint, batches, n_bytes=1000)


def begin(work: Partial) -> set[int] | None:
    with contextlib.ExitStack() as stack:
        return work.begin(stack)


def save(work: Partial, number: int) -> None:
    members = work.batches[number].members
    work.save(number, len(members), {"nll": np.array(members, float)})


def finish(work: Partial) -> None:
    for number in set(range(len(work.batches))) - begin(work):
        save(work, number)
    work.publish(INDEX)
    assert open_states(work.folder).nll.tolist() == [0, 1, 2]


def test_same_work_is_kept_and_other_is_dropped(tmp_path) -> None:
    one, two = small(tmp_path / "out"), small(tmp_path / "out", "other")
    assert begin(one) == set()
    save(one, 1)
    save(one, 2)
    assert begin(one) == {1, 2}
    file = one.place / "statements_00001.safetensors"
    file.write_bytes(file.read_bytes()[:-1])  # cut off by the file system: computed anew
    assert begin(one) == {2}
    (one.place / "fingerprint").unlink()  # being discarded when it was killed
    assert begin(one) == set()
    save(one, 2)
    assert begin(two) == set()
    assert [path.name for path in two.place.iterdir()] == ["fingerprint"]
    two.discard()
    two.discard()
    assert list(tmp_path.iterdir()) == []


def test_another_extraction_is_replaced_and_its_unfinished_work_stays(tmp_path) -> None:
    finish(small(tmp_path / "out"))
    other = small(tmp_path / "out", "other")
    begin(other)
    save(other, 0)
    assert begin(small(tmp_path / "out")) is None  # finished: nothing to do with that work
    assert begin(other) == {0}
    finish(other)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "fingerprint").read_text() == "other"


def test_too_little_room_is_said_first(tmp_path, monkeypatch) -> None:
    work, free = small(tmp_path / "out"), [1000, 999]
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: SimpleNamespace(free=free.pop(0)))
    assert begin(work) == set()
    with pytest.raises(LayerwiseError, match=r"need 0.001 MiB more on this disk, 0.001 MiB are"):
        begin(work)
    save(work, 0)  # what is there already needs no more room
    free.append(1000 - next(work.place.glob("*.safetensors")).stat().st_size)
    assert begin(work) == {0}


def test_lock_of_a_running_and_of_an_ended_run(tmp_path) -> None:
    finish(small(tmp_path / "out"))
    other = small(tmp_path / "out", "other")
    with FileLock(tmp_path / "out.lock"):  # as another process has it
        assert begin(small(tmp_path / "out")) is None  # it is read while another run is at it
        with pytest.raises(Busy, match="one run at a time writes there, another process"):
            begin(other)
    (tmp_path / "out.lock").touch()  # killed: nobody holds it
    (tmp_path / "out" / "replaced").mkdir()
    assert begin(small(tmp_path / "out")) is None
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert not (tmp_path / "out" / "replaced").exists()
    assert begin(other) == set()
