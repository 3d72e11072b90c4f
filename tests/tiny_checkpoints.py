"""Texts and tiny checkpoints that several test modules share."""

from pathlib import Path

from layerwise.models import Model, Shape
from layerwise.tiny import build_tiny
from layerwise.weights import Checkpoint, load_local

FAMILIES = ("gpt_neox", "gpt2", "opt", "llama")
TEXTS = (
    "The river rises in the north",
    "Water boils at 100 degrees",
    "A quiet street",
    "Prices fell in the spring",
    "Two cats sat on the wall near the old mill",
    "Light travels fast",
    "Prices rose in the spring",
    "The bridge opened in 1932",
    "An owl",
    "She sold the shop",
    "He bought the shop",
)


def tiny_model(family: str = "gpt_neox", dtype: str = "float32", n_layers: int = 3) -> Model:
    bos = family in ("opt", "llama")
    shape = Shape(n_layers=n_layers, hidden_size=16, n_heads=4, adds_bos=bos)
    slug = f"tiny-{family}".replace("_", "-")
    return Model(slug, "Tiny", family, dtype, shape, None, None, gated=False, built=True)


def tiny_checkpoint(folder: Path, family: str = "gpt_neox", dtype: str = "float32") -> Checkpoint:
    path = folder / f"tiny-{family}"
    if not path.exists():
        build_tiny(tiny_model(family), TEXTS, path)
    return load_local(path, dtype, "cpu")
