from pathlib import Path

import pytest

from layerwise.shards import Plan, Shard, finished_batches, plan_batches, prepare


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


def small_plan() -> Plan:
    batches = plan_batches("statements", [2, 2, 3], 2) + plan_batches("prompts", [1, 2], 2)
    return Plan(2, 4, 3, "float32", 3, (0, 1, 3), batches)


def test_widths_and_layers() -> None:
    plan = small_plan()
    assert plan.layers == (0, 1, 2, "before_norm")
    assert [plan.width(layer) for layer in plan.layers] == [4, 4, 3, 4]


def test_only_flushed_batches_count(tmp_path: Path) -> None:
    shard = Shard(tmp_path / "rank_00", small_plan())
    shard.finish(1)
    assert finished_batches(tmp_path / "rank_00") == []
    shard.flush()
    assert finished_batches(tmp_path / "rank_00") == [1]
    shard.close()
    with (tmp_path / "rank_00" / "journal").open("a") as journal:
        journal.write("1")  # cut off: might have been 12
    assert finished_batches(tmp_path / "rank_00") == [1]
    again = Shard(tmp_path / "rank_00", small_plan())
    again.finish(3)
    again.close()
    assert finished_batches(tmp_path / "rank_00") == [1, 3]


def test_arrays_without_a_journal_are_made_anew(tmp_path: Path) -> None:
    """A crash while the arrays are allocated leaves no journal."""
    Shard(tmp_path / "rank_00", small_plan()).close()
    (tmp_path / "rank_00" / "journal").unlink()
    (tmp_path / "rank_00" / "nll.npy").write_bytes(b"cut")
    shard = Shard(tmp_path / "rank_00", small_plan())
    assert shard.nll.shape == (3,)
    shard.close()


def test_prepare_keeps_the_same_work_and_drops_other(tmp_path: Path) -> None:
    partial = tmp_path / "out.partial"
    prepare(partial, "one")
    (partial / "rank_00").mkdir()
    prepare(partial, "one")
    assert (partial / "rank_00").exists()
    prepare(partial, "two")
    assert not (partial / "rank_00").exists()
