import numpy as np
import pytest

from layerwise.extraction.partial import discard, partial_of, prepare, publish
from layerwise.extraction.plan import Plan, plan_batches
from layerwise.extraction.shards import Shard, finished_batches, journal_of
from layerwise.extraction.store import POOLINGS, layer_file


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


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_parts_of_a_batch(size: int) -> None:
    (batch,) = plan_batches("statements", [5] * 7, 100)
    parts = batch.parts(size)
    assert [member for part in parts for member in part.members] == list(range(7))
    assert {part.length for part in parts} == {5}
    assert all(len(part.members) == min(size, 7) for part in parts[:-1])
    assert len(parts) == -(-7 // size)


def fill(shard: Shard, number: int, seed: int) -> dict[str, np.ndarray]:
    """Random rows for one batch, as numpy's own arrays would hold them afterwards."""
    rng, batch, plan = np.random.default_rng(seed), shard.plan.batches[number], shard.plan
    n = len(batch.members)
    for layer in plan.layers:
        width = plan.width(layer)
        if batch.kind == "prompts":
            shard.write_tokens(
                batch, layer, rng.normal(size=(n, batch.length, width)).astype("float32")
            )
        else:
            states = rng.normal(size=(len(POOLINGS), n, width)).astype("float32")
            shard.write_states(batch, layer, states)
    if batch.kind == "statements":
        shard.write_norms(batch, rng.normal(size=(n, len(plan.layers), 3)).astype("float32"))
        shard.write_nll(batch, rng.normal(size=n))
    shard.finish(number, n)


def test_rows_against_numpy(tmp_path) -> None:
    """The files are what numpy reads, and every row is where its text is."""
    plan = small_plan()
    shard = Shard(tmp_path / "rank_00", plan)
    pooled = np.arange(4 * 2 * 4, dtype="float32").reshape(4, 2, 4)
    (two,) = [
        batch for batch in plan_batches("statements", [2, 3, 2], 4) if len(batch.members) == 2
    ]
    shard.write_states(two, 1, pooled)
    shard.write_nll(two, np.array([0.5, 2.5]))
    norms = np.arange(2 * 4 * 3, dtype="float32").reshape(2, 4, 3)
    shard.write_norms(two, norms)
    (prompt,) = plan_batches("prompts", [9, 2], 100)[:1]
    tokens = np.arange(2 * 3, dtype="float32").reshape(1, 2, 3)
    shard.write_tokens(prompt, 2, tokens)
    shard.close()
    found = np.load(tmp_path / "rank_00" / "states" / layer_file(1))
    np.testing.assert_array_equal(found[:, [0, 2]], pooled)
    assert not found[:, 1].any()
    assert np.load(tmp_path / "rank_00" / "nll.npy").tolist() == [0.5, 0, 2.5]
    np.testing.assert_array_equal(np.load(tmp_path / "rank_00" / "norms.npy")[[0, 2]], norms)
    found = np.load(tmp_path / "rank_00" / "tokens" / layer_file(2))
    np.testing.assert_array_equal(found, np.vstack([np.zeros((1, 3)), tokens[0]]))
    for name, table in plan.tables().items():
        array = np.load(tmp_path / "rank_00" / name)
        assert (array.shape, array.dtype) == (table.shape, table.dtype)
    sizes = [file.stat().st_size for file in (tmp_path / "rank_00").rglob("*.npy")]
    assert plan.total_bytes == sum(sizes)


def test_only_flushed_batches_count(tmp_path) -> None:
    folder, plan = tmp_path / "rank_00", small_plan()
    shard = Shard(folder, plan)
    shard.finish(1, 1)
    assert finished_batches(folder, plan) == {}
    shard.flush()
    assert finished_batches(folder, plan) == {1: 1}
    shard.close()
    with journal_of(folder).open("a") as journal:
        journal.write("1")  # cut off: might have been 12
    assert finished_batches(folder, plan) == {1: 1}
    again = Shard(folder, plan)
    again.finish(3, 1)
    again.close()
    assert finished_batches(folder, plan) == {1: 1, 3: 1}
    with journal_of(folder).open("ab") as journal:
        journal.write(b"\0\0\xff\n2\n")  # what a power cut may leave
    assert list(finished_batches(folder, plan)) == [1, 3, 2]


def test_journal_names_smaller_parts(tmp_path) -> None:
    plan = Plan(1, 4, 4, "float32", 3, (0,), plan_batches("statements", [2, 2, 2], 6))
    shard = Shard(tmp_path / "rank_00", plan)
    shard.finish(0, 2)
    shard.close()
    assert journal_of(tmp_path / "rank_00").read_text() == "0 2\n"
    assert finished_batches(tmp_path / "rank_00", plan) == {0: 2}
    assert not (tmp_path / "rank_00" / "tokens").exists()


@pytest.mark.parametrize("spoil", ["no journal", "cut off", "gone"])
def test_arrays_that_are_not_whole_are_made_anew(tmp_path, spoil: str) -> None:
    folder, plan = tmp_path / "rank_00", small_plan()
    shard = Shard(folder, plan)
    fill(shard, 0, seed=0)
    shard.close()
    if spoil == "no journal":  # a crash while the arrays are made
        journal_of(folder).unlink()
    elif spoil == "cut off":
        (folder / "nll.npy").write_bytes(b"cut")
    else:
        (folder / "tokens" / layer_file(1)).unlink()
    assert finished_batches(folder, plan) == {}
    Shard(folder, plan).close()
    assert finished_batches(folder, plan) == {}
    assert not np.load(folder / "nll.npy").any()


def test_absorbing_shards_gives_the_bytes_of_one(tmp_path) -> None:
    plan = small_plan()
    whole = Shard(tmp_path / "whole", plan)
    parts = [Shard(tmp_path / f"rank_0{rank}", plan) for rank in range(3)]
    for number in range(len(plan.batches)):
        fill(whole, number, seed=number)
        fill(parts[number % 3], number, seed=number)
    for shard in (whole, *parts):
        shard.close()
    first = Shard(tmp_path / "rank_00", plan)
    for other in ("rank_01", "rank_02"):
        first.absorb(tmp_path / other)
    first.close()
    for name in plan.tables():
        assert (tmp_path / "rank_00" / name).read_bytes() == (
            tmp_path / "whole" / name
        ).read_bytes()


def test_prepare_keeps_the_same_work_and_drops_other(tmp_path) -> None:
    out, plan = tmp_path / "out", small_plan()
    assert prepare(out, "one", plan, 1) == {}
    shard = Shard(partial_of(out) / "rank_00", plan)
    fill(shard, 2, seed=0)
    shard.close()
    assert prepare(out, "one", plan, 1) == {2: 1}
    (partial_of(out) / "fingerprint").unlink()  # being discarded when it was killed
    assert prepare(out, "one", plan, 1) == {}
    assert prepare(out, "two", plan, 1) == {}
    assert [path.name for path in partial_of(out).iterdir()] == ["fingerprint"]
    discard(partial_of(out))
    discard(partial_of(out))
    assert list(tmp_path.iterdir()) == []


def test_publish_moves_arrays_and_index_alone(tmp_path) -> None:
    out, plan = tmp_path / "out", small_plan()
    prepare(out, "mark", plan, 1)
    shard = Shard(partial_of(out) / "rank_00", plan)
    for number in range(len(plan.batches)):
        fill(shard, number, seed=number)
    shard.close()
    publish(out, plan, {"fingerprint": "mark"})
    names = {str(file.relative_to(out)) for file in out.rglob("*") if file.is_file()}
    assert names == {*plan.tables(), "index.json"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
