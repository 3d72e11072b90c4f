"""The stage that measures a model, with a twin where the hub would give it, and texts of ours."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from layerwise.measuring import registered_models
from layerwise.models.load import load_model
from layerwise.models.registry import Model
from layerwise.run.steps import measure, places
from layerwise.shapes import read_choices

ROOT = Path(__file__).resolve().parents[1]
STAND_INS = ROOT / "code" / "layerwise" / "models" / "rehearsal"
SLUG = "gemma-2b"  # with an extraction of its name
CHOICES = read_choices(ROOT / "params.yaml", "measure") | {
    "device": "cpu",
    "replicates": 0,
    "control": 0,
    "bins": {"k_values": [10], "n_permutations": 5, "k_stable": 20},
}
DRAWS = {"n_resamples": 100, "level": 0.95, "seed": 42}


def patches(
    twin: Path, note: Callable[[str], None] = lambda dtype: None
) -> list[tuple[Any, str, Any]]:
    """What to set, of what, so that the twin is measured; `note` is told every dtype loaded."""

    def load(model: Model, dtype: str, *, device: str, draw: int | None, files: Any) -> Any:
        note(dtype)
        return load_model(twin, dtype, device)

    return [
        (registered_models, "load_registered", load),
        (registered_models, "fetch", lambda files, beside: files),
        (registered_models, "look_up_registered", lambda model: None),
        (measure.upstream, "verify_data", lambda folder: None),
    ]


def write_inputs(folder: Path, **choices: Any) -> None:
    """Write texts, parameters and places into a folder."""
    (folder / "data").mkdir()
    shutil.copy(STAND_INS / "pairs.json", folder / "data" / "dataset.json")
    shutil.copy(STAND_INS / "prompts.json", folder / "data" / "prompts.json")
    sections = {"measure": CHOICES | choices, "analyse": DRAWS}
    (folder / "params.yaml").write_text(yaml.safe_dump(sections))
    places.run(folder / "places.json", ROOT / "published")


def run_stage(inputs: Path, out: Path, scratch: Path, slug: str = SLUG) -> tuple[str, int]:
    """Run the stage of a model, as DVC does: what it says, and its exit code."""
    return measure.run(
        slug,
        out=out,
        scratch=scratch,
        data=inputs / "data",
        places=inputs / "places.json",
        models=ROOT / "models.yaml",
        params=inputs / "params.yaml",
    )
