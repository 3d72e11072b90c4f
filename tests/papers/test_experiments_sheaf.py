"""Experiments on twins, against plain passes of transformers and loops over their own weights."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from layerwise.engine.experiment import Subject
from layerwise.measures import sheaf
from layerwise.measures.anisotropy import anisotropy
from layerwise.measures.traces import Trace
from layerwise.papers.experiments import attention_sheaf, matrices, streams
from layerwise.papers.experiments.table import measure_experiment
from layerwise.papers.shared.names import SLICINGS
from stand_ins import MODELS, blocks_of, checkpoint, family_of, of_texts, passed, subject, w_v
from tiny_checkpoints import PROMPTS, PUBLISHED

DRAWS = {"n_resamples": 100, "level": 0.95, "seed": 42}


def maps(slug: str, dtype: str, text: str) -> list[np.ndarray]:
    return [block[0].double().numpy() for block in passed(slug, dtype, text, maps=True).attentions]


def per_head(slug: str, dtype: str, block: int) -> list[np.ndarray]:
    """One slice per query head."""
    config, matrix = checkpoint(slug, dtype).model.config, w_v(slug, dtype, block, "legacy")
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    own = [matrix[i : i + size] for i in range(0, len(matrix), size)]
    shared = config.num_attention_heads // len(own)
    return [head for head in own for _ in range(shared)]


def off_diagonal(a: np.ndarray) -> float:
    return sum(a[i, j] for i, j in np.ndindex(a.shape) if i != j)


def looped_traces(slug: str, dtype: str) -> dict[str, np.ndarray]:
    """Both traces of the trace scripts, means over the texts."""
    traces: dict[str, list[list[float]]] = {"full": [], "multihead": []}
    for text in PROMPTS["sheaf_trace"]["prompts"]:
        blocks = [
            (heads, [np.sum(v**2) for v in per_head(slug, dtype, block)])
            for block, heads in enumerate(maps(slug, dtype, text))
        ]
        traces["full"].append([off_diagonal(heads.mean(axis=0)) * w[0] for heads, w in blocks])
        traces["multihead"].append(
            [np.dot(list(map(off_diagonal, heads_of_block)), w) for heads_of_block, w in blocks]
        )
    return {name: np.mean(by_text, axis=0) for name, by_text in traces.items()}


@pytest.mark.parametrize("slug", ["pythia-160m", "opt-125m", "gpt2"])
def test_traces_of_the_second_script_against_a_loop(slug: str) -> None:
    row = of_texts(attention_sheaf.second_script, slug, "float32", "sheaf_trace")
    for name, series in looped_traces(slug, "float32").items():
        np.testing.assert_allclose(row[f"traces_{name}"], series, rtol=1e-5)


def test_gaps_of_the_second_script_against_a_loop() -> None:
    row = of_texts(attention_sheaf.second_script, "gpt2", "float32", "sheaf_trace")
    gaps = []
    for text in PROMPTS["sheaf_trace"]["prompts"]:
        for block, heads in enumerate(maps("gpt2", "float32", text)):
            a, w = heads.mean(axis=0), per_head("gpt2", "float32", block)[0]
            graph = np.linalg.eigvalsh(np.diag(a.sum(axis=1)) - a + 1e-10 * np.eye(len(a)))
            gram = np.linalg.eigvalsh((w.T @ w)[:50, :50] + 1e-10 * np.eye(min(50, w.shape[1])))
            products = np.sort([g * v for g in graph[:5] for v in gram[:5]])
            gaps.append(products[1] - products[0])
    means = np.reshape(gaps, (-1, 3)).mean(axis=0)  # of three blocks
    np.testing.assert_allclose(row["spectral_gaps"], means, atol=1e-12)


@pytest.mark.parametrize("slug", ["pythia-160m", "gpt2"])
def test_first_script_looks_at_head_0_six_tokens_and_a_corner(slug: str) -> None:
    row = of_texts(attention_sheaf.first_script, slug, "float32", "sheaf_trace")
    spectra = []
    for text in PROMPTS["sheaf_trace"]["prompts"]:
        for block, heads in enumerate(maps(slug, "float32", text)):
            kept = np.linspace(0, heads.shape[-1] - 1, min(6, heads.shape[-1]), dtype=int)
            w = w_v(slug, "float32", block, "legacy")[:16, :16].astype(np.float32)
            spectra.append(sheaf.laplacian_spectrum(heads[0][np.ix_(kept, kept)], w))
    for name, key in (("spectral_gaps", "gap"), ("lambda_2", "lambda_2")):
        means = np.reshape([getattr(spectrum, key) for spectrum in spectra], (-1, 3)).mean(axis=0)
        np.testing.assert_allclose(row[name], means, rtol=1e-6, atol=1e-13)


@pytest.mark.parametrize("slug", ["mistral-7b", "gemma-2b"])
def test_shared_heads_are_repeated(slug: str) -> None:
    norms = attention_sheaf.head_norms(subject(slug, "float16"))[0]
    heads = per_head(slug, "float16", 0)
    np.testing.assert_allclose(norms, [np.sum(v**2) for v in heads], rtol=1e-3)


def fake(states: list[np.ndarray], n_heads: int = 2, slug: str = "pythia-160m") -> Subject:
    """A model of 2-row heads, the identity as W_V, whose attention is given."""
    width = 2 * n_heads
    weights = SimpleNamespace(
        n_layers=len(states),
        n_heads=n_heads,
        kv_heads=n_heads,
        head_size=2,
        hidden_size=width,
        matrix=lambda block, name, slicing: (1 + block) * np.eye(width, dtype=np.float32),
    )
    empty = np.zeros((len(states[0][0]), width), np.float32)
    trace = Trace(
        dtype="float16",
        tokens=np.arange(len(empty)),
        embedding=empty,
        states=(empty,) * (len(states) + 1),
        before_norm=empty,
        logits=np.zeros(3, np.float32),
        attention=tuple(states),
    )
    return Subject(MODELS[slug], lambda text, **_: trace, weights, PROMPTS, PUBLISHED)


def test_places_that_share_texts_run_them_once() -> None:
    model, seen = subject("pythia-160m", "float16"), []

    def trace(text: str, **options: bool) -> Trace:
        seen.append(text)
        return model.trace(text, **options)

    measure_experiment("lstar", replace(model, trace=trace))
    assert seen == PROMPTS["l_star"]["prompts"]


def excess_maps(excess: list[float]) -> list[np.ndarray]:
    """Attention of one block each, whose entries sum to 3 + excess."""
    blocks = []
    for value in excess:
        weights = np.tril(np.ones((3, 3))) / np.arange(1, 4)[:, None]
        weights[2, 0] += value
        blocks.append(np.stack([weights, weights]).astype(np.float32))
    return blocks


def test_l_star_by_hand_with_nan_layers() -> None:
    # t = |excess| |W_V|^2 with |W_V|^2 = 4 (1 + block)^2
    sizes = [4 * (1 + block) ** 2 for block in range(6)]
    t = [1.0, 3.0, 2.0, 2.0, np.nan, np.nan]
    model = fake(excess_maps([-a / b for a, b in zip(t, sizes, strict=True)]))
    argmax = attention_sheaf.cross_heritage(model, ["a", "b"])
    assert (argmax["L_star_empirical"], argmax["L_star_std"]) == (4, 0)  # the first NaN step
    assert (argmax["L"], argmax["H"]) == (6, 2)
    signs = attention_sheaf.turning_layers(model, ["a", "b"])
    assert signs["individual_L_stars"] == [1, 1]


def test_attention_of_nan_alone_turns_in_its_first_step() -> None:
    model = fake(excess_maps([np.nan] * 4))
    assert attention_sheaf.cross_heritage(model, ["a"])["L_star_empirical"] == 1


def turn_of_three(t: list[float]) -> int:
    """The sign-change rule where there are three layers."""
    steps = np.diff(t)
    if (steps[0] > 0 and steps[1] < 0) or np.argmax(t) == 1:
        return 1
    return int(np.flatnonzero(np.abs(steps) >= np.max(np.abs(steps)) / 2)[-1]) + 1


@pytest.mark.parametrize("slug", ["pythia-160m", "opt-350m", "bloom-560m"])
def test_l_star_against_a_loop(slug: str) -> None:
    layers, signs = [], []
    for text in PROMPTS["l_star"]["prompts"]:
        t = [
            abs(heads.mean(axis=0).sum() - len(heads[0]))
            * np.sum(w_v(slug, "float16", block, "legacy") ** 2)
            for block, heads in enumerate(maps(slug, "float16", text))
        ]
        layers.append(int(np.argmax(np.abs(np.diff(t)))) + 1)
        signs.append(t)
    row = of_texts(attention_sheaf.cross_heritage, slug, "float16", "l_star")
    assert (row["L_star_empirical"], row["L_star_std"]) == (np.mean(layers), np.std(layers))
    by_sign = of_texts(attention_sheaf.turning_layers, slug, "float16", "l_star")
    assert by_sign["individual_L_stars"] == [turn_of_three(t) for t in signs]


@pytest.mark.parametrize("slug", ["pythia-160m", "gpt-neo-125m", "gpt2", "bloom-560m"])
def test_spectral_norms_against_a_decomposition(slug: str) -> None:
    row = matrices.projections(subject(slug, "float32"), None)
    for slicing in SLICINGS:
        s = [np.linalg.svd(w_v(slug, "float32", b, slicing), compute_uv=False) for b in range(3)]
        norms = [v[0] for v in s]
        assert row["beyond"][slicing]["W_V"] == pytest.approx(np.mean(norms), rel=1e-6)
        if slicing == "legacy":
            ranks = [np.exp(-np.sum(p * np.log(p))) for p in (v / v.sum() for v in s)]
            frobenius = [np.sqrt(np.sum(v**2)) for v in s]
            np.testing.assert_allclose(row["W_V_spectral_norm"], norms, rtol=1e-6)
            np.testing.assert_allclose(row["W_V_effective_rank"], ranks, rtol=1e-6)
            np.testing.assert_allclose(row["W_V_frobenius_norm"], frobenius, rtol=1e-6)
    legacy, correct = (row["beyond"][slicing] for slicing in SLICINGS)
    assert (legacy["W_V"] == correct["W_V"]) is (family_of(slug) not in ("gpt_neox", "bloom"))
    assert legacy["W_O"] == correct["W_O"]


@pytest.mark.parametrize("slug", ["pythia-6p9b", "gemma-2b"])
def test_anisotropy_of_all_tokens_of_all_texts(slug: str) -> None:
    texts = PROMPTS["anisotropy"]["prompts"]
    row = streams.profile(subject(slug, "float16"), texts)
    passes = [passed(slug, "float16", text, maps=True).hidden_states for text in texts]
    states = [
        np.concatenate([layers[layer][0].float().numpy() for layers in passes])
        for layer in range(4)
    ]
    want = list(map(anisotropy, states))
    for name, key in {
        "intrinsic_dim_ratio": "first_pc_share",
        "effective_rank": "effective_rank",
        "avg_cos_sim": "mean_cosine_to_mean",
    }.items():
        np.testing.assert_allclose(
            row[name], [getattr(profile, key) for profile in want], rtol=1e-3
        )
    if slug == "gemma-2b":
        norms = [np.linalg.norm(x, axis=1) for x in states]
        np.testing.assert_allclose(
            row["norm_cv"], [np.std(n) / np.mean(n) for n in norms], atol=1e-3
        )
    last_blocks = [blocks_of(slug, "float16", text)[0][-1].float().numpy() for text in texts]
    share = anisotropy(np.concatenate(last_blocks)).first_pc_share
    assert share != pytest.approx(want[-1].first_pc_share, rel=0.01)
    assert row["beyond"]["last_share_before_norm"] == pytest.approx(share, rel=1e-3)
