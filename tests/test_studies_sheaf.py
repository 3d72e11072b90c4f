"""Sheaf studies on twins, against plain passes of transformers and loops over their own weights."""

from __future__ import annotations

import json
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from layerwise.analyses import replay
from layerwise.errors import LayerwiseError
from layerwise.experiments import (
    Fragments,
    Subject,
    aniso,
    bentov,
    h4,
    h4ext,
    lstar,
    rmap,
    spectral,
)
from layerwise.extraction import tracing
from layerwise.extraction.load import load_local
from layerwise.extraction.projections import Weights
from layerwise.inputs.measured import IDENTITY, measured, merge
from layerwise.inputs.models import read_models
from layerwise.inputs.published import ANISOTROPY, Published, read_published
from layerwise.measures.traces import Trace
from layerwise.statistics import profile
from tiny_checkpoints import twin_folder

ROOT = Path(__file__).parents[1]
PROMPTS = json.loads(
    (ROOT / "code/layerwise/inputs/rehearsal/prompts.json").read_text(encoding="utf-8")
)
SEEDS = {"pythia-410m": 1, "pythia-1p4b": 2}
FAMILIES = {
    **dict.fromkeys(("pythia-160m", "pythia-410m", "pythia-1p4b", "pythia-6p9b"), "gpt_neox"),
    "gpt-neo-125m": "gpt_neo",
    "opt-125m": "opt",
    "opt-350m": "opt-350m",
    "bloom-560m": "bloom",
    "gpt2": "gpt2",
    "mistral-7b": "mistral",
    "gemma-2b": "gemma",
}
LAYERS = {"pythia-1p4b": 12}  # the draft looks at its layer 10
DRAWS = {"n_resamples": 100, "level": 0.95, "seed": 42}


@cache
def tables() -> Published:
    return read_published(ROOT / "published")


@cache
def registry() -> dict[str, Any]:
    return read_models(ROOT / "models.yaml")


def checkpoint_folder(slug: str) -> Path:
    return twin_folder(FAMILIES[slug], LAYERS.get(slug, 3), SEEDS.get(slug, 0))


@cache
def subject(slug: str, dtype: str) -> Subject:
    checkpoint = load_local(checkpoint_folder(slug), dtype, "cpu")
    return Subject(
        model=registry()[slug],
        dtype=dtype,
        trace=partial(tracing.trace, checkpoint),
        weights=Weights.open(checkpoint.folder, dtype),
        prompts=PROMPTS,
        published=tables(),
    )


@cache
def found(study: str, slug: str, dtype: str) -> Fragments:
    return import_module(f"layerwise.experiments.{study}").fragments(subject(slug, dtype))


def entry(study: str, slug: str, dtype: str, file: str, place: str = "") -> dict[str, Any]:
    """The part of a file that a study measured."""
    parts = found(study, slug, dtype)[file]
    (where,) = parts
    assert where == place or not place
    return parts[where]


def beyond(study: str, slug: str, dtype: str) -> dict[str, Any]:
    return found(study, slug, dtype)[f"beyond/{study}"][f"/{slug}"]


@cache
def network(slug: str, dtype: str) -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(
        checkpoint_folder(slug), dtype=getattr(torch, dtype), attn_implementation="eager"
    ).eval()


