import pytest
import torch

from layerwise.extraction import forward as module
from layerwise.extraction.forward import forward, mean_token_nll
from tiny_checkpoints import twin_checkpoint


def some_ids(n: int, length: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(1, 500, (n, length), generator=torch.Generator().manual_seed(seed))


def test_no_tensor_of_all_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The NLL is the same whatever the number of rows whose logits exist at once."""
    checkpoint, rows = twin_checkpoint("gpt_neox"), []
    ids = some_ids(7, 5)
    with torch.inference_mode():
        hidden = forward(checkpoint, ids, lambda layer, states: None)
        whole = mean_token_nll(checkpoint, hidden, ids)
        monkeypatch.setattr(module, "HEAD_ROWS", 8)
        handle = checkpoint.head.register_forward_hook(
            lambda *of: rows.append(of[2][..., 0].numel())
        )
        torch.testing.assert_close(mean_token_nll(checkpoint, hidden, ids), whole)
        handle.remove()
    assert rows == [8, 8, 8, 4]


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
