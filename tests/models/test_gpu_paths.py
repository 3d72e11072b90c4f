"""What only a GPU takes part in, tried without one: calls, devices and arithmetic, no speed."""

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import GPTNeoXConfig

from layerwise.errors import LayerwiseError
from layerwise.models import needs
from layerwise.models.checkpoint import open_folder
from layerwise.models.devices import free_bytes
from layerwise.models.hidden_states import _on_host
from layerwise.models.kernels import WORKSPACE
from layerwise.models.load import check_loading
from layerwise.models.replicates import _copy_to_host
from tiny_checkpoints import twin_folder

CARDS = {None: 150_000, 0: 150_000, 1: 60_000}  # free bytes, by number; None: the current one


class OnCard(torch.Tensor):
    """Numbers that say they lie on a card."""

    card = 0
    copies = 0

    @property
    def device(self) -> torch.device:
        """The card."""
        return torch.device("cuda", self.card)

    def cpu(self) -> torch.Tensor:
        """Return the numbers on the host, and count the copy."""
        OnCard.copies += 1
        return self.as_subclass(torch.Tensor)


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cards with little memory, as far as the driver is asked."""
    monkeypatch.setenv(WORKSPACE, ":4096:8")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)

    def memory(device: Any) -> tuple[int, int]:
        number = device if isinstance(device, int) else torch.device(device).index
        return CARDS[number], 2**40

    monkeypatch.setattr(torch.cuda, "mem_get_info", memory)


def test_states_come_from_each_card_at_once_and_stay_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a model over two cards, and of blocks that are on the host."""
    monkeypatch.setattr(OnCard, "copies", 0)
    numbers = {layer: torch.full((2, 3), float(layer)) for layer in range(5)}
    placed: dict[Any, torch.Tensor] = dict(numbers)
    for layer, card in ((0, 0), (1, 1), (2, 0), (4, 1)):
        placed[layer] = numbers[layer].as_subclass(OnCard)
        placed[layer].card = card
    found = _on_host(placed)
    assert list(found) == list(numbers)
    assert all(torch.equal(found[layer], numbers[layer]) for layer in numbers)
    assert {states.device.type for states in found.values()} == {"cpu"}
    assert OnCard.copies == 2


def test_states_and_weights_keep_their_dtype_on_the_way_to_the_host() -> None:
    with FakeTensorMode():
        on_card = torch.empty(2, 3, device="cuda:1", dtype=torch.bfloat16)
        for copy in (_on_host({0: on_card})[0], _copy_to_host(on_card)):
            assert (copy.device.type, copy.dtype) == ("cpu", torch.bfloat16)
            assert copy.shape == on_card.shape


def test_the_memory_that_is_asked_for_is_the_cards(
    cards: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run and its dry run ask here before weights are read."""
    assert (free_bytes("cuda"), free_bytes("cuda:1")) == (CARDS[0], CARDS[1])
    assert free_bytes(torch.device("cuda", 1)) == CARDS[1]
    files = open_folder(twin_folder("gpt_neox"))
    assert check_loading(files, "float32", "cuda") == "cuda:0"
    for device, draws_beside in (("cuda:1", False), ("cuda", True)):
        with pytest.raises(LayerwiseError, match=r"needs .* MiB on cuda"):
            check_loading(files, "float32", device, draws_beside=draws_beside)
    check_loading(files, "float16", "cuda:1")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=7))
    assert free_bytes("auto") == CARDS[0] + CARDS[1] + 7


def test_the_memory_benchmark_holds_the_estimate(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two wide blocks, which take most of it."""
    monkeypatch.syspath_prepend(root / "benchmarks")
    benchmark = importlib.import_module("memory")
    config = GPTNeoXConfig(
        hidden_size=8192,
        num_hidden_layers=2,
        num_attention_heads=64,
        intermediate_size=4 * 8192,
        vocab_size=512,
    )
    found = benchmark.measure(config, "float16")
    estimate = needs.bytes_of(found["weights"] / 2, 8192, 2, "float16")
    assert 0 < found["pass"] < estimate - found["weights"]
