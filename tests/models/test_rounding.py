"""Noise of the size of rounding: its law, where it is put, and that nothing of it stays."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.special import stdtrit

from layerwise.errors import LayerwiseError
from layerwise.models import replicates as module
from layerwise.models.forward import forward
from layerwise.models.load import Checkpoint, load_model
from layerwise.models.needs import pinned_bytes
from layerwise.models.replicates import Replicates
from layerwise.models.rounding import Rounding, move_by_rounding, rounds
from tiny_checkpoints import twin_folder

SIXTEEN = {"float16": torch.float16, "bfloat16": torch.bfloat16}
TOKENS = torch.tensor([[3, 9, 4, 17, 8]])


def in_16_bits(family: str = "gpt_neox", dtype: str = "float16") -> Checkpoint:
    """A twin, stored in float32, loaded anew: a test may look into its weights."""
    return load_model(twin_folder(family), dtype, "cpu")


def states(checkpoint: Checkpoint, tokens: torch.Tensor = TOKENS) -> dict[object, torch.Tensor]:
    found: dict[object, torch.Tensor] = {}
    with torch.inference_mode():
        forward(checkpoint, tokens, lambda layer, hidden: found.update({layer: hidden.clone()}))
    return found


# --- the law of one number ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", SIXTEEN)
def test_a_rounding_error_is_replayed_with_its_variance(dtype: str) -> None:
    """Against theory and real roundings: uniform over a step, a twelfth of its square."""
    torch.manual_seed(0)
    wide = 2 ** torch.empty(200_000).uniform_(-3, 3) * torch.tensor([-1.0, 1.0]).repeat(100_000)
    numbers = wide.to(SIXTEEN[dtype])
    step = (numbers.view(torch.int16) + 1).view(SIXTEEN[dtype]).float() - numbers.float()
    noise = (move_by_rounding(numbers, torch.rand(numbers.shape)).float() - numbers.float()) / step
    rounding = (numbers.float() - wide) / step
    # a step towards zero from a power of two is half as wide
    assert set(noise.unique().tolist()) <= {-1.0, -0.5, 0.0, 1.0}
    assert float(noise.var()) == pytest.approx(1 / 12, rel=0.05)
    assert float(rounding.var()) == pytest.approx(float(noise.var()), rel=0.05)
    assert abs(float(noise.mean())) < 0.005  # away from zero as often as towards it


@pytest.mark.parametrize("dtype", SIXTEEN)
def test_zero_and_what_has_no_neighbour_stay_degenerate(dtype: str) -> None:
    largest = torch.finfo(SIXTEEN[dtype]).max
    odd = torch.tensor([0.0, -0.0, largest, -largest, float("inf")], dtype=SIXTEEN[dtype])
    for drawn in (0.0, 0.5, 0.999):
        found = move_by_rounding(odd, torch.full(odd.shape, drawn))
        assert torch.equal(found[[0, 1, 4]], odd[[0, 1, 4]])
        assert torch.isfinite(found[2:4]).all()


def test_what_is_kept_in_float32_does_not_move() -> None:
    wide = torch.randn(50)
    assert torch.equal(Rounding(0)(wide), wide)
    assert not rounds("float32")
    assert all(map(rounds, SIXTEEN))


# --- a replicate of a model ---------------------------------------------------------------------


@pytest.mark.parametrize("family", ["gpt_neox", "gpt2", "opt-350m", "bloom", "gemma3_text"])
def test_every_layer_moves_by_what_16_bits_do_to_it(family: str) -> None:
    """Between a tenth of the difference to float32 and ten times that, at every layer."""
    exact = states(load_model(twin_folder(family), "float32", "cpu"))
    checkpoint = in_16_bits(family)
    as_it_is = states(checkpoint)
    with Replicates(checkpoint).disturbed(0) as replicate:
        noisy = states(replicate)
    for layer, hidden in as_it_is.items():
        off = float((hidden.float() - exact[layer]).norm())
        by_noise = float((noisy[layer].float() - hidden.float()).norm())
        assert off / 10 < by_noise < 10 * off, layer


def test_a_replicate_depends_on_its_text_and_not_on_the_passes_before_it() -> None:
    """A killed run goes on with the same noise."""
    checkpoint = in_16_bits()
    with Replicates(checkpoint).disturbed(3) as replicate:
        first = states(replicate)
        with torch.inference_mode():
            forward(replicate, TOKENS[:, :3], lambda layer, hidden: None)
        again = states(replicate)
    for layer, hidden in first.items():
        assert torch.equal(hidden, again[layer])


def share_moved_together(first: torch.Tensor, second: torch.Tensor) -> float:
    """The share of numbers that two draws of noise move in the same way."""
    return float(((first != 0) & (first == second)).float().mean())


# As often as chance has it for numbers that move with probability 1/12, half of them each way; and
# that much again, for chance itself.
BY_CHANCE = 2 * (1 / 12) ** 2


def test_the_seed_of_a_replicate_draws_the_noise_of_its_passes() -> None:
    """Seen without the weights, which the seed moves too: either would hide the other."""
    ones, drawn = torch.ones(4000, dtype=torch.float16), []
    for seed in (3, 4, 3):
        noise = Rounding(seed)
        noise.begin(None, (), {"input_ids": TOKENS})
        drawn.append(noise(ones) - 1)
    first, other, repeated = drawn
    assert torch.equal(first, repeated)
    assert 0 < share_moved_together(first, other) < BY_CHANCE


def test_the_seed_of_a_replicate_draws_the_noise_of_its_weights() -> None:
    """Seen without a pass."""
    checkpoint = in_16_bits("llama")
    weights = list(checkpoint.model.parameters())
    replicates, as_loaded = Replicates(checkpoint), [weight.clone() for weight in weights]
    moved = []
    for seed in (3, 4, 3):
        with replicates.disturbed(seed):
            steps = [
                (weight - before).sign().flatten()
                for weight, before in zip(weights, as_loaded, strict=True)
            ]
        moved.append(steps)
    first, other, repeated = map(torch.cat, moved)
    assert torch.equal(first, repeated)
    assert 0 < share_moved_together(first, other) < BY_CHANCE
    largest = max(map(len, moved[0]))
    one, another, *_ = (steps for steps in moved[0] if len(steps) == largest)
    assert share_moved_together(one, another) < BY_CHANCE


def test_two_passes_of_a_replicate_carry_different_noise() -> None:
    """The same states, as passes over two texts: equal noise would cancel in every difference."""
    noise, ones = Rounding(3), torch.ones(4000, dtype=torch.float16)
    drawn = []
    for tokens in ([[5, 6]], [[5, 7]], [[5, 6]]):
        noise.begin(None, (), {"input_ids": torch.tensor(tokens)})
        drawn.append([noise(ones) - 1 for _ in range(2)])
    (first, second), (other, _), (repeated, _) = drawn
    assert torch.equal(first, repeated)
    for different in (second, other):
        assert 0 < share_moved_together(first, different) < BY_CHANCE


@pytest.mark.parametrize("family", ["gemma", "gemma2", "gemma3_text"])
def test_scaled_embeddings_are_rounded_and_so_is_their_scale(family: str, tmp_path: Path) -> None:
    """Of files in bfloat16 nothing else moves layer 0; five replicates hold the scale's error."""
    saved = in_16_bits(family, "bfloat16")
    saved.model.save_pretrained(tmp_path / "half")
    saved.tokenizer.save_pretrained(tmp_path / "half")
    checkpoint = load_model(tmp_path / "half", "bfloat16", "cpu")
    embedding = checkpoint.model.get_input_embeddings()
    embedding.scalar_embed_scale = 640**0.5
    embedding.embed_scale.fill_(640**0.5)
    replicates, as_it_is = Replicates(checkpoint), states(checkpoint)[0].double()
    factors = []
    for seed in range(5):
        with replicates.disturbed(seed) as replicate:
            noisy = states(replicate)[0].double()
        assert not torch.equal(noisy, as_it_is)
        factors.append(float((noisy * as_it_is).sum() / (as_it_is**2).sum()))
    # the noise of single numbers averages out to a tenth of this
    assert np.std(factors) > 2**-11
    spread = float(np.sqrt(np.mean(np.square(np.array(factors) - 1))))
    assert abs(640**0.5 / 25.25 - 1) < stdtrit(5, 0.975) * spread
    assert spread < 2**-8  # half a step at most, and what single numbers add


