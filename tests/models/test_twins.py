from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file

from layerwise.errors import LayerwiseError
from layerwise.models.chat_templates import render
from layerwise.models.families import heads_of, twin_of
from layerwise.models.load import load_model
from layerwise.models.registry import read_models
from layerwise.models.twins import build_twin, config_of, main
from tiny_checkpoints import (
    TEXTS,
    TWIN_FAMILIES,
    contents,
    twin_checkpoint,
    twin_folder,
    twinned_model,
)


@pytest.mark.parametrize("family", TWIN_FAMILIES)
def test_twin_every_norm_and_bias_counts(family: str) -> None:
    """No norm weight is 1 (or 0 where 1 is added) and no bias is 0, so leaving one out shows."""
    stored = load_file(twin_folder(family) / "model.safetensors")
    norms = {key for key in stored if ("norm" in key or "ln_" in key) and key.endswith("weight")}
    biases = {key for key in stored if key.endswith("bias")}
    assert norms
    rms = ("apertus", "gemma", "gemma2", "gemma3_text", "llama", "mistral", "phi3", "qwen3")
    assert bool(biases) == (family not in rms)
    for key in norms | biases:
        neutral = 1.0 if key in norms and not family.startswith("gemma") else 0.0
        moved = (stored[key] - neutral).abs()
        assert (moved > 0).all(), key
        assert moved.max() < 0.5, key


def test_twins_differ_by_seed_and_by_model_and_repeat_to_the_byte(tmp_path: Path) -> None:
    model = twinned_model("gpt_neox")
    state = torch.random.get_rng_state()
    one, two = (build_twin(model, TEXTS, tmp_path / name, seed=3) for name in "ab")
    other_seed = build_twin(model, TEXTS, tmp_path / "c", seed=4)
    other_model = build_twin(
        model.model_copy(update={"slug": "other"}), TEXTS, tmp_path / "d", seed=3
    )
    assert torch.equal(torch.random.get_rng_state(), state)
    assert contents(one) == contents(two)
    assert not list(one.glob("*.bin"))
    for other in (other_seed, other_model):
        files = (folder / "model.safetensors" for folder in (one, other))
        assert len({file.read_bytes() for file in files}) == 2


def test_twin_of_a_chat_model_renders_its_bos_token(tmp_path: Path) -> None:
    """Tokenising the rendered text again puts the BOS token there twice, as published."""
    model = twinned_model("llama").model_copy(update={"chat": True})
    tokenizer = load_model(build_twin(model, TEXTS, tmp_path / "m"), device="cpu").tokenizer
    assert TEXTS[0] in render(tokenizer, TEXTS[:1], "published")[0]
    assert twin_checkpoint("llama").tokenizer.chat_template is None


def test_twins_keep_all_but_the_width_of_heads(root: Path) -> None:
    """The declaration, and of the configuration the model's flags."""
    models = read_models(root / "models.yaml")
    configs = {
        slug: transformers.AutoConfig.for_model(model.family, **config_of(twin_of(model)))
        for slug, model in models.items()
    }
    for slug, config in configs.items():
        twin, shape = twin_of(models[slug]), models[slug].shape
        assert twin.model_dump(exclude={"shape"}) == models[slug].model_dump(exclude={"shape"})
        square = slug not in ("gemma-7b", "gemma-7b-it", "gemma-2-9b")
        assert square == (shape.hidden_size == shape.n_heads * shape.head_size), slug
        narrow = {"hidden_size": 4 * shape.n_heads, "head_size": 4 if square else 6}
        assert twin.shape == shape.model_copy(update=narrow), slug
        heads = heads_of(config)
        assert (heads.kv_heads, heads.head_size) == (shape.kv_heads, twin.shape.head_size), slug
        assert (config.num_hidden_layers, config.vocab_size) == (shape.n_layers, 512), slug
    wanted = {  # what a default of transformers would get wrong
        "pythia-6p9b": {"use_parallel_residual": True, "tie_word_embeddings": False},
        "gpt-neo-125m": {"attention_layers": ["global", "local"] * 6},
        "falcon-7b": {"multi_query": True, "parallel_attn": True, "alibi": False, "bias": False},
        "opt-350m": {"word_embed_proj_dim": 32, "do_layer_norm_before": False},
        "mistral-7b": {"sliding_window": 4096},
        "mistral-7b-instruct": {"sliding_window": None},
        "gemma-2-9b": {
            "attn_logit_softcapping": 50,
            "final_logit_softcapping": 30,
            "query_pre_attn_scalar": 6,
            "head_dim": 6,
        },
    }
    for slug, flags in wanted.items():
        assert {name: getattr(configs[slug], name) for name in flags} == flags, slug
    assert configs["pythia-6p9b"].rope_parameters["partial_rotary_factor"] == 0.5
    assert configs["llama-3p1-8b"].rope_parameters["rope_theta"] == 5e5


def test_command_writes_a_twin_to_try_analyze_on(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main("pythia-70m", tmp_path / "tiny", root / "models.yaml")
    loaded = load_model(tmp_path / "tiny", device="cpu")
    assert (loaded.n_layers, loaded.has_random_weights) == (6, True)
    assert "means nothing" in capsys.readouterr().out
    with pytest.raises(LayerwiseError, match="a tokenizer needs at least one text, found none"):
        build_twin(twinned_model("gpt2"), [], tmp_path)
