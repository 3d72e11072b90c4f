import json
import re
from pathlib import Path

import pytest
import yaml

from layerwise.errors import LayerwiseError
from layerwise.inputs.models import STUDIES, Model, find_model, read_models, twin_of

ENTRY = {
    "hub": "org/name",
    "revision": "0" * 40,
    "display": "Name",
    "family": "gpt2",
    "dtype": "float16",
    "gated": True,
    "lab": "Lab",
    "parameters": 1.5,
    "studies": {"sweep": "float16", "h4ext": "nf4/float16"},
    "shape": {"n_layers": 2, "hidden_size": 32, "n_heads": 4, "adds_bos": False},
}
PAPERS_1_2 = ("p1_ua", "p2_layers", "p1_pythia_ua", "p2_scaling")
TINY_SHAPE = {"n_layers": 0, "hidden_size": 32, "n_heads": 4, "adds_bos": False}


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
    assert (pythia.hub, pythia.dtype, pythia.built) == ("EleutherAI/pythia-6.9b", "float16", False)
    assert (pythia.shape.n_layers, pythia.shape.hidden_size) == (32, 4096)
    built = [model for model in registry.values() if model.built]
    assert {m.family for m in built} == {"gpt_neox", "gpt2", "opt", "llama"}
    assert len(registry) - len(built) == 37
    assert {study for m in registry.values() for study in m.studies} == set(STUDIES)
    assert len({m.hub for m in registry.values() if m.hub}) == 37
    unresolved = [slug for slug, m in registry.items() if not m.built and m.revision is None]
    assert unresolved == [
        "gpt-neo-1p3b", "gpt-neo-2p7b", "bloom-1b1", "bloom-1b7", "stablelm-base-alpha-3b",
        "mistral-7b-instruct", "gemma-7b-it", "llama-2-7b",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "group", "study"),
    [
        ("pythia_family_NO_FINAL_LN_20260105_174820.json", "models", "sweep"),
        ("high_rho_hunt_NO_FINAL_LN_20260105_184728.json", "tested_results", "hunt"),
        ("H4_v2_validation_20260106_015547.json", "results", "h4"),
        ("H4_v2_extended_20260106_012606.json", "extended_results", "h4ext"),
    ],
)
def test_models_and_shapes_against_published(
    mirror: Path, registry: dict[str, Model], file: str, group: str, study: str
) -> None:
    entries = json.loads((mirror / "paper3" / "Results" / file).read_text())[group]
    models = {
        m.hub.rpartition("/")[2].lower(): m.shape
        for m in registry.values()
        if m.hub and study in m.studies
    }
    for entry in entries:
        shape = models.pop(entry["model"].rpartition("/")[2].lower())
        assert (shape.n_layers, shape.n_heads) == (entry["n_layers"], entry["n_heads"])
        assert shape.hidden_size == entry.get("d_model", shape.hidden_size)
        assert shape.head_size == entry.get("d_head", shape.head_size)
    # the registry names no other model of this study, but for GPT-2, which figure 3 classes
    assert set(models) == ({"gpt2"} if study == "hunt" else set())


def test_extraction_takes_the_dtype_of_papers_1_and_2(registry: dict[str, Model]) -> None:
    for model in registry.values():
        if model.studies:
            chosen = [model.studies[study] for study in PAPERS_1_2 if study in model.studies]
            assert model.dtype == (chosen or list(model.studies.values()))[0], model.slug


def test_declared_parameters_against_published_counts(
    mirror: Path, registry: dict[str, Model]
) -> None:
    file = mirror / "paper3" / "Results" / "scaling_law_multi_pythia_results.json"
    counts = re.findall(r'"n_params": (\d+)', file.read_text())
    declared = [m.parameters for m in registry.values() if "scaling" in m.studies]
    assert [round(int(count) / 1e9, 4) for count in counts] == declared


def test_twin_keeps_counts_and_narrows_heads(registry: dict[str, Model]) -> None:
    for model in (m for m in registry.values() if not m.built):
        twin, shape = twin_of(model), model.shape
        assert (twin.slug, twin.family, twin.studies) == (model.slug, model.family, model.studies)
        assert (twin.built, twin.hub, twin.revision, twin.gated) == (True, None, None, False)
        for key in ("n_layers", "n_heads", "kv_heads", "adds_bos"):
            assert getattr(twin.shape, key) == getattr(shape, key)
        assert twin.shape.hidden_size == 4 * shape.n_heads
        square = shape.hidden_size == shape.n_heads * shape.head_size
        assert square == (model.slug not in ("gemma-7b", "gemma-7b-it", "gemma-2-9b"))
        assert twin.shape.head_size == (4 if square else 6)


