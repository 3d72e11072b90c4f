import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from layerwise.extraction import forward as module
from layerwise.extraction.forward import forward, mean_token_nll, tiled_nll
from layerwise.extraction.packed import packed_linears
from tiny_checkpoints import twin_checkpoint


def some_ids(n: int, length: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(1, 500, (n, length), generator=torch.Generator().manual_seed(seed))


rows_of_logits = st.tuples(
    st.integers(1, 70), st.integers(2, 90), st.integers(1, 97), st.integers(0, 99)
)


@given(rows_of_logits, st.sampled_from([None, 2.5]), st.sampled_from([0.01, 1.0, 300.0]))
@settings(max_examples=60, deadline=None)
def test_tiled_nll_against_cross_entropy(
    case: tuple[int, int, int, int], cap: float | None, scale: float
) -> None:
    """Any cut of the vocabulary, any number of rows, from flat to one-hot distributions."""
    n_rows, n_words, width, seed = case
    random = torch.Generator().manual_seed(seed)
    weight = scale * torch.randn(n_words, 8, generator=random)
    hidden = torch.randn(n_rows, 8, generator=random)
    wanted = torch.randint(0, n_words, (n_rows,), generator=random)
    tiles = [lambda rows, part=part: rows @ part.T for part in weight.split(width)]
    logits = (hidden @ weight.T).double()
    if cap is not None:
        logits = cap * torch.tanh(logits / cap)
    expected = torch.nn.functional.cross_entropy(logits, wanted, reduction="none")
    found = tiled_nll(tiles, hidden, wanted, cap)
    torch.testing.assert_close(found.double(), expected, atol=2e-6 * max(scale, 1), rtol=1e-5)


def test_tiled_nll_degenerate() -> None:
    """Equal logits: log of the vocabulary; huge ones do not overflow; a NaN stays one."""
    ids, ones = torch.tensor([0, 6]), torch.ones(2, 4)
    for scale in (0.0, 1e3, -1e3):
        tiles = [lambda rows, s=scale: s * rows.new_ones(len(rows), 5)] * 2
        torch.testing.assert_close(tiled_nll(tiles, ones, ids), torch.full((2,), 10.0).log())
    broken = [lambda rows: rows.new_full((len(rows), 9), torch.nan)]
    assert tiled_nll(broken, ones, ids).isnan().all()


def test_tiled_nll_takes_rows_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    weight, hidden, ids = torch.randn(30, 6), torch.randn(200, 6), torch.arange(200) % 30
    seen: list[int] = []

    def tile(rows: torch.Tensor) -> torch.Tensor:
        seen.append(len(rows))
        return rows @ weight.T

    monkeypatch.setattr(module, "TILE_ROWS", 96)
    found = tiled_nll([tile], hidden, ids)
    assert seen == [96, 96, 32]  # the last 8 rows padded
    expected = torch.nn.functional.cross_entropy(hidden @ weight.T, ids, reduction="none")
    torch.testing.assert_close(found, expected)


def test_no_tensor_of_all_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = twin_checkpoint("gpt_neox")
    widths: list[int] = []
    operator = torch.ops.mkldnn._linear_pointwise

    def watch(*arguments: object) -> torch.Tensor:
        out = operator(*arguments)
        widths.append(out.shape[-1])
        return out

    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", watch)
    monkeypatch.setattr("layerwise.extraction.packed.TILE_WORDS", 200)
    ids = some_ids(3, 4)
    with torch.inference_mode(), packed_linears(checkpoint.model, "packed"):
        hidden = forward(checkpoint, ids, lambda layer, states: None)
        widths.clear()
        mean_token_nll(checkpoint, hidden, ids)
    assert widths == [200, 200, 112]


def test_hooks_are_taken_off_after_an_error() -> None:
    checkpoint = twin_checkpoint("gpt_neox")

    def fail(layer: object, states: torch.Tensor) -> None:
        raise KeyError(layer)

    def hooks() -> list[int]:
        return [len(b._forward_hooks) + len(b._forward_pre_hooks) for b in checkpoint.blocks]

    before = hooks()
    with torch.inference_mode(), pytest.raises(KeyError):
        forward(checkpoint, some_ids(1, 3), fail)
    assert hooks() == before
