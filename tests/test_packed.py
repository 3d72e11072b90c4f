import pytest
import torch
from transformers.pytorch_utils import Conv1D

from layerwise.errors import LayerwiseError
from layerwise.extraction import packed
from layerwise.extraction.packed import choose_linears, packed_linears, packed_tiles


@pytest.mark.parametrize(
    "layer",
    [torch.nn.Linear(24, 40), torch.nn.Linear(24, 40, bias=False), Conv1D(40, 24)],
)
def test_layers_against_torch(layer: torch.nn.Module) -> None:
    network = torch.nn.Sequential(layer)
    for rows in ((1, 1), (3, 7), (5, 500)):
        states = torch.randn(*rows, 24)
        with torch.inference_mode():
            plain = network(states)
            with packed_linears(network, "packed"):
                assert "forward" in vars(layer)
                fast = network(states)
        torch.testing.assert_close(fast, plain, atol=1e-5, rtol=1e-5)
    assert "forward" not in vars(layer)


def test_few_row_counts_reach_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """oneDNN keeps code per number of rows, so memory would grow with every new one."""
    seen = set()
    operator = packed.torch.ops.mkldnn._linear_pointwise

    def watch(rows: torch.Tensor, *rest: object) -> torch.Tensor:
        seen.add(len(rows))
        return operator(rows, *rest)

    monkeypatch.setattr(packed.torch.ops.mkldnn, "_linear_pointwise", watch)
    network = torch.nn.Linear(4, 4)
    with torch.inference_mode(), packed_linears(network, "packed"):
        for rows in range(1, 70):
            assert network(torch.ones(rows, 4)).shape == (rows, 4)
    assert seen == {32, 64, 96}


@pytest.mark.parametrize("bias", [True, False])
def test_output_embeddings_in_tiles_against_torch(
    bias: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the tiles, side by side they are the layer; outside the block there are none."""
    head = torch.nn.Linear(24, 70, bias=bias)
    network = torch.nn.Sequential(head)
    network.get_output_embeddings = lambda: head
    states = torch.randn(3, 7, 24)
    for width in (1, 32, 69, 70, 1000):
        monkeypatch.setattr(packed, "TILE_WORDS", width)
        with torch.inference_mode(), packed_linears(network, "packed"):
            tiles = packed_tiles(head)
            assert tiles is not None
            assert [tile(states).shape[-1] for tile in tiles[:-1]] == [width] * (len(tiles) - 1)
            torch.testing.assert_close(network(states), head.__class__.forward(head, states))
        assert packed_tiles(head) is None
        assert "forward" not in vars(head)


def test_an_error_inside_unpacks_too() -> None:
    network = torch.nn.Sequential(torch.nn.Linear(4, 4))
    with pytest.raises(KeyError), packed_linears(network, "packed"):
        raise KeyError
    assert "forward" not in vars(network[0])


def test_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    network = torch.nn.Linear(4, 4)
    assert choose_linears(network) == "packed"
    assert choose_linears(network, "plain") == "plain"
    assert choose_linears(torch.nn.Linear(4, 4, dtype=torch.float16)) == "plain"
    monkeypatch.setattr(packed, "MAX_PACKED_BYTES", 79)
    assert choose_linears(network) == "plain"  # 20 weights of 4 bytes
    monkeypatch.setattr(packed, "_has_operator", lambda: False)
    with pytest.raises(LayerwiseError, match="a torch built with oneDNN"):
        choose_linears(network, "packed")


def test_packed_iv() -> None:
    half = torch.nn.Linear(4, 4, dtype=torch.float16)
    with pytest.raises(LayerwiseError, match=r"packed linear layers need float32 .*float16 on cpu"):
        choose_linears(half, "packed")