@cache
def plain(slug: str, dtype: str, text: str) -> Any:
    """One pass of transformers: attention maps and hidden states."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint_folder(slug))
    with torch.no_grad():
        return network(slug, dtype)(
            torch.tensor([tokenizer(text).input_ids]),
            output_attentions=True,
            output_hidden_states=True,
        )


def maps(slug: str, dtype: str, text: str) -> list[np.ndarray]:
    return [of[0].double().numpy() for of in plain(slug, dtype, text).attentions]


@cache
def w_v(slug: str, dtype: str, block: int, slicing: str) -> np.ndarray:
    """W_V as the notebooks cut it, or as the modules use it."""
    weights = {k: v.double().numpy() for k, v in network(slug, dtype).state_dict().items()}
    own = {k: v for k, v in weights.items() if f".{block}." in k}

    def named(end: str) -> np.ndarray:
        (matrix,) = (v for k, v in own.items() if k.endswith(end))
        return matrix

    family = FAMILIES[slug]
    if family in ("gpt_neox", "bloom"):
        fused = named("query_key_value.weight")
        width = len(fused) // 3
        if slicing == "legacy":
            return fused[2 * width :]
        heads = network(slug, dtype).config.num_attention_heads
        return fused.reshape(heads, 3, width // heads, width)[:, 2].reshape(width, width)
    if family == "gpt2":
        fused = named("c_attn.weight")
        return fused[:, 2 * len(fused) :].T
    return named("v_proj.weight")


def per_head(slug: str, dtype: str, block: int, slicing: str) -> list[np.ndarray]:
    """One slice per query head."""
    config, matrix = network(slug, dtype).config, w_v(slug, dtype, block, slicing)
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    own = [matrix[i : i + size] for i in range(0, len(matrix), size)]
    shared = config.num_attention_heads // len(own)
    return [head for head in own for _ in range(shared)]


def off_diagonal(a: np.ndarray) -> float:
    return sum(a[i, j] for i in range(len(a)) for j in range(len(a)) if i != j)


def looped_traces(slug: str, dtype: str, slicing: str) -> dict[str, np.ndarray]:
    """Both traces of the trace scripts, means over the texts."""
    full, multihead = [], []
    for text in PROMPTS["sheaf_trace"]["prompts"]:
        full.append([])
        multihead.append([])
        for block, heads in enumerate(maps(slug, dtype, text)):
            w = per_head(slug, dtype, block, slicing)
            full[-1].append(off_diagonal(heads.mean(axis=0)) * np.sum(w[0] ** 2))
            multihead[-1].append(
                sum(off_diagonal(a) * np.sum(v**2) for a, v in zip(heads, w, strict=True))
            )
    return {"full": np.mean(full, axis=0), "multihead": np.mean(multihead, axis=0)}


def published_keys(file: str, place: str) -> set[str]:
    """Keys of a published entry that are no names."""
    node = tables().document(file)
    for name in filter(None, place.split("/")):
        node = node[int(name)] if isinstance(node, list) else node[name]
    return {key for key in node if key not in IDENTITY}


H4_MODELS = ("pythia-160m", "pythia-410m", "opt-125m", "gpt2")


@pytest.mark.parametrize("slug", ["pythia-160m", "opt-125m", "gpt2"])
def test_traces_of_the_second_script_against_a_loop(slug: str) -> None:
    row = entry("h4", slug, "float32", h4.SECOND)
    expected = looped_traces(slug, "float32", "legacy")
    for name in ("full", "multihead"):
        np.testing.assert_allclose(row[f"traces_{name}"], expected[name], rtol=1e-5)
        assert row[f"mean_trace_{name}"] == pytest.approx(np.mean(expected[name]), rel=1e-5)
    assert row["L_star_trace"] == np.argmax(np.abs(np.gradient(expected["full"])))
    assert row["L_star_ratio_trace"] == row["L_star_trace"] / 3
    behavior, gain = h4.TYPED[slug]
    assert (row["behavior"], row["known_gain"]) == (behavior, gain)
    assert row["L_star_apriori"] == pytest.approx(1.5 * (1 + np.tanh(5 * (gain - 1))))


@pytest.mark.parametrize("slug", ["pythia-160m", "gpt2"])
def test_gaps_of_the_second_script_against_a_loop(slug: str) -> None:
    row = entry("h4", slug, "float32", h4.SECOND)
    rows: dict[str, list[list[float]]] = {"lambda_2": [], "gaps": [], "graph": []}
    for text in PROMPTS["sheaf_trace"]["prompts"]:
        for values in rows.values():
            values.append([])
        for block, heads in enumerate(maps(slug, "float32", text)):
            a, w = heads.mean(axis=0), per_head(slug, "float32", block, "legacy")[0]
            graph = np.linalg.eigvalsh(np.diag(a.sum(axis=1)) - a + 1e-10 * np.eye(len(a)))
            gram = np.linalg.eigvalsh((w.T @ w)[:50, :50] + 1e-10 * np.eye(min(50, w.shape[1])))
            products = np.sort([g * v for g in graph[:5] for v in gram[:5]])
            rows["lambda_2"][-1].append(products[1])
            rows["gaps"][-1].append(products[1] - products[0])
            rows["graph"][-1].append(graph[1])
    means = {name: np.mean(values, axis=0) for name, values in rows.items()}
    np.testing.assert_allclose(row["graph_lambda_2"], means["graph"], atol=1e-6)
    np.testing.assert_allclose(row["lambda_2"], means["lambda_2"], atol=1e-12)
    np.testing.assert_allclose(row["spectral_gaps"], means["gaps"], atol=1e-12)


@pytest.mark.parametrize("slug", ["pythia-160m", "gpt2"])
def test_first_script_against_a_laplacian_block_by_block(slug: str) -> None:
    row = entry("h4", slug, "float32", h4.FIRST)
    traces, lambda_2 = [], []
    for text in PROMPTS["sheaf_trace"]["prompts"]:
        traces.append([])
        lambda_2.append([])
        for block, heads in enumerate(maps(slug, "float32", text)):
            kept = np.linspace(0, heads.shape[-1] - 1, min(6, heads.shape[-1]), dtype=int)
            a, w = heads[0][np.ix_(kept, kept)], w_v(slug, "float32", block, "legacy")[:16, :16]
            n, d = len(a), len(w)
            whole = np.zeros((n * d, n * d))
            for i, j in np.ndindex(n, n):
                rows, columns = slice(i * d, i * d + d), slice(j * d, j * d + d)
                if i != j:
                    whole[rows, rows] += (a[i, j] + 1e-10) * w.T @ w
                    root = np.sqrt((a[i, j] + 1e-10) * (a[j, i] + 1e-10))
                    whole[rows, columns] = -root * w.T @ w
            traces[-1].append(np.trace(whole))
            lambda_2[-1].append(np.linalg.eigvalsh(whole + 1e-10 * np.eye(n * d))[1])
    np.testing.assert_allclose(row["traces"], np.mean(traces, axis=0), rtol=1e-6)
    np.testing.assert_allclose(row["lambda_2"], np.mean(lambda_2, axis=0), atol=1e-13)
    gaps = np.array(row["spectral_gaps"])
    assert row["L_star_gap_max"] == np.argmax(gaps)
    assert row["L_star_lambda2_max"] == np.argmax(row["lambda_2"])
    assert row["spectral_gap_at_half"] == gaps[1]
    assert (row["max_spectral_gap"], row["mean_spectral_gap"]) == (gaps.max(), gaps.mean())


@pytest.mark.parametrize("slug", H4_MODELS)
def test_keys_of_both_scripts_are_those_published(slug: str) -> None:
    for file in h4.FILES:
        ((place, row),) = found("h4", slug, "float32")[file].items()
        assert set(row) == published_keys(file, place)
        assert tables()[file, f"{place}/model"].rpartition("/")[2] == slug


def test_slices_differ_only_where_the_projections_are_interleaved() -> None:
    for slug, fused in (("pythia-160m", True), ("opt-125m", False), ("gpt2", False)):
        both = beyond("h4", slug, "float32")
        assert (both["legacy"] != both["correct"]) is fused
    both = beyond("lstar", "opt-350m", "float16")
    assert both["legacy"] == both["correct"]


def test_correct_slices_against_a_loop() -> None:
    expected = looped_traces("pythia-160m", "float32", "correct")
    both = beyond("h4", "pythia-160m", "float32")
    for name in ("full", "multihead"):
        np.testing.assert_allclose(both["correct"][f"traces_{name}"], expected[name], rtol=1e-5)
    assert not np.allclose(both["legacy"]["traces_full"], expected["full"], rtol=1e-3)
    assert both["correct"]["nan_layers"] == []
    assert both["correct"]["L_star_full"] == both["correct"]["L_star_full_guarded"]


@pytest.mark.parametrize("slug", ["mistral-7b", "gemma-2b"])
def test_extended_traces_repeat_shared_heads(slug: str) -> None:
    parts = found("h4ext", slug, "float16")
    assert list(parts) == ["beyond/h4ext"]  # nothing in the place of the packed bytes
    further = beyond("h4ext", slug, "float16")
    expected = looped_traces(slug, "float16", "correct")
    for slicing in ("legacy", "correct"):
        np.testing.assert_allclose(
            further[slicing]["traces_multihead"], expected["multihead"], rtol=1e-4
        )
    assert further["n_heads"] == network(slug, "float16").config.num_attention_heads


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
    return Subject(registry()[slug], "float16", lambda text, **_: trace, weights, PROMPTS, tables())


def excess_maps(excess: list[float]) -> list[np.ndarray]:
    """Attention of one block each, whose entries sum to 3 + excess."""
    blocks = []
    for value in excess:
        one = np.tril(np.ones((3, 3))) / np.arange(1, 4)[:, None]
        one[2, 0] += value
        blocks.append(np.stack([one, one]).astype(np.float32))
    return blocks


def test_l_star_by_hand_with_nan_layers() -> None:
    # t = |excess| |W_V|^2 with |W_V|^2 = 4 (1 + block)^2
    sizes = [4 * (1 + block) ** 2 for block in range(6)]
    t = [1.0, 3.0, 2.0, 2.0, np.nan, np.nan]
    one = fake(excess_maps([-a / b for a, b in zip(t, sizes, strict=True)]))
    parts = lstar.fragments(one)
    (argmax,), (signs,) = (parts[file].values() for file in lstar.FILES)
    assert (argmax["L_star_empirical"], argmax["L_star_std"]) == (4, 0)  # the first NaN step
    assert signs["individual_L_stars"] == [1] * 5
    assert (signs["L_star_empirical"], signs["detection_method"]) == (1, "sign_change")
    predicted = 6 * (0.11 + 0.012 * 6 + 4.9 / 2)
    assert argmax["L_star_predicted"] == pytest.approx(predicted)
    assert argmax["error_pct"] == pytest.approx(100 * abs(predicted - 4) / 6)
    further = parts["beyond/lstar"]["/pythia-160m"]
    assert further["nan_layers"] == [[4, 5]] * 5
    assert further["legacy"]["argmax_guarded"] == 1
    assert further["largest_excess"] == pytest.approx(max(1 / 4, 3 / 16), rel=1e-3)


def test_attention_of_nan_alone_has_no_guarded_layer() -> None:
    parts = lstar.fragments(fake(excess_maps([np.nan] * 4)))
    further = parts["beyond/lstar"]["/pythia-160m"]
    assert further["legacy"]["argmax_guarded"] is None
    assert further["legacy"]["coded_argmax_guarded_sd"] is None
    assert further["largest_excess"] is None
    (argmax,) = parts[lstar.ARGMAX].values()
    assert argmax["L_star_empirical"] == 1


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
    row = entry("lstar", slug, "float16", lstar.ARGMAX)
    assert row["L_star_empirical"] == np.mean(layers)
    assert row["L_star_std"] == np.std(layers)
    by_sign = entry("lstar", slug, "float16", lstar.SIGNS)
    assert by_sign["individual_L_stars"] == [turn_of_three(t) for t in signs]
    assert by_sign["L_star_calibration"] == {"pythia-160m": 7}.get(slug)
    for file in lstar.FILES:
        ((place, keys),) = found("lstar", slug, "float16")[file].items()
        assert set(keys) == published_keys(file, place)


def test_spectral_norms_against_a_decomposition() -> None:
    for slug in ("pythia-160m", "gpt-neo-125m", "gpt2", "bloom-560m"):
        ((place, row),) = found("spectral", slug, "float32")[spectral.FILE].items()
        both = beyond("spectral", slug, "float32")
        assert set(row) == published_keys(spectral.FILE, place) - {"color"}
        for slicing in ("legacy", "correct"):
            s = [
                np.linalg.svd(w_v(slug, "float32", b, slicing), compute_uv=False) for b in range(3)
            ]
            np.testing.assert_allclose(both[slicing]["W_V_by_layer"], [v[0] for v in s], rtol=1e-6)
            assert both[slicing]["W_V"] == pytest.approx(np.mean([v[0] for v in s]), rel=1e-6)
            if slicing == "legacy":
                p = [v / v.sum() for v in s]
                ranks = [np.exp(-np.sum(q * np.log(q))) for q in p]
                np.testing.assert_allclose(row["W_V_spectral_norm"], [v[0] for v in s], rtol=1e-6)
                np.testing.assert_allclose(row["W_V_effective_rank"], ranks, rtol=1e-6)
                frobenius = [np.sqrt(np.sum(v**2)) for v in s]
                np.testing.assert_allclose(row["W_V_frobenius_norm"], frobenius, rtol=1e-6)
                assert row["W_V_std_spectral"] == pytest.approx(np.std([v[0] for v in s]), rel=1e-5)
        same = both["legacy"]["W_V"] == both["correct"]["W_V"]
        assert same is (FAMILIES[slug] not in ("gpt_neox", "bloom"))
        assert both["legacy"]["W_O"] == both["correct"]["W_O"]


def test_restriction_maps_against_one_matrix_per_pair() -> None:
    slug, text = "pythia-1p4b", PROMPTS["restriction_maps"]["prompts"]
    row = entry("rmap", slug, "float16", rmap.FILE)
    for block, heads in enumerate(maps(slug, "float16", text)):
        a, w = heads[0], w_v(slug, "float16", block, "legacy")
        top = np.linalg.norm(w, ord=2)
        norms = [
            np.linalg.norm(np.sqrt(a[i, j] + 1e-10) * w, ord=2)
            for i, j in np.ndindex(a.shape)
            if a[i, j] > 1e-8
        ]
        measured_row = {name: row["restriction_maps"][name][block] for name in (
            "contraction_ratios", "mean_op_norms", "W_V_op_norms", "attention_entropies"
        )}  # fmt: skip
        p = (a + 1e-10) / (a + 1e-10).sum(axis=1, keepdims=True)
        assert measured_row["W_V_op_norms"] == pytest.approx(top, rel=1e-6)
        assert measured_row["mean_op_norms"] == pytest.approx(np.mean(norms), rel=1e-6)
        assert measured_row["contraction_ratios"] == pytest.approx(np.mean(norms) / top, rel=1e-6)
        expected = np.mean(-np.sum(p * np.log(p), axis=1))
        assert measured_row["attention_entropies"] == pytest.approx(expected, rel=1e-6)
    ratios = np.array(row["restriction_maps"]["contraction_ratios"])
    assert row["restriction_maps"]["L_star_min_contraction"] == np.argmin(ratios)
    assert row["seq_len"] == len(maps(slug, "float16", text)[0][0])
    assert set(row) == published_keys(rmap.FILE, "")
    for part in ("restriction_maps", "sheaf_laplacian"):
        assert set(row[part]) == published_keys(rmap.FILE, part)
    assert row["validation"]["contraction_before_Lstar"] in (True, bool(np.argmin(ratios)))


def test_restriction_maps_with_nan_layers() -> None:
    blocks = excess_maps([0.0, 0.0, 0.0, 0.0])
    for block, weight in enumerate((0.3, 0.2, 0.4)):  # ratios fall, then rise
        blocks[block][0] = np.eye(3) * weight
    blocks[3][:] = np.nan
    parts = rmap.fragments(fake(blocks, slug="pythia-1p4b"))
    row, further = parts[rmap.FILE][""], parts["beyond/rmap"]["/pythia-1p4b"]
    ratios = row["restriction_maps"]["contraction_ratios"]
    assert ratios[:3] == pytest.approx([0.3**0.5, 0.2**0.5, 0.4**0.5], rel=1e-6)
    assert np.isnan(ratios[3])
    assert row["restriction_maps"]["L_star_min_contraction"] == 3
    assert row["restriction_maps"]["L_star_inflection"] == 2
    assert row["sheaf_laplacian"]["lambda_1"][3] == 0
    assert np.isnan(row["sheaf_laplacian"]["spectral_gaps"][3])
    assert row["validation"] == {
        "contraction_before_Lstar": True,
        "expansion_after_Lstar": False,  # a mean with a NaN is not larger
    }
    assert further["nan_layers"] == [3]
    assert further["L_star_min_contraction_guarded"] == 1
    assert further["L_star_inflection_guarded"] == 1


def test_a_smallest_ratio_at_the_first_layer_has_nothing_before_it() -> None:
    blocks = excess_maps([0.0] * 3)
    blocks[0][0] = np.eye(3) * 0.01
    row = rmap.fragments(fake(blocks, slug="pythia-1p4b"))[rmap.FILE][""]
    assert row["restriction_maps"]["L_star_min_contraction"] == 0
    assert row["validation"] == {
        "contraction_before_Lstar": False,
        "expansion_after_Lstar": False,
    }


@pytest.mark.parametrize("slug", ["pythia-6p9b", "gemma-2b"])
def test_anisotropy_against_the_whole_covariance(slug: str) -> None:
    row = entry("aniso", slug, "float16", aniso.FILES[slug])
    texts = PROMPTS["anisotropy"]["prompts"]
    passes = [plain(slug, "float16", text).hidden_states for text in texts]
    shares, variations = [], []
    for layer in range(4):
        x = np.concatenate([states[layer][0].double().numpy() for states in passes])
        spectrum = np.maximum(np.linalg.eigvalsh(np.cov(x.T)), 1e-10)[::-1]
        p = spectrum / spectrum.sum()
        shares.append(p[0])
        assert row["effective_rank"][layer] == pytest.approx(
            np.exp(-np.sum(p * np.log(p + 1e-10))), rel=1e-3
        )
        mean, norms = x.mean(axis=0), np.linalg.norm(x, axis=1)
        cosines = x @ mean / norms / np.linalg.norm(mean)
        assert row["avg_cos_sim"][layer] == pytest.approx(np.mean(cosines), abs=1e-4)
        variations.append(np.std(norms) / np.mean(norms))
    np.testing.assert_allclose(row["intrinsic_dim_ratio"], shares, atol=1e-4)
    np.testing.assert_allclose(beyond("aniso", slug, "float16")["norm_cv"], variations, atol=1e-3)
    assert set(row) == published_keys(aniso.FILES[slug], "")
    bell = profile.bell_test(row["intrinsic_dim_ratio"])
    assert (row["L_star_anisotropy"], row["phase1_r"]) == (bell.l_star, bell.phase1_r)


def test_gemma_is_held_against_the_typed_range() -> None:
    row = entry("aniso", "gemma-2b", "float16", aniso.GEMMA)
    test = row["gauge_theory_test"]
    assert test["pythia_profile_range"] == 0.934
    assert test["is_flatter"] is bool(np.ptp(row["intrinsic_dim_ratio"]) < 0.934)
    assert row["profile_variance"] == pytest.approx(np.var(row["intrinsic_dim_ratio"]))


@pytest.mark.parametrize("slug", ["pythia-160m", "gpt2"])
def test_bentov_point_against_a_loop(slug: str) -> None:
    parts = found("bentov", slug, "float32")
    assert list(parts) == ["beyond/bentov"]
    row = beyond("bentov", slug, "float32")
    localities, entropies, traces = [], [], []
    for block, heads in enumerate(maps(slug, "float32", PROMPTS["restriction_maps"]["prompts"])):
        a = heads.mean(axis=0)
        n = len(a)
        distance = sum(a[i, j] * abs(i - j) for i, j in np.ndindex(n, n)) / a.sum()
        localities.append(1 - distance / (n - 1))
        p = a[a > 1e-10] / a.sum()
        entropies.append(-np.sum(p * np.log(p)))
        traces.append(off_diagonal(a) * np.sum(w_v(slug, "float32", block, "correct") ** 2))
    np.testing.assert_allclose(row["localities"], localities, atol=1e-6)
    np.testing.assert_allclose(row["entropies"], entropies, atol=1e-5)
    np.testing.assert_allclose(row["traces_correct"], traces, rtol=1e-5)
    assert row["L_star_locality"] == np.argmax(np.abs(np.gradient(localities)))
    assert (row["L_star_half"], row["distance"]) == (1, abs(row["L_star_locality"] - 1))
    assert bentov.FILES == ()


MEASURED = (
    *(("spectral", slug, "float32") for slug in FAMILIES if slug in (
        "pythia-160m", "pythia-410m", "gpt-neo-125m", "opt-125m", "opt-350m", "bloom-560m", "gpt2"
    )),
    *(("h4", slug, "float32") for slug in H4_MODELS),
    *(("lstar", slug, "float16") for slug in (
        "pythia-160m", "pythia-410m", "opt-125m", "opt-350m", "bloom-560m", "gpt2"
    )),
    ("rmap", "pythia-1p4b", "float16"),
    ("aniso", "pythia-6p9b", "float16"),
    ("aniso", "gemma-2b", "float16"),
)  # fmt: skip
# What no study here measures: the packed bytes, and other studies' numbers.
ELSEWHERE = {
    "critical_layer": ("calibration:",),
    "sheaf_trace": ("Mistral", "gemma-2b", "pythia-1b", "pythia-2.8b", "pythia-6.9b"),
    "spectral_norms": ("study:/prediction", "study:/frobenius_ratio"),
    "gemma_anisotropy": (),
}


@pytest.mark.parametrize("analysis", ELSEWHERE)
def test_every_statistic_of_these_studies_is_measured(analysis: str) -> None:
    fragments = merge(found(*which) for which in MEASURED)
    works = [
        replay(analysis, which, **DRAWS) for which in (tables(), measured(tables(), fragments))
    ]
    wanted = {
        key
        for key in works[0].derived
        if not key.startswith(ELSEWHERE[analysis])
        and "attention/" not in key
        # twins of these models have three layers
        and not any(key.endswith(f"_norm/{layer}") for layer in range(3, 24))
    }
    assert wanted <= set(works[1].derived)
    assert not any(key.startswith(ELSEWHERE[analysis] or "-") for key in works[1].derived)


def test_constants_that_stand_in_for_published_ones() -> None:
    file = aniso.GEMMA
    assert tables().number(file, "/gauge_theory_test/pythia_profile_range") == aniso.PYTHIA_RANGE
    assert tables().number(ANISOTROPY, "/L_star_paper2") == profile.PAPER2_LAYER
    for place, row in enumerate(tables().document(h4.SECOND)["results"]):
        slug = row["model"].rpartition("/")[2]
        assert h4.TYPED[slug] == (row["behavior"], row["known_gain"]), place
    for row in tables().document(h4ext.LEFT_OUT)["extended_results"]:
        name = row["model"].rpartition("/")[2].lower().replace(".", "p").replace("-v0p1", "")
        assert h4ext.TYPED[name] == (row["behavior"], row["known_gain"])
    for row in tables().document(lstar.SIGNS)["results"]:
        slug = row["model"].rpartition("/")[2]
        assert lstar.CALIBRATION.get(slug) == row["L_star_calibration"]


def test_restriction_maps_need_their_text() -> None:
    one = fake(excess_maps([0.0] * 3), slug="pythia-1p4b")
    broken = Subject(
        one.model, one.dtype, one.trace, one.weights, {"restriction_maps": {}}, one.published
    )
    with pytest.raises(LayerwiseError, match="'restriction_maps' must be one text, found NoneType"):
        rmap.fragments(broken)
