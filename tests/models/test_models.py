import json
import re
from pathlib import Path

import pytest
import yaml

from layerwise.errors import LayerwiseError
from layerwise.models.families import FAMILIES
from layerwise.models.registry import Model, find_model, read_models
from layerwise.papers.experiments.table import EXPERIMENTS

SHAPE = {"n_layers": 2, "hidden_size": 32, "n_heads": 4, "adds_bos": False}
ENTRY = {
    "hub": "org/name",
    "revision": "0" * 40,
    "display": "Name",
    "family": "gpt2",
    "lab": "Lab",
    "parameters": 1.5,
    "shape": SHAPE,
    "extractions": {"one": {"dtype": "float16", "experiments": ["p1_ua"]}},
    "experiments": {"sweep": "float32"},
}


def written(folder: Path, slug: object = "name", **changes: object) -> Path:
    path = folder / "models.yaml"
    entry = {key: value for key, value in {**ENTRY, **changes}.items() if value != "absent"}
    path.write_text(yaml.safe_dump({"models": {slug: entry}}))
    return path


@pytest.fixture(scope="module")
def registry(root: Path) -> dict[str, Model]:
    return read_models(root / "models.yaml")


def test_registry_of_the_repository(registry: dict[str, Model]) -> None:
    pythia = find_model(registry, "pythia-6p9b")
    assert (pythia.hub, pythia.dtype) == ("EleutherAI/pythia-6.9b", "float16")
    assert (pythia.shape.n_layers, pythia.shape.hidden_size) == (32, 4096)
    assert len(registry) == len({m.hub for m in registry.values()}) == 37
    assert {m.family for m in registry.values()} <= set(FAMILIES)
    skipped = [slug for slug, model in registry.items() if model.skipped]
    assert skipped == ["bloom-1b1", "bloom-1b7"]
    extractions = [extraction for m in registry.values() for extraction in m.extractions.values()]
    named = [*(m.experiments for m in registry.values()), *(e.experiments for e in extractions)]
    assert {name for names in named for name in names} == set(EXPERIMENTS)


@pytest.mark.parametrize(
    ("file", "group", "experiment"),
    [
        ("pythia_family_NO_FINAL_LN_20260105_174820.json", "models", "sweep"),
        ("high_rho_hunt_NO_FINAL_LN_20260105_184728.json", "tested_results", "hunt"),
        ("H4_v2_validation_20260106_015547.json", "results", "h4"),
    ],
)
def test_models_and_shapes_against_published(
    mirror: Path, registry: dict[str, Model], file: str, group: str, experiment: str
) -> None:
    entries = json.loads((mirror / "paper3" / "Results" / file).read_text())[group]
    models = {
        m.hub.rpartition("/")[2].lower(): m.shape
        for m in registry.values()
        if experiment in m.experiments
    }
    for entry in entries:
        shape = models.pop(entry["model"].rpartition("/")[2].lower())
        assert (shape.n_layers, shape.n_heads) == (entry["n_layers"], entry["n_heads"])
        assert shape.hidden_size == entry.get("d_model", shape.hidden_size)
        assert shape.head_size == entry.get("d_head", shape.head_size)
    # the registry names no other model of this one, but for GPT-2, which figure 3 classes
    assert set(models) == ({"gpt2"} if experiment == "hunt" else set())


def test_declared_parameters_against_published_counts(
    mirror: Path, registry: dict[str, Model]
) -> None:
    file = mirror / "paper3" / "Results" / "scaling_law_multi_pythia_results.json"
    counts = re.findall(r'"n_params": (\d+)', file.read_text())
    declared = [m.parameters for m in registry.values() if "scaling" in m.experiments]
    assert [round(int(count) / 1e9, 4) for count in counts] == declared


def test_shape_fills_in_what_follows_from_the_rest(tmp_path: Path) -> None:
    shape = read_models(written(tmp_path))["name"].shape
    assert (shape.kv_heads, shape.head_size) == (4, 8)
    with pytest.raises(LayerwiseError, match="no model is called 'pythia'; known: name"):
        find_model(read_models(tmp_path / "models.yaml"), "pythia")
    given = {**SHAPE, "kv_heads": 2, "head_size": 12, "n_heads": 6}
    shape = read_models(written(tmp_path, shape=given))["name"].shape
    assert (shape.n_heads, shape.kv_heads, shape.head_size) == (6, 2, 12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slug": "../x"}, "'../x': slug: must have lower-case letters, digits and hyphens only"),
        ({"revision": "main"}, "revision: must be a commit of 40 hexadecimal digits .*'main'"),
        ({"revision": "absent"}, "revision: missing; add it"),
        ({"hub": "name"}, "hub: must be `organisation/name` as the hub .*, found 'name'"),
        (
            {"experiments": {"sweep": "fp16"}},
            "experiments.sweep: must be .*'bfloat16', found 'fp16'; correct it",
        ),
        (
            {"shape": {**SHAPE, "kv_heads": 3}},
            "shape: n_heads must be a multiple of kv_heads, found 4 and 3",
        ),
    ],
)
def test_read_models_refused(tmp_path: Path, changes: dict, message: str) -> None:
    path = written(tmp_path, **changes)
    with pytest.raises(LayerwiseError, match=message) as error:
        read_models(path)
    assert str(error.value).startswith(f"{path}: model ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models: []", "expected a mapping `models` with at least one entry, found list"),
        ("models: {a: 3}", "model 'a': expected a mapping, found int"),
        ("a: [", "not valid YAML"),
        (
            "models:\n  a: {x: 1}\n  a: {x: 1}\n",
            r"once .*, 'a' appears 2 times .* line 2 on",
        ),
        (None, "no such file"),
    ],
)
def test_read_models_shape_of_file_refused(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "models.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(LayerwiseError, match=message):
        read_models(path)
