"""The list of models: what the table and the JSON say, and the arithmetic behind them."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from layerwise.engine.words import studies, words_here
from layerwise.errors import LayerwiseError
from layerwise.models import needs
from layerwise.models.hub import cache_state
from layerwise.models.registry import Extraction, Model, Shape, read_models
from layerwise.present.terminal import as_text
from layerwise.run.steps import list_models
from layerwise.shapes import read_yaml

COMMIT = "0123456789" * 4
EXTRACTION = Extraction(dtype="float16", experiments=("p1_ua",))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub."""
    folder = tmp_path / "cache"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    return folder


def some_model(**changes) -> Model:
    model = Model(
        slug="some",
        display="Some",
        lab="Lab",
        family="gpt2",
        parameters=2.0,
        hub="org/some",
        revision=COMMIT,
        shape=Shape(n_layers=2, hidden_size=1000, n_heads=10, adds_bos=False),
        extractions={"some": EXTRACTION},
        experiments={"sweep": "float16", "clean": "float32"},
    )
    return model.model_copy(update=changes)


def test_seconds_by_hand(monkeypatch: pytest.MonkeyPatch):
    """float16: 4 GB, 460 * 12 and 25 * 16 tokens; float32: 8 GB, 25 * 16 tokens."""
    expected = 4 + 4e9 * (5520 + 400) / 50e12 + 8 + 4e9 * 400 / 50e12
    assert needs.seconds(some_model(), "cuda") == pytest.approx(expected)
    # two draws in each of two dtypes, of two numbers a weight, in place of loading
    drawn = 2 * (4e9 * (5520 + 800) / 50e12) + 4 * (0.3 + 4e9 / 5e10)
    assert needs.seconds(some_model(), "cuda", control=2) == pytest.approx(expected + drawn)
    two = some_model(extractions={}, experiments={"hunt": "float16", "sweep": "float16"})
    assert two.dtypes == {"float16": ["hunt", "sweep"]}
    assert needs.seconds(two, "cuda") == pytest.approx(4 + 4e9 * 800 / 50e12)
    # on a CPU float16 has a rate of its own, and replicates are of 16 bits alone
    monkeypatch.setattr("psutil.cpu_count", lambda logical: 20)
    half = 4 + 3 * 4e9 * 5920 / 0.3e12 + 8 + 4e9 * 400 / 1e12
    assert needs.seconds(some_model(), "cpu", replicates=2) == pytest.approx(half)


@pytest.mark.parametrize(
    ("cores", "room", "processes"),
    [
        (16, 10**12, 16),
        (16, 3 * 10**9, 2),  # 1 GB and the process itself
        (2, 1, 1),
    ],
)
def test_singular_values_take_what_cores_and_memory_allow(
    cores: int, room: int, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(needs, "usable_cores", lambda: cores)
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=room))
    assert needs.processes_for_spectra(6455) == processes


def test_table_lists_every_model(root: Path):
    """Where nobody looks a row is a line."""
    lines = as_text(list_models.run(root / "models.yaml", as_json=False), 10_000).splitlines()
    models = read_models(root / "models.yaml").values()
    for line, model in zip(lines[2 : lines.index("")], models, strict=True):
        assert line.startswith(f"{model.display}  ")
        named = [f"{dtype}: {studies(names)}" for dtype, names in model.dtypes.items()]
        assert line.endswith("; ".join(named))


def test_every_experiment_has_a_name_of_its_own_in_words(root: Path):
    models = read_models(root / "models.yaml").values()
    used = {name for model in models for names in model.dtypes.values() for name in names}
    names = words_here()["experiments"]
    assert used == {*names}
    assert len(set(names.values())) == len(names)
    assert [name for name in names.values() if "_" in name] == []


def test_table_of_one_model(tmp_path: Path):
    registry = tmp_path / "models.yaml"
    registry.write_text(
        "models: {one: {display: One, lab: L, family: gpt2, hub: a/one, "
        "revision: unresolved, gated: true, parameters: 2.0, "
        "shape: {n_layers: 2, hidden_size: 1000, n_heads: 10, adds_bos: false}, "
        "experiments: {sweep: float16, clean: float32, hunt: float16, bench: bfloat16}}}"
    )
    lines = as_text(list_models.run(registry, as_json=False), 200).splitlines()
    cells = lines[2].split(maxsplit=8)
    # of float32 8e9, (2048 * 28 + 256 * 4 * 4) * 1000 numbers more, and 256 * 256,000 of 4 bytes:
    # 8.5 GB; 4 + 8 + 4 s to load, and 4e9 * 400 tokens four times over at 5e13 a second
    assert cells[:8] == ["One", "8.5", "unknown,", "gated", "unresolved", "no", "16", "s"]
    assert cells[8] == (
        "float16: Pythia sizes, survey; float32: survey in float32; bfloat16: benchmark"
    )
    assert "One is not measured: no commit is recorded" in "\n".join(lines)


def test_cached_looks_for_every_weight(cache: Path):
    assert cache_state("org/some", COMMIT) == "no"
    folder = cache / "models--org--some" / "snapshots" / COMMIT
    folder.mkdir(parents=True)
    weights = {"a": "model-1.safetensors", "b": "model-2.safetensors"}
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))
    for name, known in zip(weights.values(), ("part", "yes"), strict=True):
        (folder / name).write_text("{}")
        assert cache_state("org/some", COMMIT) == known
    assert cache_state("org/some", "f" * 40) == "no"
    assert cache_state("org/some", None) == "no"  # no branch points at the snapshot
    refs = cache / "models--org--some" / "refs"
    refs.mkdir()
    (refs / "main").write_text(COMMIT)
    assert cache_state("org/some", None) == "yes"


def test_a_licence_stands_beside_the_models_and_changes_nothing_that_is_measured(root: Path):
    """It is part of no entry and of no fingerprint; the page of costs names each."""
    entries = read_yaml(root / "models.yaml")["models"]
    models = read_models(root / "models.yaml")
    costs = (root / "docs" / "costs.md").read_text(encoding="utf-8")
    for slug, model in models.items():
        assert "licence" not in entries[slug]
        assert "licence" not in model.model_dump()
        assert model.licence in costs


def test_a_licence_of_no_model_is_refused(root: Path, tmp_path: Path):
    path = tmp_path / "models.yaml"
    text = (root / "models.yaml").read_text(encoding="utf-8")
    path.write_text(text.replace("{pythia-70m: apache-2.0,", "{pythia-71m: apache-2.0,"))
    with pytest.raises(LayerwiseError, match=r"`licences` .* found 'pythia-71m'"):
        read_models(path)
    path.write_text(text.replace("{pythia-70m: apache-2.0,", "{"))
    assert read_models(path)["pythia-70m"].licence == "unknown"