def test_fields_arrive(tmp_path: Path) -> None:
    model = read_models(written(tmp_path))["name"]
    assert model.gated
    assert model.revision == "0" * 40
    assert model.shape.n_heads == 4
    assert (model.lab, model.parameters, model.chat) == ("Lab", 1.5, False)
    assert model.studies == {"sweep": "float16", "h4ext": "nf4/float16"}


def test_shape_fills_in_what_follows_from_the_rest(tmp_path: Path) -> None:
    shape = read_models(written(tmp_path))["name"].shape
    assert (shape.kv_heads, shape.head_size) == (4, 8)
    given = {**ENTRY["shape"], "kv_heads": 2, "head_size": 12, "n_heads": 6}
    shape = read_models(written(tmp_path, shape=given))["name"].shape
    assert (shape.n_heads, shape.kv_heads, shape.head_size) == (6, 2, 12)


def test_unresolved_revision_is_none(tmp_path: Path) -> None:
    assert read_models(written(tmp_path, revision="unresolved"))["name"].revision is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slug": "name-1.4b"}, "'name-1.4b': a slug has lower-case letters, digits and hyphens"),
        ({"revision": "main"}, "revision must be a commit of 40 hexadecimal digits .*'main'"),
        ({"revision": "absent"}, "found None; a branch name moves"),
        ({"family": "mamba"}, "family must be one of apertus, bloom, .*, found 'mamba'"),
        ({"dtype": "int8"}, "dtype must be one of float32, float16, bfloat16, found 'int8'"),
        ({"hub": "name"}, "hub must be `organisation/name`, found 'name'"),
        ({"display": 3}, "display must be a string, found 3"),
        ({"gated": "yes"}, "gated must be true or false, found 'yes'"),
        (
            {"built": True},
            "a built model has no gated, hub, lab, parameters, revision, studies; rem",
        ),
        ({"lab": "absent"}, "lab must be a string, found None"),
        ({"parameters": 0}, "parameters must be a positive number of billions, found 0"),
        ({"parameters": "7B"}, "parameters must be a positive number of billions, found '7B'"),
        ({"studies": ["sweep"]}, r"studies must be a mapping study: dtype, found \['sweep'\]"),
        ({"studies": {"sweeps": "float16"}}, "no study 'sweeps'; known: p1_ua, p1_outcorr"),
        (
            {"studies": {"sweep": "fp16"}},
            "dtype of study sweep must be one of .*nf4/float16, found 'fp16'",
        ),
        ({"dtype": "nf4/float16"}, "dtype must be one of float32, float16, bfloat16, found 'nf4"),
        ({"chat": 1}, "chat must be true or false, found 1"),
        ({"colour": "red"}, "unknown keys colour; known: built, chat, display"),
        ({"shape": {"n_layers": 2}}, "shape must have the keys n_layers, hidden_size, n_heads"),
        ({"shape": TINY_SHAPE}, "shape.n_layers must be a positive integer, found 0"),
        (
            {"shape": {**TINY_SHAPE, "n_layers": 1, "n_heads": 5}},
            "hidden_size must be a multiple of n_heads where no head_size is given, found 32 and 5",
        ),
        (
            {"shape": {**TINY_SHAPE, "n_layers": 1, "kv_heads": 3}},
            "n_heads must be a multiple of kv_heads, found 4 and 3",
        ),
        (
            {"shape": {**TINY_SHAPE, "n_layers": 1, "head_size": "8"}},
            "shape.head_size must be a positive integer, found '8'",
        ),
        ({"shape": {**TINY_SHAPE, "d_head": 8}}, "and may have kv_heads, head_size, found"),
    ],
)
def test_read_models_iv(tmp_path: Path, changes: dict, message: str) -> None:
    with pytest.raises(LayerwiseError, match=message):
        read_models(written(tmp_path, **changes))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models: []", "expected a mapping `models` with at least one entry, found list"),
        ("- a", "expected a mapping `models`"),
        ("models: {a: 3}", "model 'a': expected a mapping, found int"),
        ("a: [", "not valid YAML"),
    ],
)
def test_read_models_shape_of_file_iv(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(text)
    with pytest.raises(LayerwiseError, match=message):
        read_models(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(LayerwiseError, match="no such file"):
        read_models(tmp_path / "none.yaml")


def test_unknown_slug_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(LayerwiseError, match="no model is called 'pythia'; known: name"):
        find_model(read_models(written(tmp_path)), "pythia")
