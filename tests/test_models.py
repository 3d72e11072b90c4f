from pathlib import Path

import pytest
import yaml

from layerwise.errors import LayerwiseError
from layerwise.models import find_model, read_models

ENTRY = {
    "hub": "org/name",
    "revision": "0" * 40,
    "display": "Name",
    "family": "gpt2",
    "dtype": "float16",
    "gated": True,
    "shape": {"n_layers": 2, "hidden_size": 32, "n_heads": 4, "adds_bos": False},
}
TINY_SHAPE = {"n_layers": 0, "hidden_size": 32, "n_heads": 4, "adds_bos": False}


def written(folder: Path, slug: object = "name", **changes: object) -> Path:
    path = folder / "models.yaml"
    entry = {key: value for key, value in {**ENTRY, **changes}.items() if value != "absent"}
    path.write_text(yaml.safe_dump({"models": {slug: entry}}))
    return path


def test_registry_of_the_repository(root: Path) -> None:
    models = read_models(root / "models.yaml")
    pythia = find_model(models, "pythia-6p9b")
    assert (pythia.hub, pythia.dtype, pythia.built) == ("EleutherAI/pythia-6.9b", "float16", False)
    assert (pythia.shape.n_layers, pythia.shape.hidden_size) == (32, 4096)
    assert {m.family for m in models.values() if m.built} == {"gpt_neox", "gpt2", "opt", "llama"}


def test_fields_arrive(tmp_path: Path) -> None:
    model = read_models(written(tmp_path))["name"]
    assert model.gated
    assert model.revision == "0" * 40
    assert model.shape.n_heads == 4


def test_unresolved_revision_is_none(tmp_path: Path) -> None:
    assert read_models(written(tmp_path, revision="unresolved"))["name"].revision is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slug": "name-1.4b"}, "'name-1.4b': a slug has lower-case letters, digits and hyphens"),
        ({"revision": "main"}, "revision must be a commit of 40 hexadecimal digits .*'main'"),
        ({"revision": "absent"}, "found None; a branch name moves"),
        ({"family": "mamba"}, "family must be one of gpt_neox, gpt2, opt, llama, found 'mamba'"),
        ({"dtype": "int8"}, "dtype must be one of float32, float16, bfloat16, found 'int8'"),
        ({"hub": "name"}, "hub must be `organisation/name`, found 'name'"),
        ({"display": 3}, "display must be a string, found 3"),
        ({"gated": "yes"}, "gated must be true or false, found 'yes'"),
        ({"built": True}, "a built model has no hub and no revision"),
        ({"colour": "red"}, "unknown keys colour; known: built, display"),
        ({"shape": {"n_layers": 2}}, "shape must have the keys n_layers, hidden_size, n_heads"),
        ({"shape": TINY_SHAPE}, "shape.n_layers must be a positive integer, found 0"),
        (
            {"shape": {**TINY_SHAPE, "n_layers": 1, "n_heads": 5}},
            "hidden_size must be a multiple of n_heads, found 32 and 5",
        ),
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
