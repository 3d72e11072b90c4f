"""Write the table of docs/costs.md: what the minutes of `make reproduce-full` on one GPU go to.

    python docs/costs.py

The parts of a model are those of `layerwise.models.needs`, by which `layerwise doctor` reckons too;
here stand the terms beside them. Weights of the next model are fetched and compared while one is
measured, so only what exceeds that time is waited for.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from layerwise.models import needs
from layerwise.models.registry import BYTES, Model, read_models
from layerwise.shapes import read_choices

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- computed by docs/costs.py -->", "<!-- end -->"
STAGE = 5.0  # seconds of a stage beside what is measured in it: DVC, imports, files
LINE = 250e6  # bytes a second from the hub, assumed
HASHED = 1.2e9  # bytes a second of SHA-256, measured on a core with AVX-512
CORES = 16  # of a machine with one GPU
FUSED = ("gpt_neox", "bloom")  # whose matrices are cut in two ways
ON_GPU = ("passes", "replicates", "random weights")  # in these the GPU computes


class Part(NamedTuple):
    """A part of the run.

    Attributes:
        is_busy: whether the GPU computes in it.
    """

    name: str
    seconds: float
    is_busy: bool


def parts(models: Sequence[Model], replicates: int, control: int) -> list[Part]:
    """Return the parts of a run over these models, in the order given."""
    spent = dict.fromkeys(needs.PARTS, 0.0)
    spectra = waited = 0.0
    meanwhile = 0.0  # how long the model before is measured
    for model in models:
        draws = model.n_draws(control)
        by_part = needs.seconds_by_part(model, "cuda", replicates=replicates, control=draws)
        spent = {name: spent[name] + seconds for name, seconds in by_part.items()}
        arriving = model.parameters * 1e9 * BYTES["float16"] * (1 / LINE + 1 / HASHED)
        waited += max(0.0, arriving - meanwhile)
        of_matrices = (1 + draws) * seconds_of_matrices(model) / CORES
        spectra += of_matrices
        meanwhile = STAGE + sum(by_part.values()) + of_matrices
    return [
        *(Part(name, seconds, name in ON_GPU) for name, seconds in spent.items()),
        Part("singular values", spectra, is_busy=False),
        Part("starting a stage for each model", STAGE * len(models), is_busy=False),
        Part("waiting for weights", waited, is_busy=False),
    ]


def seconds_of_matrices(model: Model) -> float:
    """Return a core's time for the singular values that Paper 3 took of a model."""
    if "spectral" not in model.experiments:
        return 0.0
    shape = model.shape
    sizes = (shape.n_layers, shape.hidden_size, shape.hidden_size)
    return needs.seconds_of_spectra(*sizes) * (2 if model.family in FUSED else 1)


def table(root: Path) -> str:
    """Return the table, and the share of the time in which the GPU computes."""
    chosen = read_choices(root / "params.yaml", "measure")
    models = [model for model in read_models(root / "models.yaml").values() if not model.skipped]
    rows = parts(models, chosen["replicates"], chosen["control"])
    total = sum(row.seconds for row in rows)
    busy = sum(row.seconds for row in rows if row.is_busy)
    lines = ["| part | minutes | GPU |", "|---|---|---|"]
    lines += [
        f"| {row.name} | {row.seconds / 60:.1f} | {'busy' if row.is_busy else 'idle'} |"
        for row in rows
    ]
    lines += [f"| **all {len(models)} models** | **{total / 60:.0f}** | busy {busy / total:.0%} |"]
    return "\n".join(lines)


def page(root: Path) -> str:
    """Return docs/costs.md with the table in its place."""
    text = (root / "docs" / "costs.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table(root)}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    (ROOT / "docs" / "costs.md").write_text(page(ROOT), encoding="utf-8")
