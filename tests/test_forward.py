import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from layerwise.extraction import forward as module
from layerwise.extraction.forward import forward, mean_token_nll, pool, tiled_nll, token_norms
from layerwise.extraction.load import Checkpoint
from layerwise.extraction.packed import packed_linears
from layerwise.extraction.store import BEFORE_NORM
from tiny_checkpoints import TWIN_FAMILIES, twin_checkpoint

LENGTHS = (2, 5, 9)


def some_ids(n: int, length: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(1, 500, (n, length), generator=torch.Generator().manual_seed(seed))


def alone(checkpoint: Checkpoint, ids: torch.Tensor) -> tuple[dict, float]:
    """States (token, hidden) of every layer and the loss of one statement, transformers' own."""
    last = []
    handle = checkpoint.blocks[-1].register_forward_hook(lambda m, i, out: last.append(out))
    with torch.inference_mode():
        out = checkpoint.model(input_ids=ids[None], labels=ids[None], output_hidden_states=True)
    handle.remove()
    states = {layer: hidden[0] for layer, hidden in enumerate(out.hidden_states)}
    states[BEFORE_NORM] = (last[0] if torch.is_tensor(last[0]) else last[0][0])[0]
    return states, float(out.loss)


def together(checkpoint: Checkpoint, ids: torch.Tensor, linears: str) -> tuple[dict, torch.Tensor]:
    """The same of a batch, by our pass."""
    seen: dict = {}
    with torch.inference_mode(), packed_linears(checkpoint.model, linears):
        hidden = forward(checkpoint, ids, lambda layer, states: seen.update({layer: states}))
        return seen, mean_token_nll(checkpoint, hidden, ids)


@pytest.mark.parametrize("linears", ["packed", "plain"])
@pytest.mark.parametrize("family", TWIN_FAMILIES)
def test_forward_against_one_by_one(family: str, linears: str) -> None:
    checkpoint = twin_checkpoint(family)
    for length in LENGTHS:
        ids = some_ids(4, length)
        seen, nll = together(checkpoint, ids, linears)
        assert list(seen) == [0, 1, 2, BEFORE_NORM, 3]
        for number, one in enumerate(ids):
            states, loss = alone(checkpoint, one)
            assert float(nll[number]) == pytest.approx(loss, abs=1e-5)
            for layer, expected in states.items():
                torch.testing.assert_close(seen[layer][number], expected, atol=5e-5, rtol=1e-5)


@pytest.mark.parametrize("family", ["gemma2", "gptj", "gpt2"])
def test_what_the_tiles_must_not_forget(family: str) -> None:
    """Gemma 2 caps its logits, GPT-J's head has a bias, GPT-2 shares it with the embedding."""
    checkpoint = twin_checkpoint(family)
    head, config = checkpoint.head, checkpoint.model.config
    assert (head.bias is not None) == (family == "gptj")
    assert (getattr(config, "final_logit_softcapping", None) is not None) == (family == "gemma2")
    shared = head.weight is checkpoint.model.get_input_embeddings().weight
    assert shared == (family in ("gpt2", "gemma2"))


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


def test_poolings_and_norms_against_naive() -> None:
    hidden = torch.randn(3, 5, 7)
    for one, poolings, norms in zip(hidden, pool(hidden), token_norms(hidden), strict=True):
        naive = (one[1:].mean(dim=0), one.mean(dim=0), one[4], one[0])
        torch.testing.assert_close(poolings, torch.stack(naive))
        lengths = torch.tensor([token.square().sum().sqrt() for token in one])
        expected = torch.stack((lengths[4], lengths.mean(), one.square().sum().sqrt()))
        torch.testing.assert_close(norms, expected)


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