def test_memory_that_runs_out_while_weights_move_leaves_them_as_they_were(monkeypatch) -> None:
    checkpoint = in_16_bits("llama")
    weights = {name: weight.clone() for name, weight in checkpoint.model.state_dict().items()}
    calls = iter(range(4))

    def run_out(numbers: torch.Tensor, drawn: torch.Tensor) -> torch.Tensor:
        if next(calls) == 3:
            raise torch.OutOfMemoryError
        return move_by_rounding(numbers, drawn)

    monkeypatch.setattr(module, "move_by_rounding", run_out)
    with pytest.raises(torch.OutOfMemoryError), Replicates(checkpoint).disturbed(0):
        raise AssertionError
    for name, weight in checkpoint.model.state_dict().items():
        assert torch.equal(weight, weights[name]), name
    assert not any(part._forward_hooks for part in checkpoint.model.modules())


@pytest.mark.parametrize("fails", [False, True])
def test_afterwards_the_model_is_as_it_was(fails: bool) -> None:
    """Its weights were stored in float32 and rounded by loading, so they move too: and go back."""
    checkpoint = in_16_bits("llama")
    weights = {name: one.clone() for name, one in checkpoint.model.state_dict().items()}
    before = states(checkpoint)
    try:
        with Replicates(checkpoint).disturbed(0) as replicate:
            inside = replicate.model.state_dict()
            changed = [name for name in weights if not torch.equal(weights[name], inside[name])]
            assert len(changed) > len(weights) / 2
            if fails:
                raise RuntimeError
    except RuntimeError:
        assert fails
    for name, one in checkpoint.model.state_dict().items():
        assert torch.equal(one, weights[name]), name
    after = states(checkpoint)
    assert all(torch.equal(after[layer], before[layer]) for layer in before)
    assert not any(module._forward_hooks for module in checkpoint.model.modules())


def test_weights_that_the_file_holds_exactly_do_not_move(tmp_path) -> None:
    saved = in_16_bits("llama")
    saved.model.save_pretrained(tmp_path / "half")
    saved.tokenizer.save_pretrained(tmp_path / "half")
    checkpoint = load_model(tmp_path / "half", "float16", "cpu")
    weights = {name: one.clone() for name, one in checkpoint.model.state_dict().items()}
    with Replicates(checkpoint).disturbed(0) as replicate:
        inside = replicate.model.state_dict()
        assert all(torch.equal(weights[name], inside[name]) for name in weights)
        assert np.isfinite(states(replicate)[1].float().numpy()).all()


def test_a_copy_of_the_weights_is_made_only_where_the_host_has_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a GPU reads directly takes a power of two for each tensor."""
    assert pinned_bytes([1, 4096, 4097, 0]) == 1 + 4096 + 8192
    checkpoint = in_16_bits()
    n_bytes = sum(weight.nbytes for weight in checkpoint.model.parameters())
    monkeypatch.setattr(module, "free_bytes", lambda device: n_bytes - 1)
    with pytest.raises(LayerwiseError, match="on the host"), Replicates(checkpoint).disturbed(0):
        pass
    monkeypatch.setattr(module, "free_bytes", lambda device: n_bytes)
    with Replicates(checkpoint).disturbed(0):
        pass
